//! [`Lookup`]: the application's functions that authenticate users.
//!
//! A function takes credentials and then extractors, or only extractors. The
//! request handler traits [`HandlerFn`] and [`Arguments`] call asynchronous
//! functions and extract the arguments. Synchronous functions are called by
//! reference, because a clone of their captured values may allocate.

use std::future::{Future, ready};
use std::pin::pin;
use std::sync::Arc;

use serde_json::Value;
use stockade_core::log_text::escaped;
use stockade_core::middleware::BorrowingFn;
use stockade_core::{Arguments, BoxFuture, FromRequest, HandlerFn, Request};
use stockade_errors::ApiError;
use stockade_errors::panic::{CatchPanic, catch_panic};

use super::IntoUser;
use super::challenge::{Challenge, Scheme};
use super::method::{AuthMethod, AuthResult, Failed, Find};

/// A function that authenticates a user: `fn(C, A, …) -> Result<Option<U>, E>`,
/// synchronous or asynchronous, with credentials `C` and then up to seven
/// extractors `A`.
///
/// The function may return any [`IntoUser`], such as `Option<U>`. An error is
/// an [`IntoError`](stockade_core::reply::IntoError), as in a request handler.
/// It becomes the response even if no user is required, and no further method
/// is tried. A panic is a 500. Only [`Auth::verify`](super::Auth::verify)
/// treats errors and panics as "no user".
///
/// The credentials are a `String` for a token, an `ApiKeyHash`,
/// `BasicCredentials` or a `SessionId`. [`WholeRequest`] means that the
/// function takes only extractors, or only `&Request`. An asynchronous function
/// may take `&mut Request` instead of extractors.
///
/// Like a request handler, an asynchronous closure is cloned for each call, so
/// the captured values must be `Clone`. A synchronous closure is not cloned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "not a function from `{C}` to a user",
    note = "for `Auth::bearer` it is `fn(String, State<Db>, …) -> Result<Option<User>, ApiError>`; `Auth::api_key` passes an `ApiKeyHash`, `Auth::basic` passes `BasicCredentials`, `Auth::session` passes a `SessionId`",
    note = "for `Auth::lookup` and `Auth::verify` it is `fn(Headers, State<Db>, …) -> Result<Option<User>, ApiError>`, with extractors only",
    note = "an `async fn` works too; the extractors and the Result are optional; the error is any error of a request handler, such as `ApiError`, `BoxError` or `StatusCode`"
)]
pub trait Lookup<C, Marker>: Sized {
    /// The result of the function.
    type Output;

    #[doc(hidden)]
    fn into_method(self, reader: CredentialReader<C>) -> ErasedMethod
    where
        Self::Output: IntoUser;
}

/// Marker instead of credentials, for functions that authenticate by the
/// request itself.
///
/// Such a function accepts up to eight extractors: see
/// [`Auth::lookup`](super::Auth::lookup).
#[derive(Clone, Copy, Debug)]
pub struct WholeRequest;

/// Markers for the two forms of functions.
pub mod form {
    use std::marker::PhantomData;

    /// A synchronous function.
    #[derive(Debug)]
    pub struct Sync<Args>(PhantomData<Args>);
    /// A function that returns a future.
    #[derive(Debug)]
    pub struct Async<Args>(PhantomData<Args>);
}

/// The reader of credentials in a request.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct CredentialReader<C> {
    challenge: Challenge,
    read: Arc<Read<C>>,
    policy: Policy,
}

type Read<C> = dyn Fn(&Request, &Scheme) -> Result<C, AuthResult> + Send + Sync;

/// A type-erased method.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only passed on")]
pub struct ErasedMethod(pub(super) AuthMethod);

/// The user as JSON, or the response to a failure.
type User = Result<Option<Value>, Failed>;

/// The meaning of the results of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Policy {
    /// The credentials are invalid if the function does not return a user.
    /// Errors become responses.
    Credentials,
    /// The request does not have credentials if the function does not return a
    /// user. Errors become responses.
    Request,
    /// Like `Request`, but an error means that there is no user.
    IgnoreErrors,
}

impl Policy {
    /// Calls a synchronous function.
    fn found_by(self, call: impl FnOnce() -> User) -> AuthResult {
        self.found(catch_panic(call))
    }

    /// Waits for the user.
    async fn found_later(self, user: impl Future<Output = User> + Unpin) -> AuthResult {
        self.found(CatchPanic::new(user).await)
    }

