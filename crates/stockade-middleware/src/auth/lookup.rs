//! The functions by which an application finds a user, synchronous or not.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use stockade_core::__internal::answer_of;
use stockade_core::description::{Answer, AnswerStatus};
use stockade_core::log_text::escaped;
use stockade_core::middleware::BorrowingFn;
use stockade_core::reply::Failure;
use stockade_core::reply::failure::answer_of;
use stockade_core::{Arguments, BoxFuture, Request, RouteDoc, Shape};
use stockade_errors::__internal::{CatchPanic, catch_panic};
use stockade_errors::ApiError;

use super::IntoUser;
use super::challenge::{Challenge, Scheme};
use super::method::{AuthMethod, Failed, Find, Found};

/// Markers for the forms of functions.
pub mod form {
    use std::marker::PhantomData;

    /// A synchronous function.
    #[derive(Debug)]
    pub struct Sync<V>(PhantomData<V>);
    /// An `async` function.
    #[derive(Debug)]
    pub struct Async<V>(PhantomData<V>);
    /// An `async` function that takes extractors behind the credentials.
    #[derive(Debug)]
    pub struct Extracting<Args>(PhantomData<Args>);
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
        ErasedFind(Find::Sync(Arc::new(move |req, _| {
            let user = catch_panic(|| self(req).into_user());
            Found::of(Ok(user.unwrap_or_else(panicked)), Found::Nothing)
        })))
    }
}

impl<F, V> Verify<form::Async<V>> for F
where
    F: for<'r> BorrowingFn<'r, V> + Clone + Send + Sync + 'static,
    V: IntoUser + Send,
{
    fn into_find(self) -> ErasedFind {
        ErasedFind(Find::Async(Arc::new(move |req, _| {
            let verify = self.clone();
            Box::pin(async move {
                let user = pin!(async { verify.call((), req).await.into_user() });
                let user = CatchPanic::new(user).await;
                Found::of(Ok(user.unwrap_or_else(panicked)), Found::Nothing)
            })
        })))
    }
}

/// A function from credentials `I` to a user.
///
/// | function | an error |
/// |---|---|
/// | `fn(I) -> V` or `async fn(I) -> V`, where `V` is an [`IntoUser`] | is answered: an [`ApiError`] as it is, a `StatusCode` from 400 on as its error, any other one as a 500 |
/// | `async fn(I, &mut Request) -> V` | is answered |
/// | `async fn(I, A, …) -> Result<Option<U>, E>` with up to seven extractors `A`, where `E` is a [`Failure`] | is answered |
///
/// An error that is answered is the answer also where no user is required, and
/// no further method is tried: see [`Auth::lookup`](super::Auth::lookup). A
/// panic is a 500.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "not a function from `{I}` to a user",
    note = "it is `fn({I}) -> Option<User>` or `async fn({I}) -> Option<User>`; a Result does as well",
    note = "with extractors it is `async fn({I}, State<Db>, …) -> Result<Option<User>, ApiError>`",
    note = "a function of extractors alone is for `Auth::lookup`"
)]
pub trait Lookup<I, Marker>: Sized {
    #[doc(hidden)]
    fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod;
}

/// The arguments of a function of [`Auth::lookup`](super::Auth::lookup): up to
/// eight extractors.
#[diagnostic::on_unimplemented(
    message = "`Auth::lookup` takes a function of extractors, and not all of `{Self}` are extractors",
    label = "this function cannot find a user by the request",
    note = "it is `async fn(Headers, State<Db>, …) -> Result<Option<User>, ApiError>`",
    note = "a function of a token is for `Auth::bearer`, and others of credentials for `Auth::api_key`, `Auth::basic` and `Auth::session`"
)]
pub trait LookupArguments: Arguments {}

// The message of the trait says more than one about a single argument.
#[diagnostic::do_not_recommend]
impl<Args: Arguments> LookupArguments for Args {}

/// The reader of credentials in a request.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct CredentialReader<I> {
    pub(super) challenge: Challenge,
    pub(super) read: Arc<Read<I>>,
}

impl<I: 'static> CredentialReader<I> {
    /// Makes a method of a function that finds the user of these credentials. It is
    /// called if the request has credentials.
    fn into_async(
        self,
        find: impl for<'r> Fn(I, &'r mut Request) -> BoxFuture<'r, Found> + Send + Sync + 'static,
    ) -> AuthMethod {
        let Self { challenge, read } = self;
        let find = Find::Async(Arc::new(move |req, scheme| match read(req, scheme) {
            Ok(credentials) => find(credentials, req),
            Err(found) => Box::pin(async { found }),
        }));
        AuthMethod::new(challenge, find)
    }
}

