//! [`ParamsForm`]: converts the parameters of a call to the body for its
//! handler.

use bytes::Bytes;
use serde_json::Value;
use stockade_core::description::InputFrom;
use stockade_core::{BodyKind, Endpoint, RouteDescription};

use crate::error_object::ErrorObject;
use stockade_json::{Reader, Refused};

/// The parameter structure of a method.
#[derive(Debug)]
pub(crate) struct ParamsForm {
    kind: ParamsKind,
    /// True if the body is required.
    is_required: bool,
}

#[derive(Debug, Eq, PartialEq)]
enum ParamsKind {
    /// An object with these members, in order. Each is a JSON name with its
    /// colon.
    Named(Vec<String>),
    /// An array.
    Listed,
    /// A single value, such as a number. It is the only item of an array.
    Single,
    /// Any value, passed unchanged.
    Any,
}

impl ParamsForm {
    /// Derives the structure from the body schema of a method.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let mut doc = RouteDescription::new(endpoint.method().clone(), Vec::new());
        endpoint.describe(&mut doc);
        let is_required = match doc.body() {
            Some(BodyKind::Typed) => true,
            Some(_) => false,
            None => endpoint.validation().body.is_some(),
        };
        let schema = endpoint.schema(InputFrom::Body).map(|schema| schema.to_json_schema());
        Self { kind: schema.map_or(ParamsKind::Any, |schema| ParamsKind::of(&schema)), is_required }
    }

    /// Returns the body for a handler. Positional parameters become an object
    /// with the members in schema order, unless the method reads them as an
    /// array.
    ///
    /// # Errors
    /// Fails if there are more parameters than the method has, or if required
    /// parameters are missing.
    pub(crate) fn body(&self, message: &Bytes, params: Option<&str>) -> Result<Bytes, ErrorObject> {
        let Some(params) = params else { return self.absent() };
        // The parameters are a slice of the message.
        let whole = || message.slice_ref(params.as_bytes());
        if !params.starts_with('[') {
            return Ok(whole());
        }
        match &self.kind {
            ParamsKind::Named(names) => by_order(params, names),
            ParamsKind::Single => match items(params)?.as_slice() {
                [] => self.absent(),
                [one] => Ok(message.slice_ref(one.as_bytes())),
                _ => Err(too_many(1)),
            },
            ParamsKind::Listed | ParamsKind::Any => Ok(whole()),
        }
    }

    /// Returns the body of a call without parameters.
    fn absent(&self) -> Result<Bytes, ErrorObject> {
        match &self.kind {
            // The schema reports which members are missing.
            ParamsKind::Named(_) if self.is_required => Ok(Bytes::from_static(b"{}")),
            ParamsKind::Listed if self.is_required => Ok(Bytes::from_static(b"[]")),
            _ if self.is_required => Err(ErrorObject::params("required", "is required")),
            _ => Ok(Bytes::new()),
        }
    }
}

impl ParamsKind {
    fn of(root: &Value) -> Self {
        let mut schema = root;
        // A nullable schema can contain a reference, and a reference can lead
        // to a nullable schema.
        for _ in 0..MAX_STEPS {
            let inner = nullable(schema).or_else(|| referred(root, schema));
            schema = inner.unwrap_or(schema);
        }
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one.as_str()],
            _ => Vec::new(),
        };
        let has = |wanted: &str| types.contains(&wanted);
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) if has("object") && !has("array") => {
                let member = |name: &String| format!("{}:", Value::from(name.as_str()));
                Self::Named(properties.keys().map(member).collect())
            }
            _ if types.is_empty() || has("object") => Self::Any,
            _ if has("array") => Self::Listed,
            _ => Self::Single,
        }
    }
}

/// Returns the schema of the non-null value, if the schema also allows null.
fn nullable(schema: &Value) -> Option<&Value> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let is_null = |schema: &Value| schema.get("type").is_some_and(|it| it == "null");
    match choices.as_slice() {
        [one, null] | [null, one] if is_null(null) => Some(one),
        _ => None,
    }
}

/// Returns the definition that a schema refers to.
fn referred<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The maximum number of steps to the schema of a value. It prevents an endless
/// loop in schemas that refer to themselves.
const MAX_STEPS: usize = 8;

