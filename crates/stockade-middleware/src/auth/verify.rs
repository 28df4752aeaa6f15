//! The functions by which an application finds a user, synchronous or not.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use serde::Serialize;
use serde_json::Value;
use stockade_core::__internal::escaped;
use stockade_core::middleware::BorrowingFn;
use stockade_core::{BoxFuture, Request};
use stockade_errors::__internal::catch_panic;

use super::method::{AuthMethod, Challenge, Find, Found};

/// The result of a function that finds a user: an `Option` of a serialisable
/// value, a JSON value, or a `Result` of these. An error, null, false, 0 and
/// empty text are no user.
///
/// Spec: Authentication › rule 3.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no user",
    label = "this is what the function returns",
    note = "return an Option of a type that implements Serialize, a serde_json::Value, or a Result of them"
)]
pub trait IntoUser {
    /// Returns the user as JSON, if there is one.
    fn into_user(self) -> Option<Value>;
}

impl IntoUser for Value {
    fn into_user(self) -> Option<Value> {
        let falsy = match &self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Number(number) => number.as_f64() == Some(0.0),
            Self::String(text) => text.is_empty(),
            Self::Array(_) | Self::Object(_) => false,
        };
        (!falsy).then_some(self)
    }
}

impl<U: Serialize> IntoUser for Option<U> {
    fn into_user(self) -> Option<Value> {
        match serde_json::to_value(self?) {
            Ok(user) => user.into_user(),
            Err(error) => {
                log::error!(target: "stockade::auth", "the user cannot be serialised: {error}");
                None
            }
        }
    }
}

impl<T: IntoUser, E: Display> IntoUser for Result<T, E> {
    fn into_user(self) -> Option<Value> {
        match self {
            Ok(user) => user.into_user(),
            Err(error) => {
                let error = escaped(error);
                log::warn!(target: "stockade::auth", "the function that finds the user failed: {error}");
                None
            }
        }
    }
}

/// Markers for the forms of functions.
pub mod form {
    use std::marker::PhantomData;

    /// A synchronous function.
    #[derive(Debug)]
    pub struct Sync<V>(PhantomData<V>);
    /// An `async` function.
    #[derive(Debug)]
    pub struct Async<V>(PhantomData<V>);
}

/// A function from the request to a user: `fn(&Request) -> V`, or
/// `async fn(&mut Request) -> V`, where `V` is an [`IntoUser`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "not a function from a request to a user",
    note = "it is `fn(&Request) -> Option<User>` or `async fn(&mut Request) -> Option<User>`; a Result does as well"
)]
pub trait Verify<Marker>: Sized {
    #[doc(hidden)]
    fn into_find(self) -> ErasedFind;
}

/// A function with its types erased.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct ErasedFind(pub(super) Find);

impl<F, V> Verify<form::Sync<V>> for F
where
    F: Fn(&Request) -> V + Send + Sync + 'static,
    V: IntoUser,
{
    fn into_find(self) -> ErasedFind {
        ErasedFind(Find::Sync(Arc::new(move |req| found(caught(|| self(req).into_user())))))
    }
}

impl<F, V> Verify<form::Async<V>> for F
where
    F: for<'r> BorrowingFn<'r, V> + Send + Sync + 'static,
    V: IntoUser + Send,
{
    fn into_find(self) -> ErasedFind {
        let verify = Arc::new(self);
        ErasedFind(Find::Async(Arc::new(move |req| {
            let verify = Arc::clone(&verify);
            Box::pin(async move {
                let user = waited(async { verify.call(req).await.into_user() }).await;
                found(user)
            })
        })))
    }
}

/// Makes a finding without knowing whether the request had credentials.
fn found(user: Option<Value>) -> Found {
    user.map_or(Found::Nothing, Found::User)
}

/// A function from credentials `I` to a user: `fn(I) -> V` or
/// `async fn(I) -> V`, where `V` is an [`IntoUser`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "not a function from `{I}` to a user",
    note = "it is `fn({I}) -> Option<User>` or `async fn({I}) -> Option<User>`; a Result does as well"
)]
pub trait Lookup<I, Marker>: Sized {
    #[doc(hidden)]
    fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod;
}

/// The reader of credentials in a request.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct CredentialReader<I> {
    pub(super) challenge: Challenge,
    pub(super) read: Arc<Read<I>>,
}

type Read<I> = dyn Fn(&Request) -> Result<I, Found> + Send + Sync;

/// A method with its types erased.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct ErasedMethod(pub(super) AuthMethod);

impl<I, F, V> Lookup<I, form::Sync<V>> for F
where
    I: 'static,
    F: Fn(I) -> V + Send + Sync + 'static,
    V: IntoUser,
{
    fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod {
        let CredentialReader { challenge, read } = reader;
        let find = Find::Sync(Arc::new(move |req| match read(req) {
            Ok(credentials) => Found::of(caught(|| self(credentials).into_user())),
            Err(found) => found,
        }));
        ErasedMethod(AuthMethod::new(challenge, find))
    }
}

impl<I, F, Fut, V> Lookup<I, form::Async<V>> for F
where
    I: Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = V> + Send + 'static,
    V: IntoUser + Send,
{
    fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod {
        let CredentialReader { challenge, read } = reader;
        let lookup = Arc::new(self);
        let find = Find::Async(Arc::new(move |req| -> BoxFuture<'_, Found> {
            let credentials = match read(req) {
                Ok(credentials) => credentials,
                Err(found) => return Box::pin(async { found }),
            };
            let lookup = Arc::clone(&lookup);
            Box::pin(async move {
                Found::of(waited(async { lookup(credentials).await.into_user() }).await)
            })
        }));
        ErasedMethod(AuthMethod::new(challenge, find))
    }
}

/// Calls a function of the application; a panic counts as no user.
fn caught(call: impl FnOnce() -> Option<Value>) -> Option<Value> {
    catch_panic(call).unwrap_or_else(|_| panicked())
}

/// Waits for a function of the application; a panic counts as no user.
async fn waited(future: impl Future<Output = Option<Value>>) -> Option<Value> {
    catch_panic_async(future).await.unwrap_or_else(panicked)
}

/// Waits for a function of the application; `None` if it panics.
pub(super) async fn catch_panic_async<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_panic(|| future.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}

#[cold]
fn panicked() -> Option<Value> {
    log::error!(target: "stockade::auth", "the function that finds the user panicked");
    None
}
