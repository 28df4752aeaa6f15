//! [`StoreFault`]: the reason why a store outside a handler gives no answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use stockade_errors::BoxError;

/// The inside of the error of a store: it cannot be asked, or has no room.
#[derive(Clone, Debug)]
pub(crate) struct StoreFault {
    is_full: bool,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl StoreFault {
    pub(crate) fn down(source: BoxError) -> Self {
        Self { is_full: false, source: Some(source.into()) }
    }

    pub(crate) fn full() -> Self {
        Self { is_full: true, source: None }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes the message about a store of such things.
    pub(crate) fn write(&self, things: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, self.is_full) {
            (_, true) => write!(f, "the store of {things} is full"),
            (Some(source), _) => write!(f, "the store of {things} is down: {source}"),
            (None, _) => write!(f, "the store of {things} is down"),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
