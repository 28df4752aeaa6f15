//! More connections than there may be.

use std::net::Ipv4Addr;

use tokio::net::{TcpSocket, TcpStream};

use super::{Client, Running, app, get, http2, ms, options, soon, start};
use crate::ServerOptions;

/// A new connection from `127.0.0.<last>`.
async fn connect(server: &Running, last: u8) -> Client<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    Client::new(soon(socket.connect(server.address)).await.unwrap())
}

/// One that was answered and is idle.
async fn idle(server: &Running, last: u8) -> Client<TcpStream> {
    let mut client = connect(server, last).await;
    ask(&mut client).await;
    client
}

async fn ask(client: &mut Client<TcpStream>) {
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

/// Options of a server with long times, so that nothing ends by itself.
fn patient(max_connections: u32) -> ServerOptions {
    let long = ms(600_000);
    let options = options().max_connections(max_connections).idle_timeout(long);
    options.header_read_timeout(long)
}

#[tokio::test]
async fn where_all_slots_are_taken_the_longest_idle_connection_makes_room() {
    let server = start(patient(20).park_after(ms(20)), app).await;
    let mut running = connect(&server, 1).await;
    running.send(get("/hang")).await;
    let mut clients = Vec::new();
    for last in 2..=20 {
        clients.push(idle(&server, last).await);
    }
    tokio::time::sleep(ms(200)).await;
    ask(&mut clients[0]).await;
    // One newcomer after the other.
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
async fn connections_that_are_never_parked_make_room_too() {
    let server = start(patient(2).park_after(ms(600_000)), app).await;
    let mut first = idle(&server, 1).await;
    let mut second = idle(&server, 2).await;
    let _third = idle(&server, 3).await;
    first.closed().await;
    let _fourth = idle(&server, 4).await;
    second.closed().await;
}

#[tokio::test]
async fn a_client_of_http2_that_does_not_agree_makes_room_all_the_same() {
    let server = start(patient(1), app).await;
    let mut silent = connect(&server, 1).await;
    let frames = http2::frames(&mut silent, "GET", "/hello").await;
    assert_eq!(frames.last().unwrap(), "DATA, end");
    let _newcomer = idle(&server, 2).await;
}
