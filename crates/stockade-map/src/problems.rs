//! The schemas of the problem types of a map.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_errors::problem_internals::VALIDATION_FAILED;

use crate::by_status::{error, field_error, problem};
use crate::{ProblemInfo, RouteMap};

impl RouteMap {
    /// Returns the problem types of all responses, by URI.
    #[must_use]
    pub fn problems(&self) -> BTreeMap<&str, &ProblemInfo> {
        let routes = self.routes.iter().chain(&self.fallback);
        let problems = routes.flat_map(|route| &route.answers).filter_map(|it| it.problem.as_ref());
        problems.map(|problem| (&*problem.type_uri, &**problem)).collect()
    }

    /// Returns the document names of the schemas of all [problem
    /// types](Self::problems), by URI: `SoldOutProblem` for
    /// `https://shop.example/problems/sold-out`, and `SoldOutError` if the
    /// router does not send problem details. A number follows if the name is
    /// already used.
    #[must_use]
    pub fn problem_schema_names(&self) -> BTreeMap<&str, String> {
        let kind = if self.router.problem_details { "Problem" } else { "Error" };
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        for uri in self.problems().into_keys() {
            let name = format!("{}{kind}", pascal_case(uri));
            let is_free = |name: &String| {
                !self.schemas.contains_key(name) && !names.values().any(|known| known == name)
            };
            let numbered = (2_u32..).map(|number| format!("{name}{number}"));
            // A map has fewer schemas than there are numbers.
            let free = std::iter::once(name.clone()).chain(numbered).find(is_free);
            names.insert(uri, free.unwrap_or(name));
        }
        names
    }

    /// Returns the JSON Schema of the error body that the router sends for this
    /// problem type.
    #[must_use]
    pub fn problem_schema(&self, info: &ProblemInfo) -> Value {
        let mut schema = if self.router.problem_details { problem() } else { error() };
        if let Some(properties) = schema["properties"].as_object_mut() {
            if self.router.problem_details {
                let uri = json!({ "type": "string", "format": "uri", "const": info.type_uri });
                properties.insert("type".to_owned(), uri);
            }
            if self.is_failed_validation(info) {
                let fields = json!({ "type": "array", "items": field_error() });
                let details = json!({ "properties": { "errors": fields } });
                properties.insert("details".to_owned(), details);
            }
            properties.extend(properties_of(info));
        }
        if let Some(required) = schema["required"].as_array_mut() {
            required.extend(required_of(info).map(Value::from));
        }
        schema["description"] = format!("The problem {}", info.type_uri).into();
        schema
    }

    fn is_failed_validation(&self, info: &ProblemInfo) -> bool {
        let base = self.router.problem_base.as_deref();
        base.is_some_and(|base| info.type_uri.strip_prefix(base) == Some(VALIDATION_FAILED))
    }
}

fn properties_of(info: &ProblemInfo) -> Map<String, Value> {
    info.members.iter().map(|it| (it.name.to_string(), it.schema.clone())).collect()
}

fn required_of(info: &ProblemInfo) -> impl Iterator<Item = &str> {
    info.members.iter().filter(|member| member.required).map(|member| &*member.name)
}

/// Returns the JSON Schema of only the extension members.
#[cfg(feature = "lock")]
pub(crate) fn members_schema(info: &ProblemInfo) -> Value {
    if info.members.is_empty() {
        return json!({});
    }
    let required: Vec<&str> = required_of(info).collect();
    json!({ "type": "object", "properties": properties_of(info), "required": required })
}

/// Returns the last part of a URI as a type name: `SoldOut` for
/// `https://shop.example/problems/sold-out`.
fn pascal_case(uri: &str) -> String {
    let is_end = |c: char| matches!(c, '/' | ':' | '#' | '?' | ',');
    let last = uri.rsplit(is_end).find(|part| !part.is_empty()).unwrap_or_default();
    let words = last.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_named_by_the_last_part() {
        for (uri, expected) in [
            ("https://shop.example/problems/sold-out", "SoldOut"),
            ("sold-out", "SoldOut"),
            ("https://a.example/x#out_of_stock", "OutOfStock"),
            ("tag:a@b.example,2026:luck", "Luck"),
            ("https://a.example/", "AExample"),
            ("%C3%A9", "C3A9"),
        ] {
            assert_eq!(pascal_case(uri), expected, "{uri}");
        }
    }
}
