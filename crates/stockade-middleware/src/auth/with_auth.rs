//! [`with_auth`]: authentication as middleware.

use std::borrow::Cow;
use std::sync::Arc;

use stockade_core::__internal::unauthorized;
use stockade_core::description::UserMethod;
use stockade_core::{Authentication, IntoAuthentication, Middleware, Request, RouteDescription};
use stockade_errors::ApiError;

use super::authenticator::{Authenticator, MethodSet};
use super::method::AuthMethod;
use super::{Auth, IntoUser, Lookup, no_user};

/// Authenticates the user of a request, or responds with 401.
///
/// Takes an [`Auth`], or a function from a token to a user. A user found by
/// outer middleware does not count.
///
/// Prefer the setting `auth` of a router, a node or a route: an inner `auth`
/// replaces it, and `public` removes it. See [`Auth`].
///
/// ```
/// use stockade::auth::Secret;
/// use stockade::middleware::{Auth, with_auth};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let bearer = with_auth(Auth::secret(secret));
/// let own = with_auth(|token: String| (token == "let me in").then_some("ada"));
/// assert_eq!((bearer.name(), own.name()), ("with_auth", "with_auth"));
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Authentication › `withAuth`.
#[doc(alias = "withAuth")]
pub fn with_auth<M>(auth: impl IntoAuth<M>) -> Middleware {
    auth.into_auth().into_middleware().named("with_auth")
}

impl Auth {
    fn into_middleware(self) -> Middleware {
        let Self { methods, protections, mistakes, required, .. } = self.clone();
        let describe = move |doc: &mut RouteDescription| {
            let documented = methods.iter().map(|method| method.documented(doc));
            let documented: Vec<UserMethod> = documented.collect();
            doc.finds_user(documented, required);
            if required {
                doc.responds(no_user());
            }
            mistakes.iter().for_each(|mistake| doc.issue(format!("with_auth: {mistake}")));
            methods.iter().for_each(|method| method.describe(doc));
            protections.iter().for_each(|protection| protection.describe(doc));
        };
        self.into_check().describing(describe)
    }

    fn into_check(self) -> Middleware {
        let is_async = self.methods.iter().any(AuthMethod::is_async);
        let authenticator = Authenticator::new(self);
        if is_async {
            let authenticator = Arc::new(authenticator);
            return Middleware::before(move |mut req: Request| {
                let authenticator = Arc::clone(&authenticator);
                async move {
                    let outcome = authenticator.authenticate_async(&mut req).await;
                    (req, outcome)
                }
            });
        }
        Middleware::new(move |req: &mut Request| authenticator.authenticate(req))
    }

    /// Creates the 401 for the methods with invalid credentials.
    // Spec: Authentication › rule 5; RFC 6750, section 3.
    pub(super) fn unauthorized(&self, invalid: MethodSet, is_other_scheme: bool) -> ApiError {
        let challenges = self.methods.iter().enumerate().map(|(index, method)| {
            let challenge = &method.challenge;
            if invalid.has(index) { challenge.for_invalid() } else { challenge.as_str().into() }
        });
        let challenges: Vec<Cow<'_, str>> = challenges.collect();
        let error = unauthorized(challenges.iter().map(|challenge| &**challenge));
        match (self.explains, is_other_scheme || invalid != MethodSet::NONE) {
            (false, _) => error,
            (true, false) => error.with_member("message", "Missing authorization header"),
            (true, true) => error.with_member("message", "Invalid token"),
        }
    }
}

/// The argument of [`with_auth`]: an [`Auth`], a reference to one, or a
/// function from a token to a user, `fn(String) -> Option<U>` or `async
/// fn(String) -> Option<U>`. The function gets the text after `Bearer` in
/// `Authorization`.
// Spec: Authentication › rule 7.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "neither an `Auth` nor a function from a token to a user",
    note = "the function is `fn(String) -> Option<User>` or `async fn(String) -> Option<User>`"
)]
pub trait IntoAuth<Marker> {
    #[doc(hidden)]
    fn into_auth(self) -> Auth;
}

impl IntoAuth<()> for Auth {
    fn into_auth(self) -> Auth {
        self
    }
}

impl IntoAuth<()> for &Auth {
    fn into_auth(self) -> Auth {
        self.clone()
    }
}

impl IntoAuthentication for Auth {
    fn into_authentication(self) -> Authentication {
        let is_required = self.required;
        Authentication::new(with_auth(self), is_required)
    }
}

impl IntoAuthentication for &Auth {
    fn into_authentication(self) -> Authentication {
        self.clone().into_authentication()
    }
}

impl<F: Lookup<String, M, Output: IntoUser>, M> IntoAuth<(M,)> for F {
    fn into_auth(self) -> Auth {
        Auth { explains: true, ..Auth::bearer(self) }
    }
}
