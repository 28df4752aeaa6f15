//! Tests binding ports and accepting connections.

use tokio::net::TcpListener;

use super::{app, get, ms, options, start};
use crate::tcp;

#[tokio::test]
async fn reports_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let error = tcp::listen(address, 1, false).unwrap_err().to_string();
    assert_eq!(error, format!("cannot listen on {address}: address already in use"));
}

#[tokio::test]
async fn a_connection_above_the_limit_waits_until_one_closes() {
    let server = start(options().max_connections(2), app).await;
    let mut first = server.connect().await;
    first.send(get("/hang")).await;
    // A connection with an incomplete head is also in use.
    let mut second = server.connect().await;
    second.send("GET /hello HTTP/1.1\r\n").await;

    let mut third = server.connect().await;
    third.send(get("/hello")).await;
    let waiting = tokio::time::timeout(ms(100), third.answer()).await;
    assert!(waiting.is_err(), "{waiting:?}");

    drop(first);
    assert_eq!(third.answer().await.body, "hello");
    second.send("Host: a\r\n\r\n").await;
    assert_eq!(second.answer().await.body, "hello");
}
