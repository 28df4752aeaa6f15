//! [`TlsConfig`]: a certificate and its key, which may be replaced while a server
//! runs.

use std::fmt;
use std::fs;
use std::hash::BuildHasher as _;
use std::hash::RandomState;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use stockade_errors::locks::{lock, read, write};
use stockade_errors::{ConfigError, ConfigIssue};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its private key: TLS 1.2 and 1.3, without client
/// certificates; or a configuration of rustls, with whatever it has.
///
/// The cryptography is that of ring; no process-wide provider is read or set.
///
/// Clones are the same configuration: a certificate that is [reloaded](Self::reload)
/// or [replaced](Self::replace) by one of them holds for the next handshake of every
/// server that has another one. Connections that are open keep theirs. A new
/// certificate that cannot be used changes nothing.
///
/// ```no_run
/// use std::time::Duration;
///
/// use stockade::Router;
/// use stockade::server::{CreateServer, TlsConfig};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = TlsConfig::from_files("cert.pem", "key.pem")?.reload_every(Duration::from_secs(60));
/// Router::new().create_server()?.tls(tls).listen("0.0.0.0:443").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TlsConfig {
    current: Arc<RwLock<Prepared>>,
    files: Option<Arc<Files>>,
    reload_every: Option<Duration>,
}

/// A configuration as connections use it.
#[derive(Clone)]
struct Prepared {
    http2: Arc<ServerConfig>,
    /// The same without HTTP/2 in ALPN.
    http1: Arc<ServerConfig>,
}

/// The files of a certificate and its key.
struct Files {
    cert: PathBuf,
    key: PathBuf,
    seen: Mutex<Seen>,
    hasher: RandomState,
}

/// The files as they were when they were looked at last.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// A hash of what was in them, `None` if they could not be read.
    hash: Option<u64>,
    /// True if they could not be used for the first time. They are tried once more
    /// before that is an error, because a certificate is written before its key.
    is_doubtful: bool,
}

impl TlsConfig {
    /// Reads a chain of certificates, the server's own first, and its private
    /// key (PKCS #8, PKCS #1 or SEC 1), both PEM.
    ///
    /// # Errors
    /// When the certificate or the key cannot be read, or they do not belong
    /// together.
    #[track_caller]
    pub fn from_pem(
        cert_pem: impl AsRef<[u8]>,
        key_pem: impl AsRef<[u8]>,
    ) -> Result<Self, ConfigError> {
        let location = Location::caller();
        let prepared = Prepared::read(cert_pem.as_ref(), key_pem.as_ref());
        prepared.map(Self::of).map_err(|text| mistake(text, location))
    }

    /// Reads the same as [`from_pem`](Self::from_pem) from two files, which
    /// [`reload`](Self::reload) reads again.
    ///
    /// # Errors
    /// Those of [`from_pem`](Self::from_pem), and when a file cannot be read.
    #[track_caller]
    pub fn from_files(
        cert: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let location = Location::caller();
        let files = Files {
            cert: cert.into(),
            key: key.into(),
            seen: Mutex::default(),
            hasher: RandomState::new(),
        };
        let (prepared, hash) = files.load().map_err(|text| mistake(text, location))?;
        files.see(hash);
        Ok(Self { files: Some(Arc::new(files)), ..Self::of(prepared) })
    }

    /// Takes a configuration of rustls: client certificates, several certificates by
    /// name, another provider of cryptography.
    ///
    /// A list in its `alpn_protocols` is kept, without `h2` where the server's option
    /// [`http2`](crate::ServerOptions::http2) is off; an empty one becomes `h2` and
    /// `http/1.1`. A connection that agrees to `acme-tls/1` (RFC 8737) is closed after
    /// its handshake, as that protocol has it.
    ///
    /// `stockade::server::rustls` is the version of rustls that this takes.
    ///
    /// # Errors
    /// When `alpn_protocols` has a protocol that the server does not speak.
    #[track_caller]
    pub fn from_rustls(config: impl Into<Arc<ServerConfig>>) -> Result<Self, ConfigError> {
        let config = config.into();
        let known = |name: &&Vec<u8>| SPOKEN.contains(&name.as_slice());
        if let Some(name) = config.alpn_protocols.iter().find(|name| !known(name)) {
            let name = name.escape_ascii();
            let text = format!("TLS offers {name} by ALPN, which the server does not speak");
            return Err(mistake(text, Location::caller()));
        }
        Ok(Self::of(Prepared::new(&config)))
    }

    /// Reads its files again, and takes what is in them for all handshakes from now
    /// on. It reads them in this call, which blocks for as long as the disk takes.
    ///
    /// Call it when a signal says that the certificate was renewed; or let
    /// [`reload_every`](Self::reload_every) look.
    ///
    /// # Errors
    /// When they cannot be read or do not belong together; then the old certificate
    /// stays. Also when this was not made by [`from_files`](Self::from_files).
    #[track_caller]
    pub fn reload(&self) -> Result<(), ConfigError> {
        let location = Location::caller();
        let Some(files) = &self.files else {
            let text = "this TLS configuration was not read from files".to_owned();
            return Err(mistake(text, location));
        };
        let (prepared, hash) = files.load().map_err(|text| mistake(text, location))?;
        files.see(hash);
        self.set(prepared);
        Ok(())
    }

