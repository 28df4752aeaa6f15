//! [`OutgoingGuard`]: the rules for requests to addresses that users chose.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use super::{OutgoingError, OutgoingUrl, is_public};

/// The rules for requests of the program to addresses that users chose. See the
/// [module](crate::outgoing) for an example.
///
/// Defaults: the schemes `https` and `http`, the ports 443 and 80, and five
/// redirects.
#[derive(Clone)]
pub struct OutgoingGuard {
    https_only: bool,
    ports: Vec<u16>,
    max_redirects: usize,
    allowed: Vec<IpAddr>,
    denied: Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>,
}

/// A request that may be sent, and its redirects.
#[derive(Clone, Debug)]
#[must_use = "only `resolve` checks the addresses of the host"]
pub struct OutgoingRequest {
    guard: OutgoingGuard,
    url: OutgoingUrl,
    redirects: usize,
}

impl OutgoingGuard {
    /// Creates the default rules.
    #[must_use]
    pub fn new() -> Self {
        Self {
            https_only: false,
            ports: vec![443, 80],
            max_redirects: 5,
            allowed: Vec::new(),
            denied: None,
        }
    }

    /// Sets whether `http` is rejected. Default: false, but a redirect from
    /// `https` to `http` is always rejected.
    #[must_use]
    pub fn https_only(mut self, https_only: bool) -> Self {
        self.https_only = https_only;
        self
    }

    /// Sets the allowed ports. Default: 443 and 80.
    #[must_use]
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = ports.into_iter().collect();
        self
    }

    /// Sets the maximum number of redirects. Default: 5.
    #[must_use]
    pub fn max_redirects(mut self, max_redirects: usize) -> Self {
        self.max_redirects = max_redirects;
        self
    }

    /// Also rejects these addresses, such as the public addresses of your
    /// network, or its NAT64 prefix.
    #[must_use]
    pub fn deny(mut self, denied: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        self.denied = Some(Arc::new(denied));
        self
    }

    /// Allows an address that is not public: a partner in the own network, or
    /// `127.0.0.1` in a test.
    #[must_use]
    pub fn allow(mut self, address: IpAddr) -> Self {
        self.allowed.push(address.to_canonical());
        self
    }

    /// Starts a request. Nothing is checked before
    /// [`resolve`](OutgoingRequest::resolve).
    pub fn start(&self, url: OutgoingUrl) -> OutgoingRequest {
        OutgoingRequest { guard: self.clone(), url, redirects: 0 }
    }

    fn is_allowed(&self, address: IpAddr) -> bool {
        // A mapped address and its IPv4 address are the same host.
        let address = address.to_canonical();
        let is_denied = self.denied.as_ref().is_some_and(|denied| denied(address));
        self.allowed.contains(&address) || (is_public(address) && !is_denied)
    }
}

impl OutgoingRequest {
    /// Returns the current URL: the first one, or the target of the last
    /// redirect.
    #[must_use]
    pub fn url(&self) -> &OutgoingUrl {
        &self.url
    }

    /// Resolves the host by the operating system, and returns its addresses.
    /// Connect to one of them, not to the name.
    ///
    /// # Errors
    /// Fails if the scheme or the port is not allowed, if the name cannot be
    /// resolved within 10 seconds, or if any of its addresses is not public.
    pub async fn resolve(&self) -> Result<Vec<SocketAddr>, OutgoingError> {
        self.resolve_with(by_system).await
    }

    /// Resolves the host like [`resolve`](Self::resolve), by a function that
    /// receives the name and the port.
    ///
    /// # Errors
    /// Fails like [`resolve`](Self::resolve).
    pub async fn resolve_with<F>(
        &self,
        resolver: impl FnOnce(String, u16) -> F,
    ) -> Result<Vec<SocketAddr>, OutgoingError>
    where
        F: Future<Output = io::Result<Vec<SocketAddr>>>,
    {
        let (host, port) = (self.url.host(), self.url.port());
        if self.guard.https_only && !self.url.is_https() {
            return Err(OutgoingError::Scheme);
        }
        if !self.guard.ports.contains(&port) {
            return Err(OutgoingError::Port(port));
        }
        let addresses = if let Some(address) = self.url.address() {
            vec![SocketAddr::new(address, port)]
        } else {
            let found = tokio::time::timeout(PATIENCE, resolver(host.to_owned(), port)).await;
            found.ok().and_then(Result::ok).ok_or(OutgoingError::Unresolved)?
        };
        if addresses.is_empty() {
            return Err(OutgoingError::Unresolved);
        }
        // One private address among public ones is an attack or a mistake.
        match addresses.iter().find(|address| !self.guard.is_allowed(address.ip())) {
            Some(private) => Err(OutgoingError::NotPublic(private.ip())),
            None => Ok(addresses),
        }
    }

    /// Follows a redirect to the value of `Location`. Call
    /// [`resolve`](Self::resolve) again before you connect.
    ///
    /// # Errors
    /// Fails if the value is malformed, if there were too many redirects, or if
    /// it leaves `https`.
    pub fn redirect(&mut self, location: &str) -> Result<(), OutgoingError> {
        if self.redirects >= self.guard.max_redirects {
            return Err(OutgoingError::TooManyRedirects);
        }
        let next = self.url.join(location)?;
        if self.url.is_https() && !next.is_https() {
            return Err(OutgoingError::Scheme);
        }
        self.url = next;
        self.redirects += 1;
        Ok(())
    }
}

