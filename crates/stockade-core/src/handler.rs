//! [`Handler`]: any suitable `async fn`, with its types erased.
//!
//! Two traits stand behind [`Handler::new`] instead of one. [`HandlerFn`] holds for
//! every function of up to eight arguments of any types that returns a future;
//! [`HandlerSignature`] holds for the function-pointer type and carries the bounds. So
//! the compiler names a wrong argument or return type, and does not only say
//! that the function is no handler.
//!
//! Spec: Handler contract.

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

/// A function that answers a request: an `async fn` of zero to eight
/// extractors.
///
/// Each argument implements [`FromRequest`] and the result implements
/// [`Reply`]. Closures work as well, and may capture: `async || …`,
/// `async move || …`, `move || async move { … }`. The function is cloned for
/// each request, so the captured values are `Clone`:
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
///
/// Spec: Handler contract.
#[derive(Clone)]
pub struct Handler {
    call: Arc<Call>,
    describe: Describe,
}

/// The function by which a handler describes itself.
#[derive(Clone)]
enum Describe {
    /// Of a type: without memory of its own, because there are many routes.
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
        // The one allocation for each request.
        let call: Box<Call> = Box::new(move |req| Box::pin(answer(function.clone(), req)));
        // `Arc::new` would be compiled for each handler.
        Self {
            call: Arc::from(call),
            describe: Describe::OfType(<F::Signature as HandlerSignature>::describe),
        }
    }

    /// Makes a handler of two functions whose types are erased already. One
    /// answers a request, the other describes the handler while the router is
    /// built.
    ///
    /// Use it for other protocols that begin with a request; see
    /// [`Upgrade`](crate::upgrade::Upgrade).
    pub fn erased(
        call: impl Fn(Request) -> BoxFuture<'static, Result<Response, ApiError>> + Send + Sync + 'static,
        describe: impl Fn(&mut RouteDescription) + Send + Sync + 'static,
    ) -> Self {
        Self { call: Arc::new(call), describe: Describe::Erased(Arc::new(describe)) }
    }

    /// Returns true if its types were unknown when it was made.
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

/// Takes the arguments from the request, calls the function, makes the response.
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
        // The usual response is made in its place, which saves copies of it.
        if !has_user(&req) {
            return F::Signature::reply(output);
        }
        return ending_with_user(F::Signature::reply(output), req);
    };
    let lifetime = lifetime_of(&mut req);
    // The request is gone before the function runs on its own behalf.
    drop(req);
    let handler = Box::pin(response_of(function.call(args), F::Signature::reply));
    written(messages, handler, lifetime).await
}

/// Lets a response end with the user of its request. Not generic, because every handler
/// would compile it again.
#[cold]
fn ending_with_user(
    outcome: Result<Response, ApiError>,
    mut req: Request,
) -> Result<Response, ApiError> {
    let mut response = outcome?;
    end_with_user(&mut response, &mut req);
    Ok(response)
}

/// Returns the response of a handler that writes it in pieces. The future is boxed to
/// keep the futures of other handlers small.
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

/// Makes the response of what a function returns. As a block in [`answer`] it would be
/// named by all types of the handler, in each part of its debug information.
async fn response_of<Fut: Future>(
    future: Fut,
    reply: fn(Fut::Output) -> Result<Response, ApiError>,
) -> Result<Response, ApiError> {
    reply(future.await)
}

/// A function of any types that returns a future.
///
/// It is implemented for every such function of up to eight arguments and
/// never by an application. A function is cloned for each call, so that a
/// closure may give what it captured to its future.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not an `async fn` of at most eight arguments",
    note = "a handler is an `async fn`, named and not called, or a closure such as `async |Path(id): Path<u64>| …`",
    note = "a closure that captures is written `move || async move {{ … }}`, and the captured values are Clone + Send + Sync"
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

/// The arguments and the result of a handler, with the bounds on them.
///
/// It is implemented for function pointers and never by an application.
pub trait HandlerSignature {
    /// The arguments as a tuple.
    type Args;
    /// The output of the handler.
    type Output: Reply;

    /// Takes the arguments from the request.
    fn extract(req: &mut Request) -> impl Future<Output = Result<Self::Args, ApiError>> + Send;

    /// Makes the response of the result.
    ///
    /// # Errors
    /// When the result is an error or cannot be serialised.
    fn reply(output: Self::Output) -> Result<Response, ApiError>;

    /// Lets the arguments and the result describe themselves.
    fn describe(doc: &mut RouteDescription);
}

/// The arguments of a handler as a tuple, each a [`FromRequest`].
///
/// It is implemented for tuples of up to eight extractors and never by an
/// application. Other functions of a program than handlers take extractors by
/// it too, such as those that find the user of a request.
pub trait Arguments: Sized + Send {
    /// True if one of them takes the whole request away.
    const TAKES_REQUEST: bool;

    /// Takes them from the request.
    ///
    /// # Errors
    /// Fails with the error of the first one that cannot be taken.
    fn extract(req: &mut Request) -> impl Future<Output = Result<Self, ApiError>> + Send;

    /// Lets each of them describe itself.
    fn describe(doc: &mut RouteDescription);
}

impl RouteDescription {
    /// Lets the arguments of a function of middleware describe themselves.
    /// `middleware` is the name in a mistake.
    ///
    /// They must leave the request to the handler: an argument that takes the request, the
    /// response or the connection is a configuration error.
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
                "the function of `{middleware}` takes what belongs to the handler: the request, \
                 the stream of its body, or the response"
            ));
        }
        (self.body, self.whole_requests, self.writers, self.upgrades) = handler;
    }

    /// Lets an argument of a handler describe itself.
    pub(crate) fn argument<A: FromRequest>(&mut self) {
        if A::TAKES_REQUEST {
            self.whole_requests += 1;
            if self.whole_requests == 2 {
                self.issue("two arguments of the handler take the request away");
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
                // A function without arguments does not look at it.
                let _: &Request = req;
                // An argument that takes the whole request comes last, so that
                // the order of the arguments does not matter.
                $(let $arg = if $Arg::TAKES_REQUEST {
                    None
                } else {
                    // As `match`: the functions behind `?` would be compiled for each type.
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
                // A function without arguments needs nothing.
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
