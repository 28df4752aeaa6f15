//! [`RouteContext`]: the facts about its route that a request needs.

use std::sync::{Arc, OnceLock};

use crate::endpoint_settings::EndpointSettings;
use crate::limits::DEFAULT_MAX_JSON_VALUES;
use crate::page_headers::PageHeaders;
use crate::rare::Rare;
use crate::{ErrorHandler, States, Validation};

/// The facts about a route that a request carries: its name, its checks, its limits, its
/// state and how it answers errors. An [`Endpoint`](crate::Endpoint) has it, and its
/// requests share it.
#[derive(Debug)]
pub struct RouteContext {
    pub(crate) pattern: Box<str>,
    pub(crate) label: Option<Box<str>>,
    pub(crate) is_fallback: bool,
    pub(crate) validation: Rare<Validation>,
    pub(crate) states: States,
    pub(crate) settings: EndpointSettings,
    pub(crate) challenges: Box<[Box<str>]>,
    pub(crate) error_handler: Option<ErrorHandler>,
    pub(crate) own_error_handler: Option<ErrorHandler>,
    pub(crate) outlives_user: Option<Arc<String>>,
    pub(crate) may_stream: bool,
    pub(crate) page_headers: OnceLock<Arc<PageHeaders>>,
}

impl RouteContext {
    /// Returns the name of the route in logs and metrics: its path as it was
    /// declared, or the label of a route without a path of its own. `None` for the
    /// fallback.
    pub(crate) fn route(&self) -> Option<&str> {
        match &self.label {
            Some(label) => Some(label),
            None => (!self.is_fallback).then_some(&self.pattern),
        }
    }

    /// Returns the handler of errors that leave the middleware of the route.
    pub(crate) fn error_handler(&self) -> Option<&ErrorHandler> {
        self.error_handler.as_ref()
    }

    /// Returns the handler of errors of the entry itself.
    pub(crate) fn own_error_handler(&self) -> Option<&ErrorHandler> {
        self.own_error_handler.as_ref()
    }

    /// Returns the largest number of values of a JSON body that are kept untyped.
    pub(crate) fn max_json_values(&self) -> usize {
        self.settings.max_json_values.unwrap_or(DEFAULT_MAX_JSON_VALUES)
    }
}
