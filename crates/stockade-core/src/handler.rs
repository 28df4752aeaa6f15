//! [`Handler`]: a type-erased `async fn`.
//!
//! [`Handler::new`] uses two traits instead of one. [`HandlerFn`] is
//! implemented for every function with up to eight arguments of any types that
//! returns a future. [`HandlerSignature`] is implemented for the
//! function-pointer type and has the bounds. The compiler can therefore name a
//! wrong argument or return type, instead of only reporting that the function
//! is not a handler.
// Spec: Handler contract.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use stockade_errors::ApiError;

use crate::handler_progress::note_refusal;
use crate::login_end::{end_with, end_with_user, has_user, lifetime_of};
use crate::reply::writer;
use crate::reply::writer_link::{Link, Messages};
use crate::user_lifetime::UserLifetime;
use crate::{BoxFuture, FromRequest, Reply, Request, Response, RouteDescription};

/// A request handler: an `async fn` with zero to eight extractors.
///
/// Each argument implements [`FromRequest`], and the result implements
/// [`Reply`]. Closures work too, and may capture values: `async || …`, `async
/// move || …`, `move || async move { … }`. The function is cloned for each
/// request, so captured values must be `Clone`:
///
/// ```
/// use stockade::Router;
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let motd = String::from("be kind");
/// let mut router = Router::new();
/// router.get("/motd", move || async move { motd });
/// TestClient::new(router).get("/motd").await.assert_text("be kind");
/// # }
/// ```
// Spec: Handler contract.
#[derive(Clone)]
pub struct Handler {
    call: Arc<Call>,
    describe: Describe,
}

/// The function that describes a handler.
#[derive(Clone)]
enum Describe {
    /// The function of a type. It does not allocate, because there are many
    /// routes.
    OfType(fn(&mut RouteDescription)),
    Erased(Arc<dyn Fn(&mut RouteDescription) + Send + Sync>),
}

type Call = dyn Fn(Request) -> BoxFuture<'static, Result<Response, ApiError>> + Send + Sync;

impl Handler {
    /// Erases the types of `function`.
    pub fn new<F, Args>(function: F) -> Self
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        // The only allocation for each request.
        let call: Box<Call> = Box::new(move |req| Box::pin(answer(function.clone(), req)));
        // `Arc::new` would be compiled for each handler.
        Self {
            call: Arc::from(call),
            describe: Describe::OfType(<F::Signature as HandlerSignature>::describe),
        }
    }

    /// Creates a handler from two type-erased functions. One handles a request;
    /// the other describes the handler at build time.
    ///
    /// Use it for other protocols that begin with a request; see
    /// [`Upgrade`](crate::upgrade::Upgrade).
    pub fn erased(
        call: impl Fn(Request) -> BoxFuture<'static, Result<Response, ApiError>> + Send + Sync + 'static,
        describe: impl Fn(&mut RouteDescription) + Send + Sync + 'static,
    ) -> Self {
        Self { call: Arc::new(call), describe: Describe::Erased(Arc::new(describe)) }
    }

    /// Returns true if it was created from type-erased functions.
    pub(crate) fn is_erased(&self) -> bool {
        matches!(self.describe, Describe::Erased(_))
    }

    /// Runs the handler on a request.
    pub(crate) fn call(&self, req: Request) -> BoxFuture<'static, Result<Response, ApiError>> {
        (self.call)(req)
    }

    /// Lets the arguments and the result describe themselves.
    pub fn describe(&self, doc: &mut RouteDescription) {
        match &self.describe {
            Describe::OfType(describe) => describe(doc),
            Describe::Erased(describe) => describe(doc),
        }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

/// Extracts the arguments, calls the function, and creates the response.
async fn answer<F, Args>(function: F, mut req: Request) -> Result<Response, ApiError>
where
    F: HandlerFn<Args>,
    F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send,
{
    let args = match <F::Signature as HandlerSignature>::extract(&mut req).await {
        Ok(args) => args,
        Err(error) => {
            note_refusal(&req);
            return Err(req.first_failure(error));
        }
    };
    let Some(messages) = req.inner.writer.take().and_then(Link::begin) else {
        let output = function.call(args).await;
        // The common response is built in place, which avoids copies.
        if !has_user(&req) {
            return F::Signature::reply(output);
        }
        return ending_with_user(F::Signature::reply(output), req);
    };
    let lifetime = lifetime_of(&mut req);
    // Free the request before the function runs.
    drop(req);
    let handler = Box::pin(response_of(function.call(args), F::Signature::reply));
    written(messages, handler, lifetime).await
}

/// Makes a response end with the login of the request's user. Not generic,
/// because it would be compiled for every handler.
#[cold]
fn ending_with_user(
    outcome: Result<Response, ApiError>,
    mut req: Request,
) -> Result<Response, ApiError> {
    let mut response = outcome?;
    end_with_user(&mut response, &mut req);
    Ok(response)
}

/// Returns the response of a handler that writes it in chunks. The future is
/// boxed to keep the futures of other handlers small.
fn written(
    messages: Messages,
    handler: BoxFuture<'static, Result<Response, ApiError>>,
    lifetime: Option<UserLifetime>,
) -> BoxFuture<'static, Result<Response, ApiError>> {
    Box::pin(async move {
        let mut response = writer::answer(messages, handler).await?;
        end_with(&mut response, lifetime);
        Ok(response)
    })
}

