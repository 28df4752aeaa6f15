//! [`Endpoint`]: one route with everything that runs for it, compiled once.
//!
//! `chain` runs it, `error_answer` makes a response of an error.
//!
//! Spec: Middleware contract; Errors › Response rules.

mod chain;
mod error_answer;

use std::fmt;
use std::sync::Arc;

pub(crate) use chain::Chain;
pub use chain::{RunningHandler, run};
pub use error_answer::{ErrorContext, Settings, error_of};
pub(crate) use error_answer::{TARGET, respond_with, text};
use http::Method;

use crate::request::DEFAULT_MAX_JSON_VALUES;
use crate::{Accepts, Docs, Handler, Middleware, States, Validation};

/// One route: its method and path, its middleware, its handler, its limits.
///
/// A router makes one for each route when it is built.
pub struct Endpoint {
    method: Method,
    pattern: Box<str>,
    name: Option<Box<str>>,
    middleware: Box<[Middleware]>,
    handler: Handler,
    validation: Validation,
    states: States,
    max_body: Option<u64>,
    accepts: Option<Arc<Accepts>>,
    max_json_values: usize,
    rate_limited: bool,
    challenges: Box<[Box<str>]>,
    guards_origin: bool,
    docs: Docs,
    public: Option<Box<str>>,
}

impl Endpoint {
    /// A route without middleware, name or limits of its own.
    pub fn new(method: Method, pattern: impl Into<Box<str>>, handler: Handler) -> Self {
        Self {
            method,
            pattern: pattern.into(),
            name: None,
            middleware: Box::default(),
            handler,
            validation: Validation::new(),
            states: States::default(),
            max_body: None,
            accepts: None,
            max_json_values: DEFAULT_MAX_JSON_VALUES,
            rate_limited: true,
            challenges: Box::default(),
            guards_origin: false,
            docs: Docs::default(),
            public: None,
        }
    }

    /// Gives it a name.
    #[must_use]
    pub fn with_name(mut self, name: Option<impl Into<Box<str>>>) -> Self {
        self.name = name.map(Into::into);
        self
    }

    /// Gives it its middleware, in the order in which it runs.
    #[must_use]
    pub fn with_middleware(mut self, middleware: impl Into<Box<[Middleware]>>) -> Self {
        self.middleware = middleware.into();
        self
    }

    /// Gives it what it checks before the handler runs.
    #[must_use]
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Gives it what the application provides.
    #[must_use]
    pub fn with_states(mut self, states: States) -> Self {
        self.states = states;
        self
    }

    /// Gives it a body limit of its own, in bytes.
    #[must_use]
    pub fn with_max_body(mut self, bytes: Option<u64>) -> Self {
        self.max_body = bytes;
        self
    }

    /// Narrows what its body may be.
    #[must_use]
    pub fn with_accepts(mut self, accepts: Option<Arc<Accepts>>) -> Self {
        self.accepts = accepts;
        self
    }

    /// Limits the values of a JSON body that are kept untyped. Default: 100,000.
    #[must_use]
    pub fn with_max_json_values(mut self, values: usize) -> Self {
        self.max_json_values = values;
        self
    }

    /// Says whether the rate limit of the router is charged for it; it is unless
    /// this says otherwise.
    #[must_use]
    pub fn with_rate_limited(mut self, rate_limited: bool) -> Self {
        self.rate_limited = rate_limited;
        self
    }

    /// Gives it the challenges of a 401, as its middleware described them.
    #[must_use]
    pub fn with_challenges(mut self, challenges: &[String]) -> Self {
        self.challenges = challenges.iter().map(|challenge| challenge.as_str().into()).collect();
        self
    }

    /// Says whether its middleware refuses requests of other origins.
    #[must_use]
    pub fn with_origin_guard(mut self, guards_origin: bool) -> Self {
        self.guards_origin = guards_origin;
        self
    }

    /// Gives it what is said of it to those who read about it.
    #[must_use]
    pub fn with_docs(mut self, docs: Docs) -> Self {
        self.docs = docs;
        self
    }

    /// Says why it is open to everybody.
    #[must_use]
    pub fn with_public(mut self, reason: Option<impl Into<Box<str>>>) -> Self {
        self.public = reason.map(Into::into);
        self
    }

    /// The method under which it was registered.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path as it was declared, with prefixes: `/users/:id`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The middleware, in the order in which it runs.
    #[must_use]
    pub fn middleware(&self) -> &[Middleware] {
        &self.middleware
    }

    /// What it checks before the handler runs.
    #[must_use]
    pub fn validation(&self) -> &Validation {
        &self.validation
    }

    /// Its own body limit, in bytes.
    #[must_use]
    pub fn max_body(&self) -> Option<u64> {
        self.max_body
    }

    /// The types that its body may have; `None` for any.
    #[must_use]
    pub fn accepts(&self) -> Option<&Accepts> {
        self.accepts.as_deref()
    }

    /// The largest number of values of a JSON body that are kept untyped.
    #[must_use]
    pub fn max_json_values(&self) -> usize {
        self.max_json_values
    }

    /// Whether the rate limit of the router is charged for it.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.rate_limited
    }

    /// The challenges of a 401: the ways by which its middleware finds a user.
    #[must_use]
    pub fn challenges(&self) -> &[Box<str>] {
        &self.challenges
    }

    /// Returns true if its middleware refuses requests of other origins, which
    /// needs [`Request::set_listed_origin`].
    #[must_use]
    pub fn guards_origin(&self) -> bool {
        self.guards_origin
    }

    /// What is said of it to those who read about it.
    #[must_use]
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Why it is open to everybody, if its entry says that it is. It is for
    /// whoever checks the routes of an application, and switches nothing off.
    #[must_use]
    pub fn public_reason(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// What the application provides.
    #[must_use]
    pub fn states(&self) -> &States {
        &self.states
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} {})", self.method, self.pattern)
    }
}
