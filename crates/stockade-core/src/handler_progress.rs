//! `HandlerProgress`: whether the function of a handler has begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Handler, Request};

/// A counter in the request extensions that tells middleware whether the
/// handler created the response. Otherwise, it came from other middleware,
/// validation, or a failed argument.
///
/// It is updated only on routes with middleware marked [`AsksProgress`], so
/// other routes do no work for it.
///
/// It counts the functions that have begun. A handler may pass parts of its
/// request, such as the calls of a batch, to other handlers. The rejection of
/// one part must not hide that other parts ran.
#[derive(Clone, Debug, Default)]
pub struct HandlerProgress(Arc<AtomicUsize>);

/// Marks middleware that reads the handler's progress.
#[derive(Clone, Copy, Debug)]
pub struct AsksProgress;

impl HandlerProgress {
    /// Returns true if the function of the handler has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// Records that an argument could not be extracted, so the function does not
/// begin.
#[cold]
pub(crate) fn note_refusal(req: &Request) {
    if let Some(HandlerProgress(begun)) = req.extensions().get() {
        // Never falls below 0, even for a handler used outside its route.
        let less = |begun: usize| begun.checked_sub(1);
        let _: Result<usize, usize> = begun.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}

/// Creates a handler that records its beginning.
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
