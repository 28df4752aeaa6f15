//! Reads the schemas that schemars writes for `Option` and for enums.

use serde_json::{Map, Value};

use super::Document;
use crate::inner::{InnerRule, TaggedRule, VariantsRule};
use crate::rule::Rule;

type Object = Map<String, Value>;

/// Returns the rule of a union, or `None` if the schema is not a union or
/// cannot be read as one. Its keyword is then rejected.
pub(super) fn read(document: &Document, map: &Object) -> Option<Rule> {
    if let Some(Value::Array(branches)) = map.get("anyOf") {
        return nullable(document, map, branches);
    }
    let Some(Value::Array(branches)) = map.get("oneOf") else {
        return tagged_reference(document, map);
    };
    let branches: Vec<&Object> = branches.iter().map(Value::as_object).collect::<Option<_>>()?;
    let rule = names(document, &branches)
        .or_else(|| tagged(document, &branches))
        .or_else(|| variants(document, &branches))?;
    // An enum with common properties inside, as `flatten` creates.
    let rule = if map.contains_key("properties") {
        let mut outer = without(map, &["oneOf"]);
        outer.remove("$schema");
        document.read_object(&outer).flatten(rule)
    } else {
        with_words(rule, map)
    };
    Some(rule)
}

/// Reads `anyOf: [schema, null]`.
fn nullable(document: &Document, map: &Object, branches: &[Value]) -> Option<Rule> {
    let is_null = |branch: &&Value| {
        branch.get("type").is_some_and(|kind| kind == "null")
            && branch.as_object().is_some_and(|branch| branch.len() == 1)
    };
    let [schema] = branches.iter().filter(|branch| !is_null(branch)).collect::<Vec<_>>()[..] else {
        return None;
    };
    (branches.len() == 2).then(|| with_words(document.read(schema).nullable(), map))
}

/// Reads a union of only names: `enum` or `const` in each branch.
fn names(document: &Document, branches: &[&Object]) -> Option<Rule> {
    let names: Option<Vec<Vec<Value>>> = branches.iter().map(|branch| literals(branch)).collect();
    let values: Vec<Value> = names?.into_iter().flatten().collect();
    Some(document.any().values(values))
}

/// Returns the values of a branch that only lists values.
fn literals(branch: &Object) -> Option<Vec<Value>> {
    let is_plain = branch.keys().all(|keyword| {
        matches!(
            keyword.as_str(),
            "type"
                | "enum"
                | "const"
                | "title"
                | "description"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
        )
    });
    match (branch.get("const"), branch.get("enum")) {
        (Some(value), None) if is_plain => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) if is_plain => Some(values.clone()),
        _ => None,
    }
}

/// Reads a union of objects with a common property that is a `const` in each
/// branch.
fn tagged(document: &Document, branches: &[&Object]) -> Option<Rule> {
    let first = branches.first()?.get("properties")?.as_object()?;
    let tag =
        first.keys().find(|name| branches.iter().all(|branch| tag_of(branch, name).is_some()))?;
    let variants = branches.iter().map(|branch| {
        let name = tag_of(branch, tag)?.to_owned();
        Some((name, untagged(document, branch, tag)))
    });
    let variants = variants.collect::<Option<_>>()?;
    let tagged = TaggedRule { tag: tag.clone(), variants, ..TaggedRule::default() };
    Some(document.any().with("type", "object").with_inner(InnerRule::Tagged(tagged)))
}

fn tag_of<'b>(branch: &'b Object, tag: &str) -> Option<&'b str> {
    let property = branch.get("properties")?.get(tag)?;
    let is_required = branch
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|name| name == tag));
    property.get("const").filter(|_| is_required)?.as_str()
}

/// Reads a branch without its tag. The referenced definition is flattened into
/// it.
fn untagged(document: &Document, branch: &Object, tag: &str) -> Rule {
    let mut own = without(branch, &["$ref"]);
    if let Some(Value::Object(properties)) = own.get_mut("properties") {
        properties.shift_remove(tag);
    }
    if let Some(Value::Array(required)) = own.get_mut("required") {
        required.retain(|name| name != tag);
    }
    let rule = document.read_object(&own);
    match branch.get("$ref") {
        None => rule,
        Some(pointer) => {
            let mut reference = Map::new();
            reference.insert("$ref".to_owned(), pointer.clone());
            rule.flatten(document.read_object(&reference))
        }
    }
}

/// Reads a union of names, and of objects with the name as their only key.
fn variants(document: &Document, branches: &[&Object]) -> Option<Rule> {
    let mut variants = Vec::new();
    for branch in branches {
        if let Some(names) = literals(branch) {
            for name in names {
                variants.push((name.as_str()?.to_owned(), None));
            }
            continue;
        }
        let properties = branch.get("properties")?.as_object()?;
        let (Some((name, schema)), 1) = (properties.iter().next(), properties.len()) else {
            return None;
        };
        let is_closed = branch.get("additionalProperties") == Some(&Value::Bool(false));
        let is_required = branch.get("required") == Some(&Value::from(vec![name.as_str()]));
        if !is_closed || !is_required {
            return None;
        }
        let rule = with_words(document.read(schema), branch);
        variants.push((name.clone(), Some(rule)));
    }
    let union = VariantsRule { variants, has_other: false };
    Some(document.any().with_inner(InnerRule::Variants(union)))
}

/// Reads a tagged object that refers to a definition, and adds the definition's
/// properties.
fn tagged_reference(document: &Document, map: &Object) -> Option<Rule> {
    let is_object = map.contains_key("properties") || map.contains_key("required");
    let pointer = map.get("$ref").filter(|_| is_object)?;
    let mut reference = Map::new();
    reference.insert("$ref".to_owned(), pointer.clone());
    let own = document.read_object(&without(map, &["$ref"]));
    Some(own.flatten(document.read_object(&reference)))
}

fn without(map: &Object, names: &[&str]) -> Object {
    let kept = map.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Adds the annotations of a union, which have no effect on values.
fn with_words(mut rule: Rule, map: &Object) -> Rule {
    for (name, value) in map {
        match name.as_str() {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly"
            | "writeOnly" => {
                rule.keywords.insert(name.clone(), value.clone());
            }
            "anyOf"
            | "oneOf"
            | "type"
            | "properties"
            | "required"
            | "additionalProperties"
            | "$schema"
            | "$defs" => {}
            _ => rule.mistakes.push(format!("keyword `{name}` next to a union is not supported")),
        }
    }
    rule
}
