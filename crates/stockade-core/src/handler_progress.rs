//! `HandlerProgress`: if the function of a handler has begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Handler, Request};

/// A note in the extensions of a request, by which middleware tells an answer of
/// the handler from one that came before it: that of other middleware, of the
/// validation, or of an argument that could not be taken.
///
/// It is kept up to date on routes that have middleware with the mark
/// [`AsksProgress`] alone, so that other routes have no work for it.
///
/// It counts the functions that have begun: a handler may hand parts of its request,
/// such as the calls of a batch, to others, and a refusal of one part must not hide
/// that the others ran.
#[derive(Clone, Debug, Default)]
pub struct HandlerProgress(Arc<AtomicUsize>);

/// Marks middleware that asks for the progress of the handler.
#[derive(Clone, Copy, Debug)]
pub struct AsksProgress;

impl HandlerProgress {
    /// Returns true if the function of the handler has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// Notes that an argument could not be taken, so that the function does not begin.
#[cold]
pub(crate) fn note_refusal(req: &Request) {
    if let Some(HandlerProgress(begun)) = req.extensions().get() {
        // Never below 0, whoever took the handler out of its route.
        let less = |begun: usize| begun.checked_sub(1);
        let _: Result<usize, usize> = begun.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}

/// Makes a handler that notes its beginning.
pub(crate) fn noting(handler: Handler) -> Handler {
    let described = handler.clone();
    Handler::erased(
        move |req| {
            if let Some(HandlerProgress(begun)) = req.extensions().get() {
                begun.fetch_add(1, Ordering::AcqRel);
            }
            handler.call(req)
        },
        move |doc| described.describe(doc),
    )
}
