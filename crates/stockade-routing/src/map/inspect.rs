//! [`Inspector`]: a function that looks at the map when a router is built.

use std::fmt;

use stockade_errors::ConfigError;

use super::{RouteMap, map_of};
use crate::app::App;

type InspectFn = Box<dyn FnOnce(&App, &RouteMap) -> Result<(), ConfigError> + Send>;

/// A function that looks at the map of a router when it is built.
pub(crate) struct Inspector {
    inspect: InspectFn,
    /// Makes the map and calls all inspectors. The build reaches maps by this
    /// pointer alone, so that a program whose routers nobody inspects has no code
    /// of them.
    run: fn(Vec<Self>, &App, bool) -> Result<(), ConfigError>,
}

impl Inspector {
    pub(crate) fn new(
        inspect: impl FnOnce(&App, &RouteMap) -> Result<(), ConfigError> + Send + 'static,
    ) -> Self {
        Self { inspect: Box::new(inspect), run }
    }

    /// Calls each inspector with the map, which is made only if there is one.
    pub(crate) fn run_all(all: Vec<Self>, app: &App, is_hosted: bool) -> Result<(), ConfigError> {
        match all.first() {
            Some(first) => (first.run)(all, app, is_hosted),
            None => Ok(()),
        }
    }
}

fn run(all: Vec<Inspector>, app: &App, is_hosted: bool) -> Result<(), ConfigError> {
    let map = map_of(&app.resolved, is_hosted);
    let found = all.into_iter().filter_map(|inspector| (inspector.inspect)(app, &map).err());
    let mistakes = found.flat_map(|error| error.issues().to_vec());
    ConfigError::check(mistakes.collect())
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inspector")
    }
}
