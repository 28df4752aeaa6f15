//! [`TestClient`]: sends the requests of a test.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, header};
use stockade_errors::ConfigError;
#[cfg(feature = "contract")]
use stockade_hardening::Contract;
use stockade_hardening::fail::{fail, or_fail};
use stockade_hardening::header::{bearer_value, header_of};
use stockade_hardening::{IntoApp, TestClock};
use stockade_routing::{HostOptions, Router};

use crate::cookies::Jar;
use crate::transport::{Live, Transport};
use crate::{TestError, TestRequest, TestWebSocketRequest};

/// A client for tests: in process, or over a port with the same calls.
///
/// See the [crate's documentation](crate) for an example. Settings of `with_…`
/// hold for each request. Clones use the same application and share the
/// cookies.
#[derive(Clone, Debug)]
pub struct TestClient {
    pub(crate) transport: Arc<Transport>,
    pub(crate) headers: HeaderMap,
    pub(crate) peer: SocketAddr,
    pub(crate) timeout: Option<Duration>,
    pub(crate) jar: Option<Jar>,
    #[cfg(feature = "contract")]
    pub(crate) contract: Option<Contract>,
}

/// Writes a function for each method, which begins a request.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident: $method:ident;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name(&self, target: impl AsRef<str>) -> TestRequest {
            self.request(Method::$method, target)
        })*
    };
}

impl TestClient {
    /// Makes a client in process, of a router or an app. The first request
    /// [starts](stockade_routing::App::start) the application.
    ///
    /// # Panics
    /// When the router has mistakes: the message has all of them, each with its
    /// file and line. [`try_new`](Self::try_new) returns them.
    #[track_caller]
    #[must_use]
    pub fn new(router: impl IntoApp) -> Self {
        or_fail(Self::try_new(router))
    }

    /// Makes a client in process, of a router or an app.
    ///
    /// # Errors
    /// Fails with all mistakes of the router.
    pub fn try_new(router: impl IntoApp) -> Result<Self, ConfigError> {
        Ok(Self::over(Transport::InProcess(router.into_app()?)))
    }

    /// Makes a client in process, of a router whose rate limit goes by this
    /// clock.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use stockade::Router;
    /// use stockade::testing::{TestClient, TestClock};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut router = Router::new();
    /// router.get("/", async || "hello");
    /// let clock = TestClock::new();
    /// let client = TestClient::with_clock(router, &clock);
    /// for _ in 0..100 {
    ///     client.get("/").await.assert_status(200);
    /// }
    /// client.get("/").await.assert_status(429).assert_header("retry-after", "60");
    /// clock.advance(Duration::from_secs(60));
    /// client.get("/").await.assert_status(200);
    /// # });
    /// ```
    ///
    /// # Panics
    /// When the router has mistakes, as [`new`](Self::new).
    #[track_caller]
    #[must_use]
    pub fn with_clock(router: Router, clock: &TestClock) -> Self {
        Self::new(router.map_options(|options| options.clock(clock.for_router())))
    }

    /// Makes a client of a server that runs: `http://host:port`, with a path if
    /// all targets have it in common. It speaks HTTP/1.1, and no TLS.
    ///
    /// # Panics
    /// When the address is malformed.
    #[track_caller]
    #[must_use]
    pub fn live(address: &str) -> Self {
        Self::over(Transport::Live(or_fail(Live::new(address))))
    }

    fn over(transport: Transport) -> Self {
        Self {
            transport: Arc::new(transport),
            headers: HeaderMap::new(),
            peer: DEFAULT_PEER,
            timeout: Some(DEFAULT_TIMEOUT),
            jar: None,
            #[cfg(feature = "contract")]
            contract: None,
        }
    }

