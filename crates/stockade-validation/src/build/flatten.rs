//! Flattening: merges the properties of one rule into another.

use serde_json::{Value, json};

use super::compile::Compiler;
use super::keyword;
use crate::direction::Direction;
use crate::inner::{FirstOfRule, InnerRule, Key, TaggedRule, VariantsRule};
use crate::rule::{Additional, Rule};

impl Compiler<'_> {
    /// Merges the flattened rules into `rule`. `trail` contains the references
    /// followed so far.
    pub(super) fn flatten(&mut self, rule: &mut Rule, trail: &mut Vec<Key>) {
        let mut unions = Vec::new();
        for other in std::mem::take(&mut rule.flattened) {
            let presence = other.presence;
            if presence.is_none(self.direction) {
                continue;
            }
            let is_left_out = self.direction == Direction::Write && presence.is_sometimes();
            let known = trail.len();
            if let Some(other) = self.expand(other, trail) {
                self.merge(rule, other, is_left_out, &mut unions);
            }
            trail.truncate(known);
        }
        let mut unions = unions.into_iter();
        if let Some(union) = unions.next() {
            if unions.next().is_some() || rule.inner.is_some() {
                self.issue("only one union can be flattened into an object");
            }
            spread(rule, union);
        }
    }

    /// Replaces a reference with its target and flattens the result.
    pub(super) fn expand(&mut self, mut rule: Rule, trail: &mut Vec<Key>) -> Option<Rule> {
        rule.turn(self.direction);
        while let Some(InnerRule::Reference(reference)) = &rule.inner {
            if trail.contains(&reference.key) {
                self.issue(format!("`{}` cannot contain itself", reference.name));
                return None;
            }
            trail.push(reference.key.clone());
            let mut target = reference.rule();
            target.turn(self.direction);
            target.keywords.extend(rule.keywords);
            target.canonical = rule.canonical.or(target.canonical);
            target.custom = rule.custom.or(target.custom);
            target.transform = rule.transform.or(target.transform);
            target.mistakes.append(&mut rule.mistakes);
            rule = target;
        }
        self.flatten(&mut rule, trail);
        Some(rule)
    }

    fn merge(
        &mut self,
        rule: &mut Rule,
        mut other: Rule,
        is_left_out: bool,
        unions: &mut Vec<Union>,
    ) {
        for message in std::mem::take(&mut other.mistakes) {
            self.issue(message);
        }
        let is_object = other.type_name().is_none_or(|kind| kind == "object");
        let optional = is_left_out || other.keywords.get("nullable") == Some(&Value::Bool(true));
        if other.custom.is_some()
            || other.transform.is_some()
            || other.parts.is_some()
            || other.keywords.keys().any(|name| keyword::bounds_members(name))
        {
            self.issue(
                "a rule with `custom`, `transform`, `minProperties`, `maxProperties`, \
                 alternatives or conditions cannot be flattened",
            );
        }
        let is_marked = |keyword: &&str| other.keywords.get(*keyword) == Some(&Value::Bool(true));
        let marks: Vec<&str> = ["readOnly", "writeOnly"].into_iter().filter(is_marked).collect();
        match other.inner.take() {
            None if is_object => take_properties(rule, other, optional, &marks),
            Some(InnerRule::Tagged(_) | InnerRule::Variants(_) | InnerRule::FirstOf(_))
                if !marks.is_empty() =>
            {
                self.issue("a flattened union cannot be marked: mark the fields of its variants");
            }
            Some(InnerRule::Tagged(union)) => {
                unions.push(Union { form: Form::Tagged(union), optional });
            }
            Some(InnerRule::Variants(union)) => {
                unions.push(Union { form: Form::Keys(union), optional });
            }
            Some(InnerRule::FirstOf(union)) => {
                unions.push(Union { form: Form::FirstOf(union), optional });
            }
            _ => self.issue("only objects, maps and unions can be flattened"),
        }
    }
}

/// A union to be flattened into an object.
struct Union {
    form: Form,
    /// True if the whole union may be absent.
    optional: bool,
}

enum Form {
    Tagged(TaggedRule),
    /// The property name selects the variant.
    Keys(VariantsRule),
    FirstOf(FirstOfRule),
}

