//! Tests connections of load balancers that send the client's address by the
//! PROXY protocol.

use std::fmt::Display;

use http_body_util::BodyExt as _;
use stockade_core::{PeerAddr, Request, Response};
use stockade_routing::{HostOptions, Router};
use stockade_stages::RateLimit;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;

use super::crowded::connect;
use super::slow::large;
#[cfg(feature = "tls")]
use super::tls;
#[cfg(unix)]
use super::unix;
use super::{Client, Running, get, http2, ms, options, soon, start, text};
use crate::{CreateServer as _, ServerOptions};

/// A version 1 header with the address 192.0.2.7.
const LINE: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 49320 443\r\n";

/// The same address in a version 2 header.
const BINARY: &[u8] =
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\xc0\xa8\x01\xbb";

/// A health check of a load balancer, without addresses.
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

const CLIENT: &str = "192.0.2.7:49320";

/// Responds with the address of the peer, with the body on `/echo`, and with
/// many bytes on `/large`.
async fn peer(mut request: Request) -> Response {
    match request.path() {
        "/large" => large(LARGE).await,
        "/echo" => Response::new(request.bytes().await.unwrap().into()),
        _ => text(200, request.peer().map_or_else(|| "none".to_owned(), |peer| peer.0.to_string())),
    }
}

const LARGE: usize = 1_048_576;

/// Only `127.0.0.1` is a load balancer.
fn trusting() -> ServerOptions {
    options().proxy_protocol(["127.0.0.1"])
}

fn line(client: impl Display) -> String {
    format!("PROXY TCP4 {client} 198.51.100.1 49320 443\r\n")
}

/// Opens a connection of the load balancer for a client.
async fn forward(server: &Running, client: impl Display) -> Client<TcpStream> {
    let mut connection = server.connect().await;
    connection.send(line(client)).await;
    connection
}

async fn check_peer(client: &mut Client<impl AsyncRead + AsyncWrite + Unpin>, expected: &str) {
    client.send(get("/peer")).await;
    assert_eq!(client.answer().await.body, expected);
}

#[tokio::test]
async fn address_of_the_header_is_the_peer() {
    for http2 in [false, true] {
        for header in [LINE, BINARY] {
            let server = start(trusting().http2(http2), peer).await;
            let mut client = server.connect().await;
            client.send(header).await;
            for _ in 0..2 {
                check_peer(&mut client, CLIENT).await;
            }
        }
    }
}

#[tokio::test]
async fn requests_after_the_header_in_the_same_segment_are_not_lost() {
    for http2 in [false, true] {
        for header in [LINE, BINARY] {
            let server = start(trusting().http2(http2), peer).await;
            let mut client = server.connect().await;
            let requests = get("/peer").repeat(3);
            client.send([header, requests.as_bytes()].concat()).await;
            for _ in 0..3 {
                assert_eq!(client.answer().await.body, CLIENT);
            }
        }
    }
}

#[tokio::test]
async fn header_can_be_split_into_any_two_segments() {
    let server = start(trusting(), peer).await;
    for header in [LINE, BINARY] {
        let all = [header, get("/peer").as_bytes()].concat();
        for at in 1..all.len() {
            let mut client = server.connect().await;
            client.stream.set_nodelay(true).unwrap();
            client.send(&all[..at]).await;
            // Meanwhile the server reads the first segment.
            tokio::task::yield_now().await;
            client.send(&all[at..]).await;
            assert_eq!(client.answer().await.body, CLIENT, "{at}");
        }
    }
}

#[tokio::test]
async fn header_comes_before_http2() {
    for header in [LINE, BINARY] {
        let server = start(trusting(), peer).await;
        let mut stream = server.connect().await;
        stream.send(header).await;
        let (mut sender, _connection) = http2::speak(stream.stream).await;
        let response = soon(sender.send_request(http2::get("/peer"))).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), CLIENT);
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn header_comes_before_tls() {
    for header in [LINE, BINARY] {
        let secure = tls::start_with(&trusting(), peer);
        let mut stream = secure.server.connect().await;
        stream.send(header).await;
        let stream = tls::connect(stream.stream, secure.roots.clone(), &[]).await;
        check_peer(&mut Client::new(stream), CLIENT).await;

        let mut stream = secure.server.connect().await;
        stream.send(header).await;
        let stream = tls::connect(stream.stream, secure.roots.clone(), &["h2"]).await;
        let (mut sender, _connection) = http2::speak(stream).await;
        let response = soon(sender.send_request(http2::get("/peer"))).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), CLIENT);
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn header_within_tls_is_a_malformed_request() {
    let secure = tls::start_with(&trusting(), peer);
    let mut stream = secure.server.connect().await;
    stream.send(LINE).await;
    let mut client = Client::new(tls::connect(stream.stream, secure.roots.clone(), &[]).await);
    client.send(line("203.0.113.9")).await;
    assert_eq!(client.answer().await.status, 400);
}

