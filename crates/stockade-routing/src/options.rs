//! [`RouterOptions`] and [`CallOptions`].
//!
//! Spec: Router options.

use serde::Deserialize;
use stockade_core::{IntoMiddlewareList, Middleware, States};

/// The options of a router.
///
/// They can be read from a configuration file; an unknown key is an error.
/// Middleware and state are given in code.
///
/// ```
/// use stockade_routing::RouterOptions;
///
/// let options = RouterOptions::new().prefix("/api").max_body_size(64 * 1024);
/// assert_eq!(options.max_body_size, 65_536);
/// ```
///
/// Spec: Router options.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RouterOptions {
    /// Middleware for every route, in list order. Default: none.
    #[serde(skip)]
    pub middleware: Vec<Middleware>,
    /// What `State<T>` gives to handlers, by type. Default: nothing.
    #[serde(skip)]
    pub states: States,
    /// Stands before the path of every route. `""` and `"/"` mean none, which
    /// is the default.
    pub prefix: String,
    /// The largest body of a request, in bytes, inclusive; larger ones get 413.
    /// 0 allows only empty bodies. Default: 1 MiB (1,048,576).
    #[serde(alias = "maxBodySize")]
    pub max_body_size: u64,
    /// Whether the real message of a 5xx is sent. Default: `None`, which means
    /// true only when the environment variable `NODE_ENV` is `development`
    /// while the router is built.
    #[serde(alias = "exposeErrors")]
    pub expose_errors: Option<bool>,
    /// Whether errors are sent as problem details (RFC 9457) instead of
    /// `{"error": …}`. Default: false.
    pub problem_details: bool,
    /// Whether a path that only other methods have is answered with 405 and
    /// `Allow`; 404 otherwise. Default: true.
    pub method_not_allowed: bool,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            middleware: Vec::new(),
            states: States::default(),
            prefix: String::new(),
            max_body_size: 1_048_576,
            expose_errors: None,
            problem_details: false,
            method_not_allowed: true,
        }
    }
}

impl RouterOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds middleware for every route; see [`middleware`](Self#structfield.middleware).
    #[must_use]
    pub fn middleware<M>(mut self, list: impl IntoMiddlewareList<M>) -> Self {
        self.middleware.extend(list.into_list());
        self
    }

    /// Provides a value for `State<T>`, replacing an earlier one of its type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Sets [`prefix`](Self#structfield.prefix).
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets [`max_body_size`](Self#structfield.max_body_size), in bytes.
    #[must_use]
    #[doc(alias = "maxBodySize")]
    pub fn max_body_size(mut self, bytes: u64) -> Self {
        self.max_body_size = bytes;
        self
    }

    /// Sets [`expose_errors`](Self#structfield.expose_errors).
    #[must_use]
    #[doc(alias = "exposeErrors")]
    pub fn expose_errors(mut self, expose: bool) -> Self {
        self.expose_errors = Some(expose);
        self
    }

    /// Sets [`problem_details`](Self#structfield.problem_details).
    #[must_use]
    pub fn problem_details(mut self, problem_details: bool) -> Self {
        self.problem_details = problem_details;
        self
    }

    /// Sets [`method_not_allowed`](Self#structfield.method_not_allowed).
    #[must_use]
    pub fn method_not_allowed(mut self, method_not_allowed: bool) -> Self {
        self.method_not_allowed = method_not_allowed;
        self
    }
}

/// Options of a single call or of a server; what is set overrides the router's.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CallOptions {
    /// As [`RouterOptions::expose_errors`]. Default: the router's.
    #[serde(alias = "exposeErrors")]
    pub expose_errors: Option<bool>,
    /// As [`RouterOptions::max_body_size`]; a limit of the route itself still
    /// counts. Default: the router's.
    #[serde(alias = "maxBodySize")]
    pub max_body_size: Option<u64>,
}

impl CallOptions {
    /// Nothing is overridden.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Overrides [`RouterOptions::expose_errors`].
    #[must_use]
    pub fn expose_errors(mut self, expose: bool) -> Self {
        self.expose_errors = Some(expose);
        self
    }

    /// Overrides [`RouterOptions::max_body_size`], in bytes.
    #[must_use]
    pub fn max_body_size(mut self, bytes: u64) -> Self {
        self.max_body_size = Some(bytes);
        self
    }
}
