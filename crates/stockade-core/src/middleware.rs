//! [`Middleware`]: functions that run before, around or instead of a handler.
//!
//! The documentation of `stockade-middleware` describes its forms. Here, the
//! signature of a function determines the form.
// Spec: Middleware contract.

use std::any::{Any, type_name};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use stockade_errors::ApiError;
use stockade_map::MiddlewareInfo;
pub use stockade_map::MiddlewareLevel as Level;

pub use crate::endpoint::error_of;

use crate::built_in::is_built_in;
use crate::endpoint::{Chain, Endpoint, ErrorContext};
use crate::reply::{Html, IntoError, Json, answer_of};
use crate::{Arguments, BoxFuture, Reply, Request, Response, RouteDescription};

/// A type-erased middleware.
///
/// The documentation of `stockade::middleware` describes its forms.
#[derive(Clone)]
pub struct Middleware {
    name: Arc<str>,
    is_named: bool,
    /// True if its function belongs to the framework.
    is_built_in: bool,
    pub(crate) run: Run,
    /// Describes the extractors of its function.
    arguments: fn(&mut RouteDescription, &str),
    describe: Option<Arc<Describe>>,
    mark: Option<Arc<dyn Any + Send + Sync>>,
    added: Option<(Level, &'static Location<'static>)>,
}

type Describe = dyn Fn(&mut RouteDescription) + Send + Sync;
type Synchronous = dyn Fn(&mut Request) -> Result<Control, ApiError> + Send + Sync;
type Before = dyn Fn(Request) -> Step + Send + Sync;
type Around =
    dyn Fn(Request, Next) -> BoxFuture<'static, Result<Option<Response>, ApiError>> + Send + Sync;

/// Middleware that runs before the rest. It returns the request and the
/// decision whether to continue.
///
/// It owns the request meanwhile, so the future of the whole chain contains a
/// pointer rather than space for every possible request.
pub(crate) type Step = BoxFuture<'static, (Request, Result<Control, ApiError>)>;

#[derive(Clone)]
pub(crate) enum Run {
    Sync(Arc<Synchronous>),
    Before(Arc<Before>),
    Around(Arc<Around>),
}

impl Middleware {
    /// Creates middleware from a function. Its signature determines the form.
    pub fn new<M>(function: impl IntoMiddleware<M>) -> Self {
        function.into_middleware()
    }

    /// Creates middleware from a function that owns the request while it waits.
    /// The function returns the request with its decision whether to continue.
    ///
    /// Use it for middleware with its own data, because its futures cannot
    /// borrow from both. Otherwise, [`new`](Self::new) is simpler.
    ///
    /// ```
    /// use stockade::middleware::Control;
    /// use stockade::{ApiError, Middleware, Request};
    ///
    /// fn at_most(length: usize) -> Middleware {
    ///     Middleware::before(move |mut req: Request| async move {
    ///         let flow = match req.bytes().await {
    ///             Ok(bytes) if bytes.len() > length => Err(ApiError::new(413, "too long")),
    ///             Ok(_) => Ok(Control::Continue),
    ///             Err(error) => Err(error),
    ///         };
    ///         (req, flow)
    ///     })
    ///     .named("at_most")
    /// }
    /// assert_eq!(at_most(10).name(), "at_most");
    /// ```
    pub fn before<F, Fut>(function: F) -> Self
    where
        F: Fn(Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = (Request, Result<Control, ApiError>)> + Send + 'static,
    {
        Self::of::<F>(Run::Before(Arc::new(move |req| Box::pin(function(req)))))
    }

    /// Sets the name for logs and listings, instead of the name of its
    /// function.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self.is_named = true;
        self
    }

