//! [`ValueLookup`]: authenticates credentials that arrive outside the request
//! headers.

use std::fmt;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;

use stockade_core::request_internals::UserWatch;
use stockade_core::{BoxFuture, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_errors::panic::CatchPanic;

use super::challenge::Challenge;
use super::lookup::CredentialReader;
use super::method::{AuthMethod, AuthResult, UserPool};
use super::recheck::MethodWatch;
use super::{IntoUser, Lookup};

/// A function from a value to a user, for example for a token in the first
/// message of a WebSocket. It is any function that
/// [`Auth::bearer`](super::Auth::bearer) accepts.
#[derive(Clone)]
pub struct ValueLookup<I> {
    /// Boxed, because connections store the lookup in an enum with small
    /// variants.
    method: Box<AuthMethod>,
    credentials: PhantomData<fn(I)>,
}

/// The value during the call of the function. Extensions must be `Clone`.
#[derive(Clone)]
struct Given<I>(I);

impl<I: Clone + Send + Sync + 'static> ValueLookup<I> {
    /// Creates a lookup from the function.
    pub fn new<M>(lookup: impl Lookup<I, M, Output: IntoUser>) -> Self {
        let reader = CredentialReader::credentials(Challenge::BEARER, |req, _| {
            let given = req.extensions().get::<Given<I>>();
            given.map(|given| given.0.clone()).ok_or(AuthResult::Nothing)
        });
        let mut method = lookup.into_method(reader).0;
        method.set_pool(UserPool::of("message"));
        Self { method: Box::new(method), credentials: PhantomData }
    }

    /// Describes the arguments of the function, such as the state that they
    /// need. Its errors are not responses to a request.
    pub fn describe(&self, doc: &mut RouteDescription) {
        self.method.describe_needs(doc);
    }

    /// Calls the function and sets the user of the request. Returns false if
    /// the function finds no user; the request then keeps its user.
    ///
    /// # Errors
    /// Returns the errors of the function and its extractors. A panic is a 500.
    pub async fn find(&self, req: &mut Request, value: I) -> Result<bool, ApiError> {
        req.extensions_mut().insert(Given(value.clone()));
        let found = CatchPanic::new(pin!(self.method.find(req))).await;
        req.extensions_mut().remove::<Given<I>>();
        match found? {
            AuthResult::User(user) => req.set_user(Some(user)),
            AuthResult::Json(json, value) => req.set_user_json(json, value),
            // `AuthMethod::find` never returns `Inconclusive`.
            AuthResult::Nothing
            | AuthResult::OtherScheme
            | AuthResult::Invalid
            | AuthResult::Inconclusive(_) => {
                return Ok(false);
            }
            AuthResult::Refused(error) | AuthResult::Failed(Err(error)) => return Err(error),
            AuthResult::Failed(Ok(response)) => {
                // A response cannot be sent here, so only its status remains.
                return Err(ApiError::new(response.status().as_u16(), ""));
            }
        }
        self.method.found(req);
        let watch = MethodWatch { method: (*self.method).clone(), is_optional: false };
        req.set_user_watch(Arc::new(GivenWatch { watch: Arc::new(watch), value }));
        Ok(true)
    }
}

/// The source of a user found by a value.
struct GivenWatch<I> {
    watch: Arc<MethodWatch>,
    value: I,
}

impl<I: Clone + Send + Sync + 'static> UserWatch for GivenWatch<I> {
    fn ended(self: Arc<Self>, mut req: Request) -> BoxFuture<'static, ()> {
        req.extensions_mut().insert(Given(self.value.clone()));
        Arc::clone(&self.watch).ended(req)
    }
}

impl<I> fmt::Debug for ValueLookup<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueLookup").finish_non_exhaustive()
    }
}