    fn found(self, user: Result<User, ApiError>) -> AuthResult {
        match (user.unwrap_or_else(|panic| Err(Err(panic))), self) {
            (Ok(Some(user)), _) => AuthResult::User(user),
            (Ok(None), Self::Credentials) => AuthResult::Invalid,
            (Ok(None), Self::Request | Self::IgnoreErrors) => AuthResult::Nothing,
            (Err(failed), Self::Credentials | Self::Request) => AuthResult::Failed(failed),
            (Err(failed), Self::IgnoreErrors) => {
                log_failure(&failed);
                AuthResult::Nothing
            }
        }
    }

    /// Adds the description of the errors of a function that returns `V`.
    fn describing<V: IntoUser>(self, method: AuthMethod) -> ErasedMethod {
        ErasedMethod(match self {
            Self::Credentials | Self::Request => method.describing(V::describe),
            Self::IgnoreErrors => method,
        })
    }
}

#[cold]
fn log_failure(failed: &Failed) {
    match failed {
        Ok(response) => log::warn!(
            target: "stockade::auth",
            "the function that finds the user failed: status {}",
            response.status()
        ),
        Err(error) => log::warn!(
            target: "stockade::auth",
            "the function that finds the user failed: {}",
            escaped(error)
        ),
    }
}

impl CredentialReader<WholeRequest> {
    /// Creates the reader for a function that authenticates by the request
    /// itself.
    pub(super) fn whole_request(policy: Policy) -> Self {
        let read = Arc::new(|_: &Request, _: &Scheme| Ok(WholeRequest));
        Self { challenge: Challenge::BEARER, read, policy }
    }
}

impl<C: 'static> CredentialReader<C> {
    /// Creates the reader of credentials.
    pub(super) fn credentials(
        challenge: Challenge,
        read: impl Fn(&Request, &Scheme) -> Result<C, AuthResult> + Send + Sync + 'static,
    ) -> Self {
        Self { challenge, read: Arc::new(read), policy: Policy::Credentials }
    }

    /// Creates a method from a synchronous function that takes only
    /// credentials.
    fn immediate<V: IntoUser>(
        self,
        call: impl Fn(C, ()) -> V + Send + Sync + 'static,
    ) -> ErasedMethod {
        let Self { challenge, read, policy } = self;
        let find = Find::Sync(Arc::new(move |req, scheme| match read(req, scheme) {
            Ok(credentials) => policy.found_by(|| call(credentials, ()).into_user()),
            Err(found) => found,
        }));
        policy.describing::<V>(AuthMethod::new(challenge, find))
    }

    /// Creates a method from a synchronous function that also takes extractors.
    fn extracting<V: IntoUser, Args: Arguments + 'static>(
        self,
        call: impl Fn(C, Args) -> V + Send + Sync + 'static,
    ) -> ErasedMethod
    where
        C: Send,
    {
        let call = Arc::new(call);
        self.asynchronous::<V, Args, _>(move |credentials, args| {
            ready(call(credentials, args).into_user())
        })
    }

    /// Creates a method from a function that returns a future.
    fn asynchronous<V: IntoUser, Args: Arguments + 'static, Fut>(
        self,
        call: impl FnOnce(C, Args) -> Fut + Clone + Send + Sync + 'static,
    ) -> ErasedMethod
    where
        C: Send,
        Fut: Future<Output = User> + Send,
    {
        let policy = self.policy;
        let ErasedMethod(method) = self.waiting::<V>(move |credentials, req| {
            let call = call.clone();
            Box::pin(async move {
                let user = async {
                    let args = Args::extract(req).await.map_err(Err)?;
                    call(credentials, args).await
                };
                policy.found_later(pin!(user)).await
            })
        });
        ErasedMethod(method.needing(|doc| doc.middleware_arguments::<Args>("with_auth")))
    }

    /// Creates a method from a function that runs if the request has
    /// credentials.
    fn waiting<V: IntoUser>(
        self,
        find: impl Fn(C, &mut Request) -> BoxFuture<'_, AuthResult> + Send + Sync + 'static,
    ) -> ErasedMethod {
        let Self { challenge, read, policy } = self;
        let find = Find::Async(Arc::new(move |req, scheme| match read(req, scheme) {
            Ok(credentials) => find(credentials, req),
            Err(found) => Box::pin(async { found }),
        }));
        policy.describing::<V>(AuthMethod::new(challenge, find))
    }
}

