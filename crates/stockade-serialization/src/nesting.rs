//! How deep this thread is in the data that it writes or reads.
//!
//! The count belongs to the thread, as its stack does: so it goes on when a
//! field that is written by [`map`](crate::map) begins anew inside of another.

use std::cell::Cell;
use std::marker::PhantomData;
use std::thread::LocalKey;

use crate::SerializationError;

/// The deepest nesting of arrays and objects; what is deeper is an error.
///
/// A variant with content counts for the object that names it and for its
/// content. `Some` and newtypes leave no trace in JSON and are counted apart,
/// up to twice as many.
pub const MAX_DEPTH: usize = 128;

const MAX_WRAPPERS: usize = 2 * MAX_DEPTH;

/// Some levels, which are left when this is dropped.
#[derive(Debug)]
pub(crate) struct Levels {
    counter: &'static LocalKey<Cell<usize>>,
    count: usize,
    /// It belongs to the thread whose levels it counts.
    not_send: PhantomData<*const ()>,
}

impl Levels {
    /// Goes so many arrays or objects deeper.
    pub(crate) fn enter(count: usize) -> Result<Self, SerializationError> {
        Self::add(&DEPTH, count, MAX_DEPTH)
    }

    /// Goes into something that leaves no trace in JSON.
    pub(crate) fn unwrap_one() -> Result<Self, SerializationError> {
        Self::add(&WRAPPERS, 1, MAX_WRAPPERS)
    }

    fn add(
        counter: &'static LocalKey<Cell<usize>>,
        count: usize,
        max: usize,
    ) -> Result<Self, SerializationError> {
        let depth = counter.get() + count;
        if depth > max {
            return Err(SerializationError::TooDeep);
        }
        counter.set(depth);
        Ok(Self { counter, count, not_send: PhantomData })
    }
}

impl Drop for Levels {
    fn drop(&mut self) {
        self.counter.set(self.counter.get() - self.count);
    }
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static WRAPPERS: Cell<usize> = const { Cell::new(0) };
}
