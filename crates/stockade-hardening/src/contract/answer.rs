//! The contract rules for one response.

use std::borrow::Cow;

use http::{HeaderMap, Method, StatusCode, header};
use serde_json::Value;
use stockade_routing::map::{BodyDoc, ContentInfo, ResponseInfo, RouteInfo, RouteMap};

use super::schemas::Schemas;

/// A response that was sent.
pub(super) struct Sent<'a> {
    pub(super) method: &'a Method,
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    /// The whole body; `None` if it is unknown.
    pub(super) body: Option<&'a [u8]>,
}

impl Sent<'_> {
    /// Returns the reasons why this response of the route violates the
    /// contract; empty if it does not.
    pub(super) fn faults(
        &self,
        route: &RouteInfo,
        map: &RouteMap,
        schemas: &Schemas,
    ) -> Vec<String> {
        let mut faults = self.missing_security(map);
        let by_status = route.answers_by_status();
        let keys = [self.status.as_str(), &format!("{}XX", self.status.as_u16() / 100), "default"];
        let Some(listed) = keys.into_iter().find_map(|key| by_status.get(key)) else {
            if !self.may_be_unlisted(route) {
                faults.push(format!("the status {} is not listed", self.status.as_u16()));
            }
            return faults;
        };
        let mut misfits = Vec::new();
        for answer in listed {
            let misfit = self.misfit(answer, map, schemas);
            if misfit.is_empty() {
                return faults;
            }
            misfits.extend(
                misfit.into_iter().filter(|fault| !misfits.contains(fault)).collect::<Vec<_>>(),
            );
        }
        faults.extend(misfits);
        faults
    }

    /// Returns true if the status need not be listed: it concerns a body that
    /// the route never reads, or it may come from middleware without a
    /// description.
    fn may_be_unlisted(&self, route: &RouteInfo) -> bool {
        let is_of_body = matches!(
            self.status,
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
        (is_of_body && route.body.is_none()) || route.middleware.iter().any(|it| it.is_opaque)
    }

    /// Returns a fault for each missing security header. Handshake responses
    /// need none.
    fn missing_security(&self, map: &RouteMap) -> Vec<String> {
        if self.status == StatusCode::SWITCHING_PROTOCOLS {
            return Vec::new();
        }
        let names = map.router.security_headers.iter().map(|(name, _)| name.as_str());
        names.filter_map(|name| self.missing(name)).collect()
    }

    fn missing(&self, name: &str) -> Option<String> {
        let is_missing = !self.headers.contains_key(name);
        is_missing.then(|| {
            format!("the header {name} is missing, but the map lists it as always present")
        })
    }

    /// Returns the reasons why this response does not match the listed one.
    fn misfit(&self, answer: &ResponseInfo, map: &RouteMap, schemas: &Schemas) -> Vec<String> {
        let always = answer.headers.iter().filter(|header| header.always);
        let mut faults: Vec<String> =
            always.filter_map(|header| self.missing(&header.name)).collect();
        faults.extend(match answer.problem.as_ref().filter(|_| !self.is_bodiless()) {
            Some(problem) => {
                let schema = map.problem_schema(problem);
                self.typed_faults(&[(map.error_media_type(), &schema)], schemas)
            }
            None => self.body_faults(&answer.body, map, schemas),
        });
        faults
    }

    fn body_faults(&self, listed: &BodyDoc, map: &RouteMap, schemas: &Schemas) -> Vec<String> {
        let has_body = self.body.is_some_and(|body| !body.is_empty());
        if self.is_bodiless() {
            return fault_if(
                has_body,
                "found a body, but a response with this status never has one",
            );
        }
        match listed {
            BodyDoc::None => fault_if(has_body, "found a body, but the map does not list one"),
            BodyDoc::Error => self.error_faults(map, schemas, false),
            BodyDoc::ValidationError => self.error_faults(map, schemas, true),
            BodyDoc::Content(contents) => {
                let contents: Vec<&ContentInfo> = contents.iter().collect();
                self.content_faults(&contents, schemas)
            }
            _ => Vec::new(),
        }
    }

    fn is_bodiless(&self) -> bool {
        // RFC 9110, sections 6.4.1 and 15.3.6.
        self.method == Method::HEAD
            || self.status.is_informational()
            || matches!(
                self.status,
                StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED
            )
    }

    fn error_faults(&self, map: &RouteMap, schemas: &Schemas, is_validation: bool) -> Vec<String> {
        let schema = map.error_schema(is_validation);
        self.typed_faults(&[(map.error_media_type(), &schema)], schemas)
    }

    fn content_faults(&self, contents: &[&ContentInfo], schemas: &Schemas) -> Vec<String> {
        let contents: Vec<(&str, &Value)> =
            contents.iter().map(|it| (&*it.media_type, &it.schema)).collect();
        self.typed_faults(&contents, schemas)
    }

    /// Returns the reasons why the body matches none of these media types and
    /// schemas.
    fn typed_faults(&self, contents: &[(&str, &Value)], schemas: &Schemas) -> Vec<String> {
        let Some(media_type) = self.media_type() else {
            let is_any = contents.iter().any(|(listed, _)| *listed == "*/*");
            let listed = names(contents);
            return fault_if(!is_any, &format!("the Content-Type is missing, expected {listed}"));
        };
        let mut fitting = contents.iter().filter(|(listed, _)| admits(listed, &media_type));
        let Some((_, schema)) = fitting.next() else {
            let listed = names(contents);
            return vec![format!("expected the media type {listed}, found {media_type}")];
        };
        let Some(body) = self.body.filter(|_| !self.is_encoded()) else { return Vec::new() };
        match value_of(&media_type, body) {
            Ok(Some(value)) => schemas.faults(schema, &value),
            Ok(None) => Vec::new(),
            Err(fault) => vec![fault],
        }
    }

    /// Returns the media type in lowercase, without parameters.
    fn media_type(&self) -> Option<String> {
        let value = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        Some(essence(value))
    }

    fn is_encoded(&self) -> bool {
        self.headers.contains_key(header::CONTENT_ENCODING)
    }
}

fn fault_if(is_one: bool, fault: &str) -> Vec<String> {
    if is_one { vec![fault.to_owned()] } else { Vec::new() }
}

fn essence(media_type: &str) -> String {
    let essence = media_type.split_once(';').map_or(media_type, |(essence, _)| essence);
    essence.trim().to_ascii_lowercase()
}

fn names(contents: &[(&str, &Value)]) -> String {
    let names: Vec<Cow<'_, str>> =
        contents.iter().map(|(media_type, _)| (*media_type).into()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" or ") }
}

/// Returns true if a listed media type or range includes another media type.
fn admits(listed: &str, media_type: &str) -> bool {
    let listed = essence(listed);
    match listed.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => media_type.split_once('/').is_some_and(|(other, _)| other == kind),
        None => listed == media_type,
    }
}

/// Returns the value to validate: JSON or a string; `None` for other bytes.
fn value_of(media_type: &str, body: &[u8]) -> Result<Option<Value>, String> {
    if media_type == "application/json" || media_type.ends_with("+json") {
        return match serde_json::from_slice(body) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(format!("the body is not JSON: {error}")),
        };
    }
    if !media_type.starts_with("text/") {
        return Ok(None);
    }
    Ok(std::str::from_utf8(body).ok().map(Value::from))
}
