//! Requests to addresses of users. The servers of these tests listen on
//! 127.0.0.1, which only the guard of a test allows.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use stockade::outgoing::OutgoingGuard;
use stockade::prelude::*;
use stockade::reply::Redirect;

use super::World;
use crate::hooks::deliver;

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Starts a server of a user: it accepts requests at `/hook`, and redirects to
/// other addresses.
async fn start_receiver() -> SocketAddr {
    let api = routes! {
        "hook": { POST: async |Body(event): Body<Value>| event["event"].to_string() },
        "moved": { POST: async || Redirect::temporary("/hook") },
        "inside": { POST: async || Redirect::temporary("http://169.254.169.254/latest") },
        "file": { POST: async || Redirect::temporary("file:///etc/passwd") },
        "loop": { POST: async || Redirect::temporary("/loop") },
    };
    let server = create_router(api, RouterOptions::new()).create_server().unwrap();
    let server = server.bind(0).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    address
}

/// Returns the outcome of a request to a hook.
async fn outcome(guard: &OutgoingGuard, url: &str) -> String {
    let world = World::new().await;
    let client = world.client("ada@acme.example").await;
    client.post("/hooks").json(json!({ "url": url })).await.assert_status(201);
    client.post("/projects").json(json!({ "name": "Shop" })).await.assert_status(201);
    let issue = json!({ "title": "It crashes" });
    client.post("/projects/1/issues").json(issue).await.assert_status(201);
    let outcomes = deliver(&world.db, guard).await.unwrap();
    assert_eq!(deliver(&world.db, guard).await.unwrap(), Vec::<String>::new());
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    outcomes[0].clone()
}

#[tokio::test]
async fn sends_new_issues_to_the_hook() {
    let address = start_receiver().await;
    let guard = OutgoingGuard::new().ports([address.port(), 80]).allow(LOCAL);
    let at = async |path: &str| outcome(&guard, &format!("http://{address}{path}")).await;
    assert_eq!(at("/hook").await, "200 OK");
    assert_eq!(at("/moved").await, "200 OK");
    assert_eq!(at("/inside").await, "The host of the URL is not public");
    assert_eq!(at("/file").await, "The scheme of the URL is not allowed");
    assert_eq!(at("/loop").await, "The URL redirects too often");
}

#[tokio::test]
async fn never_calls_the_own_network() {
    let address = start_receiver().await;
    let guard = OutgoingGuard::new().ports([address.port(), 80]);
    let url = format!("http://{address}/hook");
    assert_eq!(outcome(&guard, &url).await, "The host of the URL is not public");
    let rebound = format!("http://localhost:{}/hook", address.port());
    assert_eq!(outcome(&guard, &rebound).await, "The host of the URL is not public");
    let guard = OutgoingGuard::new();
    assert_eq!(
        outcome(&guard, &url).await,
        format!("The port {} of the URL is not allowed", address.port())
    );
}

#[tokio::test]
async fn rejects_other_urls() {
    let client = World::new().await.client("ada@acme.example").await;
    for url in ["file:///etc/passwd", "http://user@example.com/", "http://0x7f.1/", "no url"] {
        client.post("/hooks").json(json!({ "url": url })).await.assert_status(400);
    }
}