    /// Adds a function that describes the effect of the middleware on its
    /// routes: its responses, the headers that it reads, and its requirements.
    ///
    /// `describe` is called for each route at build time, and for each later
    /// request for a description. Middleware without this function is opaque:
    /// it may return any response.
    ///
    /// ```
    /// use stockade::{ApiError, Middleware, Request};
    ///
    /// fn has_credit(req: &mut Request) -> Result<(), ApiError> {
    ///     match req.headers().contains_key("x-credit") {
    ///         true => Ok(()),
    ///         false => Err(ApiError::new(402, "No credit")),
    ///     }
    /// }
    ///
    /// let paid = Middleware::new(has_credit).describing(|doc| {
    ///     doc.reads_header("x-credit", true);
    ///     doc.may_respond(402, "No credit");
    /// });
    /// assert!(paid.name().ends_with("has_credit"));
    /// ```
    #[must_use]
    pub fn describing(
        mut self,
        describe: impl Fn(&mut RouteDescription) + Send + Sync + 'static,
    ) -> Self {
        self.describe = Some(match self.describe.take() {
            None => Arc::new(describe),
            Some(earlier) => Arc::new(move |doc: &mut RouteDescription| {
                earlier(doc);
                describe(doc);
            }),
        });
        self
    }

    /// Marks the middleware with a value. A router or an adapter can find it by
    /// this value, independently of its [name](Self::name). A second mark
    /// replaces the first.
    ///
    /// ```
    /// use stockade::{ApiError, Middleware, Request};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Region(&'static str);
    ///
    /// fn nothing(_req: &mut Request) -> Result<(), ApiError> {
    ///     Ok(())
    /// }
    /// let middleware = Middleware::new(nothing).marked(Region("eu")).named("other");
    /// assert_eq!(middleware.mark(), Some(&Region("eu")));
    /// ```
    #[must_use]
    pub fn marked<T: Send + Sync + 'static>(mut self, mark: T) -> Self {
        self.mark = Some(Arc::new(mark));
        self
    }

    /// Returns the value from [`marked`](Self::marked) if it has this type.
    #[must_use]
    pub fn mark<T: 'static>(&self) -> Option<&T> {
        self.mark.as_deref()?.downcast_ref()
    }

    /// Returns the name: the path of the function, or the name from
    /// [`named`](Self::named).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets the middleware describe itself.
    pub fn describe(&self, doc: &mut RouteDescription) {
        let mut info = MiddlewareInfo::default();
        info.name = self.name.to_string();
        info.is_named = self.is_named;
        info.level = self.added.map(|(level, _)| level);
        info.location = self.added.map(|(_, location)| location.into());
        info.is_opaque = self.describe.is_none();
        // The description of the middleware may change this.
        info.may_set_user = self.is_own();
        doc.middleware(info, |doc| {
            (self.arguments)(doc, &self.name);
            if let Some(describe) = &self.describe {
                describe(doc);
            }
        });
    }

    fn of<F>(run: Run) -> Self {
        let name = type_name::<F>();
        Self {
            name: name.into(),
            is_named: false,
            is_built_in: is_built_in(name),
            run,
            arguments: |_, _| {},
            describe: None,
            mark: None,
            added: None,
        }
    }

    /// Creates middleware from a function of type `F` with these extractors.
    fn with_arguments<F, Args: Arguments>(run: Run) -> Self {
        let arguments =
            |doc: &mut RouteDescription, name: &str| doc.middleware_arguments::<Args>(name);
        Self { arguments, ..Self::of::<F>(run) }
    }
}

impl Middleware {
    /// Records the place of the call that added it, unless a place is already
    /// recorded.
    #[doc(hidden)]
    pub fn note_place(&mut self, level: Level, location: &'static Location<'static>) {
        self.added.get_or_insert((level, location));
    }

    /// Replaces the path of its function, because `#[middleware]` wraps the
    /// function in another one.
    #[doc(hidden)]
    #[must_use]
    pub fn at_path(mut self, path: &'static str) -> Self {
        self.name = path.into();
        self
    }

    /// Marks middleware of the framework with a function type of the program,
    /// which the framework only calls for a decision.
    #[doc(hidden)]
    #[must_use]
    pub fn built_in(mut self) -> Self {
        self.is_built_in = true;
        self
    }

    /// Returns true if its function belongs to the program rather than to the
    /// framework. Its name does not matter.
    #[doc(hidden)]
    #[must_use]
    pub fn is_own(&self) -> bool {
        !self.is_built_in
    }

