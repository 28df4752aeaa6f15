//! [`Rule`] to [`Node`]; every mistake is found here, and all are reported.

use std::collections::HashSet;
use std::panic::Location;

use serde_json::{Map, Value};
use stockade_errors::{ConfigError, Mistake};

use super::bounds;
use super::definition::Definitions;
use super::keyword::{self, Kind};
use crate::check;
use crate::depth::{MAX_DEPTH, exceeds};
use crate::format::{Format, TextType};
use crate::function::Default;
use crate::node::{
    AdditionalRule, ArrayRules, Bound, Compiled, Literals, Node, NumberRules, ObjectRules, OneOf,
    Property, RequiredName, Scalars, Size, TextRules, Types, kind,
};
use crate::number::Num;
use crate::pattern::Pattern;
use crate::rule::{Additional, Rule};
use crate::suggest::did_you_mean;

/// Compiles a whole schema.
pub(crate) fn compile(rule: Rule) -> Result<Compiled, ConfigError> {
    let mut state = State::default();
    let root = Compiler::new(&mut state, String::new(), rule.location).compile(rule, MAX_DEPTH);
    let definitions = state.compile_definitions();
    ConfigError::check(state.mistakes)?;
    // Without definitions the rules say how often one value is compared.
    let compares = state.compares && !definitions.is_empty();
    Ok(Compiled { root, definitions, wants_parsed: state.calls_functions || compares })
}

/// What all compilers of a schema share.
#[derive(Default)]
pub(super) struct State {
    pub(super) mistakes: Vec<Mistake>,
    pub(super) definitions: Definitions,
    /// A rule had a `transform` or a `custom`.
    pub(super) calls_functions: bool,
    /// A rule compares whole arrays or objects.
    pub(super) compares: bool,
}

/// Compiles one rule; its children have compilers of their own.
pub(super) struct Compiler<'m> {
    pub(super) state: &'m mut State,
    /// Path of the field, for the mistakes; empty for the root.
    pub(super) path: String,
    pub(super) location: &'static Location<'static>,
}

impl<'m> Compiler<'m> {
    pub(super) fn new(
        state: &'m mut State,
        path: String,
        location: &'static Location<'static>,
    ) -> Self {
        Self { state, path, location }
    }

    pub(super) fn mistake(&mut self, message: impl AsRef<str>) {
        let message = message.as_ref();
        let message = match self.path.as_str() {
            "" => message.to_owned(),
            path => format!("field `{path}`: {message}"),
        };
        self.state.mistakes.push(Mistake::new(message).at(self.location));
    }

    pub(super) fn compile(&mut self, mut rule: Rule, levels: usize) -> Node {
        self.flatten(&mut rule, &mut Vec::new());
        for message in std::mem::take(&mut rule.mistakes) {
            self.mistake(message);
        }
        if levels == 0 {
            self.mistake(format!("the schema is nested more than {MAX_DEPTH} levels deep"));
            return Node::default();
        }
        self.check_keywords(&mut rule.keywords);
        let types = self.types(rule.keywords.get("type"));
        for message in bounds::contradictions(&rule.keywords, &types) {
            self.mistake(message);
        }

        let default = self.default(&mut rule);
        let inner = self.inner(&mut rule, levels);
        let mut node = Node {
            types,
            required: flag(&rule.keywords, "required") && default.is_none(),
            nullable: flag(&rule.keywords, "nullable"),
            trim: flag(&rule.keywords, "trim"),
            never: rule.boolean == Some(false),
            literals: literals(&mut rule.keywords),
            text: self.text(&rule.keywords),
            number: number(&rule.keywords),
            size: size(&rule.keywords),
            array: self.array(&mut rule, levels),
            object: self.object(&mut rule, levels),
            inner,
            transform: rule.transform,
            custom: rule.custom,
            default,
            message: text_of(&rule.keywords, "message").map(Into::into),
            scalars: Scalars::default(),
            notes: Map::new(),
        };
        if node.takes_bare_objects() {
            // So that `allow_unknown(false)` finds that no key is listed.
            node.object = Some(Box::default());
        }
        self.note_needs(&node);
        rule.keywords.retain(|name, _| keyword::is_note(name));
        node.notes = rule.keywords;
        for message in bounds::foreign_literals(&node) {
            self.mistake(message);
        }
        self.try_default(&node);
        node.scalars = Scalars::of(&node);
        node
    }

    /// Notes what the node asks of the form of the data.
    fn note_needs(&mut self, node: &Node) {
        self.state.calls_functions |= node.transform.is_some() || node.custom.is_some();
        self.state.compares |= node.array.as_deref().is_some_and(|rules| rules.unique)
            || node.literals.as_deref().is_some_and(Literals::has_containers);
    }

