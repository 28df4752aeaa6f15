//! Alternatives, conditions and rules for some parts of a value: fields,
//! compilation and export. `check/applicators.rs` checks values with them.

use serde_json::{Map, Value};

use super::keywords::copy;
use super::{Inner, Node};
use crate::parts::Parts;
use crate::rule::Rule;

/// Rules that apply under a condition or to some parts of a value. They cost
/// nothing for other nodes.
#[derive(Debug, Default)]
pub(crate) struct Applicators {
    pub(crate) all_of: Box<[Node]>,
    /// Empty without the keyword.
    pub(crate) any_of: Box<[Node]>,
    /// Empty without the keyword.
    pub(crate) one_of: Box<[Node]>,
    pub(crate) not: Option<Box<Node>>,
    pub(crate) condition: Option<Box<Condition>>,
    pub(crate) dependent_schemas: Box<[(Box<str>, Node)]>,
    pub(crate) dependent_required: Box<[Dependency]>,
    pub(crate) keys: Option<Box<Node>>,
    pub(crate) contains: Option<Box<Contains>>,
    pub(crate) unevaluated_items: Option<Box<Node>>,
    pub(crate) unevaluated_properties: Option<Box<Node>>,
    /// True if the object has `patternProperties`; a key may match several of
    /// them.
    pub(crate) has_patterns: bool,
}

/// The keywords `if`, `then` and `else`.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) condition: Box<Node>,
    pub(crate) then: Option<Box<Node>>,
    pub(crate) otherwise: Option<Box<Node>>,
}

/// An entry of `dependentRequired`.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: Box<str>,
    /// The required properties, each with the message if it is missing.
    pub(crate) required: Box<[(Box<str>, Box<str>)]>,
}

/// The keywords `contains`, `minContains` and `maxContains`.
#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) node: Node,
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) too_few: Box<str>,
    pub(crate) too_many: Box<str>,
}

impl Applicators {
    /// Compiles the parts of a rule with `compile`. Its argument is the step
    /// into the value, empty for the same value.
    pub(crate) fn compile(
        parts: Parts,
        keywords: &Map<String, Value>,
        compile: &mut dyn FnMut(Rule, &str) -> Node,
    ) -> Box<Self> {
        let mut out =
            Box::new(Self { dependent_required: dependencies(keywords), ..Self::default() });
        // One box at a time, because schemas may be nested and a node is large.
        let mut part =
            |rule: Option<Box<Rule>>, step: &str| rule.map(|rule| Box::new(compile(*rule, step)));
        out.keys = part(parts.keys, ".*");
        out.unevaluated_items = part(parts.unevaluated_items, "[]");
        out.unevaluated_properties = part(parts.unevaluated_properties, ".*");
        out.not = part(parts.not, "");
        if let Some(node) = part(parts.contains, "[]") {
            out.contains = Some(Box::new(Contains::of(*node, keywords)));
        }
        // `then` and `else` have no effect without `if`.
        let (then, otherwise) = (part(parts.then, ""), part(parts.otherwise, ""));
        if let Some(condition) = part(parts.condition, "") {
            out.condition = Some(Box::new(Condition { condition, then, otherwise }));
        }
        let mut all = |rules: Vec<Rule>| -> Box<[Node]> {
            rules.into_iter().map(|rule| compile(rule, "")).collect()
        };
        out.all_of = all(parts.all_of);
        out.any_of = all(parts.any_of);
        out.one_of = all(parts.one_of);
        let dependent = parts.dependent_schemas.into_iter();
        out.dependent_schemas =
            dependent.map(|(name, rule)| (name.into(), compile(rule, ""))).collect();
        out
    }

    /// Writes the keywords about some parts of the value. `rule` exports a rule.
    pub(crate) fn export_parts(
        &self,
        keywords: &Map<String, Value>,
        rule: impl Fn(&Node) -> Value,
        out: &mut Map<String, Value>,
    ) {
        let Self { keys, contains, unevaluated_items, unevaluated_properties, .. } = self;
        let parts = [
            ("propertyNames", keys.as_deref()),
            ("contains", contains.as_ref().map(|contains| &contains.node)),
            ("unevaluatedItems", unevaluated_items.as_deref()),
            ("unevaluatedProperties", unevaluated_properties.as_deref()),
        ];
        for (keyword, node) in parts {
            if let Some(node) = node {
                out.insert(keyword.to_owned(), rule(node));
            }
        }
        if contains.is_some() {
            copy(keywords, &["minContains", "maxContains"], out);
        }
        copy(keywords, &["dependentRequired"], out);
        if !self.dependent_schemas.is_empty() {
            let rules = self.dependent_schemas.iter();
            let rules: Map<String, Value> =
                rules.map(|(name, node)| (name.to_string(), rule(node))).collect();
            out.insert("dependentSchemas".to_owned(), rules.into());
        }
    }

