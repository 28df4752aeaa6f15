//! [`Break`]: a violation of exactly one schema rule.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fit::{list, names_of, whole_of};
use super::text;
use super::values::{Edit, Maker, Source, Step, TRIMMED, number_of, parts_of};

/// A way to violate one rule.
#[derive(Clone, Debug)]
pub(super) struct Break {
    pub(super) place: Vec<Step>,
    pub(super) edit: Edit,
    /// The field that the response must name.
    pub(super) field: String,
    /// The accepted names of the rule: one JSON Schema keyword may correspond
    /// to several validation rules.
    pub(super) rules: Vec<String>,
    /// True inside a variant without a tag. The response may name a field of another variant, if
    /// that variant is closer.
    pub(super) is_in_variant: bool,
}

/// A rule that no request violated, with the reason.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Unbroken {
    pub(super) field: String,
    pub(super) rule: String,
    pub(super) why: String,
}

/// Returns a way to violate each rule of a schema, and the rules that cannot be
/// violated.
pub(super) fn of(maker: &Maker, schema: &Value, field: &str) -> (Vec<Break>, Vec<Unbroken>) {
    let mut finder = Finder { maker, breaks: Vec::new(), unbroken: Vec::new(), above: Vec::new() };
    let place = Place { steps: Vec::new(), field: field.to_owned() };
    finder.visit(schema, &place);
    (finder.breaks, finder.unbroken)
}

#[derive(Clone)]
struct Place {
    steps: Vec<Step>,
    field: String,
}

impl Place {
    fn member(&self, name: &str) -> Self {
        let field = self.field_of(name);
        self.inside(Step::Field(name.to_owned()), field)
    }

    /// Returns the path of a member, in the notation of responses.
    fn field_of(&self, name: &str) -> String {
        if self.field.is_empty() { name.to_owned() } else { format!("{}.{name}", self.field) }
    }

    fn inside(&self, step: Step, field: String) -> Self {
        Self { steps: self.steps.iter().cloned().chain([step]).collect(), field }
    }
}

struct Finder<'m> {
    maker: &'m Maker,
    breaks: Vec<Break>,
    unbroken: Vec<Unbroken>,
    /// The named schemas that are being visited.
    above: Vec<String>,
}