/// Moves the properties of `other` into `rule` and applies `marks` to each of
/// them.
fn take_properties(rule: &mut Rule, other: Rule, optional: bool, marks: &[&str]) {
    let marked = |rule: Rule| marks.iter().fold(rule, |rule, mark| rule.with(mark, true));
    let listed = match other.keywords.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    if !optional {
        let listed = listed.iter().filter_map(Value::as_str).map(str::to_owned);
        rule.required_fields.extend(listed.chain(other.required_fields));
    }
    // A rule may have no list of properties.
    let properties = other.properties.unwrap_or_default().into_iter().map(|(name, mut rule)| {
        if optional {
            rule.keywords.remove("required");
        }
        (name, marked(rule))
    });
    rule.properties.get_or_insert_default().extend(properties);
    if let Some(Additional::Rule(values)) = other.additional {
        rule.additional.get_or_insert(Additional::Rule(Box::new(marked(*values))));
    }
}

/// Turns `rule` into a union and adds its properties to each variant.
fn spread(rule: &mut Rule, Union { form, optional }: Union) {
    let mut base = Rule::at(rule.location).with("type", "object");
    base.properties = rule.properties.take();
    base.required_fields = std::mem::take(&mut rule.required_fields);
    base.additional = rule.additional.take();
    if let Some(list @ Value::Array(_)) = rule.keywords.get("required").cloned() {
        rule.keywords.remove("required");
        base = base.with("required", list);
    }
    rule.keywords.insert("type".to_owned(), "object".into());
    rule.inner = Some(match form {
        Form::Tagged(union) => InnerRule::Tagged(spread_tagged(&base, union, optional)),
        Form::Keys(union) => InnerRule::FirstOf(spread_keys(&base, union, optional)),
        Form::FirstOf(union) => InnerRule::FirstOf(spread_first_of(&base, union, optional)),
    });
}

fn spread_tagged(base: &Rule, union: TaggedRule, optional: bool) -> TaggedRule {
    let spread = |variant| base.clone().flatten(variant);
    // Otherwise an object with the tag would also match this rule.
    let no_tag = json!({ "not": { "required": [union.tag] } });
    TaggedRule {
        tag: union.tag,
        variants: union.variants.into_iter().map(|(name, it)| (name, spread(it))).collect(),
        other: union.other.map(|it| Box::new(spread(*it))),
        absent: match union.absent {
            Some(absent) => Some(Box::new(spread(*absent))),
            None => optional.then(|| Box::new(base.clone().documented(no_tag))),
        },
    }
}

/// serde reads the first member with the name of a variant, so an object may have only one such
/// member.
fn spread_keys(base: &Rule, union: VariantsRule, optional: bool) -> FirstOfRule {
    let keys: Vec<String> = union.variants.iter().map(|(name, _)| name.clone()).collect();
    let mut variants: Vec<Rule> = Vec::new();
    for (name, content) in union.variants {
        let content = content.unwrap_or_else(|| Rule::at(base.location).with("type", "null"));
        let variant = base.clone().property(name.clone(), content);
        variants.push(variant.required_fields([name]));
    }
    if optional {
        let never = || Rule { boolean: Some(false), ..Rule::at(base.location) };
        variants.push(base.clone().properties(keys.iter().map(|name| (name.clone(), never()))));
    }
    FirstOfRule { variants, choice: None, keys }
}

fn spread_first_of(base: &Rule, union: FirstOfRule, optional: bool) -> FirstOfRule {
    let spread = |variant: Rule| {
        let is_object = variant.type_name().is_none_or(|kind| kind == "object");
        if is_object {
            base.clone().flatten(variant)
        } else {
            // serde does not read this variant from an object. It stays in the list, because
            // serde's choice is an index.
            Rule { boolean: Some(false), ..Rule::at(base.location) }
        }
    };
    let mut variants: Vec<Rule> = union.variants.into_iter().map(spread).collect();
    let otherwise = optional.then_some(variants.len());
    variants.extend(optional.then(|| base.clone()));
    let properties = base.properties.iter().flatten();
    let hidden = properties.flat_map(|(name, rule)| rule.aliases.iter().chain([name])).cloned();
    let hidden: Vec<String> = hidden.collect();
    let choice = union.choice.map(|choice| choice.without(hidden, otherwise));
    FirstOfRule { variants, choice, keys: union.keys }
}
