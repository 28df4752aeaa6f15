//! The end of a login inside axum, with clients over a port.

#[path = "../../../../tests/hosts/logins.rs"]
mod logins;

use std::net::SocketAddr;

use stockade_axum::ToAxum;

use self::logins::{Logins, check};
use crate::sockets::serve;

/// Serves an application in both ways.
async fn both(logins: &Logins) -> SocketAddr {
    let whole = axum::Router::new().nest_service("/whole", logins.api().to_axum_service().unwrap());
    serve(whole.nest("/routes", logins.api().to_host_router().unwrap())).await
}

#[tokio::test]
async fn an_expired_token_ends_its_connections_in_axum() {
    check(both, async |logins| logins.expire()).await;
}

#[tokio::test]
async fn a_revocation_ends_the_connections_of_its_token_in_axum() {
    check(both, async |logins| logins.revoke().await).await;
}
