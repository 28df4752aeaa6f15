//! [`Maker`]: strategies for the values of a schema.

use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fit::{Schemas, list, names_of, whole_of};
use super::text::{self, Alphabet};

/// A step from a schema to a nested schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// A property.
    Field(String),
    /// An item of an array.
    Item(usize),
    /// A schema of `oneOf` or `anyOf`, at the same position in the data.
    Variant(usize),
}

/// A change of a value at one position, which violates one rule.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// Another value.
    Replace(BoxedStrategy<Value>),
    /// An object without this member.
    Remove(String),
    /// An object with this additional member.
    Add(String),
}

/// The position and the change that a strategy must apply.
pub(super) type Focus<'f> = Option<(&'f [Step], &'f Edit)>;

/// A strategy, or the reason why none exists.
pub(super) type Made = Result<BoxedStrategy<Value>, String>;

/// The part of a request that values are for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// The path parameters: non-empty texts.
    Path,
    /// The query: texts and lists of texts.
    Query,
    /// The body, as JSON.
    Body,
}

/// Creates strategies for the values of schemas.
#[derive(Clone)]
pub(super) struct Maker {
    pub(super) schemas: Rc<Schemas>,
    pub(super) alphabet: Alphabet,
    pub(super) source: Source,
}

impl Maker {
    /// Returns a strategy for values that fit a schema, except at the focus.
    pub(super) fn values(&self, schema: &Value, focus: Focus<'_>) -> Made {
        let made = self.make(schema, focus, &mut Vec::new())?;
        if focus.is_some() {
            return Ok(made);
        }
        let (schemas, schema) = (Rc::clone(&self.schemas), schema.clone());
        let fits = move |value: &Value| schemas.fits(&schema, value);
        Ok(made.prop_filter("found no value that matches the schema", fits).boxed())
    }

    /// Returns a strategy for a schema that is nested in these named schemas.
    fn make(&self, schema: &Value, focus: Focus<'_>, above: &mut Vec<String>) -> Made {
        if let Some(([], Edit::Replace(other))) = focus {
            return Ok(other.clone());
        }
        let rules = match schema {
            Value::Bool(false) => return Err("no value is allowed".to_owned()),
            Value::Object(rules) => rules,
            _ => return Ok(any()),
        };
        if let Some((name, target)) = self.schemas.target(schema) {
            if above.iter().filter(|it| *it == name).count() >= DEEPEST {
                return Err(format!("`{name}` contains itself"));
            }
            above.push(name.to_owned());
            let made = self.make(target, focus, above);
            above.pop();
            return made;
        }
        if let Some(value) = rules.get("const") {
            return Ok(Just(value.clone()).boxed());
        }
        let values = list(rules, "enum").filter(|value| self.has_null() || !value.is_null());
        let values: Vec<Value> = values.cloned().collect();
        if !values.is_empty() {
            return Ok(prop::sample::select(values).boxed());
        }
        if let Some(parts) = parts_of(rules) {
            return self.union(&parts, focus, above);
        }
        let named: Vec<&str> = rules.get("type").into_iter().flat_map(names_of).collect();
        match named.as_slice() {
            [] if rules.contains_key("properties") => self.object(rules, focus, above),
            [] => Ok(any()),
            names => self.types(names, rules, focus, above),
        }
    }

    /// Returns true if the source has a null; URLs do not.
    fn has_null(&self) -> bool {
        self.source == Source::Body
    }

    fn union(&self, parts: &[&Value], focus: Focus<'_>, above: &mut Vec<String>) -> Made {
        if let Some(([Step::Variant(index), rest @ ..], edit)) = focus {
            let part = parts.get(*index).ok_or_else(|| "the variant does not exist".to_owned())?;
            let made = self.make(part, Some((rest, edit)), above)?;
            let others = parts.iter().enumerate().filter(|(other, _)| other != index);
            let others: Vec<Value> = others.map(|(_, part)| (*part).clone()).collect();
            let schemas = Rc::clone(&self.schemas);
            let is_broken = move |value: &Value| !others.iter().any(|it| schemas.fits(it, value));
            return Ok(made.prop_filter("the value matches another variant", is_broken).boxed());
        }
        let parts = parts.iter().filter(|part| self.has_null() || part["type"] != "null");
        let made = parts.map(|part| self.make(part, None, above));
        one_of(made.collect())
    }

