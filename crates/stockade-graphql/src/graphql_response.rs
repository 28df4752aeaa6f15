//! The response to an operation.
//!
//! Hot: the data is serialized directly.

use std::collections::BTreeMap;

use async_graphql::Value;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use stockade_core::__internal::pooled_response;
use stockade_core::Response;
use stockade_errors::ApiError;
use stockade_json::to_json;

use crate::accept::Media;
use crate::engine::Outcome;
use crate::graphql_error::{self, GraphQlError, Shown};
use crate::request_context::RequestContext;

/// An outcome as the client receives it. Hidden errors are removed and logged.
///
/// Source: the specification of GraphQL, section 7.1 (response format).
#[derive(Debug, Default)]
pub(crate) struct GraphQlResponse {
    /// The data, or `None` if the operation did not run.
    data: Option<Value>,
    errors: Vec<GraphQlError>,
    extensions: BTreeMap<String, Value>,
    /// The headers that resolvers have set.
    headers: HeaderMap,
    cache_control: Option<String>,
}

impl GraphQlResponse {
    /// Creates the response for an operation that did not run.
    pub(crate) fn refused(error: GraphQlError) -> Self {
        Self { errors: vec![error], ..Self::default() }
    }

    /// Creates the response for an outcome.
    pub(crate) fn of(outcome: Outcome, shown: Shown, caller: &RequestContext) -> Self {
        let Outcome { data, errors, extensions, headers, cache_control } = outcome;
        let errors = if errors.is_empty() {
            Vec::new()
        } else {
            graphql_error::show(errors, data.is_none(), shown, caller.context())
        };
        Self { data, errors, extensions, headers, cache_control }
    }

    /// Returns true if the operation ran, with or without errors.
    pub(crate) fn has_run(&self) -> bool {
        self.data.is_some()
    }

    /// Returns the errors that the client receives.
    pub(crate) fn errors(&self) -> &[GraphQlError] {
        &self.errors
    }

    /// Returns the response body.
    pub(crate) fn text(&self) -> Result<Vec<u8>, ApiError> {
        to_json(self).map_err(ApiError::internal)
    }

    /// Creates the HTTP response.
    pub(crate) fn respond(mut self, media: Media, is_get: bool) -> Result<Response, ApiError> {
        let status = match media {
            Media::GraphQl if !self.has_run() => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let text = self.text()?;
        let mut headers = std::mem::take(&mut self.headers);
        let cache_control = self.cache_control.filter(|_| is_get);
        if let Some(value) = cache_control.and_then(|it| HeaderValue::try_from(it).ok()) {
            headers.insert(header::CACHE_CONTROL, value);
            headers.append(header::VARY, HeaderValue::from_static("accept"));
        }
        Ok(respond(status, media, text, headers))
    }
}

impl Serialize for GraphQlResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.errors.is_empty() {
            map.serialize_entry("errors", &self.errors)?;
        }
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        if !self.extensions.is_empty() {
            map.serialize_entry("extensions", &self.extensions)?;
        }
        map.end()
    }
}

/// Creates the response to a batch: one result for each operation, in order.
pub(crate) fn respond_to_batch(
    responses: &[GraphQlResponse],
    media: Media,
) -> Result<Response, ApiError> {
    let text = to_json(responses).map_err(ApiError::internal)?;
    let mut headers = HeaderMap::new();
    for (name, value) in responses.iter().flat_map(|response| &response.headers) {
        if name == header::SET_COOKIE {
            headers.append(name, value.clone());
        } else {
            headers.insert(name, value.clone());
        }
    }
    Ok(respond(StatusCode::OK, media, text, headers))
}

/// Creates the response to an invalid request, in the GraphQL format.
pub(crate) fn respond_refused(
    status: u16,
    error: GraphQlError,
    media: Media,
) -> Result<Response, ApiError> {
    let status = StatusCode::from_u16(status).map_err(ApiError::internal)?;
    let text = GraphQlResponse::refused(error).text()?;
    Ok(respond(status, media, text, HeaderMap::new()))
}

fn respond(status: StatusCode, media: Media, text: Vec<u8>, mut headers: HeaderMap) -> Response {
    let mut response = pooled_response(text.into(), media.header());
    *response.status_mut() = status;
    // Resolvers rarely set headers.
    if !headers.is_empty() {
        headers.insert(header::CONTENT_TYPE, media.header());
        *response.headers_mut() = headers;
    }
    response
}
