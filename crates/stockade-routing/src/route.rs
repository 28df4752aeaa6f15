//! [`Route`]: a route in the tables of an application.

use std::sync::Arc;

use stockade_core::Endpoint;
use stockade_stages::cors::policy_internals::Cors;

/// A compiled route, with the facts that only the router uses.
pub(crate) struct Route {
    /// The index in the list of all routes. The index of the fallback follows
    /// the last route.
    pub(crate) index: usize,
    pub(crate) endpoint: Arc<Endpoint>,
    /// The CORS rules, if they differ from the rules of the router.
    pub(crate) cors: Option<Arc<Cors>>,
    /// The names of the host's parameters, if the route has a host.
    pub(crate) host_names: Option<Arc<[Box<str>]>>,
    /// True for a mount that matches its own path in addition to everything below it.
    pub(crate) has_mount_path: bool,
}
