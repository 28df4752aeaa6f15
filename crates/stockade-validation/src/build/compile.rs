//! Compiles a [`Rule`] to a [`Node`] and reports all configuration errors of a
//! schema at once.

use std::collections::HashSet;
use std::panic::Location;

use serde_json::{Map, Value};
use stockade_errors::{ConfigError, ConfigIssue};

use super::bounds;
use super::definition::Definitions;
use super::keyword::{self, Kind};
use super::reference::push_step;
use super::union_types::add_types_of_union;
use crate::check;
use crate::depth::{MAX_DEPTH, exceeds};
use crate::direction::Direction;
use crate::format::TextType;
use crate::function::Default;
use crate::node::{
    AdditionalRule, Applicators, ArrayRules, Compiled, Inner, Literals, MAX_BITS, Needs, Node,
    NumberRules, ObjectRules, PatternProperty, Property, Source, TextRules, Types, flag, kind,
    text_of,
};
use crate::number::Num;
use crate::rule::{Additional, Rule};
use crate::suggest::did_you_mean;
use crate::text_style;

/// Compiles a whole schema.
pub(crate) fn compile(rule: Rule) -> Result<Compiled, ConfigError> {
    let mut state = State::default();
    let (location, direction) = (rule.location, rule.direction);
    let mut compiler = Compiler::new(&mut state, String::new(), location, direction);
    let root = compiler.compile(rule, MAX_DEPTH);
    let definitions = state.compile_definitions();
    state.check()?;
    Ok(Compiled { root, definitions, needs: state.needs })
}

/// State shared by all compilers of a schema.
#[derive(Default)]
pub(super) struct State {
    pub(super) mistakes: Vec<ConfigIssue>,
    /// The errors in definitions, used or unused.
    pub(super) unused: Vec<ConfigIssue>,
    pub(super) definitions: Definitions,
    needs: Needs,
}

/// A compiler for one rule. Each child rule gets its own compiler.
pub(super) struct Compiler<'m> {
    pub(super) state: &'m mut State,
    /// Path of the field for error messages. Empty for the root.
    pub(super) path: String,
    pub(super) location: &'static Location<'static>,
    pub(super) direction: Direction,
    /// True if the rule is part of an alternative or a condition.
    pub(super) in_branch: bool,
    /// JSON pointer of the rule in its document.
    pointer: Option<Box<str>>,
}

impl<'m> Compiler<'m> {
    pub(super) fn new(
        state: &'m mut State,
        path: String,
        location: &'static Location<'static>,
        direction: Direction,
    ) -> Self {
        Self { state, path, location, direction, in_branch: false, pointer: None }
    }

    pub(super) fn issue(&mut self, message: impl AsRef<str>) {
        let message = message.as_ref();
        let message = match self.path.as_str() {
            "" => message.to_owned(),
            path => format!("field `{path}`: {message}"),
        };
        self.state.mistakes.push(ConfigIssue::new(message).at(self.location));
    }

    /// Reports an error in a keyword, with its position in the document.
    pub(super) fn keyword_issue(&mut self, keyword: &str, message: &str) {
        match &self.pointer {
            Some(pointer) => {
                let mut pointer = pointer.to_string();
                push_step(&mut pointer, keyword);
                self.issue(format!("{message} (at `{pointer}`)"));
            }
            None => self.issue(message),
        }
    }

    pub(super) fn compile(&mut self, mut rule: Rule, levels: usize) -> Node {
        let additional = rule.additional.clone();
        rule.turn(self.direction);
        if self.in_branch {
            // Alternatives may have different rules for additional properties.
            rule.additional = additional;
        }
        self.pointer = rule.pointer.take();
        self.check_marks(&rule);
        self.flatten(&mut rule, &mut Vec::new());
        for message in std::mem::take(&mut rule.mistakes) {
            self.issue(message);
        }
        add_types_of_union(&mut rule, self.direction);
        if levels == 0 {
            self.issue(format!("the schema is nested more than {MAX_DEPTH} levels deep"));
            return Node::default();
        }
        self.check_keywords(&mut rule.keywords);
        for message in text_style::mistakes(&rule.keywords) {
            self.issue(message);
        }
        let types = self.types(rule.keywords.get("type"));
        for message in bounds::contradictions(&rule.keywords, &types) {
            self.issue(message);
        }

        let typed = rule.typed.take().map(|typed| self.typed(*typed, levels));
        let default = self.default(&mut rule);
        self.check_definitions(std::mem::take(&mut rule.definitions));
        let (inner, places) = self.inner(&mut rule, levels);
        let (applicators, patterns) = self.applicators(&mut rule, levels);
        let array = self.array(&mut rule, &types, places, levels);
        let lists_keys = applicators.as_deref().is_some_and(Applicators::lists_keys);
        let object = self.object(&mut rule, &types, patterns, lists_keys, levels);
        let keywords = rule.keywords;
        let mut source = Source::new(&keywords, &types);
        let text = TextRules::compile(&mut source, rule.form, rule.canonical);
        let number = NumberRules::compile(&mut source);
        self.report(source);
        let mut node = Node {
            required: flag(&keywords, "required") && default.is_none(),
            nullable: flag(&keywords, "nullable"),
            trim: flag(&keywords, "trim"),
            never: rule.boolean == Some(false),
            literals: Literals::compile(&keywords),
            text,
            number,
            array,
            object,
            inner,
            applicators,
            typed,
            transform: rule.transform,
            custom: rule.custom,
            default,
            message: text_of(&keywords, "message").map(Into::into),
            keywords,
            documented: rule.documented,
            types,
            ..Node::default()
        };
        if node.accepts_bare_objects() {
            node.object = Some(Box::new(ObjectRules::bare()));
        }
        node.settle();
        self.note_needs(&node);
        for message in bounds::foreign_literals(&node) {
            self.issue(message);
        }
        self.try_default(&node);
        node
    }

