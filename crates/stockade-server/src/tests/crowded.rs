//! Tests connections above the limits, from one client and from many.

use std::net::Ipv4Addr;

use stockade_core::Request;
use stockade_routing::{HostOptions, Router, RouterOptions};
use stockade_stages::TrustProxy;
use tokio::net::{TcpSocket, TcpStream};

use super::{Client, Running, app, get, http2, log, ms, options, soon, start, text};
use crate::ServerOptions;

/// Opens a connection from `127.0.0.<last>`.
pub(super) async fn connect(server: &Running, last: u8) -> Client<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    Client::new(soon(socket.connect(server.address)).await.unwrap())
}

/// Opens a connection that has received a response and is idle.
async fn idle(server: &Running, last: u8) -> Client<TcpStream> {
    let mut client = connect(server, last).await;
    ask(&mut client).await;
    client
}

async fn ask(client: &mut Client<TcpStream>) {
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

/// Options with long timeouts, because nothing should end by itself.
fn patient(max_connections: u32, per_client: u32) -> ServerOptions {
    let long = ms(600_000);
    let options = options().max_connections(max_connections).idle_timeout(long);
    options.header_read_timeout(long).max_connections_per_client(per_client)
}

#[tokio::test]
async fn a_client_above_its_limit_loses_its_least_recently_used_connection() {
    let server = start(patient(20, 3).park_after(ms(20)), app).await;
    let mut other = idle(&server, 2).await;
    let mut first = idle(&server, 1).await;
    let mut second = idle(&server, 1).await;
    let mut third = idle(&server, 1).await;
    // Several sweeps at 10 ms intervals park the connections.
    tokio::time::sleep(ms(200)).await;
    ask(&mut first).await;
    let mut fourth = idle(&server, 1).await;
    second.closed().await;
    for client in [&mut first, &mut third, &mut fourth, &mut other] {
        ask(client).await;
    }
}

#[tokio::test]
async fn a_client_that_uses_all_its_connections_gets_no_more() {
    let server = start(patient(20, 3), app).await;
    let mut running = connect(&server, 1).await;
    running.send(get("/hang")).await;
    let mut head = connect(&server, 1).await;
    head.send("GET /hello HTTP/1.1\r\n").await;
    let _silent = connect(&server, 1).await;
    for _ in 0..10 {
        connect(&server, 1).await.closed().await;
    }
    let mut other = idle(&server, 2).await;
    drop(running);
    // The server needs time to notice.
    soon(async {
        loop {
            let mut client = connect(&server, 1).await;
            client.send(get("/hello")).await;
            if client.stream.readable().await.is_ok()
                && client.stream.peek(&mut [0]).await.is_ok_and(|count| count > 0)
            {
                break;
            }
        }
    })
    .await;
    head.send("Host: a\r\n\r\n").await;
    assert_eq!(head.answer().await.body, "hello");
    ask(&mut other).await;
}

#[tokio::test]
async fn the_longest_idle_connection_closes_if_all_slots_are_in_use() {
    let server = start(patient(20, 20).park_after(ms(20)), app).await;
    let mut running = connect(&server, 1).await;
    running.send(get("/hang")).await;
    let mut clients = Vec::new();
    for last in 2..=20 {
        clients.push(idle(&server, last).await);
    }
    tokio::time::sleep(ms(200)).await;
    ask(&mut clients[0]).await;
    // Newcomers arrive one after the other.
    for last in 21..=38 {
        clients.push(idle(&server, last).await);
    }
    for client in &mut clients[1..19] {
        client.closed().await;
    }
    ask(&mut clients[0]).await;
    for client in &mut clients[19..] {
        ask(client).await;
    }
}

#[tokio::test]
async fn unparked_connections_also_make_room() {
    let server = start(patient(2, 2).park_after(ms(600_000)), app).await;
    let mut first = idle(&server, 1).await;
    let mut second = idle(&server, 2).await;
    let _third = idle(&server, 3).await;
    first.closed().await;
    let _fourth = idle(&server, 4).await;
    second.closed().await;
}

#[tokio::test]
async fn an_uncooperative_http2_client_makes_room() {
    let server = start(patient(1, 1), app).await;
    let mut silent = connect(&server, 1).await;
    let frames = http2::frames(&mut silent, "GET", "/hello").await;
    assert_eq!(frames.last().unwrap(), "DATA, end");
    let _newcomer = idle(&server, 2).await;
}

#[tokio::test]
async fn a_429_closes_the_connection_if_connections_are_scarce() {
    let server = start(patient(20, 2), app).await;
    let refused = async |client: &mut Client<TcpStream>| {
        client.send(get("/429")).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 429);
        answer.head.contains("\r\nconnection: close\r\n")
    };
    let mut first = connect(&server, 1).await;
    assert!(!refused(&mut first).await, "there is room");
    let mut second = connect(&server, 1).await;
    ask(&mut second).await;
    assert!(refused(&mut first).await);
    first.closed().await;
    ask(&mut second).await;

    // The total limit.
    let server = start(patient(1, 1), app).await;
    let mut only = connect(&server, 1).await;
    assert!(refused(&mut only).await);
    only.closed().await;
    let (mut sender, connection) = http2::speak(connect(&server, 1).await.stream).await;
    let answer = soon(sender.send_request(http2::get("/429"))).await.unwrap();
    assert_eq!(answer.status(), 429);
    drop(answer);
    soon(connection).await.unwrap().unwrap();
}

