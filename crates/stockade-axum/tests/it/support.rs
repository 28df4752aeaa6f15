//! Sends requests to an in-process axum router, and formats the responses.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http_body_util::BodyExt as _;
use tower_service::Service as _;

/// Creates a request from lines: `METHOD target`, then `name: value` for each
/// header, then an empty line and the body. The client address is 192.0.2.7.
pub(crate) fn request(text: &str) -> http::Request<Body> {
    request_from("192.0.2.7:4711", text)
}

/// Creates a request from another client.
pub(crate) fn request_from(peer: &str, text: &str) -> http::Request<Body> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
    let mut builder = http::Request::builder().method(method).uri(target);
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        builder = builder.header(name, value);
    }
    let mut request = builder.body(Body::from(body.to_owned())).unwrap();
    let peer: SocketAddr = peer.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

pub(crate) async fn send(
    router: &axum::Router,
    request: http::Request<Body>,
) -> http::Response<Body> {
    router.clone().call(request).await.unwrap()
}

/// Returns `status body`, or only the status.
pub(crate) async fn show(response: http::Response<Body>) -> String {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    if body.is_empty() { status.to_string() } else { format!("{status} {body}") }
}

pub(crate) async fn call(router: &axum::Router, text: &str) -> String {
    show(send(router, request(text)).await).await
}

pub(crate) async fn check(router: &axum::Router, text: &str, expected: &str) {
    assert_eq!(call(router, text).await, expected, "{text}");
}

/// Returns the value of a response header, or `-` if it is missing.
pub(crate) async fn header_of(router: &axum::Router, text: &str, name: &str) -> String {
    let response = send(router, request(text)).await;
    let value = response.headers().get(name);
    value.map_or("-", |value| value.to_str().unwrap()).to_owned()
}
