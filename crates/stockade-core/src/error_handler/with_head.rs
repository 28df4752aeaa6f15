//! Error functions that receive the head of the request.

use std::sync::Arc;

use super::{Change, ErrorHandler, ErrorHandlerOptions, ErrorReply, IntoErrorHandler};
use crate::endpoint::ErrorContext;
use crate::kept_head::KeptHead;
use crate::{Request, RequestHead};

impl ErrorHandlerOptions {
    /// Sets a function like [`reply`](Self::reply) that also receives the
    /// [`RequestHead`], with the headers and the user of the request.
    ///
    /// The request no longer exists when its handler fails. Each request to a
    /// route with such a function therefore copies its headers.
    #[must_use]
    pub fn reply_with_head(
        mut self,
        change: impl Fn(&mut ErrorReply, &RequestHead) + Send + Sync + 'static,
    ) -> Self {
        let change = move |reply: &mut ErrorReply, context: &ErrorContext| {
            change(reply, &RequestHead::of_error(context));
        };
        self.change = Some(Change::WithHead(Arc::new(change)));
        self
    }
}

#[diagnostic::do_not_recommend]
impl<F> IntoErrorHandler<fn(&mut ErrorReply, &RequestHead)> for F
where
    F: Fn(&mut ErrorReply, &RequestHead) + Send + Sync + 'static,
{
    fn into_error_handler(self) -> ErrorHandler {
        ErrorHandlerOptions::new().reply_with_head(self).into()
    }
}

impl Request {
    /// Copies the head.
    #[cold]
    pub(crate) fn copy_head(&self) -> KeptHead {
        let (head, user) = (self.inner.head.clone(), self.inner.user.clone());
        KeptHead::new(head, self.client_ip(), user)
    }

    /// Stores a copy of the head if an error handler needs it, and returns the
    /// copy.
    #[inline]
    pub(crate) fn keep_head(&mut self, handler: Option<&ErrorHandler>) -> Option<Arc<KeptHead>> {
        if !handler.is_some_and(ErrorHandler::takes_head) {
            return None;
        }
        if self.inner.kept_head.is_none() {
            self.inner.kept_head = Some(Arc::new(self.copy_head()));
        }
        self.inner.kept_head.clone()
    }
}
