//! [`TlsConfig`]: a certificate and its key, which can be replaced while a
//! server runs.

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

/// A certificate with its private key for TLS 1.2 and 1.3, without client
/// certificates; or a rustls configuration with any settings.
///
/// The cryptography provider is ring; no process-wide provider is read or set.
///
/// Clones share the configuration: a certificate that one of them
/// [reloads](Self::reload) or [replaces](Self::replace) applies to the next
/// handshake of every server with a clone. Open connections keep their
/// certificate. A new certificate that cannot be used changes nothing.
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

/// A configuration in the form that connections use.
#[derive(Clone)]
struct Prepared {
    http2: Arc<ServerConfig>,
    /// The same configuration without HTTP/2 in ALPN.
    http1: Arc<ServerConfig>,
}

/// The files of a certificate and its key.
struct Files {
    cert: PathBuf,
    key: PathBuf,
    seen: Mutex<Seen>,
    hasher: RandomState,
}

/// The state of the files at the last check.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// A hash of their contents, or `None` if they could not be read.
    hash: Option<u64>,
    /// True after the first failed check. The files are checked once more
    /// before an error is reported, because a certificate is written before its
    /// key.
    is_doubtful: bool,
}

impl TlsConfig {
    /// Reads a PEM certificate chain, the server's certificate first, and its
    /// PEM private key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// Fails if the certificate or the key cannot be read, or if they do not
    /// match.
    #[track_caller]
    pub fn from_pem(
        cert_pem: impl AsRef<[u8]>,
        key_pem: impl AsRef<[u8]>,
    ) -> Result<Self, ConfigError> {
        let location = Location::caller();
        let prepared = Prepared::read(cert_pem.as_ref(), key_pem.as_ref());
        prepared.map(Self::of).map_err(|text| mistake(text, location))
    }

    /// Reads the same as [`from_pem`](Self::from_pem) from two files.
    /// [`reload`](Self::reload) can read them again.
    ///
    /// # Errors
    /// The errors of [`from_pem`](Self::from_pem). Also fails if a file cannot
    /// be read.
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

    /// Uses a rustls configuration, for example with client certificates,
    /// several certificates by name, or another cryptography provider.
    ///
    /// A non-empty `alpn_protocols` list is preserved, without `h2` if the
    /// server's option [`http2`](crate::ServerOptions::http2) is off; an empty
    /// one becomes `h2` and `http/1.1`. A connection that negotiates
    /// `acme-tls/1` (RFC 8737) closes after its handshake, as that protocol
    /// requires.
    ///
    /// `stockade::server::rustls` is the accepted version of rustls.
    ///
    /// # Errors
    /// Fails if `alpn_protocols` contains a protocol that the server does not
    /// support.
    #[track_caller]
    pub fn from_rustls(config: impl Into<Arc<ServerConfig>>) -> Result<Self, ConfigError> {
        let config = config.into();
        let known = |name: &&Vec<u8>| SPOKEN.contains(&name.as_slice());
        if let Some(name) = config.alpn_protocols.iter().find(|name| !known(name)) {
            let name = name.escape_ascii();
            let text = format!("the ALPN list contains {name}, which the server does not support");
            return Err(mistake(text, Location::caller()));
        }
        Ok(Self::of(Prepared::new(&config)))
    }

    /// Reads the files again, and uses the new certificate for all future
    /// handshakes. This blocks until the files are read.
    ///
    /// Call it on a signal that the certificate was renewed, or use
    /// [`reload_every`](Self::reload_every).
    ///
    /// # Errors
    /// Fails if the files cannot be read or do not match; the old certificate
    /// then stays in use. Also fails if this was not created by
    /// [`from_files`](Self::from_files).
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

    /// Checks the files at this interval while a server uses this
    /// configuration, and reloads them when they have changed. Each new
    /// certificate is logged. The old certificate stays in use if the files are
    /// invalid. Invalid files are logged once, after a second failed check,
    /// because a certificate is written before its key. This has no effect if
    /// the configuration was not created by [`from_files`](Self::from_files).
    #[must_use]
    pub fn reload_every(mut self, interval: Duration) -> Self {
        self.reload_every = Some(interval.max(SHORTEST_INTERVAL));
        self
    }

    /// Uses the certificate of another configuration for all future handshakes.
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

    /// Checks the files forever, if enabled.
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
                        target: "stockade::server", "{text}; the certificate is unchanged"
                    );
                }
                Err(error) => {
                    log::error!(target: "stockade::server", "cannot check the TLS files: {error}");
                }
            }
        }
    }

    /// Returns true if the files have changed and are now in use. Fails once
    /// for each invalid state of the files, unless the next check succeeds.
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
    /// Reads both files, and returns them with their hash.
    fn read(&self) -> Result<(Vec<u8>, Vec<u8>, u64), String> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let (cert, key) = (read(&self.cert)?, read(&self.key)?);
        let hash = self.hasher.hash_one((&cert, &key));
        Ok((cert, key, hash))
    }

    /// Records that the files were read and are valid.
    fn see(&self, hash: u64) {
        *lock(&self.seen) = Seen { hash: Some(hash), is_doubtful: false };
    }

    fn load(&self) -> Result<(Prepared, u64), String> {
        let (cert, key, hash) = self.read()?;
        Ok((Prepared::read(&cert, &key)?, hash))
    }
}

impl Prepared {
    /// Parses a PEM certificate and its PEM key.
    fn read(cert_pem: &[u8], key_pem: &[u8]) -> Result<Self, String> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(cert_pem)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("cannot read the TLS certificate: {error}"))?;
        if certificates.is_empty() {
            return Err("the TLS certificate file does not contain a certificate".to_owned());
        }
        let key = PrivateKeyDer::from_pem_slice(key_pem)
            .map_err(|error| format!("cannot read the TLS key: {error}"))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| format!("cannot use the TLS certificate and key: {error}"))?;
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

/// The ALPN names that a server supports.
const SPOKEN: [&[u8]; 4] = [HTTP2, HTTP1, b"http/1.0", ACME];

/// HTTP/2.
pub(crate) const HTTP2: &[u8] = b"h2";

/// HTTP/1.1.
const HTTP1: &[u8] = b"http/1.1";

/// A certificate authority's validation, which ends with the handshake.
pub(crate) const ACME: &[u8] = b"acme-tls/1";

/// The minimum time between two checks of the files.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