impl Finder<'_> {
    fn visit(&mut self, schema: &Value, place: &Place) {
        if let Some((name, target)) = self.maker.schemas.target(schema) {
            // A recursive schema has the same rules at each level.
            if self.above.iter().any(|it| it == name) {
                return;
            }
            let (name, target) = (name.to_owned(), target.clone());
            self.above.push(name);
            self.visit(&target, place);
            self.above.pop();
            return;
        }
        let Value::Object(rules) = schema else { return };
        self.wrong_type(rules, place);
        if let Some(parts) = parts_of(rules) {
            self.union(&parts, place);
            return;
        }
        if self.literals(rules, place) {
            return;
        }
        if rules.contains_key("not") {
            self.leave_out(place, "not", "the rule is code, which documents do not name");
        }
        let takes =
            |name: &str| rules.get("type").is_some_and(|it| names_of(it).any(|it| it == name));
        if takes("string") {
            self.text(rules, place);
        }
        if takes("integer") || takes("number") {
            self.number(rules, place, takes("integer"));
        }
        if takes("array") {
            self.array(rules, place);
        }
        if takes("object") {
            self.object(rules, place);
        }
    }

    fn union(&mut self, parts: &[&Value], place: &Place) {
        let parts: Vec<_> =
            parts.iter().enumerate().filter(|(_, part)| part["type"] != "null").collect();
        let is_alone = parts.len() == 1;
        for (index, part) in parts {
            let inside = place.inside(Step::Variant(index), place.field.clone());
            let first = self.breaks.len();
            self.visit(part, &inside);
            // A value that violates a rule of the variant itself may fit
            // another variant. Its members are validated as members of this
            // variant.
            let is_inner = |found: &Break| found.place.len() > inside.steps.len();
            let mut found = self.breaks.split_off(first);
            // A missing or extra member cannot turn a value into another variant
            // if the tag identifies the variant.
            let has_tag = self.has_tag(part);
            let is_member = |found: &Break| !matches!(found.edit, Edit::Replace(_));
            found.retain(|it| is_alone || is_inner(it) || (has_tag && is_member(it)));
            let is_certain = is_alone || has_tag || self.is_named(part);
            found.iter_mut().for_each(|it| it.is_in_variant |= !is_certain);
            self.breaks.extend(found);
        }
    }

    /// Returns true if a variant has a tag, which is a member with a constant.
    fn has_tag(&self, part: &Value) -> bool {
        let rules = self.maker.schemas.followed(part);
        let members = rules.get("properties").and_then(Value::as_object);
        members.is_some_and(|it| it.values().any(|rule| rule.get("const").is_some()))
    }

    /// Returns true if the only member of a variant is its name.
    fn is_named(&self, part: &Value) -> bool {
        let rules = self.maker.schemas.followed(part);
        let members = rules.get("properties").and_then(Value::as_object);
        rules.get("additionalProperties") == Some(&Value::Bool(false))
            && members.is_some_and(|members| members.len() == 1)
            && rules.get("required").and_then(Value::as_array).is_some_and(|it| it.len() == 1)
    }

    fn wrong_type(&mut self, rules: &Map<String, Value>, place: &Place) {
        let Some(types) = rules.get("type") else { return };
        let takes = |kind: &str| {
            names_of(types).any(|name| name == kind || (name == "number" && kind == "integer"))
        };
        let other = match self.maker.source {
            // All parameters are text.
            Source::Path | Source::Query
                if takes("string") || takes("array") || takes("object") =>
            {
                return;
            }
            Source::Path | Source::Query => json!("x"),
            Source::Body => {
                let others = [
                    ("string", json!("x")),
                    ("boolean", json!(true)),
                    ("integer", json!(7)),
                    ("array", json!([])),
                    ("object", json!({})),
                ];
                match others.into_iter().find(|(kind, _)| !takes(kind)) {
                    Some((_, other)) => other,
                    None => return,
                }
            }
        };
        self.replace(place, Just(other).boxed(), &["type"]);
        if self.maker.source == Source::Body
            && takes("integer")
            && !names_of(types).any(|name| name == "number")
        {
            self.replace(place, Just(json!(0.5)).boxed(), &["type"]);
        }
    }

    /// Violates `enum` and `const`. Returns true if the schema has one of them.
    fn literals(&mut self, rules: &Map<String, Value>, place: &Place) -> bool {
        let values: Vec<&Value> = list(rules, "enum").chain(rules.get("const")).collect();
        if values.is_empty() {
            return false;
        }
        let other = match values.iter().find(|value| !value.is_null()) {
            Some(Value::String(_)) => json!("none of these"),
            Some(Value::Number(_)) => json!(123_456_789),
            _ => return true,
        };
        if !values.contains(&&other) {
            self.replace(place, Just(other).boxed(), &["enum", "const"]);
        }
        true
    }

    fn text(&mut self, rules: &Map<String, Value>, place: &Place) {
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let pattern = rules.get("pattern").and_then(Value::as_str);
        if let Some(least) = bound("minLength").filter(|least| *least > 0) {
            let short = "a".repeat(usize::try_from(least - 1).unwrap_or_default());
            let names: &[&str] = if least == 1 {
                &["minLength", "min", "required", "format"]
            } else {
                &["minLength", "min", "format"]
            };
            // A path does not have empty segments.
            if !(short.is_empty() && self.maker.source == Source::Path) {
                self.replace(place, Just(json!(short)).boxed(), names);
            }
        }
        if let Some(most) = bound("maxLength") {
            match usize::try_from(most).ok().filter(|most| *most <= LONG) {
                Some(most) => {
                    let long = Just(json!("a".repeat(most + 1))).boxed();
                    self.replace(place, long, &["maxLength", "max", "format"]);
                }
                None => self.leave_out(place, "maxLength", "a longer string is too large"),
            }
        }
        if let Some(pattern) = pattern {
            self.pattern(rules, pattern, place);
        }
        if let Some(format) = rules.get("format").and_then(Value::as_str) {
            match text::of_format(format) {
                Some(_) => self.replace(
                    place,
                    Just(json!("!")).boxed(),
                    &["format", format, short_form(format)],
                ),
                None => self.leave_out(
                    place,
                    "format",
                    &format!("cannot generate strings of the format `{format}`"),
                ),
            }
        }
    }

    fn pattern(&mut self, rules: &Map<String, Value>, pattern: &str, place: &Place) {
        let other: Map<String, Value> = rules
            .iter()
            .filter(|(name, _)| *name != "pattern")
            .map(|(name, rule)| (name.clone(), rule.clone()))
            .collect();
        let other = Value::Object(other);
        let schemas = &self.maker.schemas;
        let is_trim = TRIMMED.iter().any(|trim| pattern.starts_with(trim));
        let lengths =
            [1, 2, 3, 8, 40].into_iter().chain(rules.get("minLength").and_then(Value::as_u64));
        let texts = lengths.flat_map(|length| {
            ["!", "\u{e9}", " ", "a", "0", "Z"]
                .map(|char| char.repeat(usize::try_from(length).unwrap_or(1)))
        });
        // White space in a path or query may be trimmed.
        let mut texts = texts.filter(|text| is_trim || !text.contains(' '));
        let found = texts
            .find(|text| !schemas.is_pattern(pattern, text) && schemas.fits(&other, &json!(text)));
        let names: &[&str] = if is_trim {
            &["minLength", "min", "required", "pattern"]
        } else {
            &["pattern", "format"]
        };
        match found {
            Some(text) => self.replace(place, Just(json!(text)).boxed(), names),
            None => {
                self.leave_out(place, "pattern", "found no string that violates only this rule")
            }
        }
    }

    fn number(&mut self, rules: &Map<String, Value>, place: &Place, is_whole: bool) {
        // The type itself rejects numbers outside its range.
        let has_size =
            rules.get("format").and_then(Value::as_str).is_some_and(|it| it.contains("int"));
        for (name, short, step) in [("minimum", "min", -1), ("maximum", "max", 1)] {
            if let Some(bound) = rules.get(name) {
                let names: &[&str] = if has_size { &[name, short, "type"] } else { &[name, short] };
                self.replace(place, Just(beyond(bound, step, is_whole)).boxed(), names);
            }
        }
        for name in ["exclusiveMinimum", "exclusiveMaximum"] {
            if let Some(bound) = rules.get(name) {
                self.replace(place, Just(bound.clone()).boxed(), &[name]);
            }
        }
    }

    fn array(&mut self, rules: &Map<String, Value>, place: &Place) {
        let places: Vec<Value> = list(rules, "prefixItems").cloned().collect();
        for (index, rule) in places.iter().enumerate() {
            let field = format!("{}[{index}]", place.field);
            self.visit(rule, &place.inside(Step::Item(index), field));
        }
        if !places.is_empty() {
            return;
        }
        let Some(item) = rules.get("items") else { return };
        self.visit(item, &place.inside(Step::Item(0), format!("{}[0]", place.field)));
        self.counts(rules, item, place);
    }

    fn counts(&mut self, rules: &Map<String, Value>, item: &Value, place: &Place) {
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let Ok(made) = self.maker.values(item, None) else { return };
        let lists = |count: u64| {
            let count = usize::try_from(count).unwrap_or_default();
            prop::collection::vec(made.clone(), count).prop_map(Value::from)
        };
        let least = bound("minItems").filter(|least| *least > 0);
        if least == Some(1) && self.maker.source != Source::Body {
            self.leave_out(place, "minItems", "a query cannot contain an empty list");
        } else if let Some(least) = least {
            self.replace(place, lists(least - 1).boxed(), &["minItems", "min", "required"]);
        }
        match bound("maxItems") {
            Some(most) if most < 1_000 => {
                self.replace(place, lists(most + 1).boxed(), &["maxItems", "max"]);
            }
            Some(_) => self.leave_out(place, "maxItems", "a longer list is too large"),
            None => {}
        }
        if rules.get("uniqueItems") == Some(&Value::Bool(true)) {
            let count = bound("minItems").unwrap_or(0).max(2);
            let twice =
                move |item: Value| Value::from(vec![item; usize::try_from(count).unwrap_or(2)]);
            self.replace(place, made.prop_map(twice).boxed(), &["uniqueItems"]);
        }
    }

    fn object(&mut self, rules: &Map<String, Value>, place: &Place) {
        let listed =
            rules.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for name in list(rules, "required").filter_map(Value::as_str) {
            // A path with a missing segment is a different path.
            if self.maker.source != Source::Path {
                self.edit(
                    place,
                    Edit::Remove(name.to_owned()),
                    place.field_of(name),
                    &["required"],
                );
            }
        }
        for (name, rule) in &listed {
            if let Err(why) = self.maker.values(rule, None) {
                self.leave_out(&place.member(name), "(all)", &why);
                continue;
            }
            self.visit(rule, &place.member(name));
        }
        if rules.get("additionalProperties") == Some(&Value::Bool(false))
            && self.maker.source != Source::Path
        {
            let name = "not_in_the_schema";
            self.edit(
                place,
                Edit::Add(name.to_owned()),
                place.field_of(name),
                &["additionalProperties"],
            );
        }
        for name in ["minProperties", "maxProperties"] {
            if rules.contains_key(name) {
                self.leave_out(place, name, "members with any name are not counted");
            }
        }
    }

    fn replace(&mut self, place: &Place, other: BoxedStrategy<Value>, rules: &[&str]) {
        self.edit(place, Edit::Replace(other), place.field.clone(), rules);
    }

    fn edit(&mut self, place: &Place, edit: Edit, field: String, rules: &[&str]) {
        let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
        let place = place.steps.clone();
        self.breaks.push(Break { place, edit, field, rules, is_in_variant: false });
    }

    fn leave_out(&mut self, place: &Place, rule: &str, why: &str) {
        let (field, rule, why) = (place.field.clone(), rule.to_owned(), why.to_owned());
        self.unbroken.push(Unbroken { field, rule, why });
    }
}

/// Returns the name of a format as a type of text has it.
fn short_form(format: &str) -> &str {
    if format == "uri" { "url" } else { format }
}

/// Returns a number just outside a bound.
fn beyond(bound: &Value, step: i128, is_whole: bool) -> Value {
    match (whole_of(bound), bound.as_f64()) {
        (Some(bound), _) => {
            let next = bound + step;
            let is_exact = i64::try_from(next).is_ok() || u64::try_from(next).is_ok();
            if is_exact { number_of(next) } else { number_of(next * 4) }
        }
        #[expect(clippy::cast_precision_loss, reason = "it is 1 or -1")]
        (None, Some(bound)) => {
            let next = bound + step as f64 * bound.abs().max(1.0);
            if is_whole { json!(next.trunc()) } else { json!(next) }
        }
        (None, None) => Value::Null,
    }
}

/// The longest text that is sent to violate a rule.
const LONG: usize = 100_000;