    /// Returns the place of the call that added it.
    #[doc(hidden)]
    #[must_use]
    pub fn place(&self) -> Option<(Level, &'static Location<'static>)> {
        self.added
    }
}

impl RouteDescription {
    /// Adds middleware that a reply needs. It runs on the routes with this
    /// reply, after all other middleware. The reply describes its effect.
    pub fn ends_with(&mut self, middleware: Middleware) {
        self.parts.get_or_insert_default::<Vec<Middleware>>().push(middleware);
    }

    /// Removes and returns the middleware of the reply.
    #[doc(hidden)]
    pub fn take_reply_middleware(&mut self) -> Vec<Middleware> {
        self.parts.remove().unwrap_or_default()
    }
}

impl fmt::Debug for Middleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Middleware({})", self.name)
    }
}

/// The rest of the chain, which style B middleware calls to continue.
///
/// Dropping it skips the rest. The middleware must then return its own
/// response.
pub struct Next {
    pub(crate) endpoint: Arc<Endpoint>,
    /// The index of the next middleware.
    pub(crate) at: usize,
}

impl Next {
    /// Runs the rest of the chain, and returns its response. An error or a
    /// panic of the rest is already converted to a response; [`error_of`]
    /// returns the error.
    ///
    /// Pass the request that the middleware received. A new request does not
    /// have a route, parameters or state.
    pub async fn run(self, req: Request) -> Response {
        let context = ErrorContext::of(&req);
        match self.try_run(req).await {
            Ok(response) => response,
            Err(error) => context.answer(error),
        }
    }

    /// Runs the rest of the chain, and returns an error of the rest as an
    /// error.
    ///
    /// # Errors
    /// Fails with the error of the rest.
    pub async fn try_run(self, req: Request) -> Result<Response, ApiError> {
        Chain::start(self.endpoint, self.at, req).await
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("route", &self.endpoint.pattern()).finish_non_exhaustive()
    }
}

/// The decision of middleware: continue or respond.
#[derive(Debug)]
#[non_exhaustive]
pub enum Control {
    /// The next middleware or the handler runs.
    Continue,
    /// This is the response. The rest does not run.
    Respond(Response),
}

/// A return value of synchronous and style A middleware.
///
/// `()` and `None` continue. A reply becomes the response, and an error becomes
/// an error response.
// Spec: Middleware contract, rule 2.
#[diagnostic::on_unimplemented(
    message = "middleware cannot return `{Self}`",
    label = "this is what the middleware returns",
    note = "return (), an Option or a Result of a response, or a response such as Json<T> or Response"
)]
pub trait IntoControl {
    /// Decides whether the chain continues.
    ///
    /// # Errors
    /// Fails with the error of the middleware, which becomes the response.
    fn into_control(self) -> Result<Control, ApiError>;
}

impl IntoControl for () {
    fn into_control(self) -> Result<Control, ApiError> {
        Ok(Control::Continue)
    }
}

impl IntoControl for Control {
    fn into_control(self) -> Result<Control, ApiError> {
        Ok(self)
    }
}

impl<R: Reply> IntoControl for Option<R> {
    fn into_control(self) -> Result<Control, ApiError> {
        match self {
            None => Ok(Control::Continue),
            Some(reply) => reply.into_response().map(Control::Respond),
        }
    }
}

impl<T: IntoControl, E: IntoError> IntoControl for Result<T, E> {
    fn into_control(self) -> Result<Control, ApiError> {
        match self {
            Ok(flow) => flow.into_control(),
            Err(failure) => answer_of(failure).map(Control::Respond),
        }
    }
}

macro_rules! reply_is_flow {
    ($([$($T:ident: $($bound:path)+)?] $type:ty;)*) => {
        $(impl<$($T: $($bound +)+)?> IntoControl for $type {
            fn into_control(self) -> Result<Control, ApiError> {
                self.into_response().map(Control::Respond)
            }
        })*
    };
}

reply_is_flow! {
    [] Response;
    [] http::StatusCode;
    [] serde_json::Value;
    [] String;
    [] &'static str;
    [] crate::reply::Redirect;
    [T: Reply] (http::StatusCode, T);
    [T: serde::Serialize stockade_validation::HasSchema] Json<T>;
    [T: Into<crate::HttpBody>] Html<T>;
}