    /// Looks at its files at this interval while a server runs with it, and reloads
    /// them when they have changed. Each new certificate is logged. Files that cannot
    /// be used leave the old one in place; they are logged once, when they cannot be
    /// used at the next look either, because a certificate is written before its key.
    /// No effect if it was not made by [`from_files`](Self::from_files).
    #[must_use]
    pub fn reload_every(mut self, interval: Duration) -> Self {
        self.reload_every = Some(interval.max(SHORTEST_INTERVAL));
        self
    }

    /// Takes the certificate of another configuration for all handshakes from now on.
    pub fn replace(&self, with: &Self) {
        self.set(with.prepared());
    }

    fn of(prepared: Prepared) -> Self {
        Self { current: Arc::new(RwLock::new(prepared)), files: None, reload_every: None }
    }

    fn prepared(&self) -> Prepared {
        read(&self.current).clone()
    }

    fn set(&self, prepared: Prepared) {
        *write(&self.current) = prepared;
    }

    /// Returns an acceptor for the next handshake.
    pub(crate) fn acceptor(&self, http2: bool) -> TlsAcceptor {
        let Prepared { http2: both, http1 } = self.prepared();
        TlsAcceptor::from(if http2 { both } else { http1 })
    }

    /// Looks at the files for ever, if it is to.
    pub(crate) async fn watch(self) {
        let (Some(interval), Some(_)) = (self.reload_every, &self.files) else {
            return std::future::pending().await;
        };
        loop {
            sleep(interval).await;
            let config = self.clone();
            match spawn_blocking(move || config.reload_if_changed()).await {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => {
                    log::info!(target: "stockade::server", "a new TLS certificate was read");
                }
                Ok(Err(text)) => {
                    log::error!(
                        target: "stockade::server", "{text}; the certificate stays as it was"
                    );
                }
                Err(error) => {
                    log::error!(target: "stockade::server", "no look at the TLS files: {error}");
                }
            }
        }
    }

    /// Returns true if the files have changed and were taken. Fails once for each
    /// state of them that cannot be, unless the next look finds one that can.
    pub(crate) fn reload_if_changed(&self) -> Result<bool, String> {
        let Some(files) = &self.files else { return Ok(false) };
        let mut seen = lock(&files.seen);
        let read = files.read();
        let hash = read.as_ref().ok().map(|(_, _, hash)| *hash);
        if hash == seen.hash && !seen.is_doubtful {
            return Ok(false);
        }
        match read.and_then(|(cert, key, _)| Prepared::read(&cert, &key)) {
            Ok(prepared) => {
                self.set(prepared);
                *seen = Seen { hash, is_doubtful: false };
                Ok(true)
            }
            Err(text) => {
                let was_doubtful = seen.is_doubtful;
                *seen = Seen { hash, is_doubtful: !was_doubtful };
                if was_doubtful { Err(text) } else { Ok(false) }
            }
        }
    }
}

impl Files {
    /// Reads both files, and returns them with a hash of them.
    fn read(&self) -> Result<(Vec<u8>, Vec<u8>, u64), String> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let (cert, key) = (read(&self.cert)?, read(&self.key)?);
        let hash = self.hasher.hash_one((&cert, &key));
        Ok((cert, key, hash))
    }

    /// Notes that they were read and can be used.
    fn see(&self, hash: u64) {
        *lock(&self.seen) = Seen { hash: Some(hash), is_doubtful: false };
    }

    fn load(&self) -> Result<(Prepared, u64), String> {
        let (cert, key, hash) = self.read()?;
        Ok((Prepared::read(&cert, &key)?, hash))
    }
}

impl Prepared {
    /// Reads a certificate and its key, both PEM.
    fn read(cert_pem: &[u8], key_pem: &[u8]) -> Result<Self, String> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(cert_pem)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("cannot read the TLS certificate: {error}"))?;
        if certificates.is_empty() {
            return Err("there is no certificate in the TLS certificate file".to_owned());
        }
        let key = PrivateKeyDer::from_pem_slice(key_pem)
            .map_err(|error| format!("cannot read the TLS key: {error}"))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| format!("the TLS certificate and key: {error}"))?;
        Ok(Self::new(&config))
    }

    fn new(config: &ServerConfig) -> Self {
        let (mut http2, mut http1) = (config.clone(), config.clone());
        if config.alpn_protocols.is_empty() {
            http2.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        }
        http1.alpn_protocols.retain(|name| name != HTTP2);
        if http1.alpn_protocols.is_empty() {
            http1.alpn_protocols = vec![HTTP1.to_vec()];
        }
        Self { http2: Arc::new(http2), http1: Arc::new(http1) }
    }
}

fn mistake(text: String, location: &'static Location<'static>) -> ConfigError {
    ConfigError::from(ConfigIssue::new(text).at(location))
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsConfig(..)")
    }
}

/// The names of ALPN that a server knows.
const SPOKEN: [&[u8]; 4] = [HTTP2, HTTP1, b"http/1.0", ACME];

/// HTTP/2.
pub(crate) const HTTP2: &[u8] = b"h2";

/// HTTP/1.1.
const HTTP1: &[u8] = b"http/1.1";

/// The check of a certificate authority, which is over with the handshake.
pub(crate) const ACME: &[u8] = b"acme-tls/1";

/// The least time between two looks at the files.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
