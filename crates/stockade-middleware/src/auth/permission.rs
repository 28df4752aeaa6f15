//! [`with_permission`]: authorizes users with a function.

use std::fmt::Display;
use std::pin::pin;

use serde_json::Value;
use stockade_core::log_text::escaped;
use stockade_core::middleware::BorrowingFn;
use stockade_core::{BoxFuture, Control, Middleware, Request};
use stockade_errors::ApiError;
use stockade_errors::panic::{CatchPanic, catch_panic};

use super::form;

/// Allows only users for whom `check` returns true. Responds with 401 to
/// unauthenticated requests, and with 403 if `check` returns false, fails or
/// panics.
///
/// `check` is `fn(&Value, &Request) -> bool` or `async fn(Value, &mut Request)
/// -> bool`. It may also return a `Result`.
///
/// ```
/// use stockade::Request;
/// use stockade::middleware::with_permission;
/// use stockade::serde_json::Value;
///
/// let own = with_permission(|user: &Value, req: &Request| {
///     user["id"].as_str() == req.param("id").as_deref()
/// });
/// assert_eq!(own.name(), "with_permission");
/// ```
// Spec: Middleware helpers › `withPermission`.
#[doc(alias = "withPermission")]
pub fn with_permission<M>(check: impl Permission<M>) -> Middleware {
    let name = check.name().map(str::to_owned);
    check.into_middleware().built_in().named("with_permission").describing(move |doc| {
        doc.needs_permission(name.as_deref());
        doc.responds(super::no_user());
        doc.may_respond(403, "The user lacks the permission");
    })
}

/// Names a permission check in documents and route lists. A check without a
/// name is only listed as present.
///
/// ```
/// use stockade::Request;
/// use stockade::middleware::{named, with_permission};
/// use stockade::serde_json::Value;
///
/// fn is_own(user: &Value, req: &Request) -> bool {
///     user["id"].as_str() == req.param("id").as_deref()
/// }
/// let own = with_permission(named("own account", is_own));
/// assert_eq!(own.name(), "with_permission");
/// ```
///
/// # Beyond the spec
/// The specification does not define names for permissions.
pub fn named<M>(name: impl Into<String>, check: impl Permission<M>) -> NamedPermission {
    NamedPermission { name: name.into(), check: check.into_middleware() }
}

/// A permission check with a name, created by [`named`].
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `with_permission` converts it to middleware"]
pub struct NamedPermission {
    name: String,
    check: Middleware,
}

/// The result of a permission check: a `bool`, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a permission check cannot return `{Self}`",
    label = "this is what the check returns",
    note = "return a bool, or a Result of one"
)]
pub trait IntoDecision {
    /// Returns true if the user may continue, or `None` if the check failed.
    fn into_decision(self) -> Option<bool>;
}

impl IntoDecision for bool {
    fn into_decision(self) -> Option<bool> {
        Some(self)
    }
}

impl<E: Display> IntoDecision for Result<bool, E> {
    fn into_decision(self) -> Option<bool> {
        self.inspect_err(|error| {
            let error = escaped(error);
            log::warn!(target: "stockade::auth", "a permission check failed: {error}");
        })
        .ok()
    }
}

/// A permission check: `fn(&Value, &Request) -> bool` or `async fn(Value, &mut
/// Request) -> bool`, or the same with a `Result`.
///
/// Like a request handler, an asynchronous closure is cloned for each call, so
/// the captured values must be `Clone`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot decide about a user",
    label = "not a permission check",
    note = "it is `fn(&Value, &Request) -> bool` or `async fn(Value, &mut Request) -> bool`; a Result is also accepted",
    note = "the arguments of a closure need their types: `|user: &Value, req: &Request| …`"
)]
pub trait Permission<Marker> {
    #[doc(hidden)]
    fn into_middleware(self) -> Middleware;

    #[doc(hidden)]
    fn name(&self) -> Option<&str> {
        None
    }
}

impl Permission<()> for NamedPermission {
    fn into_middleware(self) -> Middleware {
        self.check
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }
}

impl<F, D> Permission<form::Sync<D>> for F
where
    F: Fn(&Value, &Request) -> D + Send + Sync + 'static,
    D: IntoDecision,
{
    fn into_middleware(self) -> Middleware {
        Middleware::new(move |req: &mut Request| {
            let user = req.user().ok_or_else(|| not_authenticated(req))?;
            // The panic hook has logged the panic, which counts as a failed
            // check.
            decide(catch_panic(|| self(user, req).into_decision()).unwrap_or(None))
        })
    }
}

impl<F, D> Permission<form::Async<D>> for F
where
    F: for<'r> BorrowingFn<'r, D, (Value,)> + Clone + Send + Sync + 'static,
    D: IntoDecision + Send,
{
    fn into_middleware(self) -> Middleware {
        Middleware::before(move |mut req: Request| -> BoxFuture<'static, _> {
            let check = self.clone();
            Box::pin(async move {
                let Some(user) = req.user().cloned() else {
                    let error = not_authenticated(&req);
                    return (req, Err(error));
                };
                let decision = async { check.call((user,), &mut req).await.into_decision() };
                let decision = CatchPanic::new(pin!(decision)).await.unwrap_or(None);
                (req, decide(decision).map(|()| Control::Continue))
            })
        })
    }
}

fn decide(decision: Option<bool>) -> Result<(), ApiError> {
    let forbidden = |message| Err(ApiError::new(403, "Forbidden").with_member("message", message));
    match decision {
        Some(true) => Ok(()),
        Some(false) => forbidden("Insufficient permissions"),
        None => forbidden("Permission check failed"),
    }
}

#[cold]
fn not_authenticated(req: &Request) -> ApiError {
    req.unauthorized().with_member("message", "User not authenticated")
}
