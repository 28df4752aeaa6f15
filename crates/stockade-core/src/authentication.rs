//! [`Authentication`]: the setting for authentication on a route.

use std::panic::Location;

use crate::Middleware;
use crate::middleware::Level;

/// The authentication of routes: the value of the setting `auth`.
///
/// `Auth` from `stockade::middleware` converts to it. Implement
/// [`IntoAuthentication`] if your crate has its own authentication type.
#[derive(Clone, Debug)]
pub struct Authentication {
    middleware: Middleware,
    is_required: bool,
}

impl Authentication {
    /// Creates the authentication from middleware that finds the user.
    ///
    /// The middleware must describe itself with
    /// [`RouteDescription::finds_user`](crate::RouteDescription::finds_user).
    /// `is_required` specifies whether it rejects requests without a user.
    #[must_use]
    pub fn new(middleware: Middleware, is_required: bool) -> Self {
        Self { middleware, is_required }
    }

    /// Returns the middleware that finds the user.
    #[must_use]
    pub fn middleware(&self) -> &Middleware {
        &self.middleware
    }

    /// Records the source location of the setting.
    #[doc(hidden)]
    pub fn note_place(&mut self, level: Level, location: &'static Location<'static>) {
        self.middleware.note_place(level, location);
    }

    /// Returns true if requests without a user are rejected.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.is_required
    }
}

/// A value for the setting `auth`: `Auth` or `&Auth` from
/// `stockade::middleware`.
///
/// ```
/// use stockade::prelude::*;
///
/// let token = Auth::bearer(|token: String| (token == "let me in").then_some("ada"));
/// let api = routes! { "me": { auth: &token, GET: async |User(name): User<String>| name } };
/// assert!(create_router(api, RouterOptions::new()).build().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot authenticate requests",
    label = "expected `Auth` or `&Auth`",
    note = "to authenticate with a function, use `Auth::bearer(function)`",
    note = "for a route without login, write `public: \"reason\"`; list `with_auth(…)` in `middleware`"
)]
pub trait IntoAuthentication {
    /// Converts the value to an authentication.
    fn into_authentication(self) -> Authentication;
}

impl IntoAuthentication for Authentication {
    fn into_authentication(self) -> Authentication {
        self
    }
}