    fn types(
        &self,
        names: &[&str],
        rules: &Map<String, Value>,
        focus: Focus<'_>,
        above: &mut Vec<String>,
    ) -> Made {
        let wanted = focus.map(|(place, edit)| match (place, edit) {
            ([Step::Item(_), ..], _) => "array",
            _ => "object",
        });
        let names = names.iter().filter(|name| wanted.is_none_or(|wanted| wanted == **name));
        let names = names.filter(|name| self.has_null() || **name != "null");
        let made = names.map(|name| match *name {
            "null" => Ok(Just(Value::Null).boxed()),
            "boolean" => Ok(prop::bool::ANY.prop_map(Value::from).boxed()),
            "integer" => Ok(whole(rules)),
            "number" => Ok(number(rules)),
            "string" => self.text(rules),
            "array" => self.array(rules, focus, above),
            _ => self.object(rules, focus, above),
        });
        one_of(made.collect())
    }

    fn text(&self, rules: &Map<String, Value>) -> Made {
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let to_size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
        let least =
            bound("minLength").map_or_else(|| usize::from(self.source == Source::Path), to_size);
        let most = bound("maxLength").map_or(usize::MAX, to_size);
        let texts = match forms(rules).as_slice() {
            [] => text::plain(self.alphabet, least, most),
            forms => prop::strategy::Union::new(forms.to_vec()).boxed(),
        };
        let (schemas, rules) = (Rc::clone(&self.schemas), Value::Object(rules.clone()));
        let fits = move |text: &str| schemas.fits(&rules, &text.into());
        let texts = text::only(texts, "found no string that matches the schema", Rc::new(fits));
        Ok(texts.prop_map(Value::from).boxed())
    }

    fn array(&self, rules: &Map<String, Value>, focus: Focus<'_>, above: &mut Vec<String>) -> Made {
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let places: Vec<&Value> = list(rules, "prefixItems").collect();
        let at = focus.and_then(|(place, edit)| match place {
            [Step::Item(index), rest @ ..] => Some((*index, rest, edit)),
            _ => None,
        });
        if !places.is_empty() {
            let items = places.iter().enumerate().map(|(index, rule)| {
                let inner = at.filter(|(it, ..)| *it == index).map(|(_, rest, edit)| (rest, edit));
                self.make(rule, inner, above)
            });
            let items: Vec<_> = items.collect::<Result<_, _>>()?;
            return Ok(items.prop_map(Value::from).boxed());
        }
        let least = bound("minItems").map_or(0, |bound| usize::try_from(bound).unwrap_or(MANY));
        // Key-value pairs cannot contain an empty list.
        let least = if self.source == Source::Body { least } else { least.max(1) };
        let most = bound("maxItems").map_or(MANY, |bound| usize::try_from(bound).unwrap_or(MANY));
        let every = &Value::Bool(true);
        let item = rules.get("items").unwrap_or(every);
        let item_made = self.make(item, None, above);
        if let Some((_, rest, edit)) = at {
            let first = self.make(item, Some((rest, edit)), above)?;
            let others = least.saturating_sub(1);
            let others = match others {
                0 => Just(Vec::new()).boxed(),
                others => prop::collection::vec(item_made?, others).boxed(),
            };
            let join = |(first, mut others): (Value, Vec<Value>)| {
                others.insert(0, first);
                Value::from(others)
            };
            return Ok((first, others).prop_map(join).boxed());
        }
        let item = match item_made {
            Ok(item) => item,
            // A list of recursive values may be empty.
            Err(_) if least == 0 => return Ok(Just(json!([])).boxed()),
            Err(error) => return Err(error),
        };
        if most < least {
            return Err("a list cannot have so few items".to_owned());
        }
        let usual = most.min(least.saturating_add(3));
        let lists = prop::collection::vec(item.clone(), least..=usual);
        if most > usual && most <= MANY && bound("maxItems").is_some() {
            let full = prop::collection::vec(item, most..=most);
            let either = prop_oneof![5 => lists, 1 => full];
            return Ok(either.prop_map(Value::from).boxed());
        }
        Ok(lists.prop_map(Value::from).boxed())
    }

