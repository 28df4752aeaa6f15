//! [`with_role`]: authorizes users by role.

use std::sync::Arc;

use stockade_core::{Middleware, Request};
use stockade_errors::ApiError;

/// Allows only users with one of `roles` as their `role`. Responds with 401 to
/// unauthenticated requests, and with 403 for any other role.
///
/// ```
/// use stockade::middleware::with_role;
///
/// let editors = [with_role("admin"), with_role(["editor", "admin"])];
/// assert_eq!(editors[0].name(), "with_role");
/// ```
// Spec: Authentication › `withRole`.
#[doc(alias = "withRole")]
pub fn with_role(roles: impl IntoRoles) -> Middleware {
    let roles: Arc<[String]> = roles.into_roles().into();
    let described = Arc::clone(&roles);
    Middleware::new(move |req: &mut Request| {
        let user = req.user().ok_or_else(|| req.unauthorized())?;
        let role = user.get("role").and_then(serde_json::Value::as_str);
        match role.filter(|role| roles.iter().any(|known| known == role)) {
            Some(_) => Ok(()),
            None => Err(ApiError::new(403, "Forbidden")),
        }
    })
    .named("with_role")
    .describing(move |doc| {
        doc.needs_role(&described);
        doc.responds(super::no_user());
        doc.may_respond(403, "The user does not have the role");
    })
}

/// The argument of [`with_role`]: one role, or several.
pub trait IntoRoles {
    /// Returns the roles.
    fn into_roles(self) -> Vec<String>;
}

impl IntoRoles for &str {
    fn into_roles(self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl IntoRoles for String {
    fn into_roles(self) -> Vec<String> {
        vec![self]
    }
}

impl<R: Into<String>, const N: usize> IntoRoles for [R; N] {
    fn into_roles(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<R: Into<String>> IntoRoles for Vec<R> {
    fn into_roles(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl IntoRoles for &[&str] {
    fn into_roles(self) -> Vec<String> {
        self.iter().map(|role| (*role).to_owned()).collect()
    }
}
