//! Compiles alternatives, conditions and rules for parts of a value.

use std::collections::HashSet;

use stockade_errors::ConfigError;

use super::compile::{Compiler, State};
use crate::depth::MAX_DEPTH;
use crate::node::{Applicators, Node, PatternProperty};
use crate::pattern::Pattern;
use crate::rule::Rule;

impl Compiler<'_> {
    /// Compiles the parts of a rule. The second result contains the rules of
    /// `patternProperties`.
    pub(super) fn applicators(
        &mut self,
        rule: &mut Rule,
        levels: usize,
    ) -> (Option<Box<Applicators>>, Box<[PatternProperty]>) {
        if rule.parts.is_none() && !rule.keywords.contains_key("dependentRequired") {
            return (None, Box::default());
        }
        let mut parts = rule.parts.take().unwrap_or_default();
        let patterns = self.patterns(std::mem::take(&mut parts.patterns), levels);
        // A later version may write additional keys.
        let rest = parts.unevaluated_properties.as_deref();
        let closes = matches!(rest, Some(Rule { boolean: Some(false), .. }));
        if closes && !self.in_branch && !self.direction.is_read() {
            parts.unevaluated_properties = None;
        }
        let mut part = |rule, step: &str| self.part(rule, step, levels);
        let mut applicators = Applicators::compile(*parts, &rule.keywords, &mut part);
        applicators.has_patterns = !patterns.is_empty();
        ((!applicators.is_empty()).then_some(applicators), patterns)
    }

    fn patterns(&mut self, rules: Vec<(String, Rule)>, levels: usize) -> Box<[PatternProperty]> {
        let mut patterns = Vec::new();
        for (text, rule) in rules {
            let node = self.child(rule, ".*", levels);
            match Pattern::new(&text) {
                Ok(pattern) => patterns.push(PatternProperty { pattern, node }),
                Err(error) => {
                    let message = format!("invalid pattern {text:?}: {error}");
                    self.keyword_issue("patternProperties", &message);
                }
            }
        }
        patterns.into()
    }

    /// Compiles a rule that only checks its value and never changes it.
    fn part(&mut self, rule: Rule, step: &str, levels: usize) -> Node {
        let in_branch = std::mem::replace(&mut self.in_branch, true);
        let node = self.child(rule, step, levels);
        self.in_branch = in_branch;
        node
    }

    /// Reports the errors in definitions, used or unused. References resolve to
    /// the document rather than to these rules, so unused definitions do not
    /// appear in exported documents.
    pub(super) fn check_definitions(&mut self, definitions: Vec<(String, Rule)>) {
        for (name, rule) in definitions {
            let mut state = State::default();
            let (location, direction) = (rule.location, self.direction);
            let mut compiler = Compiler::new(&mut state, name, location, direction);
            let _node = compiler.compile(rule, MAX_DEPTH);
            self.state.unused.append(&mut state.mistakes);
        }
    }
}

impl State {
    /// Returns all errors. An error in a used definition is reported only once.
    pub(super) fn check(&mut self) -> Result<(), ConfigError> {
        let mut mistakes = std::mem::take(&mut self.mistakes);
        let known: HashSet<String> =
            mistakes.iter().map(|mistake| mistake.message().to_owned()).collect();
        let unused = std::mem::take(&mut self.unused).into_iter();
        mistakes.extend(unused.filter(|mistake| !known.contains(mistake.message())));
        ConfigError::check(mistakes)
    }
}
