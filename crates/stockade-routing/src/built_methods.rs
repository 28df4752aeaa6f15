//! [`BuiltMethods`]: the RPC methods of a route in the map.

use stockade_core::Endpoint;
use stockade_core::endpoint_internals::EndpointKind;
use stockade_map::RouteInfo;

/// The RPC methods of a built route, for its map.
pub(crate) struct BuiltMethods {
    /// The index of the route in the list of all routes.
    pub(crate) route: usize,
    /// The indexes of the methods in the same list.
    pub(crate) methods: Vec<usize>,
    pub(crate) describe: fn(&mut RouteInfo, &[RouteInfo]),
}

impl BuiltMethods {
    /// Derives the description of the route from its methods. `routes` is the
    /// list of all routes.
    pub(crate) fn describe(&self, routes: &mut [RouteInfo]) {
        let methods: Vec<RouteInfo> = self.methods_in(routes).into_iter().cloned().collect();
        if let Some(route) = routes.get_mut(self.route) {
            (self.describe)(route, &methods);
        }
    }

    /// Returns the methods from the list of all routes.
    pub(crate) fn methods_in<'m>(&self, routes: &'m [RouteInfo]) -> Vec<&'m RouteInfo> {
        self.methods.iter().filter_map(|index| routes.get(*index)).collect()
    }
}

/// Returns the path of a method in the map: the path of its route and its own
/// name.
pub(crate) fn path_of(route: &str, name: &str) -> String {
    format!("{route}#{name}")
}

/// Returns the name of a method from its endpoint.
pub(crate) fn name_of(endpoint: &Endpoint) -> Option<&str> {
    let is_method = endpoint.kind() == EndpointKind::RpcMethod;
    endpoint.label().filter(|_| is_method)?.strip_prefix(LABEL)
}

/// The prefix of method names in logs and metrics.
pub(crate) const LABEL: &str = "rpc:";
