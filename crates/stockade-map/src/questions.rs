//! Queries on a route, for rules and lists.

use super::{Need, RouteAccess, RouteInfo, RouteKind};

impl RouteInfo {
    /// Returns the method and the path, as in policies and lists: `GET
    /// /users/:id`, `WS /chat`, `ANY /assets/**`, and `fallback`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.kind {
            RouteKind::Fallback => "fallback".to_owned(),
            _ => format!("{} {}", self.shown_method(), self.shown_path()),
        }
    }

    /// Returns true if a request without a user and without a valid signature
    /// reaches the handler.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.access.user != Need::Required && self.signature.is_none()
    }

    /// Returns true if the route accepts requests with an unsafe method (RFC
    /// 9110, section 9.2.1), such as POST. A WebSocket does not.
    #[must_use]
    pub fn may_change(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY")
    }
}

impl RouteAccess {
    /// Returns true if every user needs this role.
    ///
    /// ```
    /// use stockade::middleware::with_role;
    /// use stockade::prelude::*;
    ///
    /// let secret = Secret::new("0123456789abcdef0123456789abcdef")?;
    /// let auth = || with_auth(Auth::secret(secret.clone()));
    /// let api = routes! {
    ///     "admin": { middleware: [auth(), with_role("admin")], GET: async || () },
    ///     "office": { middleware: [auth(), with_role(["admin", "clerk"])], GET: async || () },
    /// };
    /// let map = create_router(api, RouterOptions::new()).build()?.route_map();
    /// let always: Vec<bool> =
    ///     map.routes.iter().map(|route| route.access.always_needs_role("admin")).collect();
    /// assert_eq!(always, [true, false]);
    /// # Ok::<(), BoxError>(())
    /// ```
    #[must_use]
    pub fn always_needs_role(&self, role: &str) -> bool {
        let asks_alone = |list: &Vec<String>| list.iter().all(|known| known == role);
        self.roles.iter().any(|list| !list.is_empty() && asks_alone(list))
    }
}