    fn object(
        &self,
        rules: &Map<String, Value>,
        focus: Focus<'_>,
        above: &mut Vec<String>,
    ) -> Made {
        let required: Vec<&str> = list(rules, "required").filter_map(Value::as_str).collect();
        let (inside, edit) = match focus {
            Some(([Step::Field(name), rest @ ..], edit)) => (Some((name, rest, edit)), None),
            Some(([], edit)) => (None, Some(edit)),
            _ => (None, None),
        };
        let mut members: Vec<(String, BoxedStrategy<Option<Value>>)> = Vec::new();
        let listed = rules.get("properties").and_then(Value::as_object);
        for (name, rule) in listed.into_iter().flatten() {
            if matches!(edit, Some(Edit::Remove(it)) if it == name) {
                continue;
            }
            let inner = inside.filter(|(it, ..)| *it == name).map(|(_, rest, edit)| (rest, edit));
            let is_there = required.contains(&name.as_str()) || inner.is_some();
            match self.make(rule, inner, above) {
                Ok(made) if is_there => members.push((name.clone(), made.prop_map(Some).boxed())),
                Ok(made) => members.push((name.clone(), prop::option::of(made).boxed())),
                Err(error) if is_there => return Err(format!("{name}: {error}")),
                // The member may be absent, and `breaks` reports it.
                Err(_) => {}
            }
        }
        let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
        let extra = match rules.get("additionalProperties") {
            _ if self.source == Source::Path => None,
            Some(rule @ Value::Object(_)) => self.make(rule, None, above).ok(),
            Some(Value::Bool(false)) => None,
            _ => Some(Just(json!("more")).boxed()),
        };
        let least = bound("minProperties").unwrap_or(0);
        let extra = extra_members(extra, listed.is_none(), least);
        let added = match edit {
            Some(Edit::Add(name)) => Some(name.clone()),
            _ => None,
        };
        let (names, values): (Vec<String>, Vec<_>) = members.into_iter().unzip();
        let object = move |(values, extra): (Vec<Option<Value>>, Vec<(String, Value)>)| {
            let named = names.iter().cloned().zip(values);
            let members = named.filter_map(|(name, value)| Some((name, value?)));
            let added = added.iter().map(|name| (name.clone(), json!("more")));
            Value::Object(extra.into_iter().chain(members).chain(added).collect())
        };
        Ok((values, extra).prop_map(object).boxed())
    }
}

/// Returns strategies for the format or the pattern of a text; empty if it has
/// neither or the format is unknown.
fn forms(rules: &Map<String, Value>) -> Vec<BoxedStrategy<String>> {
    let of_format = |rules: &Map<String, Value>| {
        rules.get("format").and_then(Value::as_str).and_then(text::of_format)
    };
    if let Some(texts) = of_format(rules) {
        return vec![texts];
    }
    let either = list(rules, "anyOf").filter_map(Value::as_object);
    let either: Vec<_> = either.filter_map(of_format).collect();
    if !either.is_empty() {
        return either;
    }
    let pattern = rules.get("pattern").and_then(Value::as_str);
    let is_shape = |pattern: &&str| !TRIMMED.iter().any(|trim| pattern.starts_with(trim));
    let texts = pattern.filter(is_shape).map(text::of_pattern);
    texts.and_then(Result::ok).into_iter().collect()
}

/// Returns the schemas of a union; `None` for a text that allows several
/// formats.
pub(super) fn parts_of(rules: &Map<String, Value>) -> Option<Vec<&Value>> {
    let is_text = rules.get("type").is_some_and(|it| it == "string");
    let names = ["oneOf", "anyOf"].into_iter().filter(|_| !is_text);
    let mut unions = names.map(|name| list(rules, name).collect::<Vec<_>>());
    unions.find(|parts| !parts.is_empty())
}

