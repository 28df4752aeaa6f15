//! Ends long-lived responses when the login of their user ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_body::{Body, Frame, SizeHint};
use stockade_errors::locks::lock;
use stockade_errors::{ApiError, BoxError};

use crate::reply::EndsAtShutdown;
use crate::request::UserWatch;
use crate::upgrade;
use crate::user_lifetime::UserLifetime;
use crate::{BoxFuture, FromRequest, HttpBody, Request, Response, RouteDescription};

impl UserLifetime {
    /// Returns the lifetime of a request's user, or `None` if authentication
    /// found no user or the route may outlive its user.
    pub fn of(req: &Request) -> Option<Self> {
        if req.inner.route.as_deref().is_some_and(|route| route.outlives_user.is_some()) {
            return None;
        }
        let own = req.inner.user_watch.clone().map(|watch| watch.ended(req.child()));
        let outer =
            req.extensions().get().and_then(OuterUser::lifetime).map(|lifetime| lifetime.ended);
        let ended = match (own, outer) {
            (Some(own), Some(outer)) => first(own, outer),
            (own, outer) => own.or(outer)?,
        };
        Some(Self { ended })
    }
}

impl FromRequest for UserLifetime {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self::of(req).unwrap_or_else(Self::endless))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.takes_lifetime = true;
    }
}

/// The users of an outer and an inner authentication, which are both required.
struct Both {
    outer: Arc<dyn UserWatch>,
    inner: Arc<dyn UserWatch>,
}

impl UserWatch for Both {
    fn ended(self: Arc<Self>, req: Request) -> BoxFuture<'static, ()> {
        let outer = Arc::clone(&self.outer).ended(req.child());
        first(outer, Arc::clone(&self.inner).ended(req))
    }
}

/// Ends with the first of two futures.
fn first(
    mut one: BoxFuture<'static, ()>,
    mut other: BoxFuture<'static, ()>,
) -> BoxFuture<'static, ()> {
    Box::pin(std::future::poll_fn(move |cx| {
        if one.as_mut().poll(cx).is_ready() { Poll::Ready(()) } else { other.as_mut().poll(cx) }
    }))
}

impl Request {
    /// Records that this source found the user. The user of a required outer
    /// authentication still counts.
    #[doc(hidden)]
    pub fn set_user_watch(&mut self, inner: Arc<dyn UserWatch>) {
        let outer = self.inner.user_watch.take().filter(|outer| {
            // The router and the route may have the same middleware.
            !outer.is_optional() && !Arc::ptr_eq(outer, &inner)
        });
        self.inner.user_watch = Some(match outer {
            Some(outer) => Arc::new(Both { outer, inner }),
            None => inner,
        });
    }

    /// Records another source of users, in addition to the user of the request.
    #[doc(hidden)]
    pub fn add_user_watch(&mut self, inner: Arc<dyn UserWatch>) {
        self.inner.user_watch = Some(match self.inner.user_watch.take() {
            Some(outer) if !Arc::ptr_eq(&outer, &inner) => Arc::new(Both { outer, inner }),
            _ => inner,
        });
    }

    /// Returns a number that is unique among all existing sources.
    #[doc(hidden)]
    #[must_use]
    pub fn user_watch_id(&self) -> Option<usize> {
        self.inner.user_watch.as_ref().map(|watch| Arc::as_ptr(watch).addr())
    }

    /// Returns true if authentication has recorded a source.
    #[doc(hidden)]
    #[must_use]
    pub fn has_user_watch(&self) -> bool {
        self.inner.user_watch.is_some()
    }

    /// Returns the lifetime of the user after argument extraction. An argument
    /// may have consumed the whole request.
    #[doc(hidden)]
    pub fn take_lifetime(&mut self) -> Option<UserLifetime> {
        self.inner.taken_lifetime.take().or_else(|| UserLifetime::of(self))
    }

    /// Passes the user to a nested application, and returns the lifetime for
    /// the response. Costs nothing without a user.
    #[doc(hidden)]
    pub fn lend_user(&mut self) -> Option<UserLifetime> {
        if self.inner.user_watch.is_none() && self.extensions().get::<OuterUser>().is_none() {
            return None;
        }
        let lifetime = UserLifetime::of(self)?;
        if self.inner.user_watch.is_some() {
            let whole = Arc::new(Mutex::new(self.child()));
            self.extensions_mut().insert(OuterUser(whole));
        }
        Some(lifetime)
    }
}

/// A request around a nested application. Extensions must be `Clone`.
#[derive(Clone)]
struct OuterUser(Arc<Mutex<Request>>);

impl OuterUser {
    fn lifetime(&self) -> Option<UserLifetime> {
        // The lock is never held while a request changes.
        let whole = lock(&self.0).child();
        UserLifetime::of(&whole)
    }
}

/// Makes the body of a long-lived response end with the login of the request's
/// user.
pub(crate) fn end_with_user(response: &mut Response, req: &mut Request) {
    if has_user(req) && may_outlive(response) {
        end_with(response, lifetime_of(req));
    }
}

/// Returns the lifetime of a request's user, even if an argument consumed the
/// request.
pub(crate) fn lifetime_of(req: &mut Request) -> Option<UserLifetime> {
    if !has_user(req) {
        return None;
    }
    req.take_lifetime()
}

/// Returns true if the response may have to end with the login of a user.
pub(crate) fn has_user(req: &Request) -> bool {
    req.inner.user_watch.is_some() || req.inner.taken_lifetime.is_some()
}

/// Makes the body of a long-lived response end with this lifetime.
pub fn end_with(response: &mut Response, lifetime: Option<UserLifetime>) {
    let Some(lifetime) = lifetime.filter(|_| may_outlive(response)) else { return };
    if upgrade::switches(response) {
        upgrade::end_with_user(response, lifetime);
    } else {
        limit(response, lifetime);
    }
}

/// Returns true for a response that may outlive its user's login and does not
/// end by itself.
fn may_outlive(response: &Response) -> bool {
    (upgrade::switches(response) || is_endless(response))
        && response.extensions().get::<EndsItself>().is_none()
}

fn limit(response: &mut Response, lifetime: UserLifetime) {
    let body = std::mem::take(response.body_mut());
    *response.body_mut() = HttpBody::new(LimitedBody { body, lifetime: Some(lifetime) });
}

/// Returns true for an endless body. A download is not endless and is never
/// cut, because its client could not detect the missing data.
fn is_endless(response: &Response) -> bool {
    if response.body().as_bytes().is_some() {
        return false;
    }
    let is_events = || {
        let media = response.headers().get(CONTENT_TYPE).map_or(&[][..], |it| it.as_bytes());
        media.get(..EVENTS.len()).is_some_and(|start| start.eq_ignore_ascii_case(EVENTS))
    };
    response.extensions().get::<EndsAtShutdown>().is_some() || is_events()
}

const EVENTS: &[u8] = b"text/event-stream";

/// A mark in the extensions of a response that ends with its user by itself.
/// Examples are a last event that announces the end, or a WebSocket close
/// frame.
#[derive(Clone, Copy, Debug)]
pub struct EndsItself;

/// A body that ends with the login of its user.
struct LimitedBody {
    body: HttpBody,
    /// `None` after it has ended.
    lifetime: Option<UserLifetime>,
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(lifetime) = &mut self.lifetime else { return Poll::Ready(None) };
        if Pin::new(lifetime).poll(cx).is_ready() {
            self.lifetime = None;
            self.body = HttpBody::empty();
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.lifetime.is_none() || self.body.is_end_stream()
    }

    /// Returns an unknown length, because the body may end early.
    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
