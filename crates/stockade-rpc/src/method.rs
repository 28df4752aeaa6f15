//! [`RpcMethod`]: a handler with its middleware, validation and limits.

use std::borrow::Cow;

use stockade_core::{
    HandlerFn, HandlerSignature, IntoAuthentication, IntoErrorHandling, IntoMiddlewareList,
    IntoSchema, IntoSetting, RouteDocs,
};
use stockade_routing::{IntoRateLimit, RouteEntry};
use stockade_stages::Timeout;
use stockade_validation::ValidationOptions;

/// A method of [`Rpc`](crate::Rpc): a handler with route options.
///
/// ```
/// use stockade::extract::Body;
/// use stockade::middleware::rate_limit::MINUTE;
/// use stockade::rpc::{Rpc, RpcMethod};
/// use stockade::prelude::*;
///
/// async fn remove(Body(id): Body<u64>) -> Result<(), ApiError> {
///     if id == 7 { Ok(()) } else { Err(ApiError::not_found()) }
/// }
///
/// let remove = RpcMethod::new(remove).rate_limit(10 / MINUTE).docs("Removes a user");
/// let rpc = Rpc::new().method("users.remove", remove);
/// let api = routes! { "rpc": { ..rpc.routes() } };
/// let map = create_router(api, RouterOptions::new()).build()?.route_map();
/// assert_eq!(map.routes[1].label(), "RPC /rpc#users.remove");
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a method does nothing until it is in an `Rpc`"]
pub struct RpcMethod {
    pub(crate) entry: RouteEntry,
    /// The codes and messages of the method's errors.
    pub(crate) errors: Vec<(i32, Cow<'static, str>)>,
}

/// Generates setters that delegate to the route.
macro_rules! delegated {
    ($($(#[$doc:meta])* fn $name:ident $(<$M:ident>)? ($value:ident: $type:ty);)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name $(<$M>)? (self, $value: $type) -> Self {
            Self { entry: self.entry.$name($value), ..self }
        })*
    };
}

impl RpcMethod {
    /// Creates a method from a handler: an `async fn` with extractors. Its
    /// [`Body`](stockade_core::extract::Body) contains the parameters.
    #[track_caller]
    pub fn new<F, Args>(handler: F) -> Self
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        Self { entry: RouteEntry::new(handler), errors: Vec::new() }
    }

    delegated! {
        /// Adds middleware that runs for each call of the method, after the
        /// middleware of the route.
        fn middleware<M>(list: impl IntoMiddlewareList<M>);
        /// Validates the parameters before the handler runs. Invalid parameters
        /// get the error -32602, which lists the failing fields.
        fn validation(schema: impl IntoSchema);
        /// Sets the validation options of the method's schemas.
        fn validation_options(options: ValidationOptions);
        /// Limits the time until the response, as a `Duration`. A call that
        /// takes longer gets the error -32603.
        fn timeout(limit: impl IntoSetting<Timeout>);
        /// Sets an error handler for the method; see
        /// [`RouteEntry::error_handling`]. Only the status of its response is
        /// used.
        fn error_handling<M>(handler: impl IntoErrorHandling<M>);
        /// Documents the method for its callers.
        fn docs(docs: impl Into<RouteDocs>);
        /// Authenticates each call of the method, in addition to the authentication of the
        /// route, which runs once for each request.
        fn auth(auth: impl IntoAuthentication);
        /// Sets the reason why the method needs no authentication; see
        /// [`RouteEntry::public`]. It does not remove the authentication of the
        /// route.
        fn public(reason: impl IntoSetting<String>);
    }

    /// Limits the calls of each client to this method, in addition to the limit
    /// of the router. Pass a rate such as `10 / MINUTE` or a
    /// [`RateLimit::by`](stockade_stages::RateLimit::by). A call above the
    /// limit gets the error -32029.
    #[track_caller]
    pub fn rate_limit(self, limit: impl IntoRateLimit<RouteEntry>) -> Self {
        Self { entry: self.entry.rate_limit(limit), ..self }
    }

    /// Documents an [`RpcError`](crate::RpcError) that the method may return. The OpenRPC
    /// document of [`Rpc::discover`](crate::Rpc::discover) lists it under `errors`.
    ///
    /// A code that JSON-RPC reserves (-32768 to -32100) is a configuration error.
    ///
    /// ```
    /// use stockade::rpc::{RpcError, RpcMethod};
    ///
    /// let order = RpcMethod::new(async || Err::<(), _>(RpcError::new(-32050, "Out of stock")))
    ///     .may_fail(-32050, "Out of stock");
    /// # drop(order);
    /// ```
    pub fn may_fail(mut self, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        self.errors.push((code, message.into()));
        self
    }
}

/// A value for a method of [`Rpc`](crate::Rpc): a handler or an [`RpcMethod`].
///
/// `Marker` only distinguishes the implementations; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a method of JSON-RPC",
    label = "not a handler or an RpcMethod"
)]
pub trait IntoRpcMethod<Marker> {
    /// Creates the method.
    fn into_rpc_method(self) -> RpcMethod;
}

impl IntoRpcMethod<()> for RpcMethod {
    fn into_rpc_method(self) -> RpcMethod {
        self
    }
}

impl<F, Args> IntoRpcMethod<(Args,)> for F
where
    F: HandlerFn<Args>,
    F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    #[track_caller]
    fn into_rpc_method(self) -> RpcMethod {
        RpcMethod::new(self)
    }
}
