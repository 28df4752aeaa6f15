//! [`HandlerProgress`]: if the function of a handler has begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Handler, Request};

/// A note in the extensions of a request, by which middleware tells an answer of
/// the handler from one that came before it: that of other middleware, of the
/// validation, or of an argument that could not be taken.
///
/// It is kept up to date on routes that have middleware with the mark
/// [`AsksProgress`] alone, so that other routes have no work for it.
#[derive(Clone, Debug, Default)]
pub struct HandlerProgress(Arc<AtomicBool>);

/// Marks middleware that asks for the progress of the handler.
#[derive(Clone, Copy, Debug)]
pub struct AsksProgress;

impl HandlerProgress {
    /// Returns true if the function of the handler has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Notes that an argument could not be taken, so that the function does not begin.
#[cold]
pub(crate) fn note_refusal(req: &Request) {
    set(req, false);
}

/// Makes a handler that notes its beginning.
pub(crate) fn noting(handler: Handler) -> Handler {
    let described = handler.clone();
    Handler::erased(
        move |req| {
            set(&req, true);
            handler.call(req)
        },
        move |doc| described.describe(doc),
    )
}

fn set(req: &Request, has_begun: bool) {
    if let Some(progress) = req.extensions().get::<HandlerProgress>() {
        progress.0.store(has_begun, Ordering::Release);
    }
}
