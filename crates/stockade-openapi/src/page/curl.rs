//! The curl command for an operation.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use stockade_routing::map::{Need, RouteInfo, SchemeInfo};

use super::schema;

/// Creates a shell command. `server` is the URL before the path, or `None` for
/// the variable `API`.
pub(super) fn line(
    method: &str,
    path: &str,
    operation: &Value,
    route: &RouteInfo,
    schemas: &Value,
    server: Option<&str>,
) -> String {
    let mut line = String::from("curl ");
    if method != "get" {
        // Writing to a string cannot fail.
        let _ = write!(line, "-X {} ", method.to_ascii_uppercase());
    }
    let target = target(path, operation, schemas);
    if let Some(server) = server {
        line.push_str(&quoted(&format!("{}{target}", server.trim_end_matches('/'))));
    } else {
        line.push_str("$API");
        line.push_str(&quoted(&target));
    }
    if route.access.user == Need::Required {
        line.push_str(route.access.schemes.first().map_or(String::new(), credentials).as_str());
    }
    body(&mut line, operation, route, schemas);
    line
}

/// Returns the path with example parameters and the required query.
fn target(path: &str, operation: &Value, schemas: &Value) -> String {
    let mut target = path.to_owned();
    let mut query = String::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let Some(name) = parameter["name"].as_str() else { continue };
        let example = schema::example(&parameter["schema"], schemas);
        let example = match example.as_str() {
            Some("text") => name.to_owned(),
            Some(text) => text.to_owned(),
            None => example.to_string(),
        };
        let example = percent_encoded(&example);
        match parameter["in"].as_str() {
            Some("path") => target = target.replace(&format!("{{{name}}}"), &example),
            Some("query") if parameter["required"] == true => {
                let mark = if query.is_empty() { '?' } else { '&' };
                let _ = write!(query, "{mark}{}={example}", percent_encoded(name));
            }
            _ => {}
        }
    }
    target + &query
}

fn credentials(scheme: &SchemeInfo) -> String {
    match scheme {
        SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            " -u \"$USER_AND_PASSWORD\"".to_owned()
        }
        SchemeInfo::Http { scheme, .. } => {
            format!(" -H {}\"$TOKEN\"", quoted(&format!("Authorization: {scheme} ")))
        }
        SchemeInfo::Header { header, .. } => {
            format!(" -H {}\"$KEY\"", quoted(&format!("{header}: ")))
        }
        SchemeInfo::Cookie { cookie, .. } => {
            format!(" -b {}\"$SESSION\"", quoted(&format!("{cookie}=")))
        }
        _ => String::new(),
    }
}

fn body(line: &mut String, operation: &Value, route: &RouteInfo, schemas: &Value) {
    let Some(content) = operation["requestBody"]["content"].as_object() else { return };
    if let Some(json) = content.get("application/json") {
        let example = route.docs.example.clone();
        let example = example.unwrap_or_else(|| schema::example(&json["schema"], schemas));
        let _ = write!(line, " --json {}", quoted(&example.to_string()));
    } else if let Some(media_type) = content.keys().next() {
        match media_type.as_str() {
            "multipart/form-data" => line.push_str(" -F file=@file"),
            "*/*" => line.push_str(" --data-binary @file"),
            media_type => {
                let media_type = quoted(&format!("Content-Type: {media_type}"));
                let _ = write!(line, " -H {media_type} --data-binary @file");
            }
        }
    }
}

/// Quotes a text as one word of a POSIX shell, without expansion.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.-:,@%+=".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Encodes all characters except the unreserved ones (RFC 3986, section 2.3).
fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// All characters except the unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_expanded_by_the_shell() {
        assert_eq!(quoted("/users/1"), "/users/1");
        assert_eq!(quoted("/a?b=$(id)`id`"), "'/a?b=$(id)`id`'");
        assert_eq!(quoted("it's; id"), "'it'\\''s; id'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn values_stay_one_segment() {
        assert_eq!(percent_encoded("a/b?c#é~"), "a%2Fb%3Fc%23%C3%A9~");
    }
}
