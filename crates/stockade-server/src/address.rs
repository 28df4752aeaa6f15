//! [`ListenAddr`]: addresses that a server can listen on. [`Listeners`]:
//! several of them. [`LocalAddr`]: the bound addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::{fmt, io};

use stockade_core::BoxFuture;
use tokio::net::lookup_host;

use crate::listener::{Bound, Listener};
#[cfg(unix)]
use crate::{InheritedSockets, UnixSocket};
use crate::{ServeError, ServerOptions, tcp};

/// An address to listen on, an open listener, or several of them.
///
/// | Value | Listens on |
/// |---|---|
/// | `3000` | `127.0.0.1:3000`, for this machine only |
/// | `"0.0.0.0:3000"`, `"[::]:3000"` | every interface, IPv4 or IPv6 |
/// | `"localhost:3000"` | the first address of the name |
/// | a [`SocketAddr`], `(IpAddr, u16)` | that address |
/// | a `TcpListener` of tokio or the standard library | that listener |
/// | a [`UnixSocket`] | a path, on Unix |
/// | a `UnixListener` of tokio or the standard library | that listener, on Unix; its file is not removed |
/// | [`InheritedSockets`] | the sockets passed at process start, on Unix |
/// | a custom [`Listener`] | whatever it accepts |
/// | [`Listeners`] | several of these |
///
/// A bare port does not accept connections from other machines: opening a
/// server to them must be visible in the code. Port 0 selects a free port.
pub trait ListenAddr: Sealed<Address = <Self as ListenAddr>::Local> {
    /// The bound address: a [`SocketAddr`] for TCP, a [`LocalAddr`] for one
    /// listener of another kind, or a list for several.
    type Local: Clone + fmt::Debug + Send + Sync + 'static;
}

impl<T: Sealed> ListenAddr for T {
    type Local = T::Address;
}

mod sealed {
    use super::{Bound, ServeError, ServerOptions, fmt};

    #[expect(unnameable_types, reason = "it seals the trait")]
    #[diagnostic::on_unimplemented(
        message = "a server cannot listen on a `{Self}`",
        label = "not a port, an address or a listener",
        note = "use a port (`3000`), an address (`\"0.0.0.0:3000\"`), a `TcpListener`, a `UnixSocket`, `Listeners` for several, or a type that implements `Listener`"
    )]
    pub trait Sealed: Send {
        type Address: Clone + fmt::Debug + Send + Sync + 'static;

        fn open(
            self,
            options: &ServerOptions,
        ) -> impl Future<Output = Result<(Vec<Bound>, Self::Address), ServeError>> + Send;
    }
}
use sealed::Sealed;

impl Sealed for SocketAddr {
    type Address = Self;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, Self), ServeError> {
        tcp::open(self, options)
    }
}

impl Sealed for u16 {
    type Address = SocketAddr;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::open((Ipv4Addr::LOCALHOST, self).into(), options)
    }
}

impl Sealed for (IpAddr, u16) {
    type Address = SocketAddr;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::open(self.into(), options)
    }
}

impl Sealed for &str {
    type Address = SocketAddr;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::open(resolve(self).await?, options)
    }
}

impl Sealed for String {
    type Address = SocketAddr;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::open(resolve(&self).await?, options)
    }
}

impl Sealed for tokio::net::TcpListener {
    type Address = SocketAddr;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::take(self)
    }
}

impl Sealed for std::net::TcpListener {
    type Address = SocketAddr;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
        tcp::take(tcp::from_std(self)?)
    }
}

/// Returns the listener with its address.
fn alone(bound: Bound) -> (Vec<Bound>, LocalAddr) {
    let local = bound.local().clone();
    (vec![bound], local)
}

#[cfg(unix)]
impl Sealed for UnixSocket {
    type Address = LocalAddr;

    async fn open(self, options: &ServerOptions) -> Result<(Vec<Bound>, LocalAddr), ServeError> {
        self.open(options.backlog).map(alone)
    }
}

#[cfg(unix)]
impl Sealed for tokio::net::UnixListener {
    type Address = LocalAddr;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, LocalAddr), ServeError> {
        Bound::unix(self, None).map(alone).map_err(ServeError::of_listener)
    }
}

#[cfg(unix)]
impl Sealed for std::os::unix::net::UnixListener {
    type Address = LocalAddr;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, LocalAddr), ServeError> {
        crate::unix::from_std(self).map(alone)
    }
}

#[cfg(unix)]
impl Sealed for InheritedSockets {
    type Address = Vec<LocalAddr>;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, Self::Address), ServeError> {
        Self::open(self)
    }
}

impl<L: Listener> Sealed for L {
    type Address = LocalAddr;

    async fn open(self, _: &ServerOptions) -> Result<(Vec<Bound>, LocalAddr), ServeError> {
        Ok(alone(Bound::own(self)))
    }
}

