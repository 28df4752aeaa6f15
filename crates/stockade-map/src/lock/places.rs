//! [`Places`]: the source locations of the parts of a lock.

use std::collections::BTreeMap;

use super::change::Change;
use super::configurations::PLACE;
use super::entry::{label, middleware_of};
use crate::{ConfigurationInfo, Place, RouteInfo, RouteMap};

/// The source locations of the parts of a lock. The file does not contain them,
/// so only the lock of a map has some.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    router: Option<Place>,
    policy: Option<Place>,
    routes: BTreeMap<String, RoutePlaces>,
    files: Vec<ConfigurationInfo>,
}

#[derive(Clone, Debug)]
struct RoutePlaces {
    route: Place,
    /// By the entry of the middleware in the lock.
    middleware: Vec<(String, Place)>,
}

impl Places {
    pub(super) fn of(map: &RouteMap) -> Self {
        let routes = map.routes.iter().chain(&map.fallback);
        Self {
            router: map.router.location.clone(),
            policy: map.policy.as_ref().and_then(|policy| policy.location.clone()),
            routes: routes.map(|route| (label(route), RoutePlaces::of(route))).collect(),
            files: map.configurations.clone(),
        }
    }

    /// Returns the place of a route.
    pub(super) fn of_route(&self, label: &str) -> Option<&Place> {
        self.routes.get(label).map(|places| &places.route)
    }

    /// Returns the place of a setting in its configuration file.
    fn in_file(&self, at: &str) -> Option<Place> {
        let of_file = |file: &&ConfigurationInfo| at.starts_with(&file.name);
        let file = self.files.iter().find(of_file)?;
        let setting = at.strip_prefix(&file.name)?.trim_start_matches('/').split('/').next()?;
        let key = setting.split_once('.').map_or(setting, |(_, key)| key);
        let keys: &[&str] = match key {
            "cors" => &["cors_origin", "cors"],
            "max_body" => &["max_body", "max_body_size"],
            "security_headers" => &["security_headers", "enable_security_headers"],
            key => &[key],
        };
        file.place_of(keys)
    }

    /// Returns the distinct places of a change, in the order of its routes: the
    /// places of new middleware, or of the routes. A change of the router is at
    /// its policy or at its options.
    pub(super) fn of_change(&self, change: &Change) -> Vec<Place> {
        if let Some(place) = change.at.strip_prefix(PLACE) {
            return self.in_file(place).into_iter().collect();
        }
        if change.routes.is_empty() && !change.at.starts_with('#') {
            let policy = self.policy.as_ref().filter(|_| change.at.starts_with("policy"));
            return policy.or(self.router.as_ref()).cloned().into_iter().collect();
        }
        let mut places: Vec<Place> = Vec::new();
        for places_of_route in change.routes.iter().filter_map(|label| self.routes.get(label)) {
            let place = places_of_route.of_change(change);
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
        places
    }
}

impl RoutePlaces {
    fn of(route: &RouteInfo) -> Self {
        let middleware = route.middleware.iter();
        let middleware =
            middleware.filter_map(|it| Some((middleware_of(it)?, it.location.clone()?)));
        Self { route: route.location.clone(), middleware: middleware.collect() }
    }

    fn of_change(&self, change: &Change) -> &Place {
        let name = change.after.as_str().filter(|_| change.at == "middleware");
        let place = name.and_then(|name| self.middleware.iter().find(|(known, _)| known == name));
        place.map_or(&self.route, |(_, place)| place)
    }
}