    /// Reports keywords in positions without effect. In a schema document,
    /// `readOnly` and `writeOnly` are only annotations there; resources and
    /// JSON-RPC methods report them.
    fn check_marks(&mut self, rule: &Rule) {
        for mark in ["readOnly", "writeOnly"] {
            if self.in_branch && self.pointer.is_none() && flag(&rule.keywords, mark) {
                self.issue(format!(
                    "`{mark}` has no effect inside an alternative or condition: mark a property \
                     of the rule around it"
                ));
            }
        }
        for keyword in ["separator", "style", "maxBytes", "mediaTypes"] {
            if self.in_branch && rule.keywords.contains_key(keyword) {
                let message = format!(
                    "`{keyword}` has no effect inside an alternative or condition: set it on a \
                     property of the schema around it"
                );
                self.keyword_issue(keyword, &message);
            }
        }
    }

    /// Compiles the rule of a type without the keywords of the program. The complete rule reports
    /// the same configuration errors.
    fn typed(&mut self, mut rule: Rule, levels: usize) -> Box<Node> {
        let known = self.state.mistakes.len();
        rule.definitions.clear();
        let pointer = self.pointer.take();
        let node = self.compile(rule, levels);
        self.pointer = pointer;
        self.state.mistakes.truncate(known);
        Box::new(node)
    }

    /// Reports the errors in the keywords of one type.
    fn report(&mut self, source: Source<'_>) {
        for (keyword, message) in source.mistakes {
            self.keyword_issue(keyword, &message);
        }
    }

    /// Records features of the node that some validation paths do not support.
    fn note_needs(&mut self, node: &Node) {
        let needs = &mut self.state.needs;
        let has_functions = node.transform.is_some() || node.custom.is_some();
        let lists_containers = node.literals.iter().any(Literals::has_containers);
        let entries = node.object.as_deref().map_or(0, |rules| rules.entries.len());
        let has_patterns = node.object.as_deref().is_some_and(|rules| !rules.patterns.is_empty());
        needs.functions |= has_functions;
        needs.text_styles |= text_style::has_style(&node.keywords);
        needs.applicators |= node.applicators.is_some();
        needs.comparing |=
            lists_containers || node.array.as_deref().is_some_and(|rules| rules.needs_whole);
        needs.second_look |= has_functions
            || lists_containers
            || node.applicators.is_some()
            || has_patterns
            || entries > MAX_BITS
            || keyword::needs_whole(&node.keywords, kind::OBJECT);
        needs.second_look |= match node.inner.as_deref() {
            None => false,
            Some(Inner::Definition(_)) => !node.only_refers(),
            Some(Inner::Tagged(_) | Inner::Variants(_) | Inner::FirstOf(_)) => true,
        };
    }