/// A return value of style B middleware: a response or an error.
///
/// `None` means that the middleware neither called `next` nor returned a
/// response. This is a bug: the client gets a 500, and the log names the
/// middleware.
// Spec: Middleware contract, rule 3.
#[diagnostic::on_unimplemented(
    message = "middleware that takes `Next` cannot return `{Self}`",
    label = "this is what the middleware returns",
    note = "return a Response, an Option<Response>, or a Result of them"
)]
pub trait IntoMiddlewareResponse {
    /// Returns the response, if there is one.
    ///
    /// # Errors
    /// Fails with the error of the middleware, which becomes the response.
    fn into_middleware_response(self) -> Result<Option<Response>, ApiError>;
}

impl IntoMiddlewareResponse for Response {
    fn into_middleware_response(self) -> Result<Option<Response>, ApiError> {
        Ok(Some(self))
    }
}

impl IntoMiddlewareResponse for Option<Response> {
    fn into_middleware_response(self) -> Result<Option<Response>, ApiError> {
        Ok(self)
    }
}

impl<T: IntoMiddlewareResponse, E: IntoError> IntoMiddlewareResponse for Result<T, E> {
    fn into_middleware_response(self) -> Result<Option<Response>, ApiError> {
        match self {
            Ok(answer) => answer.into_middleware_response(),
            Err(failure) => answer_of(failure).map(Some),
        }
    }
}

/// A value that converts to [`Middleware`]: a function in one of the three
/// forms in the documentation of `stockade::middleware`, or middleware itself.
///
/// `Marker` distinguishes the forms; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not middleware",
    label = "not middleware",
    note = "middleware is `fn(&mut Request)`, `async fn(&mut Request)` or `async fn(Request, Next) -> Response`",
    note = "before these arguments, the async forms take extractors, as in `async fn(State<Db>, Request, Next) -> Response`",
    note = "the first two return (), an Option or a Result of a response, or a response",
    note = "the future must be Send: it must not hold an Rc or a lock guard across an `.await`"
)]
pub trait IntoMiddleware<Marker> {
    /// Converts the value to type-erased middleware.
    fn into_middleware(self) -> Middleware;
}

/// Markers for the forms of middleware in [`IntoMiddleware`].
pub mod form {
    use std::marker::PhantomData;

    /// Middleware itself, or a value with its options.
    #[derive(Debug)]
    pub struct Ready;
    /// A reference to such a value.
    #[derive(Debug)]
    pub struct Borrowed;
    /// `fn() -> Middleware`.
    #[derive(Debug)]
    pub struct Made;
    /// `fn(&mut Request) -> R`.
    #[derive(Debug)]
    pub struct SyncFn<R>(PhantomData<R>);
    /// `async fn(Args…, &mut Request) -> R`.
    #[derive(Debug)]
    pub struct StyleA<R, Args = ()>(PhantomData<(R, Args)>);
    /// `async fn(Args…, Request, Next) -> R`.
    #[derive(Debug)]
    pub struct StyleB<R, Args = ()>(PhantomData<(R, Args)>);
}

impl IntoMiddleware<form::Ready> for Middleware {
    fn into_middleware(self) -> Middleware {
        self
    }
}

/// A reference to middleware, or to a value that converts to middleware without
/// a function, such as the result of `with_rate_limit`. All borrowers share its
/// counts and stores.
impl<T: IntoMiddleware<form::Ready> + Clone> IntoMiddleware<form::Borrowed> for &T {
    fn into_middleware(self) -> Middleware {
        self.clone().into_middleware()
    }
}

/// A function that returns middleware, such as a function with `#[middleware]`.
impl<F: Fn() -> Middleware> IntoMiddleware<form::Made> for F {
    fn into_middleware(self) -> Middleware {
        self()
    }
}