    /// Sends this header with each request that does not have it itself.
    ///
    /// # Panics
    /// When the name or the value cannot be those of a header.
    #[track_caller]
    #[must_use]
    pub fn with_header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, value) = header_of(name.as_ref(), value.as_ref());
        self.headers.append(name, value);
        self
    }

    /// Sends `Authorization: Bearer …` with each request that does not have an
    /// `Authorization` itself.
    ///
    /// # Panics
    /// When the token cannot be part of a header.
    #[track_caller]
    #[must_use]
    pub fn with_bearer(mut self, token: impl AsRef<str>) -> Self {
        self.headers.insert(header::AUTHORIZATION, bearer_value(token.as_ref()));
        self
    }

    /// Keeps the cookies of responses, and sends them as RFC 6265 says. The jar
    /// begins empty. Clones that are made later share it.
    ///
    /// A `Secure` cookie is sent in process and to this machine.
    #[must_use]
    pub fn with_cookies(mut self) -> Self {
        self.jar = Some(Jar::default());
        self
    }

    /// Sets the address from which requests come, such as `203.0.113.7`, with
    /// or without a port. Default: [`DEFAULT_PEER`].
    ///
    /// # Panics
    /// When the address is malformed, and with [`live`](Self::live), where the
    /// address is the real one.
    #[track_caller]
    #[must_use]
    pub fn with_peer(mut self, address: impl Display) -> Self {
        self.peer = self.peer_of(&address.to_string());
        self
    }

    /// Sets the time to wait for a whole response, for a piece of a stream or
    /// for a message of a WebSocket; `None` for any time. Default:
    /// [`DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn with_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Calls the application with these options, which override those of the
    /// router, and those of an earlier call of this function, as a host does; see
    /// [`App::with_options`](stockade_routing::App::with_options).
    ///
    /// # Panics
    /// When there is a mistake in the options, and with [`live`](Self::live),
    /// because a server has its own options.
    #[track_caller]
    #[must_use]
    pub fn with_host_options(mut self, options: HostOptions) -> Self {
        let Transport::InProcess(app) = &*self.transport else {
            fail("a live server has its own options; they cannot be overridden from outside");
        };
        self.transport = Arc::new(Transport::InProcess(or_fail(app.with_options(options))));
        #[cfg(feature = "contract")]
        if self.contract.is_some() {
            return self.with_contract();
        }
        self
    }

    /// Holds each answer against the map of the routes: its status, headers,
    /// media type and body are among those that the map lists for the route. The
    /// rules are those of a [`Contract`].
    ///
    /// An answer that breaks it fails the test, with the route, the exchange and
    /// the answers that the map lists; of the `try_…` functions it is the error.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// // Nothing says that some users are gone.
    /// async fn show(Path(id): Path<u64>) -> Response {
    ///     let mut response = Response::new(id.to_string().into());
    ///     if id > 9 {
    ///         *response.status_mut() = StatusCode::GONE;
    ///     }
    ///     response
    /// }
    ///
    /// let api = routes! { "users": { ":id": { GET: show } } };
    /// let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
    /// client.get("/users/7").await.assert_status(200);
    /// let broken = client.get("/users/10").try_send().await.unwrap_err();
    /// assert!(broken.to_string().contains("the status 410 is not listed"));
    /// # });
    /// ```
    ///
    /// # Panics
    /// When the map has mistakes, and with [`live`](Self::live), where there is no
    /// map.
    #[cfg(feature = "contract")]
    #[cfg_attr(docsrs, doc(cfg(feature = "contract")))]
    #[track_caller]
    #[must_use]
    pub fn with_contract(mut self) -> Self {
        let Transport::InProcess(app) = &*self.transport else {
            fail(
                "a live server does not give the map of its routes; no contract can be made of it",
            );
        };
        self.contract = Some(Contract::of(app));
        self
    }

    /// Returns the value of a cookie that is kept and has not expired.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar.as_ref()?.value(name)
    }

    methods! {
        /// Begins a GET request, which `.await` sends.
        get: GET;

        /// Begins a POST request.
        post: POST;

        /// Begins a PUT request.
        put: PUT;

        /// Begins a PATCH request.
        patch: PATCH;

        /// Begins a DELETE request.
        delete: DELETE;

        /// Begins an OPTIONS request.
        options: OPTIONS;

        /// Begins a HEAD request.
        head: HEAD;
    }

    /// Begins a request of any method. The target is a path, with or without a
    /// query, and is sent as it is.
    #[track_caller]
    pub fn request(&self, method: Method, target: impl AsRef<str>) -> TestRequest {
        TestRequest::new(self.clone(), method, target.as_ref(), Location::caller())
    }

    /// Begins the handshake of a WebSocket.
    #[track_caller]
    pub fn websocket(&self, target: impl AsRef<str>) -> TestWebSocketRequest {
        TestWebSocketRequest::new(self.request(Method::GET, target))
    }

    /// Reads the address of a peer.
    #[track_caller]
    pub(crate) fn peer_of(&self, address: &str) -> SocketAddr {
        if matches!(*self.transport, Transport::Live(_)) {
            fail("a live server sees the real address of this client; no other can be set");
        }
        let ip = address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, DEFAULT_PEER.port()));
        match address.parse().or(ip) {
            Ok(address) => address,
            Err(_) => fail(format_args!("{address:?} is no address, such as \"203.0.113.7\"")),
        }
    }

    /// Waits for a future, with the time-out of the client.
    pub(crate) async fn in_time<T>(
        &self,
        what: &str,
        future: impl Future<Output = T>,
    ) -> Result<T, TestError> {
        let Some(timeout) = self.timeout else { return Ok(future.await) };
        tokio::time::timeout(timeout, future).await.map_err(|_| {
            TestError::new(format!("no {what} within {timeout:?} (TestClient::with_timeout)"))
        })
    }

    /// Adds the headers of each request, and the cookies.
    pub(crate) fn complete(&self, target: &str, headers: &mut HeaderMap, own: &[(String, String)]) {
        for name in self
            .headers
            .keys()
            .filter(|name| !headers.contains_key(*name))
            .cloned()
            .collect::<Vec<_>>()
        {
            for value in self.headers.get_all(&name) {
                headers.append(&name, value.clone());
            }
        }
        let url = self.transport.url(target);
        let kept = self.jar.as_ref().zip(url).map(|(jar, url)| jar.cookies_for(&url));
        // A client without a jar keeps no cookies.
        let mut cookies = kept.unwrap_or_default();
        cookies.retain(|(name, _)| own.iter().all(|(own, _)| own != name));
        cookies.extend_from_slice(own);
        if cookies.is_empty() {
            return;
        }
        let pairs: Vec<String> =
            cookies.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        if let Ok(value) = HeaderValue::try_from(pairs.join("; ")) {
            headers.insert(header::COOKIE, value);
        }
    }

    /// Keeps the cookies that a response sets.
    pub(crate) fn keep_cookies(&self, target: &str, headers: &HeaderMap) {
        if let Some((jar, url)) = self.jar.as_ref().zip(self.transport.url(target)) {
            jar.keep(&url, headers);
        }
    }
}

/// The address from which the requests of a client in process come:
/// `127.0.0.1:50000`.
pub const DEFAULT_PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50_000);

/// The default time-out of a client: 30 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
