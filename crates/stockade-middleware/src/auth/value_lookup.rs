//! [`ValueLookup`]: finds the user of credentials that come by another way than the
//! headers of a request.

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

/// A function from a value to a user, such as that of a token in the first message of
/// a WebSocket: any that [`Auth::bearer`](super::Auth::bearer) takes.
#[derive(Clone)]
pub struct ValueLookup<I> {
    /// In a box, because connections store the lookup in an enum with small variants.
    method: Box<AuthMethod>,
    credentials: PhantomData<fn(I)>,
}

/// The value, while the function is called. Extensions must be `Clone`.
#[derive(Clone)]
struct Given<I>(I);

impl<I: Clone + Send + Sync + 'static> ValueLookup<I> {
    /// Takes the function.
    pub fn new<M>(lookup: impl Lookup<I, M, Output: IntoUser>) -> Self {
        let reader = CredentialReader::credentials(Challenge::BEARER, |req, _| {
            let given = req.extensions().get::<Given<I>>();
            given.map(|given| given.0.clone()).ok_or(AuthResult::Nothing)
        });
        let mut method = lookup.into_method(reader).0;
        method.set_pool(UserPool::of("message"));
        Self { method: Box::new(method), credentials: PhantomData }
    }

    /// Describes the arguments of the function, such as the state that they need. Its
    /// errors are no answers to a request.
    pub fn describe(&self, doc: &mut RouteDescription) {
        self.method.describe_needs(doc);
    }

    /// Calls the function, and makes the user that it finds that of the request.
    /// Returns false if it finds none: the request keeps the one that it has.
    ///
    /// # Errors
    /// Those of the function and its extractors; a panic is a 500.
    pub async fn find(&self, req: &mut Request, value: I) -> Result<bool, ApiError> {
        req.extensions_mut().insert(Given(value.clone()));
        let found = CatchPanic::new(pin!(self.method.find(req))).await;
        req.extensions_mut().remove::<Given<I>>();
        match found? {
            AuthResult::User(user) => req.set_user(Some(user)),
            AuthResult::Json(json, value) => req.set_user_json(json, value),
            // A method of tokens does not leave one unasked.
            AuthResult::Nothing
            | AuthResult::OtherScheme
            | AuthResult::Invalid
            | AuthResult::Inconclusive(_) => {
                return Ok(false);
            }
            AuthResult::Refused(error) | AuthResult::Failed(Err(error)) => return Err(error),
            AuthResult::Failed(Ok(response)) => {
                // Nobody can be sent a response: its status is what remains.
                return Err(ApiError::new(response.status().as_u16(), ""));
            }
        }
        self.method.found(req);
        let watch = MethodWatch { method: (*self.method).clone(), is_optional: false };
        req.set_user_watch(Arc::new(GivenWatch { watch: Arc::new(watch), value }));
        Ok(true)
    }
}

/// The source of a user who was found by a value.
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
