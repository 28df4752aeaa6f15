//! `TypeCheck`: a check of a route against the types of all routes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use stockade_validation::marks::MarkedType;

/// The named types and their marked properties.
pub type MarkedTypes = BTreeMap<String, MarkedType>;

type Check = dyn Fn(&MarkedTypes) -> Vec<String> + Send + Sync;

/// A check of a route against the types of all routes of its router. It returns
/// configuration errors: lower case, no full stop.
#[derive(Clone)]
pub struct TypeCheck(Arc<Check>);

impl TypeCheck {
    /// Creates a check from a function.
    pub fn new(check: impl Fn(&MarkedTypes) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    /// Runs the check.
    #[must_use]
    pub fn run(&self, types: &MarkedTypes) -> Vec<String> {
        (self.0)(types)
    }
}

impl fmt::Debug for TypeCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeCheck")
    }
}
