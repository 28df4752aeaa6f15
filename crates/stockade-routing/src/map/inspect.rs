//! [`Inspectors`]: functions that look at the map when a router is built.

use std::fmt;

use stockade_errors::ConfigError;

use super::RouteMap;

type Inspector = Box<dyn FnOnce(&RouteMap) -> Result<(), ConfigError> + Send>;

/// The functions that look at the map of a router when it is built.
#[derive(Default)]
pub(crate) struct Inspectors(Vec<Inspector>);

impl Inspectors {
    pub(crate) fn push(
        &mut self,
        inspect: impl FnOnce(&RouteMap) -> Result<(), ConfigError> + Send + 'static,
    ) {
        self.0.push(Box::new(inspect));
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Calls each with the map, which is made only if there is one.
    pub(crate) fn run(self, map: impl FnOnce() -> RouteMap) -> Result<(), ConfigError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let map = map();
        let found = self.0.into_iter().filter_map(|inspect| inspect(&map).err());
        let mistakes = found.flat_map(|error| error.mistakes().to_vec());
        ConfigError::check(mistakes.collect())
    }
}

impl fmt::Debug for Inspectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inspectors({})", self.0.len())
    }
}
