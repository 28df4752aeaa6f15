//! [`States`]: the values that the application provides, by type.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// The values that an application provides, one for each type.
///
/// A handler takes one as `State<T>`.
#[derive(Clone, Default)]
pub struct States {
    // A handful of types: a scan is quicker than a hash map.
    // Shared, because each route has it.
    values: Arc<[(TypeId, Arc<dyn Any + Send + Sync>)]>,
}

impl States {
    /// Provides `value`; it replaces an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let id = TypeId::of::<T>();
        let others = self.values.iter().filter(|(known, _)| *known != id).cloned();
        let value: Arc<dyn Any + Send + Sync> = Arc::new(value);
        self.values = others.chain([(id, value)]).collect();
    }

    /// Returns the value of type `T`, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let id = TypeId::of::<T>();
        let (_, value) = self.values.iter().find(|(known, _)| *known == id)?;
        Arc::clone(value).downcast().ok()
    }

    /// Returns true if there is a value of the type with this id.
    #[must_use]
    pub fn has(&self, id: TypeId) -> bool {
        self.values.iter().any(|(known, _)| *known == id)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "States({} types)", self.values.len())
    }
}
