//! The responses of a route by status, with the bodies of errors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{BodyDoc, ResponseInfo, RouteInfo, RouteMap, StatusDoc};

impl RouteInfo {
    /// Returns the responses by status, as a client receives them.
    ///
    /// A handler that sets its own status is described as `2XX`. If the
    /// documentation of the route names exactly one success, that status
    /// replaces `2XX`. Statuses that only the documentation names are included.
    ///
    /// ```
    /// use stockade::RouteDocs;
    /// use stockade::prelude::*;
    ///
    /// let docs = RouteDocs::new("New user").response(201, "The user");
    /// let create = async || (StatusCode::CREATED, Json(7));
    /// let api = routes! { "users": { POST: { create, docs: docs } } };
    /// let map = create_router(api, RouterOptions::new()).build()?.route_map();
    /// let statuses: Vec<String> = map.routes[0].answers_by_status().into_keys().collect();
    /// assert_eq!(statuses, ["201", "429", "500"]);
    /// # Ok::<(), ConfigError>(())
    /// ```
    #[must_use]
    pub fn answers_by_status(&self) -> BTreeMap<String, Vec<Cow<'_, ResponseInfo>>> {
        let mut told = self.documented_statuses().into_iter();
        let success = told.by_ref().find(|status| (200..300).contains(status));
        let is_one = success.is_some() && !told.any(|status| (200..300).contains(&status));
        let mut by_status: BTreeMap<String, Vec<Cow<'_, ResponseInfo>>> = BTreeMap::new();
        for answer in &self.answers {
            let status = match success.filter(|_| is_one && answer.status == StatusDoc::Class(2)) {
                Some(status) => status.to_string(),
                None => answer.status.to_string(),
            };
            by_status.entry(status).or_default().push(Cow::Borrowed(answer));
        }
        for status in self.documented_statuses() {
            by_status
                .entry(status.to_string())
                .or_insert_with(|| vec![Cow::Owned(told_of(status))]);
        }
        by_status
    }

    /// Returns the statuses that the documentation names, without duplicates.
    fn documented_statuses(&self) -> Vec<u16> {
        let mut statuses: Vec<u16> = Vec::new();
        let responses = self.docs.responses.iter().map(|(status, _)| *status);
        for status in responses.chain(self.docs.contents.iter().map(|(status, _)| *status)) {
            if !statuses.contains(&status) {
                statuses.push(status);
            }
        }
        statuses
    }
}

/// Creates the response for a status that only the documentation names.
fn told_of(status: u16) -> ResponseInfo {
    let body = if status >= 400 { BodyDoc::Error } else { BodyDoc::Unknown };
    ResponseInfo::with_body(status, body)
}

impl RouteMap {
    /// Returns the media type of an error.
    #[must_use]
    pub fn error_media_type(&self) -> &'static str {
        if self.router.problem_details { "application/problem+json" } else { "application/json" }
    }

    /// Returns the JSON Schema of an error body: [`BodyDoc::ValidationError`]
    /// if `is_validation`, otherwise [`BodyDoc::Error`].
    #[must_use]
    pub fn error_schema(&self, is_validation: bool) -> Value {
        match (self.router.problem_details, is_validation) {
            (true, _) => problem(),
            (false, true) => validation_error(),
            (false, false) => error(),
        }
    }

    /// Returns the name of [`Self::error_schema`] in documents: `Error`,
    /// `ValidationError` or `Problem`. If a type in [`RouteMap::schemas`] has
    /// this name, the type keeps it. The schema of errors is then prefixed with
    /// `Api` (`ApiError`), and also gets a number if that name is used too.
    #[must_use]
    pub fn error_schema_name(&self, is_validation: bool) -> Cow<'static, str> {
        let (name, other) = match (self.router.problem_details, is_validation) {
            (true, _) => ("Problem", "ApiProblem"),
            (false, true) => ("ValidationError", "ApiValidationError"),
            (false, false) => ("Error", "ApiError"),
        };
        let is_free = |name: &str| !self.schemas.contains_key(name);
        if let Some(name) = [name, other].into_iter().find(|name| is_free(name)) {
            return Cow::Borrowed(name);
        }
        let mut numbered = (2_u32..).map(|number| format!("{other}{number}"));
        // A map has fewer schemas than there are numbers.
        Cow::Owned(numbered.find(|name| is_free(name)).unwrap_or_default())
    }
}

/// Source: RFC 9457, section 3.
pub(crate) fn problem() -> Value {
    json!({
        "type": "object",
        "description": "A problem (RFC 9457)",
        "required": ["type", "title", "status"],
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer", "format": "int32", "minimum": 100, "maximum": 599 },
            "detail": { "type": "string" },
            "details": { "description": "Details of the error, such as the invalid fields" },
        },
    })
}

pub(crate) fn error() -> Value {
    json!({
        "type": "object",
        "description": "An error",
        "required": ["error"],
        "properties": {
            "error": { "type": "string", "description": "The message, for people" },
            "details": { "description": "Details of the error" },
        },
    })
}

/// Returns the schema of a failed rule of a field.
pub(crate) fn field_error() -> Value {
    json!({
        "type": "object",
        "required": ["field", "message", "rule"],
        "properties": {
            "field": { "type": "string", "description": "The path of the field, such as `address.city`" },
            "message": { "type": "string", "description": "The message, for people" },
            "rule": { "type": "string", "description": "The violated rule, such as `maxLength`" },
        },
    })
}

fn validation_error() -> Value {
    let field = field_error();
    json!({
        "type": "object",
        "description": "An error that may list the invalid fields",
        "required": ["error"],
        "properties": {
            "error": { "type": "string", "description": "The message, for people" },
            // No type: this also describes the other errors, which may have any
            // details.
            "details": { "properties": { "errors": { "type": "array", "items": field } } },
        },
    })
}
