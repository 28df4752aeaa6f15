//! [`with_idempotency`]: middleware that runs a repeated request only once.
//!
//! Source: draft-ietf-httpapi-idempotency-key-header-07.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use stockade_core::completion::Completing;
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::error_handler_internals::finish_form;
use stockade_core::handler_progress::{AsksProgress, HandlerProgress};
use stockade_core::{
    ErrorContext, Middleware, Next, Request, Response, RouteDescription, error_of,
};
use stockade_errors::{ApiError, StoreError};
use stockade_map::IdempotencyInfo;
use stockade_validation::__internal::LogRate;
use tokio::time::{Instant, sleep};

use super::key::{self, IdempotencyKey};
use super::options::{Idempotency, OnAbandoned, OnStoreError};
use super::place::HeldPlace;
use super::record::{Record, response_of};
use super::store::{Nonce, Reservation, ReserveOutcome};
use crate::described::reads_parsed_body;
use crate::hashed::hash;
use crate::store_fault::unavailable;

/// Runs a request with an `Idempotency-Key` once: a retry with the same key
/// gets the stored response, with `Idempotency-Replayed: true`.
///
/// It is for POST and PATCH; routes with other methods are a configuration
/// error. `with_auth` inside it is a configuration error too, because keys are
/// separate for each user.
///
/// | request | response |
/// |---|---|
/// | with a new key | the response of the handler, stored before it is sent |
/// | with the key of an earlier request | the stored response |
/// | with the key of a running request | 409 with `Retry-After: 1`, or waits ([`Idempotency::wait`]) |
/// | with a key and another path, query, content type or body | 422 |
/// | with a key if the earlier response is unknown or not stored | 409 |
/// | with a malformed key, or without a required key | 400 |
/// | while the store is down or full | 503 with `Retry-After: 1` |
///
/// Every response of the handler is stored, including 5xx errors unless
/// [`Idempotency::keep_errors`] is false. Responses from before the handler,
/// such as responses of middleware and validation, are not stored. Neither are
/// 408 and 503. Their key is free immediately. The request body is read before
/// the handler runs.
///
/// A handler continues for 30 s after its client has disconnected, or after an
/// outer `with_timeout` has responded. The retry then finds the response. The
/// setting `run_to_completion` of the route changes this time, and `false`
/// drops the handler immediately, with the effect of
/// [`on_abandoned`](Idempotency::on_abandoned). The error handlers
/// of a route, a group or a router run before an error is stored. Outer
/// middleware that handles errors does not change stored errors.
///
/// ```
/// use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
/// use stockade::middleware::with_idempotency;
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// async fn order(Body(item): Body<String>) -> (StatusCode, String) {
///     (StatusCode::CREATED, format!("one {item}"))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let once = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()));
/// let api = routes! { "orders": { POST: { order, middleware: [once] } } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let send = || client.post("/orders").header("idempotency-key", "\"k-1\"").json("chair");
/// send().await.assert_status(201);
/// let again = send().await;
/// again.assert_status(201);
/// assert_eq!(again.header("idempotency-replayed").as_deref(), Some("true"));
/// # }
/// ```
///
/// # Beyond the spec
/// The specification does not define idempotency keys.
#[must_use]
pub fn with_idempotency(options: Idempotency) -> Middleware {
    let described = options.clone();
    let shared = Arc::new(Shared { options: Arc::new(options), outages: LogRate::default() });
    Middleware::new(move |req: Request, next: Next| {
        let shared = Arc::clone(&shared);
        async move { shared.run(req, next).await }
    })
    .named(NAME)
    .marked(AsksProgress)
    .describing(move |doc| describe(&described, doc))
}

/// The shared state of all requests of a middleware.
struct Shared {
    options: Arc<Idempotency>,
    outages: LogRate,
}

