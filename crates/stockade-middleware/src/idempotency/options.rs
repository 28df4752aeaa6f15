//! [`Idempotency`]: the options of `with_idempotency`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use stockade_core::{Request, RouteDescription};
use stockade_errors::ApiError;

use super::key::{KeyForm, ScopeOf};
use super::store::IdempotencyStore;

/// The options of [`with_idempotency`](crate::with_idempotency), including the
/// key store.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::middleware::idempotency::{OnAbandoned, Idempotency, MemoryIdempotencyStore};
/// use stockade::middleware::with_idempotency;
///
/// let payments = Idempotency::new(MemoryIdempotencyStore::new())
///     .required(true)
///     .wait(Duration::from_secs(2))
///     .on_abandoned(OnAbandoned::Refuse)
///     .header("X-Payment-Id");
/// assert_eq!(with_idempotency(payments).name(), "with_idempotency");
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until `with_idempotency` receives it"]
pub struct Idempotency {
    pub(super) store: Arc<dyn IdempotencyStore>,
    pub(super) required: bool,
    pub(super) unquoted_keys: bool,
    pub(super) keep_errors: bool,
    pub(super) wait: Duration,
    pub(super) lease: Duration,
    pub(super) ttl: Duration,
    pub(super) max_body: usize,
    pub(super) listed: Vec<HeaderName>,
    pub(super) on_abandoned: OnAbandoned,
    pub(super) on_store_error: OnStoreError,
    pub(super) scope: Option<Arc<ScopeOf>>,
    mistakes: Vec<String>,
}

/// The treatment of a key if its handler was dropped before it finished, for
/// example because the process ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum OnAbandoned {
    /// The key is free when its lease expires, and the handler runs again. The
    /// work of the first attempt may be partly or completely done.
    #[default]
    Run,
    /// Requests with the key get a 409 for the lifetime of a response, because
    /// the state of the work is unknown.
    Refuse,
}

/// The treatment of requests with a key while the store is down or full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum OnStoreError {
    /// They get a 503 before the handler runs.
    #[default]
    Refuse,
    /// They run as if they had no key, so a retry runs twice. This is logged at
    /// error level, at most once a second.
    Pass,
}

impl Idempotency {
    /// Stores keys and responses in this store: a
    /// [`MemoryIdempotencyStore`](super::MemoryIdempotencyStore), an external
    /// store, or an `Arc` of one. Routes may share a store.
    pub fn new(store: impl IdempotencyStore + 'static) -> Self {
        Self {
            store: Arc::new(store),
            required: false,
            unquoted_keys: false,
            keep_errors: true,
            wait: Duration::ZERO,
            lease: Duration::from_secs(30),
            ttl: Duration::from_secs(86_400),
            max_body: 65_536,
            listed: KEPT.into_iter().map(HeaderName::from_static).collect(),
            on_abandoned: OnAbandoned::default(),
            on_store_error: OnStoreError::default(),
            scope: None,
            mistakes: Vec::new(),
        }
    }

    /// Sets whether requests without the header are rejected with 400. Default:
    /// false; they run without idempotency.
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Also accepts keys without quotes, such as `Idempotency-Key:
    /// 8e03978e-40d5`, which many clients send. Default: false; they get a 400.
    ///
    /// Such a key has 1 to 255 visible ASCII characters except `"`, `\`, `,`
    /// and `;`. The quoted form of the same characters is the same key, so
    /// clients can change the form between two attempts.
    ///
    /// ```
    /// use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
    /// use stockade::middleware::with_idempotency;
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let options = Idempotency::new(MemoryIdempotencyStore::new()).unquoted_keys(true);
    /// let once = with_idempotency(options);
    /// let api = routes! { "orders": { POST: { async || "done", middleware: [once] } } };
    /// # let client = TestClient::new(create_router(api, RouterOptions::new()));
    /// let send = |key: &str| client.post("/orders").header("idempotency-key", key);
    /// send("8e03").await.assert_status(200).assert_no_header("idempotency-replayed");
    /// send("\"8e03\"").await.assert_header("idempotency-replayed", "true");
    /// # }
    /// ```
    pub fn unquoted_keys(mut self, accepted: bool) -> Self {
        self.unquoted_keys = accepted;
        self
    }

    /// Stores handler responses with a status of 500 or more for replay.
    /// Default: true, because the handler may have done a part of its work
    /// before it failed.
    ///
    /// If false, such a response frees the key, and a retry runs the handler
    /// again. Choose false if a failed handler leaves nothing behind, for
    /// example if it does all its work in one transaction. Responses below 500
    /// are always stored, except 408. If `with_timeout` ends the handler, its
    /// 503 is never stored, in both cases.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    ///
    /// use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
    /// use stockade::middleware::with_idempotency;
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    ///
    /// async fn order() -> Result<&'static str, ApiError> {
    ///     match HAS_FAILED.swap(true, Relaxed) {
    ///         false => Err(ApiError::new(500, "the database is gone")),
    ///         true => Ok("done"),
    ///     }
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let options = Idempotency::new(MemoryIdempotencyStore::new()).keep_errors(false);
    /// let once = with_idempotency(options);
    /// let api = routes! { "orders": { POST: { order, middleware: [once] } } };
    /// # let client = TestClient::new(create_router(api, RouterOptions::new()));
    /// let send = || client.post("/orders").header("idempotency-key", "\"k-1\"");
    /// send().await.assert_status(500);
    /// send().await.assert_status(200).assert_no_header("idempotency-replayed");
    /// # }
    /// ```
    pub fn keep_errors(mut self, kept: bool) -> Self {
        self.keep_errors = kept;
        self
    }