impl<F, V> Lookup<WholeRequest, form::Sync<fn(&'static Request) -> V>> for F
where
    F: Fn(&Request) -> V + Send + Sync + 'static,
    V: IntoUser,
{
    type Output = V;

    fn into_method(self, reader: CredentialReader<WholeRequest>) -> ErasedMethod {
        let CredentialReader { challenge, policy, .. } = reader;
        let find = Arc::new(move |req: &Request, _: &_| policy.found_by(|| self(req).into_user()));
        policy.describing::<V>(AuthMethod::new(challenge, Find::Sync(find)))
    }
}

impl<F, V> Lookup<WholeRequest, form::Async<fn(&'static mut Request) -> V>> for F
where
    F: for<'r> BorrowingFn<'r, V> + Clone + Send + Sync + 'static,
    V: IntoUser + Send,
{
    type Output = V;

    fn into_method(self, reader: CredentialReader<WholeRequest>) -> ErasedMethod {
        let policy = reader.policy;
        reader.waiting::<V>(move |WholeRequest, req| {
            let find = self.clone();
            Box::pin(async move {
                let user = async { find.call((), req).await.into_user() };
                policy.found_later(pin!(user)).await
            })
        })
    }
}

impl<C, F, V> Lookup<C, form::Async<fn(C, &'static mut Request) -> V>> for F
where
    C: Send + 'static,
    F: for<'r> BorrowingFn<'r, V, (C,)> + Clone + Send + Sync + 'static,
    V: IntoUser + Send,
{
    type Output = V;

    fn into_method(self, reader: CredentialReader<C>) -> ErasedMethod {
        let policy = reader.policy;
        reader.waiting::<V>(move |credentials, req| {
            let find = self.clone();
            Box::pin(async move {
                let user = async { find.call((credentials,), req).await.into_user() };
                policy.found_later(pin!(user)).await
            })
        })
    }
}

macro_rules! lookups {
    ($synchronous:ident: $C:ident $c:ident $(, $Arg:ident $arg:ident)*) => {
        impl<$C, F, $($Arg,)*> Lookup<$C, form::Async<($C, $($Arg,)*)>> for F
        where
            $C: Send + 'static,
            F: HandlerFn<($C, $($Arg,)*), Future: Send>,
            ($($Arg,)*): Arguments + 'static,
        {
            type Output = F::Output;

            fn into_method(self, reader: CredentialReader<$C>) -> ErasedMethod
            where
                F::Output: IntoUser,
            {
                reader.asynchronous::<F::Output, ($($Arg,)*), _>(move |$c, ($($arg,)*)| {
                    let user = self.call(($c, $($arg,)*));
                    async { user.await.into_user() }
                })
            }
        }

        impl<$C, F, V, $($Arg,)*> Lookup<$C, form::Sync<($C, $($Arg,)*)>> for F
        where
            $C: Send + 'static,
            F: Fn($C, $($Arg),*) -> V + Send + Sync + 'static,
            V: IntoUser,
            ($($Arg,)*): Arguments + 'static,
        {
            type Output = V;

            fn into_method(self, reader: CredentialReader<$C>) -> ErasedMethod {
                reader.$synchronous(move |$c, ($($arg,)*): ($($Arg,)*)| self($c, $($arg),*))
            }
        }

        // Functions that take only extractors.
        impl<F, $C, $($Arg,)*> Lookup<WholeRequest, form::Async<($C, $($Arg,)*)>> for F
        where
            F: HandlerFn<($C, $($Arg,)*), Future: Send>,
            $C: FromRequest,
            ($C, $($Arg,)*): Arguments + 'static,
        {
            type Output = F::Output;

            fn into_method(self, reader: CredentialReader<WholeRequest>) -> ErasedMethod
            where
                F::Output: IntoUser,
            {
                reader.asynchronous::<F::Output, ($C, $($Arg,)*), _>(move |WholeRequest, args| {
                    let user = self.call(args);
                    async { user.await.into_user() }
                })
            }
        }

        impl<F, V, $C, $($Arg,)*> Lookup<WholeRequest, form::Sync<($C, $($Arg,)*)>> for F
        where
            F: Fn($C, $($Arg),*) -> V + Send + Sync + 'static,
            V: IntoUser,
            $C: FromRequest,
            ($C, $($Arg,)*): Arguments + 'static,
        {
            type Output = V;

            fn into_method(self, reader: CredentialReader<WholeRequest>) -> ErasedMethod {
                reader.extracting(move |WholeRequest, ($c, $($arg,)*): ($C, $($Arg,)*)| {
                    self($c, $($arg),*)
                })
            }
        }
    };
}

lookups!(immediate: C c);
lookups!(extracting: C c, A1 a1);
lookups!(extracting: C c, A1 a1, A2 a2);
lookups!(extracting: C c, A1 a1, A2 a2, A3 a3);
lookups!(extracting: C c, A1 a1, A2 a2, A3 a3, A4 a4);
lookups!(extracting: C c, A1 a1, A2 a2, A3 a3, A4 a4, A5 a5);
lookups!(extracting: C c, A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6);
lookups!(extracting: C c, A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7);
