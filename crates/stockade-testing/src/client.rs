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
use stockade_hardening::fail::{built, fail, or_fail};
use stockade_hardening::header::{bearer_value, header_of};
use stockade_hardening::{IntoApp, TestClock};
use stockade_routing::{HostOptions, Router};

use crate::cookies::Jar;
use crate::transport::{Live, Transport};
use crate::{TestError, TestRequest, TestWebSocketRequest};

/// A client for tests, which calls an application in process or over a port.
///
/// See the [crate documentation](crate) for an example. The settings of
/// `with_…` apply to every request. Clones use the same application and share
/// the cookies.
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

/// Generates a function for each method, which starts a request.
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
    /// Creates an in-process client for a router or an app. The first request
    /// [starts](stockade_routing::App::start) the application.
    ///
    /// # Panics
    /// Panics if the router has configuration errors; the message lists all of
    /// them with file and line. [`try_new`](Self::try_new) returns them
    /// instead.
    #[track_caller]
    #[must_use]
    pub fn new(router: impl IntoApp) -> Self {
        built(Self::try_new(router))
    }

    /// Creates an in-process client for a router or an app.
    ///
    /// # Errors
    /// Fails with all configuration errors of the router.
    pub fn try_new(router: impl IntoApp) -> Result<Self, ConfigError> {
        Ok(Self::over(Transport::InProcess(router.into_app()?)))
    }

    /// Creates an in-process client for a router with this clock for its rate
    /// limit.
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
    /// Panics if the router has configuration errors, as [`new`](Self::new)
    /// does.
    #[track_caller]
    #[must_use]
    pub fn with_clock(router: Router, clock: &TestClock) -> Self {
        Self::new(router.map_options(|options| options.clock(clock.for_router())))
    }

    /// Creates a client for a running server at `http://host:port`, optionally
    /// with a path that prefixes all targets. It uses HTTP/1.1 and does not
    /// support TLS.
    ///
    /// # Panics
    /// Panics if the address is malformed.
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

    /// Sends this header with each request that does not set it.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    #[must_use]
    pub fn with_header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, value) = header_of(name.as_ref(), value.as_ref());
        self.headers.append(name, value);
        self
    }

    /// Sends `Authorization: Bearer …` with each request that does not set
    /// `Authorization`.
    ///
    /// # Panics
    /// Panics if the token is not a valid header value.
    #[track_caller]
    #[must_use]
    pub fn with_bearer(mut self, token: impl AsRef<str>) -> Self {
        self.headers.insert(header::AUTHORIZATION, bearer_value(token.as_ref()));
        self
    }

    /// Stores the cookies of responses, and sends them as RFC 6265 specifies.
    /// The jar is initially empty. Later clones share it.
    ///
    /// `Secure` cookies are sent in process and to the local machine.
    #[must_use]
    pub fn with_cookies(mut self) -> Self {
        self.jar = Some(Jar::default());
        self
    }

    /// Sets the client address of requests, such as `203.0.113.7`, with or
    /// without a port. Default: [`DEFAULT_PEER`].
    ///
    /// # Panics
    /// Panics if the address is malformed, and with [`live`](Self::live), which
    /// uses the real address.
    #[track_caller]
    #[must_use]
    pub fn with_peer(mut self, address: impl Display) -> Self {
        self.peer = self.peer_of(&address.to_string());
        self
    }

    /// Sets the timeout for a whole response, for a chunk of a stream and for a
    /// WebSocket message; `None` disables it. Default: [`DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn with_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Calls the application with these options, as a host framework does. They
    /// override the options of the router and of earlier calls; see
    /// [`App::with_options`](stockade_routing::App::with_options).
    ///
    /// # Panics
    /// Panics if the options are invalid, and with [`live`](Self::live),
    /// because a server has its own options.
    #[track_caller]
    #[must_use]
    pub fn with_host_options(mut self, options: HostOptions) -> Self {
        let Transport::InProcess(app) = &*self.transport else {
            fail("cannot override the options of a live server");
        };
        self.transport = Arc::new(Transport::InProcess(or_fail(app.with_options(options))));
        #[cfg(feature = "contract")]
        if self.contract.is_some() {
            return self.with_contract();
        }
        self
    }

    /// Checks each response against the route map: it must list the status,
    /// headers, media type and body for the route. For the rules, see
    /// [`Contract`].
    ///
    /// A response that violates the contract fails the test with the route, the
    /// exchange and the listed responses. The `try_…` functions return it as an
    /// error.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// // The status 410 is not documented.
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
    /// Panics if the map has errors. Also panics for a [`live`](Self::live)
    /// client, which does not have a map.
    #[cfg(feature = "contract")]
    #[track_caller]
    #[must_use]
    pub fn with_contract(mut self) -> Self {
        let Transport::InProcess(app) = &*self.transport else {
            fail(
                "cannot create a contract for a live server, because it does not provide its \
                 route map",
            );
        };
        self.contract = Some(Contract::of(app));
        self
    }

    /// Returns the value of a stored cookie that has not expired.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar.as_ref()?.value(name)
    }

    methods! {
        /// Starts a GET request, which `.await` sends.
        get: GET;

        /// Starts a POST request.
        post: POST;

        /// Starts a PUT request.
        put: PUT;

        /// Starts a PATCH request.
        patch: PATCH;

        /// Starts a DELETE request.
        delete: DELETE;

        /// Starts an OPTIONS request.
        options: OPTIONS;

        /// Starts a HEAD request.
        head: HEAD;
    }

    /// Starts a request with any method. The target is a path with an optional
    /// query, and is sent unchanged.
    #[track_caller]
    pub fn request(&self, method: Method, target: impl AsRef<str>) -> TestRequest {
        TestRequest::new(self.clone(), method, target.as_ref(), Location::caller())
    }

    /// Starts a WebSocket handshake.
    #[track_caller]
    pub fn websocket(&self, target: impl AsRef<str>) -> TestWebSocketRequest {
        TestWebSocketRequest::new(self.request(Method::GET, target))
    }

    /// Parses a client address.
    #[track_caller]
    pub(crate) fn peer_of(&self, address: &str) -> SocketAddr {
        if matches!(*self.transport, Transport::Live(_)) {
            fail("cannot set a client address for a live server, because it sees the real address");
        }
        let ip = address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, DEFAULT_PEER.port()));
        match address.parse().or(ip) {
            Ok(address) => address,
            Err(_) => {
                fail(format_args!("expected an address such as \"203.0.113.7\", found {address:?}"))
            }
        }
    }

    /// Waits for a future, up to the timeout of the client.
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

    /// Adds the default headers and the cookies.
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
        // A client without a jar stores no cookies.
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

    /// Stores the cookies that a response sets.
    pub(crate) fn keep_cookies(&self, target: &str, headers: &HeaderMap) {
        if let Some((jar, url)) = self.jar.as_ref().zip(self.transport.url(target)) {
            jar.keep(&url, headers);
        }
    }
}

/// The default client address of in-process requests: `127.0.0.1:50000`.
pub const DEFAULT_PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50_000);

/// The default timeout of a client: 30 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