impl<F, R> IntoMiddleware<form::SyncFn<R>> for F
where
    F: Fn(&mut Request) -> R + Send + Sync + 'static,
    R: IntoControl,
{
    fn into_middleware(self) -> Middleware {
        Middleware::of::<F>(Run::Sync(Arc::new(move |req| self(req).into_control())))
    }
}

impl<F, R, Args> IntoMiddleware<form::StyleA<R, Args>> for F
where
    F: for<'a> BorrowingFn<'a, R, Args> + Clone + Send + Sync + 'static,
    R: IntoControl,
    Args: Arguments + 'static,
{
    fn into_middleware(self) -> Middleware {
        let before: Arc<Before> = Arc::new(move |mut req| {
            let function = self.clone();
            Box::pin(async move {
                let flow = match Args::extract(&mut req).await {
                    Ok(args) => function.call(args, &mut req).await.into_control(),
                    Err(error) => Err(error),
                };
                (req, flow)
            })
        });
        Middleware::with_arguments::<F, Args>(Run::Before(before))
    }
}

impl<F, R, Args> IntoMiddleware<form::StyleB<R, Args>> for F
where
    F: for<'a> AroundFn<'a, R, Args> + Clone + Send + Sync + 'static,
    R: IntoMiddlewareResponse,
    Args: Arguments + 'static,
{
    fn into_middleware(self) -> Middleware {
        let around: Arc<Around> = Arc::new(move |mut req, next| {
            let function = self.clone();
            Box::pin(async move {
                let args = Args::extract(&mut req).await?;
                function.call(args, req, next).await.into_middleware_response()
            })
        });
        Middleware::with_arguments::<F, Args>(Run::Around(around))
    }
}

/// A function with extractors and a request. Its future borrows the request,
/// for any lifetime.
pub trait BorrowingFn<'a, R, Args = ()> {
    /// The future that the function returns.
    type Future: Future<Output = R> + Send + 'a;

    /// Calls the function.
    fn call(self, args: Args, req: &'a mut Request) -> Self::Future;
}

/// A function with extractors, a request and the rest of the chain. Its future
/// does not borrow anything.
///
/// The lifetime is unused. The `for<'a>` in the bound makes the compiler choose
/// this form before it checks the function's result. The compiler can therefore
/// name a wrong result instead of the whole function.
pub trait AroundFn<'a, R, Args = ()> {
    /// The future that the function returns.
    type Future: Future<Output = R> + Send + 'static;

    /// Calls the function.
    fn call(self, args: Args, req: Request, next: Next) -> Self::Future;
}

macro_rules! functions_with {
    ($($Arg:ident $arg:ident),*) => {
        impl<'a, F, Fut, R, $($Arg,)*> BorrowingFn<'a, R, ($($Arg,)*)> for F
        where
            F: FnOnce($($Arg,)* &'a mut Request) -> Fut,
            Fut: Future<Output = R> + Send + 'a,
        {
            type Future = Fut;

            fn call(self, ($($arg,)*): ($($Arg,)*), req: &'a mut Request) -> Fut {
                self($($arg,)* req)
            }
        }

        impl<F, Fut, R, $($Arg,)*> AroundFn<'_, R, ($($Arg,)*)> for F
        where
            F: FnOnce($($Arg,)* Request, Next) -> Fut,
            Fut: Future<Output = R> + Send + 'static,
        {
            type Future = Fut;

            fn call(self, ($($arg,)*): ($($Arg,)*), req: Request, next: Next) -> Fut {
                self($($arg,)* req, next)
            }
        }
    };
}

functions_with!();
functions_with!(A1 a1);
functions_with!(A1 a1, A2 a2);
functions_with!(A1 a1, A2 a2, A3 a3);
functions_with!(A1 a1, A2 a2, A3 a3, A4 a4);
functions_with!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5);
functions_with!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6);
functions_with!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7);
functions_with!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6, A7 a7, A8 a8);

