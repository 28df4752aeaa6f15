//! [`Places`]: the facts about the sources of a lock.

use std::collections::BTreeMap;

use super::change::Change;
use super::configurations::PLACE;
use super::entry::{label, middleware_of};
use crate::{ConfigurationInfo, Place, RouteInfo, RouteMap};

/// The facts about the sources of a lock: locations, and functions of the program.
/// The file does not contain them, so only the lock of a map has some.
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
    /// The entries of middleware that may set the user.
    own: Vec<String>,
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

    /// Returns true if a middleware of a route is a function of the program that
    /// may set the user.
    pub(super) fn may_set_user(&self, label: &str, middleware: &String) -> bool {
        self.routes.get(label).is_some_and(|places| places.own.contains(middleware))
    }

    /// Returns the place of a setting in its configuration file.
    fn in_file(&self, at: &str) -> Option<Place> {
        let of_file = |file| rest_of(at, file).map(|rest| (file, rest));
        // The name of a file may begin with the path of another file.
        let (file, rest) =
            self.files.iter().filter_map(of_file).min_by_key(|(_, rest)| rest.len())?;
        let setting = rest.split('/').next()?;
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

/// Returns the place within a configuration file; empty for the file itself.
/// Returns `None` if the place is in another file.
fn rest_of<'a>(at: &'a str, file: &ConfigurationInfo) -> Option<&'a str> {
    let rest = at.strip_prefix(&file.name)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

impl RoutePlaces {
    fn of(route: &RouteInfo) -> Self {
        let middleware = route.middleware.iter();
        let middleware =
            middleware.filter_map(|it| Some((middleware_of(it)?, it.location.clone()?)));
        let own = route.middleware.iter().filter(|it| it.may_set_user);
        Self {
            route: route.location.clone(),
            middleware: middleware.collect(),
            own: own.filter_map(middleware_of).collect(),
        }
    }

    fn of_change(&self, change: &Change) -> &Place {
        let name = change.after.as_str().filter(|_| change.at == "middleware");
        let place = name.and_then(|name| self.middleware.iter().find(|(known, _)| known == name));
        place.map_or(&self.route, |(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_belongs_to_the_file_with_the_whole_name() {
        let file = |name: &str, line: u32| ConfigurationInfo {
            name: name.to_owned(),
            lines: [("trust_proxy".to_owned(), line)].into(),
            ..ConfigurationInfo::default()
        };
        let files = vec![file("a.json", 1), file("a.json.bak", 2), file("a", 3), file("a/b", 4)];
        let places = Places { files, ..Places::default() };
        let line = |at: &str| places.in_file(at).map(|place| (place.file, place.line));
        assert_eq!(line("a.json/trust_proxy"), Some(("a.json".to_owned(), 1)));
        assert_eq!(line("a.json.bak/trust_proxy"), Some(("a.json.bak".to_owned(), 2)));
        assert_eq!(line("a/trust_proxy"), Some(("a".to_owned(), 3)));
        assert_eq!(line("a/b/trust_proxy"), Some(("a/b".to_owned(), 4)));
        assert_eq!(line("a.json.old/trust_proxy"), None);
        assert_eq!(line("a.json"), None);
    }
}