/// Generates the unlisted members of an object.
fn extra_members(
    value: Option<BoxedStrategy<Value>>,
    is_map: bool,
    least: u64,
) -> BoxedStrategy<Vec<(String, Value)>> {
    let Some(value) = value else { return Just(Vec::new()).boxed() };
    let least = usize::try_from(least).unwrap_or(MANY);
    // Few objects get an extra member, because most clients send only listed
    // members.
    let count = if is_map {
        prop_oneof![least..=least.saturating_add(2)].boxed()
    } else {
        prop_oneof![7 => Just(0_usize), 1 => Just(1_usize)].boxed()
    };
    let members = move |count: usize| {
        let named = (0..count).map(|index| (Just(format!("x{index}")), value.clone()));
        named.collect::<Vec<_>>()
    };
    count.prop_flat_map(members).boxed()
}

/// Generates one of six values, one for each JSON type.
fn any() -> BoxedStrategy<Value> {
    let values =
        vec![json!(null), json!(true), json!(7), json!("text"), json!([1]), json!({"a": 1})];
    prop::sample::select(values).boxed()
}

fn one_of(made: Vec<Made>) -> Made {
    let mut error = None;
    let mut strategies = Vec::new();
    for made in made {
        match made {
            Ok(made) => strategies.push(made),
            Err(reason) => error = Some(reason),
        }
    }
    match (strategies.is_empty(), error) {
        (true, error) => Err(error.unwrap_or_else(|| "no value is allowed".to_owned())),
        (false, _) => Ok(prop::strategy::Union::new(strategies).boxed()),
    }
}

/// Generates integers, often small ones because they are common, and the
/// bounds.
fn whole(rules: &Map<String, Value>) -> BoxedStrategy<Value> {
    let bound =
        |name: &str, step: i128| rules.get(name).and_then(whole_or_near).map(|bound| bound + step);
    let low = bound("minimum", 0).max(bound("exclusiveMinimum", 1)).unwrap_or(-SAFE);
    let most = [bound("maximum", 0), bound("exclusiveMaximum", -1)];
    let high = most.into_iter().flatten().min().unwrap_or(SAFE).max(low);
    let start = 0.clamp(low, high);
    let small = start..=high.min(start + 12);
    // A failing case shrinks within its choice, or to an earlier one.
    let whole = prop_oneof![2 => low..=high, 6 => small, 1 => Just(low), 1 => Just(high)];
    whole.prop_map(number_of).boxed()
}

/// Returns an integer as JSON. Outside the range of `i64` and `u64` it is a
/// float.
pub(super) fn number_of(number: i128) -> Value {
    let signed = i64::try_from(number).map(Value::from);
    let unsigned = || u64::try_from(number).map(Value::from);
    #[expect(clippy::cast_precision_loss, reason = "JSON cannot represent another number")]
    signed.or_else(|_| unsigned()).unwrap_or_else(|_| json!(number as f64))
}

/// Returns a bound as an integer.
fn whole_or_near(bound: &Value) -> Option<i128> {
    #[expect(clippy::cast_possible_truncation, reason = "a float is rounded to the nearest bound")]
    let near = |bound: f64| bound as i128;
    whole_of(bound).or_else(|| bound.as_f64().map(near))
}

fn number(rules: &Map<String, Value>) -> BoxedStrategy<Value> {
    let bound = |names: [&str; 2]| names.iter().find_map(|name| rules.get(*name)?.as_f64());
    let low = bound(["minimum", "exclusiveMinimum"]).unwrap_or(-1e9);
    let high = bound(["maximum", "exclusiveMaximum"]).unwrap_or(1e9).max(low);
    let near = prop_oneof![Just(low), Just(high), Just(0.0_f64.clamp(low, high)), low..=high];
    let beyond = ["exclusiveMinimum", "exclusiveMaximum"].map(|name| bound([name, name]));
    let is_within = move |number: &f64| !beyond.contains(&Some(*number));
    let number = near.prop_filter("found no number between the bounds", is_within);
    number.prop_map(|number| json!(number)).boxed()
}

/// The largest integer that every JSON parser reads exactly.
const SAFE: i128 = 9_007_199_254_740_991;

/// The maximum number of items and members of an unbounded container.
const MANY: usize = 50;

/// The maximum number of times that a schema may be nested in itself.
const DEEPEST: usize = 2;

/// The prefixes of patterns that describe texts with insignificant surrounding
/// white space.
pub(super) const TRIMMED: [&str; 2] = [r"\S[\s\S]{", r"\S"];