    /// Returns the keywords about the value itself. `rule` exports a rule.
    pub(crate) fn export_same(&self, rule: impl Fn(&Node) -> Value) -> Map<String, Value> {
        let mut out = Map::new();
        let lists = [("allOf", &self.all_of), ("anyOf", &self.any_of), ("oneOf", &self.one_of)];
        for (keyword, nodes) in lists.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
            out.insert(keyword.to_owned(), nodes.iter().map(&rule).collect());
        }
        let condition = self.condition.as_deref();
        let rules = [
            ("not", self.not.as_deref()),
            ("if", condition.map(|it| &*it.condition)),
            ("then", condition.and_then(|it| it.then.as_deref())),
            ("else", condition.and_then(|it| it.otherwise.as_deref())),
        ];
        for (keyword, node) in rules {
            if let Some(node) = node {
                out.insert(keyword.to_owned(), rule(node));
            }
        }
        out
    }

    /// Returns all rules, each with its JSON pointer below the schema. A
    /// pointer does not begin with a slash.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (String, &Node)> {
        let lists = [("allOf", &self.all_of), ("anyOf", &self.any_of), ("oneOf", &self.one_of)];
        let branches = lists.into_iter().flat_map(|(keyword, nodes)| {
            let named = move |(index, node)| (format!("{keyword}/{index}"), node);
            nodes.iter().enumerate().map(named)
        });
        let condition = self.condition.as_deref();
        let single = [
            ("not", self.not.as_deref()),
            ("if", condition.map(|it| &*it.condition)),
            ("then", condition.and_then(|it| it.then.as_deref())),
            ("else", condition.and_then(|it| it.otherwise.as_deref())),
            ("contains", self.contains.as_deref().map(|contains| &contains.node)),
            ("unevaluatedItems", self.unevaluated_items.as_deref()),
            ("unevaluatedProperties", self.unevaluated_properties.as_deref()),
        ];
        let single =
            single.into_iter().filter_map(|(keyword, node)| Some((keyword.to_owned(), node?)));
        let dependent = self.dependent_schemas.iter();
        let dependent = dependent.map(|(name, node)| (format!("dependentSchemas/{name}"), node));
        branches.chain(single).chain(dependent)
    }

    /// Returns true if nothing is checked.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            all_of,
            any_of,
            one_of,
            not,
            condition,
            dependent_schemas,
            dependent_required,
            keys,
            contains,
            unevaluated_items,
            unevaluated_properties,
            has_patterns,
        } = self;
        all_of.is_empty()
            && any_of.is_empty()
            && one_of.is_empty()
            && not.is_none()
            && condition.is_none()
            && dependent_schemas.is_empty()
            && dependent_required.is_empty()
            && keys.is_none()
            && contains.is_none()
            && unevaluated_items.is_none()
            && unevaluated_properties.is_none()
            && !has_patterns
    }

    /// Returns true if rules for the same value may list keys of an object.
    pub(crate) fn lists_keys(&self) -> bool {
        !self.all_of.is_empty()
            || !self.any_of.is_empty()
            || !self.one_of.is_empty()
            || self.condition.is_some()
            || !self.dependent_schemas.is_empty()
            || self.unevaluated_properties.is_some()
    }

    /// Returns the rules that apply to the same value, including rules that the
    /// value need not match.
    pub(crate) fn same_value(&self) -> impl Iterator<Item = &Node> {
        let condition = self.condition.iter();
        let condition = condition
            .flat_map(|it| [Some(&*it.condition), it.then.as_deref(), it.otherwise.as_deref()])
            .flatten();
        let branches = self.all_of.iter().chain(&self.any_of).chain(&self.one_of);
        let dependent = self.dependent_schemas.iter().map(|(_, node)| node);
        branches.chain(self.not.as_deref()).chain(condition).chain(dependent)
    }
}

impl Node {
    /// Adds the indices of the definitions that apply to the same value as the
    /// node.
    pub(crate) fn same_value(&self, places: &mut Vec<usize>) {
        match self.inner.as_deref() {
            Some(Inner::Definition(place)) => places.push(*place),
            Some(Inner::FirstOf(union)) => {
                union.variants.iter().for_each(|variant| variant.same_value(places));
            }
            Some(Inner::Tagged(_) | Inner::Variants(_)) | None => {}
        }
        for node in self.applicators.iter().flat_map(|it| it.same_value()) {
            node.same_value(places);
        }
    }
}

impl Contains {
    fn of(node: Node, keywords: &Map<String, Value>) -> Self {
        let count = |keyword: &str| {
            let count = keywords.get(keyword).and_then(Value::as_u64);
            count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let (least, most) = (count("minContains").unwrap_or(1), count("maxContains"));
        let message = |words: &str, count: usize| {
            format!("Array must contain {words} {count} items that match `contains`").into()
        };
        Self {
            node,
            least,
            most: most.unwrap_or(usize::MAX),
            too_few: message("at least", least),
            too_many: message("at most", most.unwrap_or(usize::MAX)),
        }
    }
}

/// Compiles `dependentRequired`.
fn dependencies(keywords: &Map<String, Value>) -> Box<[Dependency]> {
    let Some(Value::Object(lists)) = keywords.get("dependentRequired") else {
        return Box::default();
    };
    let lists = lists.iter().map(|(name, required)| {
        let required = required.as_array().map(Vec::as_slice).unwrap_or_default();
        let required = required.iter().filter_map(Value::as_str).map(|wanted| {
            let message = format!("Field '{wanted}' is required if '{name}' is present");
            (wanted.into(), message.into())
        });
        Dependency { name: name.as_str().into(), required: required.collect() }
    });
    lists.filter(|dependency| !dependency.required.is_empty()).collect()
}