    /// Reports and removes keywords that are unknown or have the wrong type.
    fn check_keywords(&mut self, keywords: &mut Map<String, Value>) {
        keywords.retain(|name, value| {
            let Some(kind) = keyword::kind_of(name).or_else(|| keyword::note_kind(name)) else {
                let near = did_you_mean(name, keyword::names());
                self.keyword_issue(name, &format!("unknown keyword `{name}`{near}"));
                return false;
            };
            let fits = match kind {
                Kind::Count => as_count(value),
                kind => kind.fits(value),
            };
            if !fits {
                self.keyword_issue(name, &format!("`{name}` must be {}", kind.wanted()));
            } else if exceeds(value, MAX_DEPTH) {
                self.issue(format!("`{name}` is nested more than {MAX_DEPTH} levels deep"));
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
            self.keyword_issue("type", "`type` must name a type");
        }
        let mut mask = 0;
        let mut formats = Vec::new();
        for name in &names {
            if let Some((_, bit)) = kind::NAMES.iter().find(|(known, _)| known == name) {
                mask |= bit;
            } else if let Some(format) = TextType::from_name(name) {
                formats.push(format);
            } else {
                let known = kind::NAMES.iter().map(|(known, _)| *known);
                let known = known.chain(TextType::ALL.iter().map(|form| form.name()));
                let near = did_you_mean(name, known);
                self.keyword_issue("type", &format!("unknown type `{name}`{near}"));
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
            self.issue(format!("`default` is nested more than {MAX_DEPTH} levels deep"));
        }
        default
    }

    fn array(
        &mut self,
        rule: &mut Rule,
        types: &Types,
        places: Box<[Node]>,
        levels: usize,
    ) -> Option<Box<ArrayRules>> {
        let items = rule.items.take().map(|items| self.child(*items, "[]", levels));
        let needs_whole = keyword::needs_whole(&rule.keywords, kind::ARRAY);
        let mut source = Source::new(&rule.keywords, types);
        let rules = ArrayRules::compile(&mut source, places, items, needs_whole);
        self.report(source);
        rules
    }

    fn object(
        &mut self,
        rule: &mut Rule,
        types: &Types,
        patterns: Box<[PatternProperty]>,
        lists_keys: bool,
        levels: usize,
    ) -> Option<Box<ObjectRules>> {
        let listed = rule.properties.take();
        let required = self.required_names(rule);
        let additional = match rule.additional.take() {
            None if lists_keys => AdditionalRule::Elsewhere,
            None => AdditionalRule::Unsaid,
            Some(Additional::Allowed(true)) => AdditionalRule::Allowed,
            Some(Additional::Allowed(false)) => AdditionalRule::Refused,
            Some(Additional::Rule(rule)) => {
                AdditionalRule::Node(Box::new(self.child(*rule, ".*", levels)))
            }
        };
        let aliases = self.aliases(listed.as_deref().unwrap_or_default());
        let properties = listed.map(|listed| self.properties(listed, levels));
        let mut source = Source::new(&rule.keywords, types);
        let mut rules =
            ObjectRules::compile(&mut source, properties, patterns, required, additional);
        self.report(source);
        if let Some(rules) = &mut rules {
            rules.aliases = aliases.into();
        }
        rules
    }

    /// Returns the aliases of properties, with the indices of the properties.
    fn aliases(&mut self, listed: &[(String, Rule)]) -> Vec<(Box<str>, usize)> {
        let mut aliases: Vec<(Box<str>, usize)> = Vec::new();
        for (place, (_, rule)) in listed.iter().enumerate() {
            for alias in &rule.aliases {
                let is_known = listed.iter().any(|(name, _)| name == alias)
                    || aliases.iter().any(|(known, _)| **known == **alias);
                if is_known {
                    self.issue(format!("the alias `{alias}` is the name of another property"));
                } else {
                    aliases.push((alias.as_str().into(), place));
                }
            }
        }
        aliases
    }

    fn properties(&mut self, listed: Vec<(String, Rule)>, levels: usize) -> Vec<Property> {
        let mut names = HashSet::new();
        let mut properties = Vec::new();
        for (name, rule) in listed {
            if !names.insert(name.clone()) {
                self.issue(format!("duplicate property `{name}`"));
            }
            let node = self.child(rule, &format!(".{name}"), levels);
            properties.push(Property { name: name.into(), node, in_required_list: false });
        }
        properties
    }

    /// Returns the required names, from the list form of `required` and from
    /// the rule's own list.
    fn required_names(&mut self, rule: &mut Rule) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if let Some(Value::Array(listed)) = rule.keywords.get("required") {
            names.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        names.append(&mut rule.required_fields);
        let mut seen = HashSet::new();
        for name in &names {
            if !seen.insert(name.as_str()) {
                self.issue(format!("duplicate name `{name}` in `required`"));
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
        let in_branch = self.in_branch;
        let compiler = Compiler::new(self.state, path, location, self.direction);
        Compiler { in_branch, ..compiler }.compile(rule, levels - 1)
    }

    /// Logs a warning if a default violates its own rule. The default still
    /// applies.
    fn try_default(&self, node: &Node) {
        let Some(Default::Value(value)) = &node.default else {
            return;
        };
        if !exceeds(value, MAX_DEPTH)
            && let Some(error) = check::first_error(node, value)
        {
            log::warn!(
                "the default {value} of field `{}` is invalid: {} ({}:{})",
                self.path,
                error.message,
                self.location.file(),
                self.location.line()
            );
        }
    }
}

/// Converts a non-negative whole number, such as 2.0, to an integer. Returns
/// false for other values.
fn as_count(value: &mut Value) -> bool {
    let count = value.as_number().and_then(|number| match Num::of(number) {
        Num::Whole(whole) => usize::try_from(whole).ok(),
        Num::Float(_) => None,
    });
    if let Some(count) = count {
        *value = count.into();
    }
    count.is_some()
}
