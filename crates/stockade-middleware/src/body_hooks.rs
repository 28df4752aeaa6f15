//! [`with_body_hooks`]: shows the bodies that pass to the program.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Method;
use http_body::{Body, Frame, SizeHint};
use stockade_core::log_text::escaped;
use stockade_core::middleware::form;
use stockade_core::{
    BoxError, ErrorContext, HttpBody, IntoMiddleware, Middleware, Next, Request, Response,
};
use stockade_errors::panic::catch_panic;

use crate::described::unseen;

/// Calls functions of the program with the pieces of request and response
/// bodies as they pass, such as to log them.
///
/// Nothing is collected: a hook sees each piece when the handler reads it, or
/// when it leaves, and the body goes on as it is. Of each body a hook sees the
/// first 4 KiB, or [`max_bytes`](BodyHooks::max_bytes). A body that nobody reads
/// is not seen, and neither are the messages of a WebSocket, the answer to HEAD,
/// and errors, which become a body outside of this middleware.
///
/// A hook is called by the task that answers the request, and must not block. A
/// panic in it is logged, and the request goes on.
///
/// # Secrets
///
/// Bodies hold passwords, tokens and data of people. A log of them is a copy
/// that many can read and that is kept for long: use hooks on single routes, to
/// look for a mistake, and leave out those that sign users in.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_body_hooks;
///
/// let hooks = with_body_hooks()
///     .on_request(|piece| log::debug!("{} <- {}", piece.route().unwrap_or("-"), piece.text()))
///     .on_response(|piece| log::debug!("{} -> {}", piece.route().unwrap_or("-"), piece.text()));
/// assert_eq!(Middleware::new(hooks).name(), "with_body_hooks");
/// ```
///
/// # Beyond the spec
/// The specification has no such hooks.
pub fn with_body_hooks() -> BodyHooks {
    BodyHooks { on_request: None, on_response: None, max_bytes: 4_096 }
}

/// The middleware of [`with_body_hooks`].
#[derive(Clone)]
#[must_use = "it shows nothing until a route or a router has it"]
pub struct BodyHooks {
    on_request: Option<Hook>,
    on_response: Option<Hook>,
    max_bytes: u64,
}

type Hook = Arc<dyn Fn(&BodyPiece<'_>) + Send + Sync>;

impl BodyHooks {
    /// Calls `hook` with the pieces of a request's body. Default: none.
    pub fn on_request(mut self, hook: impl Fn(&BodyPiece<'_>) + Send + Sync + 'static) -> Self {
        self.on_request = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` with the pieces of a response's body. Default: none.
    pub fn on_response(mut self, hook: impl Fn(&BodyPiece<'_>) + Send + Sync + 'static) -> Self {
        self.on_response = Some(Arc::new(hook));
        self
    }

    /// Sets the number of bytes that a hook sees of each body, from its
    /// beginning. Default: 4,096.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }
}

impl fmt::Debug for BodyHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyHooks")
            .field("on_request", &self.on_request.is_some())
            .field("on_response", &self.on_response.is_some())
            .field("max_bytes", &self.max_bytes)
            .finish()
    }
}

/// A piece of a body, as a hook of [`with_body_hooks`] sees it.
#[derive(Debug)]
pub struct BodyPiece<'b> {
    request: &'b ErrorContext,
    bytes: &'b [u8],
    offset: u64,
    is_cut: bool,
}

impl BodyPiece<'_> {
    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.request.method()
    }

    /// Returns the pattern of the route, such as `/users/:id`; `None` outside of
    /// a router.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.request.route()
    }

    /// Returns the id of the request, if it has one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request.id()
    }

    /// Returns the bytes. They are what a client wrote: see [`text`](Self::text)
    /// for a log.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Returns the bytes as text on one line, in which characters that could
    /// begin another line, or steer a terminal, are written as escapes. A piece
    /// may end within a character, which is then `�`.
    #[must_use]
    pub fn text(&self) -> String {
        escaped(String::from_utf8_lossy(self.bytes)).to_string()
    }

    /// Returns the number of bytes of the body before this piece.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns true if the body goes on behind the bytes that a hook sees. This
    /// piece is the last one then, and may be empty.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl IntoMiddleware<form::Ready> for BodyHooks {
    fn into_middleware(self) -> Middleware {
        let around = move |mut req: Request, next: Next| {
            let context = Arc::new(ErrorContext::of(&req));
            let tap = |hook: &Hook| Tap {
                hook: Arc::clone(hook),
                context: Arc::clone(&context),
                left: self.max_bytes,
                offset: 0,
                is_cut: false,
            };
            if let Some(tap) = self.on_request.as_ref().map(tap) {
                req.map_body(|body| tap.watch(body));
            }
            let is_head = *req.method() == Method::HEAD;
            let tap = self.on_response.as_ref().filter(|_| !is_head).map(tap);
            async move {
                let response = next.try_run(req).await?;
                Ok::<Response, stockade_core::ApiError>(match tap {
                    Some(tap) => response.map(|body| tap.watch(body)),
                    None => response,
                })
            }
        };
        Middleware::new(around).named("with_body_hooks").describing(unseen)
    }
}

/// A hook on its way through one body.
struct Tap {
    hook: Hook,
    context: Arc<ErrorContext>,
    /// The number of bytes that the hook may still see.
    left: u64,
    offset: u64,
    is_cut: bool,
}

impl Tap {
    /// Shows a body to the hook: at once if it is whole, or piece by piece.
    fn watch(mut self, body: HttpBody) -> HttpBody {
        match body.as_bytes() {
            Some(bytes) => {
                self.show(bytes);
                body
            }
            None => HttpBody::new(TappedBody { body, tap: self }),
        }
    }

    fn show(&mut self, data: &[u8]) {
        if self.is_cut {
            return;
        }
        // What does not fit into the address space is more than there is.
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let bytes = &data[..data.len().min(left)];
        self.is_cut = data.len() > left;
        if bytes.is_empty() && !self.is_cut {
            return;
        }
        let request = &self.context;
        let piece = BodyPiece { request, bytes, offset: self.offset, is_cut: self.is_cut };
        if let Err(error) = catch_panic(|| (self.hook)(&piece)) {
            log::error!(target: "stockade", "a hook of `with_body_hooks`: {error}");
        }
        let shown = bytes.len() as u64;
        self.left -= shown;
        self.offset += shown;
    }
}

/// A stream whose pieces are shown to a hook.
struct TappedBody {
    body: HttpBody,
    tap: Tap,
}

impl Body for TappedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.tap.show(data);
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
