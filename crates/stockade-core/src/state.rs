//! [`States`]: the values that the application provides, by type.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

type Value = Arc<dyn Any + Send + Sync>;

/// The values that an application provides, one for each type.
///
/// A handler receives a value as `State<T>`.
#[derive(Clone, Default)]
pub struct States {
    // There are only a few types, so a scan is faster than a hash map. Shared,
    // because every route has a copy.
    values: Arc<[(TypeId, Slot)]>,
}

/// The slot of a value.
#[derive(Clone)]
enum Slot {
    Ready(Value),
    /// The application creates the value when it starts.
    Late(Arc<OnceLock<Value>>),
}

/// The slot of a value that the application creates when it starts.
pub struct LateState<T> {
    slot: Arc<OnceLock<Value>>,
    of: PhantomData<fn(T)>,
}

impl<T: Send + Sync + 'static> LateState<T> {
    /// Provides the value. Only the first call has an effect.
    pub fn set(&self, value: T) {
        let _ = self.slot.set(Arc::new(value));
    }
}

impl<T> fmt::Debug for LateState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateState")
    }
}

impl States {
    /// Provides `value`. Replaces an earlier value of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.put(TypeId::of::<T>(), Slot::Ready(Arc::new(value)));
    }

    /// Declares a value that is set later. Replaces an earlier value of the
    /// same type.
    #[must_use]
    pub fn insert_late<T: Send + Sync + 'static>(&mut self) -> LateState<T> {
        let slot = Arc::new(OnceLock::new());
        self.put(TypeId::of::<T>(), Slot::Late(Arc::clone(&slot)));
        LateState { slot, of: PhantomData }
    }

    fn put(&mut self, id: TypeId, slot: Slot) {
        let others = self.values.iter().filter(|(known, _)| *known != id).cloned();
        self.values = others.chain([(id, slot)]).collect();
    }

    /// Returns the value of type `T`, if it is already set.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let id = TypeId::of::<T>();
        let (_, slot) = self.values.iter().find(|(known, _)| *known == id)?;
        let value = match slot {
            Slot::Ready(value) => value,
            Slot::Late(slot) => slot.get()?,
        };
        Arc::clone(value).downcast().ok()
    }

    /// Returns true if a value with this type id is set or declared.
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