/// Creates the response from the function's result. As a block in [`answer`],
/// its debug information would repeat all types of the handler.
async fn response_of<Fut: Future>(
    future: Fut,
    reply: fn(Fut::Output) -> Result<Response, ApiError>,
) -> Result<Response, ApiError> {
    reply(future.await)
}

/// A function with any types that returns a future.
///
/// It is implemented for every such function with up to eight arguments. Do not
/// implement it. The function is cloned for each call, so a closure may move
/// captured values into its future.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not an `async fn` with at most eight arguments",
    note = "a handler is the name of an `async fn`, without a call, or a closure such as `async |Path(id): Path<u64>| …`",
    note = "write a closure that captures as `move || async move {{ … }}`; the captured values must be Clone + Send + Sync"
)]
pub trait HandlerFn<Args>: Clone + Send + Sync + 'static {
    /// The output of the future.
    type Output;
    /// The future that a call returns.
    type Future: Future<Output = Self::Output> + 'static;
    /// The function-pointer type with the same arguments and output.
    type Signature;

    /// Calls the function.
    fn call(self, args: Args) -> Self::Future;
}

/// The arguments and the result of a handler, with their bounds.
///
/// It is implemented for function pointers. Do not implement it.
pub trait HandlerSignature {
    /// The arguments as a tuple.
    type Args;
    /// The output of the handler.
    type Output: Reply;

    /// Extracts the arguments from the request.
    fn extract(req: &mut Request) -> impl Future<Output = Result<Self::Args, ApiError>> + Send;

    /// Converts the result to a response.
    ///
    /// # Errors
    /// Fails if the result is an error or cannot be serialized.
    fn reply(output: Self::Output) -> Result<Response, ApiError>;

    /// Lets the arguments and the result describe themselves.
    fn describe(doc: &mut RouteDescription);
}

/// The arguments of a handler as a tuple of [`FromRequest`] types.
///
/// It is implemented for tuples of up to eight extractors. Do not implement it.
/// Other functions also use it to accept extractors, such as functions that
/// find the user of a request.
pub trait Arguments: Sized + Send {
    /// True if one of them consumes the whole request.
    const TAKES_REQUEST: bool;

    /// Extracts all of them from the request.
    ///
    /// # Errors
    /// Fails with the error of the first failing extractor.
    fn extract(req: &mut Request) -> impl Future<Output = Result<Self, ApiError>> + Send;

    /// Lets each of them describe itself.
    fn describe(doc: &mut RouteDescription);
}