#[tokio::test]
async fn load_balancer_without_a_valid_header_gets_no_response() {
    let request = get("/peer");
    let long = format!("PROXY UNKNOWN {}", "a".repeat(200));
    let future = [&BINARY[..12], b"\x31", &BINARY[13..]].concat();
    let huge = [&BINARY[..14], &[0xff; 200]].concat();
    let cases: [&[u8]; 6] = [
        request.as_bytes(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 49320 443\n",
        long.as_bytes(),
        &future,
        &huge,
    ];
    for http2 in [false, true] {
        let server = start(trusting().http2(http2), peer).await;
        for bytes in cases {
            let mut client = server.connect().await;
            client.send(bytes).await;
            client.closed().await;
        }
    }
}

#[tokio::test]
async fn second_header_is_a_malformed_request() {
    for second in [LINE, BINARY] {
        let server = start(trusting(), peer).await;
        let mut client = server.connect().await;
        client.send([LINE, second, get("/peer").as_bytes()].concat()).await;
        assert_eq!(client.answer().await.status, 400);
    }
}

#[tokio::test]
async fn header_of_any_other_peer_is_a_malformed_request() {
    for options in [trusting(), options()] {
        let server = start(options, peer).await;
        for header in [LINE, BINARY] {
            let mut client = connect(&server, 2).await;
            client.send([header, get("/peer").as_bytes()].concat()).await;
            assert_eq!(client.answer().await.status, 400);
        }
    }
}

#[tokio::test]
async fn other_peers_connect_without_a_header() {
    let server = start(trusting(), peer).await;
    let mut client = connect(&server, 2).await;
    let own = client.stream.local_addr().unwrap().to_string();
    check_peer(&mut client, &own).await;
}

#[tokio::test]
async fn load_balancer_is_the_peer_if_the_header_has_no_address() {
    let server = start(trusting(), peer).await;
    let unix = [b"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8", &[b'/'; 216][..]].concat();
    for header in [LOCAL, b"PROXY UNKNOWN\r\n", &unix] {
        let mut client = server.connect().await;
        let own = client.stream.local_addr().unwrap().to_string();
        client.send(header).await;
        check_peer(&mut client, &own).await;
    }
}

#[tokio::test]
async fn mapped_address_is_an_ipv4_address() {
    let server = start(trusting(), peer).await;
    let mut client = server.connect().await;
    client.send("PROXY TCP6 ::ffff:192.0.2.7 2001:db8::1 49320 443\r\n").await;
    check_peer(&mut client, CLIENT).await;
    let mut client = server.connect().await;
    client.send("PROXY TCP6 2001:db8::7 2001:db8::1 49320 443\r\n").await;
    check_peer(&mut client, "[2001:db8::7]:49320").await;
}

#[tokio::test]
async fn header_has_the_time_of_a_head() {
    for header in [&b""[..], b"PROXY TCP4 192.", &LINE[..LINE.len() - 1], &BINARY[..20], LINE] {
        let server = start(trusting().header_read_timeout(ms(200)), peer).await;
        let mut client = server.connect().await;
        client.send(header).await;
        client.closed().await;
    }
}

#[tokio::test]
async fn idle_connections_are_parked_and_end_like_others() {
    // A large response parks a connection immediately.
    let server = start(trusting(), peer).await;
    let mut client = forward(&server, "192.0.2.7").await;
    client.send(get("/large")).await;
    client.head().await;
    let mut body = vec![0; LARGE - client.read.len()];
    client.read.clear();
    soon(client.stream.read_exact(&mut body)).await.unwrap();
    check_peer(&mut client, CLIENT).await;

    let server = start(trusting().idle_timeout(ms(100)), peer).await;
    let mut client = forward(&server, "192.0.2.7").await;
    check_peer(&mut client, CLIENT).await;
    client.closed().await;
}

#[tokio::test]
async fn shutdown_ends_connections_without_a_header() {
    // The test would fail if the connections did not end immediately.
    let long = ms(600_000);
    let options = trusting().shutdown_timeout(long).header_read_timeout(long);
    let server = start(options, peer).await;
    let mut answered = forward(&server, "192.0.2.7").await;
    check_peer(&mut answered, CLIENT).await;
    let mut begun = server.connect().await;
    begun.send("PROXY TCP4 ").await;
    let mut silent = server.connect().await;
    // The server accepts connections in order, so it has now accepted all of
    // them.
    let mut last = forward(&server, "192.0.2.7").await;
    check_peer(&mut last, CLIENT).await;
    server.shutdown();
    for client in [&mut answered, &mut begun, &mut silent, &mut last] {
        client.closed().await;
    }
    server.ended().await;
}

#[tokio::test]
async fn connections_count_for_the_client_and_not_for_the_load_balancer() {
    let options = trusting().max_connections(20).max_connections_per_client(2);
    let server = start(options, peer).await;
    // More connections than one client may have.
    let mut clients = Vec::new();
    for last in 1..=6 {
        let mut client = forward(&server, format_args!("192.0.2.{last}")).await;
        check_peer(&mut client, &format!("192.0.2.{last}:49320")).await;
        clients.push(client);
    }
    let mut first = clients.remove(0);
    let mut second = forward(&server, "192.0.2.1").await;
    check_peer(&mut second, "192.0.2.1:49320").await;
    // An idle connection of the same client makes room.
    let mut third = forward(&server, "192.0.2.1").await;
    check_peer(&mut third, "192.0.2.1:49320").await;
    first.closed().await;
    for (client, last) in clients.iter_mut().zip(2..) {
        check_peer(client, &format!("192.0.2.{last}:49320")).await;
    }
}

#[tokio::test]
async fn client_that_uses_all_its_connections_gets_no_more() {
    let options = trusting().max_connections(20).max_connections_per_client(1);
    let server = start(options, peer).await;
    let mut only = forward(&server, "192.0.2.7").await;
    // The response shows that the request is running.
    let expects = "Content-Length: 1\r\nExpect: 100-continue";
    only.send(format!("POST /echo HTTP/1.1\r\nHost: a\r\n{expects}\r\n\r\n")).await;
    assert!(only.head().await.starts_with("http/1.1 100 "));
    for _ in 0..10 {
        forward(&server, "192.0.2.7").await.closed().await;
    }
    only.send("x").await;
    assert_eq!(only.answer().await.body, "x");
    let mut other = forward(&server, "192.0.2.8").await;
    check_peer(&mut other, "192.0.2.8:49320").await;
}

#[tokio::test]
async fn closed_connections_free_the_room_of_their_client() {
    let options = trusting().max_connections(20).max_connections_per_client(1);
    let server = start(options, peer).await;
    for _ in 0..40 {
        let mut client = forward(&server, "192.0.2.7").await;
        check_peer(&mut client, CLIENT).await;
    }
}

#[tokio::test]
async fn rate_limits_count_the_client() {
    let mut router = Router::new();
    router.get("/", async |PeerAddr(address): PeerAddr| address.ip().to_string());
    let call = HostOptions::new().rate_limit(RateLimit::new().max_requests(1));
    let options = trusting().call(call);
    let bound = router.create_server_with(options).unwrap().bind(0).await.unwrap();
    let (address, served) = (bound.local_addr(), tokio::spawn(bound.serve()));
    for (client, expected) in [("192.0.2.7", 200), ("192.0.2.8", 200), ("192.0.2.7", 429)] {
        let mut connection = Client::new(soon(TcpStream::connect(address)).await.unwrap());
        connection.send(line(client) + &get("/")).await;
        assert_eq!(connection.answer().await.status, expected, "{client}");
    }
    served.abort();
}

#[cfg(unix)]
#[tokio::test]
async fn peers_without_an_address_send_headers_if_they_are_named() {
    let dir = unix::Dir::new();
    let server = unix::start(&dir, &options().proxy_protocol(["unix:"]), peer);
    let mut client = server.connect().await;
    client.send(BINARY).await;
    check_peer(&mut client, CLIENT).await;
    let mut client = server.connect().await;
    client.send(LOCAL).await;
    check_peer(&mut client, "none").await;
    let mut client = server.connect().await;
    client.send(get("/peer")).await;
    client.closed().await;
    server.ended().await;
}
