//! Tests HTTPS.

use std::sync::Arc;

use http_body_util::BodyExt;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use stockade_core::{Request, Response};
use stockade_routing::{Router, RouterOptions};
use stockade_websockets::{WebSocket, WebSocketOptions};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::parking::Single;
use super::slow::{large, narrow, read_slowly};
use super::{Client, Function, Running, app, http2, ms, options, serve, soon};
use crate::accept::Stage;
use crate::connection::Shared;
use crate::connection_record::Command;
use crate::service::AppService;
use crate::{CreateServer as _, ServerOptions, TlsConfig};

/// A server with a new certificate, and clients that trust it.
pub(super) struct Secure {
    pub(super) server: Running,
    pub(super) roots: RootCertStore,
}

fn start(options: &ServerOptions) -> Secure {
    start_with(options, app)
}

pub(super) fn start_with<F, Fut>(options: &ServerOptions, app: F) -> Secure
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send + 'static,
{
    let (shared, roots) = shared(options, app);
    Secure { server: serve(shared), roots }
}

/// Returns a server with a new certificate, and the roots for its clients.
fn shared<F, Fut>(options: &ServerOptions, app: F) -> (Shared<Function>, RootCertStore)
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send + 'static,
{
    secured(Shared::new(Function::new(app), options))
}

/// Adds TLS with a new certificate.
fn secured<A: AppService>(shared: Shared<A>) -> (Shared<A>, RootCertStore) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let tls = TlsConfig::from_pem(cert.pem(), signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    (shared.with_tls(Some(tls)), roots)
}

impl Secure {
    async fn connect(&self, protocols: &[&str]) -> TlsStream<TcpStream> {
        connect(self.server.connect().await.stream, self.roots.clone(), protocols).await
    }
}

/// Returns the client's end of a TLS connection.
pub(super) async fn connect(
    stream: TcpStream,
    roots: RootCertStore,
    protocols: &[&str],
) -> TlsStream<TcpStream> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    soon(TlsConnector::from(Arc::new(config)).connect(name, stream)).await.unwrap()
}