impl RouteDescription {
    /// Lets the arguments of a middleware function describe themselves.
    /// `middleware` is the name in configuration errors.
    ///
    /// They must leave the request to the handler: an argument that consumes
    /// the request, the response or the connection is a configuration error.
    pub fn middleware_arguments<A: Arguments>(&mut self, middleware: &str) {
        let handler = (self.body, self.whole_requests, self.writers, self.upgrades);
        (self.body, self.whole_requests, self.writers, self.upgrades) = (None, 0, 0, 0);
        self.described = Some(middleware.to_owned());
        A::describe(self);
        self.described = None;
        if self.body.is_some() {
            self.middleware_reads_body(middleware);
        }
        if self.whole_requests + self.writers + self.upgrades > 0 {
            self.issue(format!(
                "the function of `{middleware}` takes an argument that only a handler can take: \
                 the request, the stream of its body, or the response"
            ));
        }
        (self.body, self.whole_requests, self.writers, self.upgrades) = handler;
    }

    /// Lets an argument of a handler describe itself.
    pub(crate) fn argument<A: FromRequest>(&mut self) {
        if A::TAKES_REQUEST {
            self.whole_requests += 1;
            if self.whole_requests == 2 {
                self.issue("two arguments of the handler consume the request");
            }
        }
        A::describe(self);
    }
}

macro_rules! handler_of {
    ($($Arg:ident $arg:ident),*) => {
        impl<$($Arg: FromRequest,)*> Arguments for ($($Arg,)*) {
            const TAKES_REQUEST: bool = false $(|| $Arg::TAKES_REQUEST)*;

            async fn extract(req: &mut Request) -> Result<Self, ApiError> {
                // Unused if the function does not have arguments.
                let _: &Request = req;
                // An argument that consumes the request is extracted last,
                // which makes the order of arguments irrelevant.
                $(let $arg = if $Arg::TAKES_REQUEST {
                    None
                } else {
                    // A `match`, because the functions behind `?` would be
                    // compiled for each type.
                    match $Arg::from_request(req).await {
                        Ok($arg) => Some($arg),
                        Err(error) => return Err(error),
                    }
                };)*
                $(let $arg = match $arg {
                    Some($arg) => $arg,
                    None => match $Arg::from_request(req).await {
                        Ok($arg) => $arg,
                        Err(error) => return Err(error),
                    },
                };)*
                Ok(($($arg,)*))
            }

            fn describe(doc: &mut RouteDescription) {
                // Unused if the function does not have arguments.
                let _: &RouteDescription = doc;
                $(doc.argument::<$Arg>();)*
            }
        }

        impl<F, Fut, $($Arg,)*> HandlerFn<($($Arg,)*)> for F
        where
            F: FnOnce($($Arg),*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future + 'static,
        {
            type Output = Fut::Output;
            type Future = Fut;
            type Signature = fn($($Arg),*) -> Fut::Output;

            fn call(self, ($($arg,)*): ($($Arg,)*)) -> Fut {
                self($($arg),*)
            }
        }

        impl<R, $($Arg,)*> HandlerSignature for fn($($Arg),*) -> R
        where
            R: Reply,
            $($Arg: FromRequest,)*
        {
            type Args = ($($Arg,)*);
            type Output = R;

            fn extract(
                req: &mut Request,
            ) -> impl Future<Output = Result<Self::Args, ApiError>> + Send {
                <Self::Args as Arguments>::extract(req)
            }

            fn reply(output: R) -> Result<Response, ApiError> {
                output.into_response()
            }

            fn describe(doc: &mut RouteDescription) {
                <Self::Args as Arguments>::describe(doc);
                doc.reply::<R>();
            }
        }
    };
}

handler_of!();
handler_of!(A1 a1);
handler_of!(A1 a1, A2 a2);
handler_of!(A1 a1, A2 a2, A3 a3);
handler_of!(A1 a1, A2 a2, A3 a3, A4 a4);
handler_of!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5);
handler_of!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6);
handler_of!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7);
handler_of!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7, A8 a8);