/// Resolves a name by the operating system, which blocks its thread.
async fn by_system(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let resolve = move || (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
    tokio::task::spawn_blocking(resolve).await.map_err(io::Error::other)?
}

/// The timeout for a resolver.
const PATIENCE: Duration = Duration::from_secs(10);

impl Default for OutgoingGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for OutgoingGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingGuard")
            .field("https_only", &self.https_only)
            .field("ports", &self.ports)
            .field("max_redirects", &self.max_redirects)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(guard: &OutgoingGuard, url: &str) -> OutgoingRequest {
        guard.start(OutgoingUrl::parse(url).unwrap())
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Resolves each name to these addresses.
    async fn resolve(
        request: &OutgoingRequest,
        found: &[&str],
    ) -> Result<Vec<SocketAddr>, OutgoingError> {
        let found: Vec<IpAddr> = found.iter().map(|it| address(it)).collect();
        let resolver = async |_: String, port: u16| {
            Ok(found.iter().map(|it| SocketAddr::new(*it, port)).collect())
        };
        request.resolve_with(resolver).await
    }

    #[tokio::test]
    async fn rejects_names_with_a_private_address() {
        let guard = OutgoingGuard::new();
        let request = request(&guard, "https://example.com/");
        let found = resolve(&request, &["93.184.215.14"]).await;
        assert_eq!(found, Ok(vec!["93.184.215.14:443".parse().unwrap()]));
        for private in ["127.0.0.1", "10.0.0.7", "::1", "::ffff:10.0.0.7", "64:ff9b::10.0.0.7"] {
            let expected = Err(OutgoingError::NotPublic(address(private)));
            assert_eq!(resolve(&request, &[private]).await, expected);
            assert_eq!(resolve(&request, &["93.184.215.14", private]).await, expected);
        }
        assert_eq!(resolve(&request, &[]).await, Err(OutgoingError::Unresolved));
        let failing = request.resolve_with(async |_, _| Err(io::Error::other("down"))).await;
        assert_eq!(failing, Err(OutgoingError::Unresolved));
    }

    #[tokio::test]
    async fn rejects_addresses_without_a_resolver() {
        let guard = OutgoingGuard::new();
        for (url, private) in [
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://[::ffff:169.254.169.254]/", "::ffff:169.254.169.254"),
            ("http://[fd00::1]/", "fd00::1"),
        ] {
            let expected = Err(OutgoingError::NotPublic(address(private)));
            assert_eq!(request(&guard, url).resolve().await, expected);
        }
    }

    #[tokio::test]
    async fn resolves_by_the_system() {
        let found = request(&OutgoingGuard::new(), "http://localhost/").resolve().await;
        assert!(matches!(found, Err(OutgoingError::NotPublic(_))), "{found:?}");
    }

    #[tokio::test]
    async fn checks_each_redirect() {
        let guard = OutgoingGuard::new().max_redirects(2);
        let mut request = request(&guard, "http://example.com/");
        assert!(resolve(&request, &["93.184.215.14"]).await.is_ok());
        request.redirect("https://other.example/x").unwrap();
        assert_eq!(request.redirect("http://other.example/x"), Err(OutgoingError::Scheme));
        assert_eq!(request.redirect("https://u@a/"), Err(OutgoingError::UserInfo));
        assert_eq!(request.url().as_str(), "https://other.example/x");
        request.redirect("https://169.254.169.254/latest").unwrap();
        let private = OutgoingError::NotPublic(address("169.254.169.254"));
        assert_eq!(request.resolve().await, Err(private));
        assert_eq!(request.redirect("/"), Err(OutgoingError::TooManyRedirects));
        assert_eq!(private.to_string(), "The host of the URL is not public");
    }

    #[tokio::test]
    async fn options_change_the_rules() {
        let public = ["93.184.215.14"];
        let https = OutgoingGuard::new().https_only(true);
        let plain = request(&https, "http://example.com/");
        assert_eq!(resolve(&plain, &public).await, Err(OutgoingError::Scheme));
        let smtp = request(&OutgoingGuard::new(), "http://example.com:25/");
        assert_eq!(resolve(&smtp, &public).await, Err(OutgoingError::Port(25)));
        let other = request(&OutgoingGuard::new().ports([8080]), "http://example.com:8080/");
        assert!(resolve(&other, &public).await.is_ok());
        let own = OutgoingGuard::new().deny(|it| it == address("93.184.215.14"));
        let denied = request(&own, "http://example.com/");
        let expected = Err(OutgoingError::NotPublic(address(public[0])));
        assert_eq!(resolve(&denied, &public).await, expected);
        let local = OutgoingGuard::new().allow(address("127.0.0.1"));
        assert!(resolve(&request(&local, "http://a/"), &["::ffff:127.0.0.1"]).await.is_ok());
        assert!(resolve(&request(&local, "http://a/"), &["127.0.0.2"]).await.is_err());
    }
}