/// Creates an object from positional parameters.
fn by_order(params: &str, names: &[String]) -> Result<Bytes, ErrorObject> {
    let items = items(params)?;
    if items.len() > names.len() {
        return Err(too_many(names.len()));
    }
    let mut object = Vec::with_capacity(params.len() + 16 * items.len());
    object.push(b'{');
    for (index, (name, item)) in names.iter().zip(items).enumerate() {
        if index > 0 {
            object.push(b',');
        }
        object.extend_from_slice(name.as_bytes());
        object.extend_from_slice(item.as_bytes());
    }
    object.push(b'}');
    Ok(object.into())
}

/// Returns the items of an array.
fn items(params: &str) -> Result<Vec<&str>, ErrorObject> {
    let scan = || {
        let (mut reader, mut items) = (Reader::of_raw(params), Vec::new());
        reader.open()?;
        while reader.next_or_close(b']', items.is_empty())? {
            items.push(reader.raw_value()?);
        }
        Ok(items)
    };
    // A message that is not valid JSON was rejected before.
    scan().map_err(|_: Refused| ErrorObject::unreadable_params())
}

fn too_many(most: usize) -> ErrorObject {
    let message = format!("must have at most {most} values");
    ErrorObject::params("maxItems", message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: ParamsKind, params: Option<&str>, expected: Result<&str, &str>) {
        let message = Bytes::from(params.unwrap_or_default().to_owned());
        let raw = params.map(|_| std::str::from_utf8(&message).unwrap());
        let form = ParamsForm { kind, is_required: true };
        let body = form.body(&message, raw).map_err(|error| {
            let error = serde_json::to_value(error).unwrap();
            assert_eq!(error["code"], -32602);
            error["data"]["errors"][0]["message"].as_str().unwrap().to_owned()
        });
        let body = body.map(|body| String::from_utf8(body.to_vec()).unwrap());
        assert_eq!(
            body.as_deref(),
            expected.as_ref().map(|it| *it).map_err(|it| (*it).to_owned()).as_ref().map(|it| *it)
        );
    }

    fn named() -> ParamsKind {
        ParamsKind::Named(vec!["\"a\":".to_owned(), r#""b\"":"#.to_owned()])
    }

    #[test]
    fn positions_become_names() {
        check(named(), Some(r#"[1, "x"]"#), Ok(r#"{"a":1,"b\"":"x"}"#));
        check(named(), Some("[1]"), Ok(r#"{"a":1}"#));
        check(named(), Some("[]"), Ok("{}"));
        check(named(), None, Ok("{}"));
        check(named(), Some(r#"{"b":2}"#), Ok(r#"{"b":2}"#));
        check(named(), Some("[1,2,3]"), Err("must have at most 2 values"));
    }

    #[test]
    fn accepts_lists_and_single_values() {
        check(ParamsKind::Listed, Some("[1,2,3]"), Ok("[1,2,3]"));
        check(ParamsKind::Listed, None, Ok("[]"));
        check(ParamsKind::Single, Some("[ 7 ]"), Ok("7"));
        check(ParamsKind::Single, Some("[]"), Err("is required"));
        check(ParamsKind::Single, Some("[7,8]"), Err("must have at most 1 values"));
        check(ParamsKind::Any, Some("[7]"), Ok("[7]"));
        check(ParamsKind::Any, None, Err("is required"));
    }

    #[test]
    fn the_schema_determines_the_form() {
        let object = json!({ "type": "object", "properties": { "b": {}, "a": {} } });
        assert_eq!(
            ParamsKind::of(&object),
            ParamsKind::Named(vec!["\"b\":".to_owned(), "\"a\":".to_owned()])
        );
        let nullable = json!({
            "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }], "$defs": { "A": object },
        });
        assert_eq!(ParamsKind::of(&nullable), ParamsKind::of(&object));
        assert_eq!(ParamsKind::of(&json!({ "type": "array" })), ParamsKind::Listed);
        assert_eq!(ParamsKind::of(&json!({ "type": "integer" })), ParamsKind::Single);
        assert_eq!(ParamsKind::of(&json!({ "type": ["string", "null"] })), ParamsKind::Single);
        assert_eq!(ParamsKind::of(&json!({ "oneOf": [] })), ParamsKind::Any);
        assert_eq!(ParamsKind::of(&json!({ "type": "object" })), ParamsKind::Any);
        assert_eq!(ParamsKind::of(&json!(true)), ParamsKind::Any);
    }
}
