//! Tests a server behind a real HAProxy, which sends the client's address by
//! the PROXY protocol.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{fs, process};

use stockade_core::Request;
use tokio::net::TcpSocket;
use tokio::sync::mpsc;

use super::{Client, get, options, soon, start, text};

/// An HAProxy process and its configuration. It ends on drop.
struct Haproxy {
    process: Child,
    file: PathBuf,
}

impl Haproxy {
    /// Forwards connections from `from` to `to`. `server` is the rest of
    /// HAProxy's line for `to`.
    fn start(from: SocketAddr, to: SocketAddr, server: &str) -> Self {
        let lines = [
            "defaults",
            "mode tcp",
            "timeout connect 30s",
            "timeout client 30s",
            "timeout server 30s",
            "listen app",
            &format!("bind {from}"),
            "option httpchk GET /check",
            &format!("server app {to} check inter 100ms {server}"),
            "",
        ];
        let name = format!("stockade-haproxy-{}-{}.cfg", process::id(), from.port());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, lines.join("\n")).unwrap();
        let start = |program: &str| {
            let mut haproxy = Command::new(program);
            haproxy.args(["-db", "-f"]).arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
            haproxy.spawn()
        };
        let process = match start("haproxy") {
            Err(error) if error.kind() == ErrorKind::NotFound => start("/usr/sbin/haproxy"),
            process => process,
        };
        Self { process: process.unwrap(), file }
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        // The process may have already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.file);
    }
}

/// Returns an address that is currently free.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Checks the peers of health checks and of a client at 127.0.0.9.
async fn check(server: &str) {
    let (sender, mut checks) = mpsc::unbounded_channel();
    let app = move |request: Request| {
        let peer = request.peer().unwrap().0;
        if request.path() == "/check" {
            // The receiver is dropped when the test ends.
            let _ = sender.send(peer);
        }
        async move { text(200, peer.to_string()) }
    };
    let running = start(options().proxy_protocol(["127.0.0.1"]), app).await;
    let address = free_address();
    let _haproxy = Haproxy::start(address, running.address, server);

    let health_check = soon(checks.recv()).await.unwrap();
    assert_eq!(health_check.ip(), Ipv4Addr::LOCALHOST, "{server}");

    let connect = async || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::new(127, 0, 0, 9), 0).into()).unwrap();
        socket.connect(address).await
    };
    // HAProxy listens before it starts health checks, so the first attempt
    // succeeds.
    let mut client = Client::new(soon(connect()).await.unwrap());
    let expected = client.stream.local_addr().unwrap().to_string();
    for _ in 0..2 {
        client.send(get("/")).await;
        assert_eq!(client.answer().await.body, expected, "{server}");
    }
}

#[tokio::test]
#[ignore = "needs HAProxy: cargo xtask cluster"]
async fn haproxy_sends_the_address_of_its_client() {
    check("send-proxy").await;
    check("send-proxy-v2").await;
    check("send-proxy-v2 proxy-v2-options crc32c,unique-id").await;
}