#[test]
fn warns_once_of_a_client_at_its_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lines = log::of(|| {
        runtime.block_on(async {
            let server = start(patient(20, 1), app).await;
            for _ in 0..3 {
                drop(idle(&server, 1).await);
            }
            let mut running = idle(&server, 3).await;
            let mut newer = idle(&server, 3).await;
            running.closed().await;
            newer.send(get("/hang")).await;
            connect(&server, 3).await.closed().await;
        });
    });
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.starts_with("WARN stockade::server: 127.0.0."), "{line}");
    for word in ["max_connections_per_client", "trust_proxy"] {
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn a_proxy_is_trusted_by_the_router_or_by_the_call() {
    let hops = |count: u8| TrustProxy::hops(count);
    for (router, call, expected) in [
        (hops(0), None, false),
        (hops(1), None, true),
        (hops(0), Some(hops(1)), true),
        (hops(1), Some(hops(0)), false),
    ] {
        let options = RouterOptions::new().trust_proxy(router.clone());
        let app = Router::with_options(options).build().unwrap();
        let mut options = HostOptions::new();
        if let Some(call) = call.clone() {
            options = options.trust_proxy(call);
        }
        let app = app.with_options(options).unwrap();
        assert_eq!(app.trusts_proxy(), expected, "{router:?} {call:?}");
    }
}

/// Fills the server from the addresses 127.0.0.1 to 127.0.0.11 with connections
/// that sent `begun`. Each of these clients exceeds its share.
async fn crowd(server: &Running, begun: &str) -> Vec<Client<TcpStream>> {
    let mut crowd = Vec::new();
    for at in 0..110 {
        let mut client = connect(server, 1 + at % 11).await;
        client.send(begun).await;
        crowd.push(client);
    }
    crowd
}

#[tokio::test]
async fn unfinished_requests_of_few_clients_do_not_keep_others_out() {
    let half_body = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe";
    let drained = "POST /404 HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\nhe";
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for begun in ["", "GET /hello HTTP/1.1\r\nHos", half_body, drained, preface] {
        let server = start(patient(112, 20), app).await;
        let mut slow_head = connect(&server, 20).await;
        slow_head.send("GET /hello HTTP/1.1\r\n").await;
        let mut slow_body = connect(&server, 21).await;
        slow_body.send(half_body).await;
        let crowd = crowd(&server, begun).await;
        // Their requests are running, so they do not make room for each other.
        let mut newcomers = Vec::new();
        for last in 30..45 {
            let mut newcomer = idle(&server, last).await;
            newcomer.send(get("/hang")).await;
            newcomers.push(newcomer);
        }
        // Clients within their share continue.
        slow_head.send("Host: a\r\n\r\n").await;
        assert_eq!(slow_head.answer().await.body, "hello", "{begun:?}");
        slow_body.send("llo").await;
        assert_eq!(slow_body.answer().await.body, "hello", "{begun:?}");
        drop(crowd);
    }
}

#[tokio::test]
async fn responses_that_few_clients_do_not_read_do_not_keep_others_out() {
    let large = async |request: Request| match request.path() {
        "/large" => text(200, "x".repeat(8 << 20)),
        _ => text(200, "hello"),
    };
    let server = start(patient(110, 20), large).await;
    let crowd = crowd(&server, &get("/large")).await;
    for last in 30..50 {
        idle(&server, last).await;
    }
    drop(crowd);
}

#[tokio::test]
async fn running_requests_do_not_end_for_others() {
    let server = start(patient(4, 3), app).await;
    let mut running = Vec::new();
    for last in [1, 1, 1, 2] {
        let mut client = connect(&server, last).await;
        client.send(get("/hang")).await;
        running.push(client);
    }
    let mut newcomer = connect(&server, 3).await;
    newcomer.send(get("/hello")).await;
    let answered = tokio::time::timeout(ms(300), newcomer.more()).await;
    assert!(answered.is_err(), "there is no room");
    drop(running.pop());
    assert_eq!(newcomer.answer().await.body, "hello");
}
