//! Authentication of requests ([`with_auth`]).
//!
//! - `methods`: [`Auth`], the authentication methods.
//! - `with_auth`: the middleware.
//! - `authenticator`: tries the methods for a request and creates the 401.
//! - `method`: one type-erased method.
//! - `challenge`: a value of `WWW-Authenticate`.
//! - `credentials`: reads credentials from request headers.
//! - `recheck`: the end of a login, for connections that outlive their request.
//! - `value_lookup`: credentials that arrive outside the headers.
//! - `lookup`: the application's functions that authenticate a user.
//! - `into_user`: the results of these functions.
//! - `role`, `permission`: the rights of a user.
//! - `session`: the session cookie.
//! - `user_key`: the identity of a user, as a key.
//! - `password`: password hashing without blocking.
// Spec: Authentication.

mod authenticator;
mod challenge;
mod credentials;
mod into_user;
mod lookup;
mod method;
mod methods;
mod password;
mod permission;
pub(crate) mod recheck;
mod role;
mod session;
mod user_key;
mod value_lookup;
mod with_auth;

use stockade_core::description::{HeaderDoc, ResponseDoc};

pub use into_user::IntoUser;
pub use lookup::{CredentialReader, ErasedMethod, Lookup, WholeRequest, form};
pub use methods::Auth;
pub use password::{hash_password_async, hash_password_with_async, verify_password_async};
pub use permission::{IntoDecision, NamedPermission, Permission, named, with_permission};
pub use role::{IntoRoles, with_role};
#[cfg(feature = "sessions")]
pub(crate) use session::SessionSubject;
pub use session::{CurrentSession, SameSite, SessionCookie};
pub use user_key::UserKey;
pub use value_lookup::ValueLookup;
pub use with_auth::{IntoAuth, with_auth};

/// Returns the 401 for an unauthenticated request, for a description.
#[must_use]
pub fn no_user() -> ResponseDoc {
    let challenge = HeaderDoc::new("WWW-Authenticate", "The supported authentication methods");
    ResponseDoc::error(401).meaning("No user, or no valid credentials").header(challenge)
}
