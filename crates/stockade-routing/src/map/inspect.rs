//! [`Inspector`]: a function that inspects the map during the build of a
//! router.

use std::fmt;

use stockade_errors::ConfigError;

use super::{RouteMap, map_of};
use crate::app::App;

type InspectFn = Box<dyn FnOnce(&App, &RouteMap) -> Result<(), ConfigError> + Send>;

/// A function that inspects the map of a router during the build.
pub(crate) struct Inspector {
    inspect: InspectFn,
    /// Builds the map and calls all inspectors. The build uses maps only
    /// through this pointer, which keeps their code out of programs without
    /// inspectors.
    run: fn(Vec<Self>, &App, bool) -> Result<(), ConfigError>,
}

impl Inspector {
    pub(crate) fn new(
        inspect: impl FnOnce(&App, &RouteMap) -> Result<(), ConfigError> + Send + 'static,
    ) -> Self {
        Self { inspect: Box::new(inspect), run }
    }

    /// Calls each inspector with the map. Builds the map only if there is an
    /// inspector.
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