#[tokio::test]
async fn a_parked_connection_responds_keeps_its_session_and_closes_cleanly() {
    let (shared, roots) = shared(&options().hyper_fast_path(true), app);
    let (single, stream) = Single::start(shared).await;
    let mut client = Client::new(connect(stream, roots, &[]).await);
    for _ in 0..2 {
        client.send(super::get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
        single.park().await;
    }
    single.tell(Command::Finish).await;
    // This would be an error if `close_notify` were missing.
    let mut byte = [0];
    assert_eq!(soon(client.stream.read(&mut byte)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_connection_with_a_response_in_transfer_is_not_idle() {
    const LENGTH: usize = 8 * 1_048_576;
    let timeouts = options().idle_timeout(ms(200)).header_read_timeout(ms(100));
    let secure = start_with(&timeouts, |_| large(LENGTH));
    let stream = narrow(&secure.server).await.stream;
    let mut client = Client::new(connect(stream, secure.roots.clone(), &[]).await);
    client.send(super::get("/")).await;
    client.head().await;
    assert_eq!(read_slowly(&mut client, 16_384, ms(2), LENGTH).await, LENGTH);
}

#[tokio::test]
async fn alpn_chooses_the_protocol() {
    let secure = start(&options());
    for protocols in [&[][..], &["http/1.1"]] {
        let mut client = Client::new(secure.connect(protocols).await);
        client.send(super::get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
    let stream = secure.connect(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, _connection) = http2::speak(stream).await;
    let hello = soon(sender.send_request(http2::get("/hello"))).await.unwrap();
    assert_eq!(hello.into_body().collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn the_framing_is_checked_within_tls() {
    let secure = start(&options());
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = Client::new(secure.connect(&[]).await);
    client.send(format!("{post}5\r\nhello\r\n0\r\n\r\n{post}5;\r\nhello\r\n0\r\n\r\n")).await;
    assert_eq!(client.answer().await.body, "hello");
    let answer = client.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (400, "Malformed request body"));
    client.closed().await;
}

#[tokio::test]
async fn an_http_origin_cannot_open_a_web_socket_on_tls() {
    let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    router.add_web_socket_route("/ws", async |_: WebSocket| {}, WebSocketOptions::new());
    let app = router.build().unwrap();
    let (shared, roots) = secured(Shared::new(app, &options()));
    let secure = Secure { server: serve(shared), roots };
    for (origin, expected) in [
        ("https://localhost", 101),
        ("https://localhost:443", 101),
        ("http://localhost", 403),
        ("http://localhost:443", 403),
    ] {
        let mut client = Client::new(secure.connect(&[]).await);
        let handshake = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\n\
            Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        client.send(format!("{handshake}Origin: {origin}\r\n\r\n")).await;
        let head = client.head().await;
        assert!(head.starts_with(&format!("http/1.1 {expected} ")), "{origin}: {head}");
    }
}

#[tokio::test]
async fn http2_is_not_offered_if_disabled() {
    let secure = start(&options().http2(false));
    let stream = secure.connect(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
}

#[tokio::test]
async fn a_stalled_or_malformed_handshake_is_ended() {
    let secure = start(&options().header_read_timeout(ms(200)));
    secure.server.connect().await.closed().await;
    let mut plain = secure.server.connect().await;
    plain.send(super::get("/hello")).await;
    // At most a TLS alert arrives.
    let _ = soon(tokio::io::AsyncReadExt::read_to_end(&mut plain.stream, &mut plain.read)).await;
    assert!(!String::from_utf8_lossy(&plain.read).contains("HTTP"));
}

#[test]
fn unreadable_files_are_configuration_errors() {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let cases = [
        ("", key.as_str(), "the TLS certificate file does not contain a certificate"),
        (&cert, "", "cannot read the TLS key: "),
        (&cert, &other.signing_key.serialize_pem(), "cannot use the TLS certificate and key: "),
    ];
    for (cert, key, expected) in cases {
        let error = TlsConfig::from_pem(cert, key).unwrap_err();
        let message = error.issues()[0].message();
        assert!(message.starts_with(expected), "{message:?}");
    }
}

/// Generates a certificate for `localhost`: the chain and the key, both PEM.
fn certificate() -> (String, String, RootCertStore) {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem(), roots)
}

/// Starts a server with this configuration.
fn serve_with(tls: &TlsConfig) -> Running {
    serve(Shared::new(Function::new(app), &options()).with_tls(Some(tls.clone())))
}

/// Returns true if the server presents the certificate that these roots trust.
async fn shows(server: &Running, roots: &RootCertStore) -> bool {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    config.resumption = tokio_rustls::rustls::client::Resumption::disabled();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = server.connect().await.stream;
    let connected = soon(TlsConnector::from(Arc::new(config)).connect(name, stream)).await;
    let Ok(stream) = connected else { return false };
    let mut client = Client::new(stream);
    client.send(super::get("/hello")).await;
    client.answer().await.body == "hello"
}

#[tokio::test]
async fn a_configuration_of_rustls_keeps_its_alpn() {
    let rustls = |protocols: &[&str]| {
        let (cert, key, roots) = certificate();
        let cert = tokio_rustls::rustls::pki_types::pem::PemObject::from_pem_slice(cert.as_bytes());
        let key = tokio_rustls::rustls::pki_types::pem::PemObject::from_pem_slice(key.as_bytes());
        let mut config = tokio_rustls::rustls::ServerConfig::builder_with_provider(Arc::new(
            ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.unwrap()], key.unwrap())
        .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        (TlsConfig::from_rustls(config), roots)
    };
    // The configured protocols, whether the server speaks HTTP/2, and the
    // negotiated protocol.
    let cases: [(&[&str], bool, &str); 6] = [
        (&[], true, "h2"),
        (&[], false, "http/1.1"),
        (&["http/1.1"], true, "http/1.1"),
        (&["h2", "http/1.1"], true, "h2"),
        (&["http/1.1", "h2"], true, "http/1.1"),
        (&["h2"], false, "http/1.1"),
    ];
    for (protocols, http2, expected) in cases {
        let (tls, roots) = rustls(protocols);
        let options = options().http2(http2);
        let server = serve(Shared::new(Function::new(app), &options).with_tls(Some(tls.unwrap())));
        let stream = server.connect().await.stream;
        let stream = connect(stream, roots, &["h2", "http/1.1"]).await;
        let agreed = stream.get_ref().1.alpn_protocol().unwrap();
        assert_eq!(agreed, expected.as_bytes(), "{protocols:?} {http2}");
    }
    let error = rustls(&["h2", "spdy/3"]).0.unwrap_err().to_string();
    assert!(
        error.contains("the ALPN list contains spdy/3, which the server does not support"),
        "{error}"
    );

    let (tls, roots) = rustls(&["http/1.1", "acme-tls/1"]);
    let server = serve_with(&tls.unwrap());
    let stream = server.connect().await.stream;
    let mut stream = connect(stream, roots, &["acme-tls/1"]).await;
    let mut rest = Vec::new();
    assert_eq!(soon(stream.read_to_end(&mut rest)).await.unwrap(), 0);
}

#[tokio::test]
async fn only_new_connections_get_a_replaced_certificate() {
    let (first, second) = (certificate(), certificate());
    let tls = TlsConfig::from_pem(&first.0, &first.1).unwrap();
    let server = serve_with(&tls);
    let mut open = Client::new(connect(server.connect().await.stream, first.2.clone(), &[]).await);
    assert!(shows(&server, &first.2).await && !shows(&server, &second.2).await);
    tls.replace(&TlsConfig::from_pem(&second.0, &second.1).unwrap());
    assert!(!shows(&server, &first.2).await && shows(&server, &second.2).await);
    open.send(super::get("/hello")).await;
    assert_eq!(open.answer().await.body, "hello");

    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("was not read from files"), "{error}");
}

/// The files of a certificate and its key, removed on drop.
struct Files {
    cert: std::path::PathBuf,
    key: std::path::PathBuf,
}

impl Files {
    fn new(name: &str) -> Self {
        let name = |part: &str| format!("stockade-{name}-{part}-{}", std::process::id());
        let dir = std::env::temp_dir();
        Self { cert: dir.join(name("cert")), key: dir.join(name("key")) }
    }

    fn write(&self, cert: &str, key: &str) {
        std::fs::write(&self.cert, cert).unwrap();
        std::fs::write(&self.key, key).unwrap();
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.cert);
        let _ = std::fs::remove_file(&self.key);
    }
}

#[tokio::test]
async fn files_are_reloaded_and_a_broken_one_changes_nothing() {
    let (first, second) = (certificate(), certificate());
    let files = Files::new("reload");
    files.write(&first.0, &first.1);
    let tls = TlsConfig::from_files(&files.cert, &files.key).unwrap();
    let server = serve_with(&tls);
    assert!(shows(&server, &first.2).await);

    for (cert, key, expected) in [
        (second.0.as_str(), first.1.as_str(), "cannot use the TLS certificate and key: "),
        ("", "", "does not contain a certificate"),
        ("-----BEGIN CERTIFICATE-----\nAAAA", "", "cannot read the TLS certificate"),
    ] {
        files.write(cert, key);
        let error = tls.reload().unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("tests/tls.rs"), "{error}");
        assert!(shows(&server, &first.2).await);
    }
    std::fs::remove_file(&files.key).unwrap();
    assert!(tls.reload().unwrap_err().to_string().contains("cannot read "));
    assert!(shows(&server, &first.2).await);

    files.write(&second.0, &second.1);
    tls.reload().unwrap();
    assert!(shows(&server, &second.2).await && !shows(&server, &first.2).await);
}

#[test]
fn checks_files_and_logs_a_broken_one_once() {
    let (first, second) = (certificate(), certificate());
    let files = Files::new("watch");
    files.write(&first.0, &first.1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lines = super::log::of(|| {
        runtime.block_on(async {
            let tls = TlsConfig::from_files(&files.cert, &files.key).unwrap();
            let tls = tls.reload_every(ms(1));
            let server = serve_with(&tls);
            let watching = tokio::spawn(tls.watch());
            // The certificate is written before its key.
            std::fs::write(&files.cert, &second.0).unwrap();
            tokio::time::sleep(ms(500)).await;
            assert!(shows(&server, &first.2).await);
            std::fs::write(&files.key, &second.1).unwrap();
            soon(async { while !shows(&server, &second.2).await {} }).await;
            watching.abort();
        });
    });
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains("; the certificate is unchanged"), "{line}");
}

#[test]
fn files_that_match_at_the_next_check_are_not_logged() {
    let (first, second) = (certificate(), certificate());
    let files = Files::new("doubt");
    files.write(&first.0, &first.1);
    let tls = TlsConfig::from_files(&files.cert, &files.key).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(false));
    std::fs::write(&files.cert, &second.0).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(false));
    std::fs::write(&files.key, &second.1).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(true));
    assert_eq!(tls.reload_if_changed(), Ok(false));

    // A persistent failure is reported once, and so is a different failure
    // after it.
    for broken in ["", "-----BEGIN CERTIFICATE-----"] {
        std::fs::write(&files.cert, broken).unwrap();
        assert_eq!(tls.reload_if_changed(), Ok(false));
        assert!(tls.reload_if_changed().is_err());
        assert_eq!(tls.reload_if_changed(), Ok(false));
    }
    // A file is missing briefly while the other is moved into place.
    std::fs::remove_file(&files.cert).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(false));
    std::fs::write(&files.cert, &second.0).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(true));
    // The pair in use is restored.
    std::fs::write(&files.cert, &first.0).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(false));
    std::fs::write(&files.cert, &second.0).unwrap();
    assert_eq!(tls.reload_if_changed(), Ok(true));
}

#[tokio::test]
async fn a_server_checks_its_files() {
    let (first, second) = (certificate(), certificate());
    let files = Files::new("server");
    files.write(&first.0, &first.1);
    let tls = TlsConfig::from_files(&files.cert, &files.key).unwrap().reload_every(ms(1));
    let mut router = Router::new();
    router.get("/hello", async || "hello");
    let bound = router.create_server().unwrap().tls(tls).bind(0).await.unwrap();
    let (address, stage) = (bound.local_addr(), tokio::sync::watch::Sender::new(Stage::Running));
    let server =
        Running { address, stage, served: tokio::spawn(async { drop(bound.serve().await) }) };
    assert!(shows(&server, &first.2).await);
    files.write(&second.0, &second.1);
    soon(async { while !shows(&server, &second.2).await {} }).await;
}
