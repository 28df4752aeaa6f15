//! The public API as one tree, and its policy.

use std::time::Duration;

use stockade::auth::KeyRing;
use stockade::auth::webhooks::{Stripe, WebhookKeys};
use stockade::middleware::SessionCookie;
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::policy::{AuthLimits, Policy};
use stockade::prelude::*;

use crate::accounts::{self, Passwords, Visit};
use crate::{billing, files, hooks, issues, members, projects};

/// The values that the routes need. Tests use other values.
#[derive(Clone)]
pub struct Parts {
    pub sessions: Sessions<Visit>,
    pub passwords: Passwords,
    /// The secrets of the payment provider.
    pub payments: WebhookKeys<Stripe>,
}

impl Parts {
    /// Creates the parts. Several processes need `SqlSessionStore` or Redis
    /// instead of the memory of one process.
    pub fn new(secret: Secret, passwords: Passwords, payments: WebhookKeys<Stripe>) -> Self {
        let cookie = SessionCookie::new(KeyRing::new(secret));
        let sessions = Sessions::new(MemorySessionStore::new(), cookie);
        Self { sessions, passwords, payments }
    }
}

/// Returns the public API. The caller adds the database.
pub fn router(parts: &Parts, options: RouterOptions) -> Router {
    with_parts(routes(parts), parts, options).policy(policy())
}

/// Returns the routes of all files.
pub fn routes(parts: &Parts) -> RouteTree {
    routes! {
        // Every route requires a user unless it is `public`.
        auth: parts.sessions.auth(),
        timeout: Duration::from_secs(10),
        ..accounts::routes(),
        ..members::routes(),
        ..projects::routes(),
        ..issues::routes(),
        ..files::routes(),
        ..hooks::routes(),
        ..billing::routes(),
    }
}

/// Returns a router with the parts as state.
pub fn with_parts(api: RouteTree, parts: &Parts, options: RouterOptions) -> Router {
    create_router(api, options)
        .state(parts.sessions.clone())
        .state(parts.passwords.clone())
        .state(parts.payments.clone())
        .configuration("production.json")
}

/// Returns the rules for all routes; the build fails if a route breaks one.
pub fn policy() -> Policy {
    let day = Duration::from_secs(24 * 3_600);
    Policy::strict()
        .authentication(AuthLimits::new().max_session_life(day).max_session_idle(day))
        .public_routes(["POST /sign-in"])
        .rule("admins-manage", "members and hooks need the role admin", |route| {
            let is_managed = ["/members", "/hooks"].iter().any(|it| route.path.starts_with(it));
            !is_managed || route.access.always_needs_role("admin")
        })
        .allow("strings-bounded", "POST /projects/:project/files", "`max_bytes` limits the file")
        .without("errors-typed", "sessions report the errors of their store")
        .without("operation-named", "no client is generated")
}