impl Shared {
    async fn run(&self, mut req: Request, next: Next) -> Result<Response, ApiError> {
        let options = &self.options;
        let key = match IdempotencyKey::of(&req, options.form(), options.scope.as_deref())? {
            Some(key) => key,
            None if options.required => return Err(key::missing()),
            None => return next.try_run(req).await,
        };
        let body = req.bytes().await?;
        let mut place = HeldPlace {
            options: Arc::clone(options),
            key: key.scoped(),
            claim: claim(options, fingerprint(&req, &body))?,
            progress: HandlerProgress::default(),
            is_held: false,
        };
        let taken = match take(&mut place, options.wait).await {
            Ok(taken) => taken,
            Err(error) if options.on_store_error == OnStoreError::Pass => {
                self.report(&error);
                req.extensions_mut().insert(key);
                return next.try_run(req).await;
            }
            Err(error) => return Err(self.unavailable(&error)),
        };
        match taken {
            ReserveOutcome::New => {}
            ReserveOutcome::OtherFingerprint => return Err(ApiError::new(422, OTHER_REQUEST)),
            ReserveOutcome::Running => {
                return Err(ApiError::new(409, RUNNING).with_header("Retry-After", "1"));
            }
            ReserveOutcome::Crashed => return Err(ApiError::new(409, OUTCOME_UNKNOWN)),
            ReserveOutcome::Done(record) => return replay(record),
        }
        req.extensions_mut().insert(place.progress.clone());
        req.extensions_mut().insert(key);
        Completing::of(req, |req| Box::pin(handle(place, req, next))).await
    }

    /// Creates the 503 for a store that is down or full.
    #[cold]
    fn unavailable(&self, error: &StoreError) -> ApiError {
        self.report(error);
        unavailable(error)
    }

    /// Logs an outage, at most once a second.
    fn report(&self, error: &StoreError) {
        if let Some(unlogged) = self.outages.next() {
            let effect = match self.options.on_store_error {
                OnStoreError::Refuse => "is rejected",
                OnStoreError::Pass => "runs without protection",
            };
            log::error!(
                target: "stockade",
                "a request with an idempotency key {effect}, and so did {unlogged} others: {error}"
            );
        }
    }
}

/// Runs the rest of the chain, and stores its response or frees the key.
async fn handle(place: HeldPlace, req: Request, next: Next) -> Result<Response, ApiError> {
    let context = ErrorContext::of(&req).before_middleware(&req, None);
    let progress = place.progress.clone();
    let outcome = place.renewed_during(next.try_run(req)).await;
    let status = match &outcome {
        Ok(response) => response.status().as_u16(),
        Err(error) => error.status(),
    };
    // 408 and 503 ask the client to send the request again.
    let runs_again = matches!(status, 408 | 503) || (status >= 500 && !place.options.keep_errors);
    if !progress.has_begun() || status < 200 || runs_again {
        place.free().await;
        return outcome;
    }
    let mut response = outcome.unwrap_or_else(|error| context.answer(error));
    if error_of(&response).is_some() {
        finish_form(&mut response);
    }
    let record = Record::of(&response, &place.options.listed, place.options.max_body);
    place.complete(record, response.status()).await;
    Ok(response)
}

/// Reserves the place, and waits for a running request.
async fn take(place: &mut HeldPlace, wait: Duration) -> Result<ReserveOutcome, StoreError> {
    let mut taken = place.take().await?;
    if taken != ReserveOutcome::Running || wait.is_zero() {
        return Ok(taken);
    }
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let left = wait.saturating_sub(begin.elapsed());
        if taken != ReserveOutcome::Running || left.is_zero() {
            return Ok(taken);
        }
        sleep(pause.min(left)).await;
        pause = LAST_PAUSE.min(pause * 2);
        taken = place.take().await?;
    }
}

