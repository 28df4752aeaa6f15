//! `RouteContext`: the route data that a request needs.

use std::sync::{Arc, OnceLock};

use crate::boxed_or::BoxedOr;
use crate::completions::Completions;
use crate::endpoint_settings::EndpointSettings;
use crate::limits::DEFAULT_MAX_JSON_VALUES;
use crate::page_headers::PageHeaders;
use crate::{ErrorHandler, Languages, States, Validation};

/// The route data that a request carries: its name, validation, limits, state
/// and error settings. An [`Endpoint`](crate::Endpoint) shares it with its
/// requests.
#[derive(Debug)]
pub struct RouteContext {
    /// The declared path with prefixes.
    pub pattern: Box<str>,
    /// The name in logs and metrics, instead of the path. Default: none.
    pub label: Option<Box<str>>,
    /// True if it handles requests that do not match a route. Default: false.
    pub is_fallback: bool,
    /// The validation before the handler. Default: none.
    pub validation: BoxedOr<Validation>,
    /// The values that the application provides. Default: none.
    pub states: States,
    /// The settings that core reads while it handles a request. Default: none
    /// is set.
    pub settings: EndpointSettings,
    /// The challenges of a 401, as declared by its middleware. Default: none.
    pub challenges: Box<[Box<str>]>,
    /// The error handler of the router, or of the innermost node or group.
    /// Default: none.
    pub error_handler: Option<ErrorHandler>,
    /// The route's own error handler, which is also in its middleware. Default:
    /// none.
    pub own_error_handler: Option<ErrorHandler>,
    /// The languages of error messages. Default: none.
    pub languages: Option<Languages>,
    /// The reason why its responses may outlive the user's login. Default:
    /// none.
    pub outlives_user: Option<Arc<String>>,
    /// The handlers of the application that continue without their clients. Default: none.
    pub completions: Option<Completions>,
    /// False if none of its responses is a stream. Default: true.
    pub may_stream: bool,
    /// The headers that pages of other origins may use, set after the route's
    /// JSON-RPC methods are compiled. Default: none; the default CORS lists
    /// apply.
    pub page_headers: OnceLock<Arc<PageHeaders>>,
}

impl RouteContext {
    /// Creates the data of a route without validation and without its own
    /// limits.
    pub fn new(pattern: impl Into<Box<str>>) -> Self {
        Self {
            pattern: pattern.into(),
            label: None,
            is_fallback: false,
            validation: BoxedOr::default(),
            states: States::default(),
            settings: EndpointSettings::default(),
            challenges: Box::default(),
            error_handler: None,
            own_error_handler: None,
            languages: None,
            outlives_user: None,
            completions: None,
            may_stream: true,
            page_headers: OnceLock::new(),
        }
    }

    /// Returns the name of the route in logs and metrics: its label or its
    /// declared path. Returns `None` for the fallback.
    pub(crate) fn route(&self) -> Option<&str> {
        match &self.label {
            Some(label) => Some(label),
            None => (!self.is_fallback).then_some(&self.pattern),
        }
    }

    /// Returns the handler for errors before the middleware.
    pub(crate) fn first_error_handler(&self) -> Option<&ErrorHandler> {
        self.own_error_handler.as_ref().or(self.error_handler.as_ref())
    }

    /// Returns the maximum number of untyped values in a JSON body.
    pub(crate) fn max_json_values(&self) -> usize {
        self.settings.max_json_values.unwrap_or(DEFAULT_MAX_JSON_VALUES)
    }
}