/// Several addresses or listeners of any kind.
///
/// One server serves them all, with one connection limit and one shutdown. If
/// one of them cannot be opened, none is.
///
/// ```
/// use stockade::Router;
/// use stockade::server::{CreateServer, Listeners};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let both = Listeners::new().add("127.0.0.1:0").add("[::1]:0");
/// let server = Router::new().create_server()?.bind(both).await;
/// # // A machine may not support IPv6.
/// # let Ok(server) = server else { return Ok(()) };
/// assert_eq!(server.local_addr().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Listeners {
    list: Vec<Opener>,
}

/// Opens a listener of any type.
type Opener = Box<dyn FnOnce(ServerOptions) -> Opening + Send>;
type Opening = BoxFuture<'static, Result<Vec<Bound>, ServeError>>;

impl Listeners {
    /// Returns an empty list. A server cannot listen on an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an address or a listener.
    #[expect(clippy::should_implement_trait, reason = "nothing is added up")]
    #[must_use]
    pub fn add(mut self, address: impl ListenAddr + 'static) -> Self {
        self.list
            .push(Box::new(|options| Box::pin(async move { Ok(address.open(&options).await?.0) })));
        self
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners").field("count", &self.list.len()).finish_non_exhaustive()
    }
}

impl Sealed for Listeners {
    type Address = Vec<LocalAddr>;

    async fn open(
        self,
        options: &ServerOptions,
    ) -> Result<(Vec<Bound>, Self::Address), ServeError> {
        let mut all = Vec::new();
        for opener in self.list {
            all.extend(opener(options.clone()).await?);
        }
        if all.is_empty() {
            let none = io::Error::new(io::ErrorKind::InvalidInput, "the list is empty");
            return Err(ServeError::Listener { source: none });
        }
        let mut local: Vec<_> = all.iter().map(|bound| bound.local().clone()).collect();
        // Several acceptors share one address.
        local.dedup();
        Ok((all, local))
    }
}

/// The address of a listener.
///
/// It is displayed as `127.0.0.1:3000`, as `unix:/run/app.sock`, or as the text
/// of a custom [`Listener`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum LocalAddr {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// The name of any other listener.
    Other(String),
}

impl LocalAddr {
    /// Returns the address if it is a TCP address.
    #[must_use]
    pub fn tcp(&self) -> Option<SocketAddr> {
        if let Self::Tcp(address) = self { Some(*address) } else { None }
    }

    #[cfg(unix)]
    pub(crate) fn of_unix(address: &tokio::net::unix::SocketAddr) -> Self {
        match address.as_pathname() {
            Some(path) => Self::Unix(path.to_owned()),
            None => Self::Other("a Unix socket without a path".to_owned()),
        }
    }
}

impl fmt::Display for LocalAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Other(name) => f.write_str(name),
        }
    }
}

/// Parses an address; a name is resolved.
async fn resolve(text: &str) -> Result<SocketAddr, ServeError> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name does not have an address");
    let found = match text.strip_prefix("unix:") {
        Some(_) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a string must be a TCP address; use `UnixSocket` for a path",
        )),
        None => lookup_host(text).await,
    };
    found
        .and_then(|mut addresses| addresses.next().ok_or_else(none))
        .map_err(|source| ServeError::Address { address: text.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &LocalAddr, expected: &str) {
        assert_eq!(address.to_string(), expected);
    }

    async fn bound(address: impl ListenAddr<Local = SocketAddr>) -> SocketAddr {
        address.open(&ServerOptions::new()).await.unwrap().1
    }

    #[tokio::test]
    async fn a_bare_port_binds_to_localhost() {
        let local = [127, 0, 0, 1];
        let found = [
            bound(0).await,
            bound("127.0.0.1:0").await,
            bound("127.0.0.1:0".to_owned()).await,
            bound(SocketAddr::from((local, 0))).await,
            bound((IpAddr::from(local), 0)).await,
            bound(std::net::TcpListener::bind("127.0.0.1:0").unwrap()).await,
            bound(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap()).await,
        ];
        for address in found {
            assert_eq!(address.ip(), IpAddr::from(local));
            assert_ne!(address.port(), 0);
        }
        assert!(bound("0.0.0.0:0").await.ip().is_unspecified());
        assert!(bound("localhost:0").await.ip().is_loopback());
    }

    #[tokio::test]
    async fn an_invalid_address_is_an_error_that_names_it() {
        for (text, expected) in [
            ("localhost", "cannot listen on localhost: "),
            ("unix:/tmp/x", "cannot listen on unix:/tmp/x: a string must be a TCP address; "),
        ] {
            let error = resolve(text).await.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn each_kind_has_its_text() {
        check(&LocalAddr::Tcp(([10, 0, 0, 1], 8).into()), "10.0.0.1:8");
        check(&LocalAddr::Unix("/run/a.sock".into()), "unix:/run/a.sock");
        check(&LocalAddr::Other("pipes".to_owned()), "pipes");
    }
}