    /// Takes out what is unknown or of the wrong kind.
    fn check_keywords(&mut self, keywords: &mut Map<String, Value>) {
        keywords.retain(|name, value| {
            let Some(kind) = keyword::kind_of(name).or_else(|| keyword::note_kind(name)) else {
                let near = did_you_mean(name, keyword::names());
                self.mistake(format!("unknown keyword `{name}`{near}"));
                return false;
            };
            let fits = match kind {
                Kind::Count => count(value).is_some(),
                kind => kind.fits(value),
            };
            if !fits {
                self.mistake(format!("`{name}` must be {}", kind.wanted()));
            } else if exceeds(value, MAX_DEPTH) {
                self.mistake(format!("`{name}` is nested more than {MAX_DEPTH} levels deep"));
            }
            fits
        });
    }

    fn types(&mut self, value: Option<&Value>) -> Types {
        let names: Vec<&str> = match value {
            None => return Types::default(),
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(name) => name.as_str().into_iter().collect(),
        };
        if names.is_empty() {
            self.mistake("`type` must name a type");
        }
        let mut mask = 0;
        let mut formats = Vec::new();
        for name in &names {
            if let Some((_, bit)) = kind::NAMES.iter().find(|(known, _)| known == name) {
                mask |= bit;
            } else if let Some(format) = TextType::from_name(name) {
                formats.push(format);
            } else {
                let known = kind::NAMES.iter().map(|(known, _)| *known).chain(TEXT_TYPES);
                self.mistake(format!("unknown type `{name}`{}", did_you_mean(name, known)));
            }
        }
        Types { mask, formats: formats.into(), expected: names.join(" or ").into() }
    }

    fn default(&mut self, rule: &mut Rule) -> Option<Default> {
        let default = rule
            .default
            .take()
            .or_else(|| rule.keywords.get("default").cloned().map(Default::Value));
        if let Some(Default::Value(value)) = &default
            && exceeds(value, MAX_DEPTH)
        {
            self.mistake(format!("`default` is nested more than {MAX_DEPTH} levels deep"));
        }
        default
    }

    fn text(&mut self, keywords: &Map<String, Value>) -> Option<Box<TextRules>> {
        let pattern = text_of(keywords, "pattern").and_then(|text| match Pattern::new(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.mistake(format!("bad pattern {text:?}: {error}"));
                None
            }
        });
        let format = text_of(keywords, "format").and_then(|name| {
            let format = Format::from_name(name);
            if format.is_none() {
                self.mistake(format!("unknown format `{name}`{}", did_you_mean(name, FORMATS)));
            }
            format
        });
        let rules = TextRules {
            min_length: count_of(keywords, "minLength"),
            max_length: count_of(keywords, "maxLength"),
            pattern,
            format,
        };
        let TextRules { min_length, max_length, pattern, format } = &rules;
        let empty =
            min_length.is_none() && max_length.is_none() && pattern.is_none() && format.is_none();
        (!empty).then(|| Box::new(rules))
    }

    fn array(&mut self, rule: &mut Rule, levels: usize) -> Option<Box<ArrayRules>> {
        let items = rule.items.take().map(|items| self.child(*items, "[]", levels));
        let rules = ArrayRules {
            min_items: count_of(&rule.keywords, "minItems"),
            max_items: count_of(&rule.keywords, "maxItems"),
            unique: flag(&rule.keywords, "uniqueItems"),
            items,
        };
        let empty = rules.min_items.is_none()
            && rules.max_items.is_none()
            && !rules.unique
            && rules.items.is_none();
        (!empty).then(|| Box::new(rules))
    }

    fn object(&mut self, rule: &mut Rule, levels: usize) -> Option<Box<ObjectRules>> {
        let listed = rule.properties.take();
        let required = self.required_names(rule);
        let additional = match rule.additional.take() {
            None => AdditionalRule::Unsaid,
            Some(Additional::Allowed(true)) => AdditionalRule::Allowed,
            Some(Additional::Allowed(false)) => AdditionalRule::Refused,
            Some(Additional::Rule(rule)) => {
                AdditionalRule::Node(Box::new(self.child(*rule, ".*", levels)))
            }
        };
        let min_properties = count_of(&rule.keywords, "minProperties");
        let max_properties = count_of(&rule.keywords, "maxProperties");
        if listed.is_none()
            && required.is_empty()
            && matches!(additional, AdditionalRule::Unsaid)
            && min_properties.is_none()
            && max_properties.is_none()
        {
            return None;
        }

        let lists_properties = listed.is_some();
        let names: HashSet<&str> = required.iter().map(String::as_str).collect();
        let mut properties: Vec<Property> = Vec::new();
        // Without a list there are no properties to compile.
        for (name, rule) in listed.unwrap_or_default() {
            let node = self.child(rule, &format!(".{name}"), levels);
            let in_required_list = names.contains(name.as_str());
            properties.push(Property { name: name.into(), node, in_required_list });
        }
        let by_name = self.by_name(&properties);
        let mut rules = ObjectRules {
            lists_properties,
            properties,
            by_name,
            required: Vec::new(),
            additional,
            min_properties,
            max_properties,
        };
        rules.required = required
            .into_iter()
            .map(|name| {
                let index = rules.find(&name, 0);
                let excused =
                    index.is_some_and(|index| rules.properties[index].node.default.is_some());
                RequiredName { name: name.into(), index, excused }
            })
            .collect();
        Some(Box::new(rules))
    }

    /// The indices of the properties, sorted for searching.
    fn by_name(&mut self, properties: &[Property]) -> Box<[usize]> {
        let name = |index: &usize| -> &str { &properties[*index].name };
        let mut by_name: Vec<usize> = (0..properties.len()).collect();
        by_name.sort_by(|left, right| {
            let (left, right) = (name(left), name(right));
            left.len().cmp(&right.len()).then_with(|| left.cmp(right))
        });
        for pair in by_name.windows(2) {
            if name(&pair[0]) == name(&pair[1]) {
                self.mistake(format!("property `{}` is given twice", name(&pair[0])));
            }
        }
        by_name.into()
    }

    /// The names of the list form of `required`.
    fn required_names(&mut self, rule: &mut Rule) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if let Some(Value::Array(listed)) = rule.keywords.get("required") {
            names.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        names.append(&mut rule.required_fields);
        let mut seen = HashSet::new();
        for name in &names {
            if !seen.insert(name.as_str()) {
                self.mistake(format!("`required` names `{name}` twice"));
            }
        }
        names
    }

    pub(super) fn child(&mut self, rule: Rule, step: &str, levels: usize) -> Node {
        let path = match step.strip_prefix('.') {
            Some(name) if self.path.is_empty() => name.to_owned(),
            _ => format!("{}{step}", self.path),
        };
        let location = rule.location;
        Compiler::new(self.state, path, location).compile(rule, levels - 1)
    }

    /// A default that breaks its own rule is put in all the same.
    fn try_default(&self, node: &Node) {
        let Some(Default::Value(value)) = &node.default else {
            return;
        };
        if !exceeds(value, MAX_DEPTH)
            && let Some(error) = check::first_error(node, value)
        {
            log::warn!(
                "the default {value} of field `{}` breaks its own rule: {} ({}:{})",
                self.path,
                error.message,
                self.location.file(),
                self.location.line()
            );
        }
    }
}