/// A list of middleware: `()`, a single one, a tuple of up to eight, or a
/// `Vec`, an array or a slice of [`Middleware`]. Items may be references to
/// middleware, also in a `Vec` or an array.
///
/// ```
/// use stockade::middleware::{with_role, with_timeout};
/// use stockade::prelude::*;
/// use std::time::Duration;
///
/// let (token, admins) = (Auth::bearer(|token: String| Some(token)), with_role("admin"));
/// let slow = with_timeout(Duration::from_secs(30));
/// fn log(_req: &mut Request) {}
///
/// let api = routes! {
///     "accounts": { middleware: [&admins, log], GET: async || "all accounts" },
///     "reports": { middleware: [&admins, &slow], GET: async || "all reports" },
/// };
/// let mut router = create_router(api, RouterOptions::new().auth(&token));
/// router.group("/jobs", [&admins], |jobs| {
///     jobs.delete("/", async || ()).middleware((log, &slow));
/// });
/// assert!(router.build().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not middleware",
    label = "not middleware, nor a list of it",
    note = "middleware is `fn(&mut Request)`, `async fn(&mut Request)` or `async fn(Request, Next) -> Response`",
    note = "before these arguments, the async forms take extractors, as in `async fn(State<Db>, Request, Next) -> Response`",
    note = "the first two return (), an Option or a Result of a response, or a response",
    note = "the future must be Send: it must not hold an Rc or a lock guard across an `.await`",
    note = "a list is `()`, a tuple such as `(first, &second)`, or a Vec, array or slice of `Middleware`"
)]
pub trait IntoMiddlewareList<Marker> {
    /// Converts the list to type-erased middleware, in the same order.
    fn into_list(self) -> Vec<Middleware>;
}

impl IntoMiddlewareList<()> for () {
    fn into_list(self) -> Vec<Middleware> {
        Vec::new()
    }
}

impl IntoMiddlewareList<()> for Vec<Middleware> {
    fn into_list(self) -> Vec<Middleware> {
        self
    }
}

impl IntoMiddlewareList<()> for &Vec<Middleware> {
    fn into_list(self) -> Vec<Middleware> {
        self.clone()
    }
}

impl IntoMiddlewareList<()> for &[Middleware] {
    fn into_list(self) -> Vec<Middleware> {
        self.to_vec()
    }
}

impl<const N: usize> IntoMiddlewareList<()> for &[Middleware; N] {
    fn into_list(self) -> Vec<Middleware> {
        self.to_vec()
    }
}

impl<'a, T> IntoMiddlewareList<form::Borrowed> for Vec<&'a T>
where
    &'a T: IntoMiddleware<form::Borrowed>,
{
    fn into_list(self) -> Vec<Middleware> {
        self.into_iter().map(IntoMiddleware::into_middleware).collect()
    }
}

impl<'a, T, const N: usize> IntoMiddlewareList<form::Borrowed> for [&'a T; N]
where
    &'a T: IntoMiddleware<form::Borrowed>,
{
    fn into_list(self) -> Vec<Middleware> {
        self.into_iter().map(IntoMiddleware::into_middleware).collect()
    }
}

impl<const N: usize> IntoMiddlewareList<()> for [Middleware; N] {
    fn into_list(self) -> Vec<Middleware> {
        self.into()
    }
}

impl<T: IntoMiddleware<M>, M> IntoMiddlewareList<(M,)> for T {
    fn into_list(self) -> Vec<Middleware> {
        vec![self.into_middleware()]
    }
}

macro_rules! list_of {
    ($($T:ident $M:ident $item:ident),*) => {
        impl<$($T, $M,)*> IntoMiddlewareList<((), $($M,)*)> for ($($T,)*)
        where
            $($T: IntoMiddleware<$M>,)*
        {
            fn into_list(self) -> Vec<Middleware> {
                let ($($item,)*) = self;
                vec![$($item.into_middleware()),*]
            }
        }
    };
}

list_of!(T1 M1 a);
list_of!(T1 M1 a, T2 M2 b);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c, T4 M4 d);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c, T4 M4 d, T5 M5 e);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c, T4 M4 d, T5 M5 e, T6 M6 f);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c, T4 M4 d, T5 M5 e, T6 M6 f, T7 M7 g);
list_of!(T1 M1 a, T2 M2 b, T3 M3 c, T4 M4 d, T5 M5 e, T6 M6 f, T7 M7 g, T8 M8 h);