type Read<I> = dyn Fn(&Request, &Scheme) -> Result<I, Found> + Send + Sync;

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
        let find = Find::Sync(Arc::new(move |req, scheme| match read(req, scheme) {
            Ok(credentials) => {
                let user = catch_panic(|| self(credentials).try_into_user());
                Found::of(user.and_then(|user| user).map_err(Err), Found::Invalid)
            }
            Err(found) => found,
        }));
        ErasedMethod(AuthMethod::new(challenge, find).describing(describe_errors::<V>))
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
        let lookup = Arc::new(self);
        let method = reader.into_async(move |credentials, _| {
            let lookup = Arc::clone(&lookup);
            Box::pin(async move {
                let user = pin!(async { lookup(credentials).await.try_into_user() });
                let user = CatchPanic::new(user).await;
                Found::of(user.and_then(|user| user).map_err(Err), Found::Invalid)
            })
        });
        ErasedMethod(method.describing(describe_errors::<V>))
    }
}

impl<I, F, V> Lookup<I, form::Async<fn(I, &'static mut Request) -> V>> for F
where
    I: Send + 'static,
    F: for<'r> BorrowingFn<'r, V, (I,)> + Clone + Send + Sync + 'static,
    V: IntoUser + Send,
{
    fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod {
        let method = reader.into_async(move |credentials, req| {
            let lookup = self.clone();
            Box::pin(async move {
                let user = pin!(async { lookup.call((credentials,), req).await.try_into_user() });
                let user = CatchPanic::new(user).await;
                Found::of(user.and_then(|user| user).map_err(Err), Found::Invalid)
            })
        });
        ErasedMethod(method.describing(describe_errors::<V>))
    }
}

macro_rules! lookup_with_extractors {
    ($($Arg:ident $arg:ident),*) => {
        impl<I, F, U, E, $($Arg,)*> Lookup<I, form::Extracting<($($Arg,)*)>> for F
        where
            I: Send + 'static,
            F: Shape<(I, $($Arg,)*), Output = Result<Option<U>, E>>,
            F::Future: Send,
            ($($Arg,)*): Arguments + 'static,
            U: Serialize,
            E: Failure,
        {
            fn into_method(self, reader: CredentialReader<I>) -> ErasedMethod {
                let method = reader.into_async(move |credentials, req| {
                    let lookup = self.clone();
                    let call =
                    move |($($arg,)*)| lookup.clone().call((credentials, $($arg,)*));
                    Box::pin(async { Found::of(user_of(req, call).await, Found::Invalid) })
                });
                let needs =
                    |doc: &mut RouteDoc| doc.middleware_arguments::<($($Arg,)*)>("with_auth");
                ErasedMethod(method.needing(needs).describing(describe_failure::<E>))
            }
        }
    };
}

lookup_with_extractors!(A1 a1);
lookup_with_extractors!(A1 a1, A2 a2);
lookup_with_extractors!(A1 a1, A2 a2, A3 a3);
lookup_with_extractors!(A1 a1, A2 a2, A3 a3, A4 a4);
lookup_with_extractors!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5);
lookup_with_extractors!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6);
lookup_with_extractors!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7);

/// Describes the errors of a function that returns `V`.
fn describe_errors<V: IntoUser>(doc: &mut RouteDoc) {
    if V::MAY_FAIL {
        may_fail(doc);
    }
}

/// Describes the errors of a function that fails with `E`: any error, unless `E`
/// tells which.
pub(super) fn describe_failure<E: Failure>(doc: &mut RouteDoc) {
    let before = doc.facts().answers.len();
    E::describe(doc);
    if doc.facts().answers.len() == before {
        may_fail(doc);
    }
}

/// Notes that the function that finds the user may fail, with any error.
fn may_fail(doc: &mut RouteDoc) {
    let meaning = "An error of the function that finds the user";
    doc.answers(Answer::error(AnswerStatus::Default).meaning(meaning));
}

/// Makes the finding of a function of extractors alone.
pub(super) fn find_with<F, Args, U, E>(lookup: F) -> Find
where
    F: Shape<Args, Output = Result<Option<U>, E>>,
    F::Future: Send,
    Args: Arguments + 'static,
    U: Serialize,
    E: Failure,
{
    Find::Async(Arc::new(move |req, _| {
        let lookup = lookup.clone();
        Box::pin(
            async move { Found::of(user_of(req, |args| lookup.call(args)).await, Found::Nothing) },
        )
    }))
}

/// Calls a function with its arguments from the request, and returns the user as
/// JSON, if there is one. A user that cannot be JSON is a 500, and a falsy one is
/// none.
async fn user_of<Args, Fut, U, E>(
    req: &mut Request,
    call: impl FnOnce(Args) -> Fut,
) -> Result<Option<Value>, Failed>
where
    Args: Arguments,
    Fut: Future<Output = Result<Option<U>, E>>,
    U: Serialize,
    E: Failure,
{
    let args = Args::extract(req).await.map_err(Err)?;
    let failed = |failure| answer_of(failure).map(Box::new);
    let Some(user) = call(args).await.map_err(failed)? else { return Ok(None) };
    let user = serde_json::to_value(user).map_err(|error| Err(ApiError::internal(error)))?;
    Ok(user.into_user())
}

/// Counts a panic of [`Auth::verify`](super::Auth::verify) as no user.
#[cold]
fn panicked(_: ApiError) -> Option<Value> {
    log::error!(target: "stockade::auth", "the function that finds the user panicked");
    None
}