fn literals(keywords: &mut Map<String, Value>) -> Option<Box<Literals>> {
    let one_of = match keywords.remove("enum") {
        Some(Value::Array(values)) => Some(OneOf::new(values)),
        _ => None,
    };
    let constant = keywords.remove("const").map(|value| {
        let message = format!("Must be {value}");
        (value, message)
    });
    if one_of.is_none() && constant.is_none() {
        return None;
    }
    Some(Box::new(Literals { one_of, constant }))
}

fn number(keywords: &Map<String, Value>) -> Option<Box<NumberRules>> {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_number).map(Bound::new);
    let rules = NumberRules {
        minimum: bound("minimum"),
        maximum: bound("maximum"),
        exclusive_minimum: bound("exclusiveMinimum"),
        exclusive_maximum: bound("exclusiveMaximum"),
    };
    let NumberRules { minimum, maximum, exclusive_minimum, exclusive_maximum } = &rules;
    let bounds = [minimum, maximum, exclusive_minimum, exclusive_maximum];
    let empty = bounds.into_iter().all(Option::is_none);
    (!empty).then(|| Box::new(rules))
}

fn size(keywords: &Map<String, Value>) -> Option<Box<Size>> {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_number).map(Bound::new);
    let size = Size { min: bound("min"), max: bound("max") };
    (size.min.is_some() || size.max.is_some()).then(|| Box::new(size))
}

fn flag(keywords: &Map<String, Value>, name: &str) -> bool {
    keywords.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn text_of<'k>(keywords: &'k Map<String, Value>, name: &str) -> Option<&'k str> {
    keywords.get(name).and_then(Value::as_str)
}

fn count_of(keywords: &Map<String, Value>, name: &str) -> Option<usize> {
    keywords.get(name).and_then(count)
}

/// A whole number of 0 or more; 2.0 is one.
fn count(value: &Value) -> Option<usize> {
    match Num::of(value.as_number()?) {
        Num::Whole(whole) => usize::try_from(whole).ok(),
        Num::Float(_) => None,
    }
}

const TEXT_TYPES: [&str; 6] = ["email", "url", "uuid", "phone", "credit-card", "date"];

const FORMATS: [&str; 12] = [
    "email",
    "uri",
    "url",
    "uuid",
    "phone",
    "credit-card",
    "date",
    "date-time",
    "time",
    "hostname",
    "ipv4",
    "ipv6",
];
