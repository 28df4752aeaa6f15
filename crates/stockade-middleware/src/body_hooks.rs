//! [`with_body_hooks`]: middleware that shows request and response bodies to
//! the program.

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
/// bodies as they pass, for example to log them.
///
/// Nothing is collected: a hook sees each piece when the handler reads it or
/// when it is sent, and the body continues unchanged. A hook sees the first 4
/// KiB of each body, or the first [`max_bytes`](BodyHooks::max_bytes). It does
/// not see a body that nobody reads, WebSocket messages, responses to HEAD, or
/// error responses, which get their body outside of this middleware.
///
/// Hooks run in the task that handles the request and must not block. A panic
/// in a hook is logged, and the request continues.
///
/// # Secrets
///
/// Bodies contain passwords, tokens and personal data. A log of them is a copy
/// that many people can read and that exists for a long time. Use hooks on
/// single routes, to find a bug, and never on login routes.
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
/// The specification does not define body hooks.
pub fn with_body_hooks() -> BodyHooks {
    BodyHooks { on_request: None, on_response: None, max_bytes: 4_096 }
}

/// The middleware of [`with_body_hooks`].
#[derive(Clone)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct BodyHooks {
    on_request: Option<Hook>,
    on_response: Option<Hook>,
    max_bytes: u64,
}

type Hook = Arc<dyn Fn(&BodyPiece<'_>) + Send + Sync>;

impl BodyHooks {
    /// Calls `hook` with the pieces of the request body. Default: none.
    pub fn on_request(mut self, hook: impl Fn(&BodyPiece<'_>) + Send + Sync + 'static) -> Self {
        self.on_request = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` with the pieces of the response body. Default: none.
    pub fn on_response(mut self, hook: impl Fn(&BodyPiece<'_>) + Send + Sync + 'static) -> Self {
        self.on_response = Some(Arc::new(hook));
        self
    }

    /// Sets the number of bytes at the beginning of each body that a hook sees.
    /// Default: 4,096.
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

    /// Returns the pattern of the route, such as `/users/:id`, or `None`
    /// outside of a router.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.request.route()
    }

    /// Returns the request id, if there is one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request.id()
    }

    /// Returns the bytes as the client sent them. Use [`text`](Self::text) for
    /// a log.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Returns the bytes as text on one line. Characters that could begin a new
    /// line or control a terminal are escaped. A piece may end within a
    /// character, which then appears as `�`.
    #[must_use]
    pub fn text(&self) -> String {
        escaped(String::from_utf8_lossy(self.bytes)).to_string()
    }

    /// Returns the number of bytes of the body before this piece.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns true if the body has more bytes than a hook may see. This piece
    /// is then the last one, and may be empty.
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

/// A hook and its progress through one body.
struct Tap {
    hook: Hook,
    context: Arc<ErrorContext>,
    /// The number of bytes that the hook may still see.
    left: u64,
    offset: u64,
    is_cut: bool,
}

impl Tap {
    /// Shows a body to the hook: immediately if it is complete, otherwise piece
    /// by piece.
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
        // A limit above the address space is larger than any body.
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

/// A stream that shows its pieces to a hook.
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
