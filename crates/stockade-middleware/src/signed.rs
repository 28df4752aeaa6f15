//! [`Signed`]: the body of a request with a valid webhook signature.

use std::fmt;
use std::marker::PhantomData;

use http::HeaderMap;
use serde::de::DeserializeOwned;
use stockade_auth::webhooks::{
    StandardWebhooks, WebhookError, WebhookFormat, WebhookHead, WebhookKeys, WebhookSender,
};
use stockade_core::description::{HeaderDoc, ResponseDoc, SignatureInfo};
use stockade_core::extract::Body;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

/// The body of a webhook with a valid signature; a handler argument.
///
/// `T` is read and validated like `Body<T>`, but only after the signature over
/// the raw bytes was verified. `S` is the sender, which selects the headers:
/// [`GitHub`](stockade_auth::webhooks::GitHub),
/// [`Stripe`](stockade_auth::webhooks::Stripe),
/// [`StandardWebhooks`] or your own [`WebhookSender`]. Provide its secrets as
/// state: [`WebhookKeys<S>`]. Missing state is a configuration error.
///
/// A missing, malformed, wrong or old signature gets a 401. If a header is
/// missing, the body is not read. The comparison takes constant time.
///
/// The route counts as authenticated for policies: it does not need `auth` or a
/// reason to be public. If its node has `auth`, add `public: "the sender signs"`
/// to remove it.
///
/// A sender repeats a request until it gets a success, and an attacker can send
/// a recorded one again within the tolerance. Handlers should therefore ignore
/// an event that they already handled; [`id`](Self::id) is the same for each
/// attempt.
///
/// ```
/// use stockade::auth::webhooks::{Stripe, WebhookKeys};
/// use stockade::middleware::Signed;
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Event {
///     #[schema(max_length = 100)]
///     id: String,
/// }
///
/// async fn paid(Signed { body, .. }: Signed<Event, Stripe>) -> String {
///     body.id
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), ConfigError> {
/// let keys = WebhookKeys::<Stripe>::new("whsec_0123456789abcdef")?;
/// let api = routes! { "webhooks/stripe": { POST: paid } };
/// let router = create_router(api, RouterOptions::new())
///     .state(keys.clone())
///     .policy(Policy::recommended());
///
/// # let client = TestClient::new(router);
/// // In a test:
/// let body = r#"{"id":"evt_1"}"#;
/// let mut request = client.post("/webhooks/stripe").header("content-type", "application/json");
/// for (name, value) in keys.sign("", body.as_bytes()) {
///     request = request.header(name, value);
/// }
/// request.body(body).await.assert_text("evt_1");
/// client.post("/webhooks/stripe").json(json!({ "id": "evt_1" })).await.assert_status(401);
/// # Ok(())
/// # }
/// ```
///
/// Source: RFC 2104 (HMAC), and the sources of
/// [`WebhookFormat`](stockade_auth::webhooks::WebhookFormat).
#[doc(alias = "webhook")]
#[doc(alias = "hmac")]
pub struct Signed<T, S = StandardWebhooks> {
    /// The body.
    pub body: T,
    head: WebhookHead,
    sender: PhantomData<fn(S)>,
}

impl<T, S> Signed<T, S> {
    /// Returns the signed id of the message: the same for each attempt to
    /// deliver it. Only Standard Webhooks has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.head.id()
    }

    /// Returns the signed time in seconds since 1970; `None` for GitHub.
    #[must_use]
    pub fn unix_seconds(&self) -> Option<u64> {
        self.head.unix_seconds()
    }
}

impl<T, S> FromRequest for Signed<T, S>
where
    T: HasSchema + DeserializeOwned + Send,
    S: WebhookSender,
{
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let keys = req.state::<WebhookKeys<S>>().ok_or_else(|| {
            let text = format!("no `WebhookKeys` of {}: add `.state(…)` to the router", S::NAME);
            ApiError::new(500, text)
        })?;
        let rejected = |error| rejected(S::FORMAT, error);
        let lines = only_lines(req.headers(), S::FORMAT).map_err(rejected)?;
        let line = |name| lines.iter().find(|line| line.0 == name).map(|line| line.1);
        let head = keys.read_head(line).map_err(rejected)?;
        let bytes = req.bytes().await?;
        keys.verify_body(&head, &bytes).map_err(rejected)?;
        let Body(body) = Body::<T>::from_request(req).await?;
        Ok(Self { body, head, sender: PhantomData })
    }

    fn describe(doc: &mut RouteDescription) {
        doc.needs_state::<WebhookKeys<S>>();
        let signature = SignatureInfo::new(S::NAME, S::FORMAT.name());
        doc.verifies_signature(match S::FORMAT.has_time() {
            true => signature.max_age(S::TOLERANCE),
            false => signature,
        });
        for name in S::FORMAT.headers() {
            doc.reads_header(*name, true);
        }
        let challenge = HeaderDoc::new("WWW-Authenticate", "The header of the signature");
        let unsigned = ResponseDoc::error(401).meaning("The signature is missing or not valid");
        doc.responds(unsigned.header(challenge));
        Body::<T>::describe(doc);
    }
}

/// Returns the headers of a signature. Fails if one appears twice, because a
/// proxy might use the other one, or if it is not text.
fn only_lines(
    headers: &HeaderMap,
    format: WebhookFormat,
) -> Result<Vec<(&'static str, &str)>, WebhookError> {
    let mut found = Vec::new();
    for name in format.headers() {
        let mut values = headers.get_all(*name).into_iter();
        let Some(value) = values.next() else { continue };
        let text = value.to_str().ok().filter(|_| values.next().is_none());
        found.push((*name, text.ok_or(WebhookError::Malformed(name))?));
    }
    Ok(found)
}

/// Returns the 401 for a request without a valid signature.
#[cold]
fn rejected(format: WebhookFormat, error: WebhookError) -> ApiError {
    let header = format.headers().last().copied().unwrap_or_default();
    let challenge = format!("Webhook header=\"{header}\"");
    ApiError::new(401, error.to_string()).with_header("www-authenticate", challenge)
}

impl<T: fmt::Debug, S> fmt::Debug for Signed<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed")
            .field("body", &self.body)
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}
