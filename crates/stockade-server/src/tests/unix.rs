//! Tests Unix sockets.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use stockade_core::{PeerAddr, PeerCredentials, Request};
use stockade_routing::{Router, RouterOptions};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::slow::large;
use super::{Client, Function, app, get, log, ms, options, soon};
use crate::accept::{self, Stage};
use crate::connection::Shared;
use crate::signals::advance;
use crate::{
    CreateServer as _, Listeners, LocalAddr, ServeError, ServerHandle, ServerOptions, UnixSocket,
};

/// A directory that is removed with its contents.
pub(super) struct Dir(PathBuf);

impl Dir {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stockade-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("http.sock")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A server on a path, and its shutdown handle.
pub(super) struct Running {
    path: PathBuf,
    stage: watch::Sender<Stage>,
    served: JoinHandle<()>,
}

impl Running {
    pub(super) async fn connect(&self) -> Client<UnixStream> {
        Client::new(soon(UnixStream::connect(&self.path)).await.unwrap())
    }

    pub(super) async fn ended(self) {
        advance(&self.stage, Stage::Leaving);
        soon(self.served).await.unwrap();
    }
}

pub(super) fn start<F, Fut>(dir: &Dir, options: &ServerOptions, app: F) -> Running
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = stockade_core::Response> + Send + 'static,
{
    let path = dir.socket();
    let bound = UnixSocket::new(&path).open(options.backlog).unwrap();
    let stage = watch::Sender::new(Stage::Running);
    let shared = Arc::new(Shared::new(Function::new(app), options));
    let served = tokio::spawn(accept::serve(vec![bound], shared, stage.clone()));
    Running { path, stage, served }
}

#[tokio::test]
async fn serves_requests_and_removes_the_file_at_the_end() {
    let dir = Dir::new();
    let server = start(&dir, &options(), app);
    let mut client = server.connect().await;
    for _ in 0..2 {
        client.send(get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
    let path = server.path.clone();
    assert!(path.exists());
    server.ended().await;
    client.closed().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_handler_knows_the_process_of_the_client() {
    let dir = Dir::new();
    let mut router = Router::new();
    router.get("/", async |peer: Option<PeerCredentials>| match peer {
        Some(PeerCredentials { uid, gid, pid }) => format!("{uid} {gid} {pid:?}"),
        None => "unknown".to_owned(),
    });
    router.get("/needed", async |peer: PeerCredentials| peer.uid.to_string());
    let listeners = Listeners::new().add(0).add(UnixSocket::new(dir.socket()));
    let bound = router.create_server().unwrap().bind(listeners).await.unwrap();
    let address = bound.local_addr()[0].tcp().unwrap();
    let served = tokio::spawn(bound.serve());

    let mut client = Client::new(soon(UnixStream::connect(dir.socket())).await.unwrap());
    // The directory belongs to this process, which is also the client.
    let own = fs::metadata(&dir.0).unwrap();
    let pid =
        if cfg!(target_os = "linux") { format!("Some({})", std::process::id()) } else { "".into() };
    for _ in 0..2 {
        client.send(get("/")).await;
        let answer = client.answer().await.body;
        assert!(answer.starts_with(&format!("{} {} {pid}", own.uid(), own.gid())), "{answer}");
    }
    client.send(get("/needed")).await;
    assert_eq!(client.answer().await.body, own.uid().to_string());

    let mut client = Client::new(soon(tokio::net::TcpStream::connect(address)).await.unwrap());
    client.send(get("/")).await;
    assert_eq!(client.answer().await.body, "unknown");
    client.send(get("/needed")).await;
    assert_eq!(client.answer().await.status, 500);
    served.abort();
}

#[tokio::test]
async fn http2_works() {
    let dir = Dir::new();
    let server = start(&dir, &options(), app);
    let stream = server.connect().await.stream;
    let (mut sender, _connection) = super::http2::speak(stream).await;
    let hello = soon(sender.send_request(super::http2::get("/hello"))).await.unwrap();
    assert_eq!(hello.status(), 200);
}

#[tokio::test]
async fn slow_clients_end_like_on_tcp() {
    let dir = Dir::new();
    let server = start(&dir, &options().header_read_timeout(ms(200)), app);
    let mut client = server.connect().await;
    client.send("GET /hello HTTP/1.1\r\n").await;
    client.closed().await;
    server.ended().await;

    let server = start(&dir, &options().body_read_timeout(ms(200)), app);
    let mut client = server.connect().await;
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1").await;
    assert_eq!(client.answer().await.status, 408);
    server.ended().await;

    let server = start(&dir, &options().write_stall_timeout(ms(300)), |_| large(64 << 20));
    let mut client = server.connect().await;
    client.send(get("/")).await;
    client.head().await;
    tokio::time::sleep(ms(2_000)).await;
    let mut count = 0;
    while let Ok(1..) =
        soon(tokio::io::AsyncReadExt::read_buf(&mut client.stream, &mut client.read)).await
    {
        count += client.read.len();
        client.read.clear();
    }
    assert!(count < 64 << 20, "{count}");
    server.ended().await;
}

#[tokio::test]
async fn a_disconnect_ends_the_handler_unless_half_close_is_allowed() {
    for half_close in [false, true] {
        let dir = Dir::new();
        let begun = Arc::new(Notify::new());
        let dropped = Arc::new(Notify::new());
        let (inner, end) = (Arc::clone(&begun), Arc::clone(&dropped));
        let server = start(&dir, &options().half_close(half_close), move |_| {
            let (begun, end) = (Arc::clone(&inner), NotifyOnDrop(Arc::clone(&end)));
            async move {
                begun.notify_one();
                tokio::time::sleep(ms(100)).await;
                drop(end);
                super::text(200, "late")
            }
        });
        let mut client = server.connect().await;
        client.send(get("/")).await;
        soon(begun.notified()).await;
        client.stream.shutdown().await.unwrap();
        if half_close {
            assert_eq!(client.answer().await.body, "late");
        }
        client.closed().await;
        soon(dropped.notified()).await;
    }
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Opens a path; the error is its text.
fn open(path: &Path) -> Result<crate::listener::Bound, String> {
    UnixSocket::new(path).open(16).map_err(|error| error.to_string())
}

#[tokio::test]
async fn replaces_only_a_stale_socket() {
    let dir = Dir::new();
    let path = dir.socket();
    let in_use = format!("cannot listen on unix:{}: address already in use", path.display());
    // A process listens.
    let living = StdListener::bind(&path).unwrap();
    assert_eq!(open(&path).unwrap_err(), in_use);
    // Its process was killed.
    drop(living);
    assert!(path.exists());
    let bound = open(&path).unwrap();
    assert_eq!(bound.local(), &LocalAddr::Unix(path.clone()));
    assert_eq!(open(&path).unwrap_err(), in_use);
    drop(bound);
    assert!(!path.exists());

    fs::write(&path, "precious").unwrap();
    let error = open(&path).unwrap_err();
    assert!(error.ends_with(": a file exists at this path, but it is not a socket"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    fs::remove_file(&path).unwrap();

    // Links are not followed.
    let target = dir.0.join("target");
    drop(StdListener::bind(&target).unwrap());
    symlink(&target, &path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(error.ends_with(": a file exists at this path, but it is not a socket"), "{error}");
    assert!(target.exists());
}

#[tokio::test]
async fn datagram_sockets_and_sockets_with_a_full_queue_are_in_use() {
    let dir = Dir::new();
    let path = dir.socket();
    let datagrams = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    assert!(open(&path).unwrap_err().ends_with("address already in use"));
    drop(datagrams);
    fs::remove_file(&path).unwrap();

    let _full = UnixSocket::new(&path).open(1).unwrap();
    let clients: Vec<_> = std::iter::from_fn(|| {
        let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None);
        let socket = socket.unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.connect(&socket2::SockAddr::unix(&path).unwrap()).ok().map(|()| socket)
    })
    .take(100)
    .collect();
    assert!(clients.len() < 100);
    assert!(open(&path).unwrap_err().ends_with("address already in use"));
    assert!(path.exists());
}

#[tokio::test]
async fn does_not_remove_the_file_of_another_process() {
    let dir = Dir::new();
    let path = dir.socket();
    let bound = open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let other = StdListener::bind(&path).unwrap();
    drop(bound);
    assert!(path.exists());
    drop(other);
}

#[tokio::test]
async fn sets_permissions_and_reports_a_bad_path() {
    let dir = Dir::new();
    let path = dir.socket();
    let bound = UnixSocket::new(&path).mode(0o600).open(16).unwrap();
    let found = fs::metadata(&path).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    drop(bound);

    let missing = dir.0.join("no").join("where");
    let error = open(&missing).unwrap_err();
    assert!(error.starts_with(&format!("cannot listen on unix:{}: ", missing.display())));
    let long = dir.0.join("x".repeat(200));
    assert!(open(&long).unwrap_err().contains("cannot listen on unix:"));
}

type Started = (ServerHandle<LocalAddr>, JoinHandle<Result<(), ServeError>>);

async fn serve(dir: &Dir, options: RouterOptions) -> Started {
    let mut router = Router::with_options(options);
    router.get("/peer", async |peer: Option<PeerAddr>, req: Request| {
        format!("{:?} {:?}", peer.is_some(), req.client_ip().map(|ip| ip.to_string()))
    });
    let server = router.create_server().unwrap().bind(UnixSocket::new(dir.socket())).await.unwrap();
    assert_eq!(server.local_addr(), LocalAddr::Unix(dir.socket()));
    (server.handle(), tokio::spawn(server.serve()))
}

#[tokio::test]
async fn a_client_has_no_address_unless_a_proxy_is_trusted() {
    for (options, expected) in [
        (RouterOptions::new(), "false None"),
        (RouterOptions::new().trust_proxy(1), r#"false Some("203.0.113.7")"#),
    ] {
        let dir = Dir::new();
        let (handle, served) = serve(&dir, options).await;
        let mut client = Client::new(UnixStream::connect(dir.socket()).await.unwrap());
        client.send("GET /peer HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n").await;
        assert_eq!(client.answer().await.body, expected);
        handle.shutdown();
        soon(served).await.unwrap().unwrap();
    }
}

#[test]
fn warns_once_of_clients_that_share_a_limit() {
    let warned = |options: RouterOptions| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dir = Dir::new();
        let lines = log::of(|| {
            runtime.block_on(async {
                let (handle, served) = serve(&dir, options).await;
                for _ in 0..2 {
                    let mut client = Client::new(UnixStream::connect(dir.socket()).await.unwrap());
                    client.send(get("/peer")).await;
                    assert_eq!(client.answer().await.status, 200);
                }
                handle.shutdown();
                soon(served).await.unwrap().unwrap();
            });
        });
        lines
            .iter()
            .filter(|line| line.contains("do not have an address: all of them share"))
            .count()
    };
    assert_eq!(warned(RouterOptions::new()), 1);
    assert_eq!(warned(RouterOptions::new().trust_proxy(1)), 0);
}
