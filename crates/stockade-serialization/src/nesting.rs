//! Nesting levels of the data that a thread writes or reads.
//!
//! The counter is thread-local, like the stack. It therefore continues to count
//! if a field written with [`map`](crate::map) starts another serializer.

use std::cell::Cell;
use std::marker::PhantomData;
use std::thread::LocalKey;

use stockade_json::{MAX_DEPTH, SerializationError};

const MAX_WRAPPERS: usize = 2 * MAX_DEPTH;

/// A guard for entered levels. It leaves them on drop.
#[derive(Debug)]
pub(crate) struct Levels {
    counter: &'static LocalKey<Cell<usize>>,
    count: usize,
    /// Prevents sending the guard to a thread with another counter.
    not_send: PhantomData<*const ()>,
}

impl Levels {
    /// Enters this number of arrays or objects.
    pub(crate) fn enter(count: usize) -> Result<Self, SerializationError> {
        Self::add(&DEPTH, count, MAX_DEPTH)
    }

    /// Enters a `Some` or a newtype, which does not appear in JSON.
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