/// Creates the response for a request that has already run.
fn replay(record: Bytes) -> Result<Response, ApiError> {
    match Record::from_bytes(record) {
        Some(Record::Answer { status, headers, body }) => {
            let mut response = response_of(status, headers, body);
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            Ok(response)
        }
        Some(Record::NotKept(status)) => Err(not_kept(status)),
        Some(Record::Unknown) => Err(ApiError::new(409, OUTCOME_UNKNOWN)),
        None => {
            log::error!(
                target: "stockade",
                "the store of idempotency keys contains an unknown record"
            );
            Err(ApiError::new(409, OUTCOME_UNKNOWN))
        }
    }
}

fn not_kept(status: StatusCode) -> ApiError {
    let status = status.as_u16();
    let message = format!(
        "The request with this Idempotency-Key returned {status}, but the response was not stored"
    );
    ApiError::new(409, message)
}

fn claim(options: &Idempotency, fingerprint: [u8; 32]) -> Result<Reservation, ApiError> {
    let mut nonce = Nonce::default();
    getrandom::fill(&mut nonce).map_err(|error| ApiError::new(500, error.to_string()))?;
    let remembers = options.on_abandoned == OnAbandoned::Refuse;
    let remember_crash = remembers.then_some(options.ttl);
    Ok(Reservation { fingerprint, nonce, lease: options.lease, remember_crash })
}

fn fingerprint(req: &Request, body: &[u8]) -> [u8; 32] {
    let uri = req.uri();
    // No query and an empty query are different requests.
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let media = req.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    // The same path on two hosts is two requests. The path of a route with a
    // host begins with two slashes, and no other path does.
    let path = match req.host_labels() {
        Some(host) => Cow::Owned(format!("/{host}{}", uri.path())),
        None => Cow::Borrowed(uri.path()),
    };
    hash([path.as_bytes(), query.as_bytes(), media.unwrap_or_default(), body])
}

fn describe(options: &Idempotency, doc: &mut RouteDescription) {
    options.check(doc);
    if !matches!(*doc.method(), Method::POST | Method::PATCH) {
        let method = doc.method().clone();
        doc.issue(format!("`{NAME}` supports only POST and PATCH, found {method}"));
    }
    if options.scope.is_none() {
        doc.middleware_reads_user(NAME);
    }
    reads_parsed_body(doc, NAME);
    doc.runs_once(fact_of(options));
    key::describe(doc, options.required, options.form());
    let retry_after =
        || HeaderDoc::new("Retry-After", "The number of seconds until the next attempt");
    let meaning = "The request with this key is running, or its response is unknown";
    doc.responds(ResponseDoc::error(409).meaning(meaning).header(retry_after().sometimes()));
    doc.may_respond(422, "The key belongs to a different request");
    if options.on_store_error == OnStoreError::Refuse {
        let meaning = "The store of idempotency keys is unavailable";
        doc.responds(ResponseDoc::error(503).meaning(meaning).header(retry_after()));
    }
    let meaning = "`true` for the stored response of an earlier request";
    doc.adds_header(HeaderDoc::new("Idempotency-Replayed", meaning).sometimes(), None);
}

fn fact_of(options: &Idempotency) -> IdempotencyInfo {
    let mut fact = IdempotencyInfo::new(options.required, options.lease, options.ttl);
    fact.refuses_after_crash = options.on_abandoned == OnAbandoned::Refuse;
    fact.passes_outage = options.on_store_error == OnStoreError::Pass;
    fact.own_scope = options.scope.is_some();
    fact.unquoted_keys = options.unquoted_keys;
    fact.repeats_errors = !options.keep_errors;
    fact
}

const NAME: &str = "with_idempotency";
const REPLAYED: &str = "idempotency-replayed";
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LAST_PAUSE: Duration = Duration::from_millis(250);

const OTHER_REQUEST: &str = "This Idempotency-Key belongs to a different request";
const RUNNING: &str = "The request with this Idempotency-Key is still running";
const OUTCOME_UNKNOWN: &str = "The outcome of the request with this Idempotency-Key is unknown";