    /// Lets a request wait at most this long while an earlier request with its
    /// key is running. Default: 0; the request gets a 409 with `Retry-After: 1`
    /// immediately.
    ///
    /// The store is polled after 25 ms, and then at growing intervals of at
    /// most 250 ms.
    pub fn wait(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// Sets how long a running handler holds its key. The lease is renewed
    /// after each third of this time. It only matters if a process dies, or if
    /// a handler computes that long without waiting. Default: 30 s. Less than 1
    /// s is a configuration error.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }

    /// Sets how long a response is stored. Default: 24 h. Less than the
    /// [`lease`](Self::lease) is a configuration error.
    pub fn ttl(mut self, time: Duration) -> Self {
        self.ttl = time;
        self
    }

    /// Sets the largest response body to store, in bytes. Default: 65,536.
    ///
    /// A larger response and a stream are sent, and logged at warn level. A
    /// retry then gets a 409 with the original status in its message.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Also stores this response header, in addition to `Allow`,
    /// `Cache-Control`, `Content-Disposition`, `Content-Encoding`,
    /// `Content-Language`, `Content-Location`, `Content-Type`, `ETag`,
    /// `Last-Modified`, `Link`, `Location`, `Retry-After` and `Vary`.
    ///
    /// Cookies and headers of a single exchange, such as `Set-Cookie`, `Date`
    /// and `Content-Length`, are a configuration error, and so is an invalid
    /// name.
    pub fn header(mut self, name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        match HeaderName::try_from(name) {
            Ok(header) if NEVER_KEPT.contains(&header.as_str()) => {
                self.mistakes.push(format!("the header `{name}` must not be replayed"));
            }
            Ok(header) if self.listed.contains(&header) => {}
            Ok(header) => self.listed.push(header),
            Err(_) => self.mistakes.push(format!("{name:?} is not a header name")),
        }
        self
    }

    /// Sets the treatment of a key if its handler was dropped before it
    /// finished. Default: [`OnAbandoned::Run`].
    pub fn on_abandoned(mut self, on_abandoned: OnAbandoned) -> Self {
        self.on_abandoned = on_abandoned;
        self
    }

    /// Sets the treatment of requests while the store is down or full. Default:
    /// [`OnStoreError::Refuse`].
    pub fn on_store_error(mut self, outage: OnStoreError) -> Self {
        self.on_store_error = outage;
        self
    }

    /// Sets a function that returns the owner of a request's keys. Default: the
    /// user's [`UserKey`](crate::UserKey), or the client's address if the
    /// request is unauthenticated. An error of the function is the response.
    ///
    /// ```
    /// use stockade::ApiError;
    /// use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
    ///
    /// let by_account = Idempotency::new(MemoryIdempotencyStore::new()).scope_by(|req| {
    ///     let account = req.user().and_then(|user| user["account"].as_str());
    ///     account.map(str::to_owned).ok_or_else(ApiError::authorization)
    /// });
    /// # drop(by_account);
    /// ```
    pub fn scope_by(
        mut self,
        scope: impl Fn(&Request) -> Result<String, ApiError> + Send + Sync + 'static,
    ) -> Self {
        self.scope = Some(Arc::new(scope));
        self
    }

    /// Returns the accepted form of keys.
    pub(super) fn form(&self) -> KeyForm {
        if self.unquoted_keys { KeyForm::Any } else { KeyForm::Quoted }
    }

    /// Notes the configuration errors of the options.
    pub(super) fn check(&self, doc: &mut RouteDescription) {
        let told = |mistake: &str| format!("with_idempotency: {mistake}");
        self.mistakes.iter().for_each(|mistake| doc.issue(told(mistake)));
        if self.lease < Duration::from_secs(1) {
            doc.issue(told("a lease must not be shorter than 1 s"));
        }
        if self.ttl < self.lease {
            doc.issue(told("the ttl must not be shorter than the lease"));
        }
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("required", &self.required)
            .field("unquoted_keys", &self.unquoted_keys)
            .field("keep_errors", &self.keep_errors)
            .field("wait", &self.wait)
            .field("lease", &self.lease)
            .field("ttl", &self.ttl)
            .field("max_body", &self.max_body)
            .field("on_abandoned", &self.on_abandoned)
            .field("on_store_error", &self.on_store_error)
            .finish_non_exhaustive()
    }
}

const KEPT: [&str; 13] = [
    "allow",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "vary",
];

/// The headers that belong to a single exchange.
const NEVER_KEPT: [&str; 11] = [
    "connection",
    "content-length",
    "date",
    "idempotency-replayed",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];
