//! [`BuiltMethods`]: the methods of a route in the map.

use std::sync::Arc;

use stockade_core::Endpoint;
use stockade_core::endpoint_internals::EndpointKind;
use stockade_map::{RouteInfo, RouteMap};

use crate::route::Route;

/// The methods of a built route, for its map.
pub(crate) struct BuiltMethods {
    pub(crate) route: Arc<Route>,
    /// The indexes of the methods in the list of all routes.
    pub(crate) methods: Vec<usize>,
    pub(crate) describe: fn(&mut RouteInfo, &[RouteInfo]),
}

impl BuiltMethods {
    /// Describes the route by its methods, in a list of all routes.
    pub(crate) fn describe(&self, routes: &mut [RouteInfo]) {
        let methods = self.methods.iter().filter_map(|index| routes.get(*index).cloned());
        let methods: Vec<RouteInfo> = methods.collect();
        if let Some(route) = routes.get_mut(self.route.index) {
            (self.describe)(route, &methods);
        }
    }

    /// Returns the methods in the map.
    pub(crate) fn methods_in<'m>(&self, map: &'m RouteMap) -> Vec<&'m RouteInfo> {
        let prefix = format!("{}#", self.route.endpoint.pattern());
        map.routes.iter().filter(|route| route.path.starts_with(&prefix)).collect()
    }
}

/// Returns the name of a method in the map: that of its route, and its own.
pub(crate) fn path_of(route: &str, name: &str) -> String {
    format!("{route}#{name}")
}

/// Returns the name of a method by its endpoint.
pub(crate) fn name_of(endpoint: &Endpoint) -> Option<&str> {
    let is_method = endpoint.kind() == EndpointKind::RpcMethod;
    endpoint.label().filter(|_| is_method)?.strip_prefix(LABEL)
}

/// The beginning of the names of methods in logs and metrics.
pub(crate) const LABEL: &str = "rpc:";
