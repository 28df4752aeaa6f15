//! Compares responses with the document: status, media type, schema and
//! headers.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::testing::TestResponse;

/// Headers that any response may have without being documented: headers of the
/// body format and of the connection.
pub(super) const UNNAMED: [&str; 4] =
    ["content-type", "content-length", "connection", "access-control-expose-headers"];

/// The documented response for a status, with its references resolved.
pub(super) struct Documented {
    document: Value,
    response: Value,
}

impl Documented {
    /// Returns the documented response of an operation, or `None` if it is not
    /// documented.
    pub(super) fn of(app: &App, method: &str, template: &str, status: u16) -> Option<Self> {
        let document = open_api(app, &OpenApiOptions::new("Test", "1")).unwrap();
        let method = method.to_ascii_lowercase();
        let responses = &document["paths"][template][method]["responses"];
        let keys = [status.to_string(), format!("{}XX", status / 100), "default".to_owned()];
        let response = keys.iter().find_map(|key| responses.get(key))?;
        let response = resolved(&document, response).clone();
        Some(Self { document, response })
    }

    /// Returns the header names in lower case, each with true if every response
    /// has the header.
    fn headers(&self) -> Vec<(String, bool)> {
        let headers = self.response["headers"].as_object().into_iter().flatten();
        let header = |(name, header): (&String, &Value)| {
            (name.to_lowercase(), resolved(&self.document, header)["required"] == true)
        };
        headers.map(header).collect()
    }

    /// Returns the differences between a response and the document.
    pub(super) fn faults(&self, app: &App, response: &TestResponse) -> Vec<String> {
        let security = app.route_map().router.security_headers;
        let is_unnamed =
            |name: &str| UNNAMED.contains(&name) || security.iter().any(|(known, _)| known == name);
        let told = self.headers();
        let missing =
            told.iter().filter(|(name, always)| *always && response.header(name).is_none());
        let missing = missing.map(|(name, _)| format!("no {name}"));
        let names = response.headers().keys().map(|name| name.as_str());
        let is_told = |name: &str| told.iter().any(|(known, _)| known == name);
        let untold = names.filter(|name| !is_told(name) && !is_unnamed(name));
        let untold = untold.map(|name| format!("{name} is not told"));
        missing.chain(untold).chain(self.body_fault(response)).collect()
    }

    fn body_fault(&self, response: &TestResponse) -> Option<String> {
        // Some responses are documented as unknown.
        let content = self.response["content"].as_object()?;
        if response.bytes().is_empty() {
            return None;
        }
        let media = response.header("content-type").unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default();
        let Some(found) = content.get(media).or_else(|| content.get("*/*")) else {
            return Some(format!("{media} is not told"));
        };
        if !media.ends_with("json") {
            return None;
        }
        let schema = json!({
            "$ref": "#/wanted",
            "wanted": found["schema"],
            "components": self.document["components"],
        });
        let body: Value = response.json();
        let validator = jsonschema::validator_for(&schema).unwrap();
        (!validator.is_valid(&body)).then(|| format!("{body} breaks {}", found["schema"]))
    }
}

/// Returns the referenced value, or `value` if it is not a reference.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    pointer.map_or(value, |pointer| document.pointer(pointer).unwrap())
}
