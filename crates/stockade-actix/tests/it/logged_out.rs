//! The end of a login inside actix-web, with clients over a port.

#[path = "../../../../tests/hosts/logins.rs"]
mod logins;

use std::net::SocketAddr;

use self::logins::{Logins, check};
use crate::bodies::serve;

/// Serves an application in both ways.
async fn both(logins: &Logins) -> SocketAddr {
    serve(|| logins.api())
}

#[actix_web::test]
async fn an_expired_token_ends_its_connections_in_actix() {
    check(both, async |logins| logins.expire()).await;
}

#[actix_web::test]
async fn a_revocation_ends_the_connections_of_its_token_in_actix() {
    check(both, async |logins| logins.revoke().await).await;
}
