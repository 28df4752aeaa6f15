//! `RouteContext`: the facts about its route that a request needs.

use std::sync::{Arc, OnceLock};

use crate::boxed_or::BoxedOr;
use crate::completions::Completions;
use crate::endpoint_settings::EndpointSettings;
use crate::limits::DEFAULT_MAX_JSON_VALUES;
use crate::page_headers::PageHeaders;
use crate::{ErrorHandler, Languages, States, Validation};

/// The facts about a route that a request carries: its name, its checks, its limits, its
/// state and how it answers errors. An [`Endpoint`](crate::Endpoint) shares it with its
/// requests.
#[derive(Debug)]
pub struct RouteContext {
    /// The path as it was declared, with prefixes.
    pub pattern: Box<str>,
    /// Its name in logs and metrics, instead of the path. Default: none.
    pub label: Option<Box<str>>,
    /// True if it answers requests that no route takes. Default: false.
    pub is_fallback: bool,
    /// The checks before the handler runs. Default: none.
    pub validation: BoxedOr<Validation>,
    /// The values that the application provides. Default: none.
    pub states: States,
    /// The settings that core reads while a request runs. Default: none is set.
    pub settings: EndpointSettings,
    /// The challenges of a 401, as its middleware described them. Default: none.
    pub challenges: Box<[Box<str>]>,
    /// The error handler of the router, or of the node or group nearest to the
    /// route. Default: none.
    pub error_handler: Option<ErrorHandler>,
    /// The error handler of the entry, which is also in its middleware. Default: none.
    pub own_error_handler: Option<ErrorHandler>,
    /// The languages of error messages. Default: none.
    pub languages: Option<Languages>,
    /// The reason why its responses may outlive the login of their user. Default:
    /// none.
    pub outlives_user: Option<Arc<String>>,
    /// The handlers of the application that continue without their clients. Default: none.
    pub completions: Option<Completions>,
    /// False if no response of it is a stream. Default: true.
    pub may_stream: bool,
    /// The headers that pages of other origins may use, set after the JSON-RPC methods of
    /// the route are compiled. Default: none, the default lists of CORS apply.
    pub page_headers: OnceLock<Arc<PageHeaders>>,
}

impl RouteContext {
    /// Returns the facts of a route without checks and without its own limits.
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

    /// Returns the name of the route in logs and metrics: its label, or its path as it
    /// was declared. `None` for the fallback.
    pub(crate) fn route(&self) -> Option<&str> {
        match &self.label {
            Some(label) => Some(label),
            None => (!self.is_fallback).then_some(&self.pattern),
        }
    }

    /// Returns the handler of the errors that come before the middleware.
    pub(crate) fn first_error_handler(&self) -> Option<&ErrorHandler> {
        self.own_error_handler.as_ref().or(self.error_handler.as_ref())
    }

    /// Returns the largest number of untyped values of a JSON body.
    pub(crate) fn max_json_values(&self) -> usize {
        self.settings.max_json_values.unwrap_or(DEFAULT_MAX_JSON_VALUES)
    }
}
