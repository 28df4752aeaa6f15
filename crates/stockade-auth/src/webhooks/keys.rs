//! [`WebhookKeys`]: the secrets that verify the requests of a sender.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use stockade_errors::{ConfigError, ConfigIssue};
use subtle::{Choice, ConstantTimeEq};

use super::format::tag;
use super::{WebhookError, WebhookFormat, WebhookHead, WebhookSender};
use crate::UnixClock;

/// The secrets that verify the requests of a sender, and its clock. Provide
/// them to the routes as state. They are never printed.
///
/// To rotate a secret, add the new one with [`or`](Self::or), replace it at the
/// sender, and then remove the old one.
///
/// ```
/// use stockade_auth::webhooks::{GitHub, WebhookKeys};
///
/// let keys = WebhookKeys::<GitHub>::new("the secret of this year, 32 bytes long")?
///     .or("the secret of last year, 32 bytes long")?;
/// assert_eq!(format!("{keys:?}"), "WebhookKeys(github, 2 keys)");
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
pub struct WebhookKeys<S> {
    keys: Arc<[hmac::Key]>,
    clock: UnixClock,
    sender: PhantomData<fn(S)>,
}

impl<S: WebhookSender> WebhookKeys<S> {
    /// Creates the keys from the secret as the sender shows it: `whsec_` and
    /// base64 for Standard Webhooks, any text for GitHub and Stripe.
    ///
    /// # Errors
    /// Fails if the secret has fewer than 16 bytes, because it can be guessed.
    /// A secret of Standard Webhooks must be base64 of 24 to 64 bytes.
    #[track_caller]
    pub fn new(secret: impl AsRef<str>) -> Result<Self, ConfigError> {
        let key = key_of(S::FORMAT, secret.as_ref(), Location::caller())?;
        Ok(Self { keys: [key].into(), clock: UnixClock::default(), sender: PhantomData })
    }

    /// Adds a secret. A request is valid if any of them matches; the first
    /// signs. Keep the list short, because a forged request costs an HMAC for
    /// each secret.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new).
    #[track_caller]
    pub fn or(mut self, secret: impl AsRef<str>) -> Result<Self, ConfigError> {
        let key = key_of(S::FORMAT, secret.as_ref(), Location::caller())?;
        self.keys = self.keys.iter().cloned().chain([key]).collect();
        Ok(self)
    }

    /// Sets the clock. Default: the system clock.
    #[must_use]
    pub fn clock(mut self, clock: UnixClock) -> Self {
        self.clock = clock;
        self
    }

    /// Verifies a request by its headers and its raw body. `header` returns the
    /// only value of the header with this lowercase name.
    ///
    /// # Errors
    /// Fails if a header is missing or malformed, if the time is too far from
    /// the clock, or if no secret matches.
    pub fn verify<'h>(
        &self,
        header: impl FnMut(&'static str) -> Option<&'h str>,
        body: &[u8],
    ) -> Result<WebhookHead, WebhookError> {
        let head = self.read_head(header)?;
        self.verify_body(&head, body)?;
        Ok(head)
    }

    /// Reads the headers and checks the time, before the body is read. Nothing
    /// is authenticated until [`verify_body`](Self::verify_body).
    ///
    /// # Errors
    /// Fails like [`verify`](Self::verify).
    pub fn read_head<'h>(
        &self,
        header: impl FnMut(&'static str) -> Option<&'h str>,
    ) -> Result<WebhookHead, WebhookError> {
        let head = WebhookHead::read(S::FORMAT, header)?;
        let Some(signed) = head.unix_seconds() else { return Ok(head) };
        let now = self.clock.now().ok_or(WebhookError::Time)?;
        let is_near = signed.abs_diff(now) <= S::TOLERANCE.as_secs();
        if is_near { Ok(head) } else { Err(WebhookError::Time) }
    }

    /// Verifies a body. Compares in constant time.
    ///
    /// # Errors
    /// Fails with [`WebhookError::Wrong`] if no secret matches.
    pub fn verify_body(&self, head: &WebhookHead, body: &[u8]) -> Result<(), WebhookError> {
        let time = head.time.as_ref().map(|(text, _)| text.as_str());
        let parts: Vec<&str> = head.id.as_deref().into_iter().chain(time).collect();
        let mut is_valid = Choice::from(0);
        for key in self.keys.iter() {
            let expected = tag(key, &parts, body);
            for signature in &head.tags {
                is_valid |= expected.as_ref().ct_eq(signature);
            }
        }
        if bool::from(is_valid) { Ok(()) } else { Err(WebhookError::Wrong) }
    }

    /// Signs a body at the time of the clock, as the sender does. Returns the
    /// headers of the request, for tests. `id` is the message id of Standard
    /// Webhooks; other formats ignore it.
    #[must_use]
    pub fn sign(&self, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        self.sign_at(self.now().unwrap_or_default(), id, body)
    }

    /// Signs a body like [`sign`](Self::sign), at another time.
    #[must_use]
    pub fn sign_at(&self, unix_seconds: u64, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        let key = self.keys.first();
        key.map_or(Vec::new(), |key| S::FORMAT.sign_with(key, unix_seconds, id, body))
    }

    /// Returns the time of the clock in seconds since 1970.
    #[must_use]
    pub fn now(&self) -> Option<u64> {
        self.clock.now()
    }

    #[cfg(test)]
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let keys = [hmac::Key::new(hmac::HMAC_SHA256, bytes)].into();
        Self { keys, clock: UnixClock::default(), sender: PhantomData }
    }
}

/// Creates the key of a secret.
fn key_of(
    format: WebhookFormat,
    secret: &str,
    location: &'static Location<'static>,
) -> Result<hmac::Key, ConfigError> {
    let issue = |message: String| ConfigError::from(ConfigIssue::new(message).at(location));
    let bytes = match format {
        WebhookFormat::StandardWebhooks => {
            let text = secret.strip_prefix("whsec_").unwrap_or(secret);
            let bytes =
                STANDARD.decode(text).ok().filter(|bytes| STANDARD_SIZE.contains(&bytes.len()));
            bytes.ok_or_else(|| {
                issue(
                    "the secret of the webhooks must be `whsec_` and the base64 of 24 to 64 bytes"
                        .to_owned(),
                )
            })?
        }
        _ => secret.as_bytes().to_vec(),
    };
    if bytes.len() < MIN_SECRET {
        return Err(issue(format!(
            "the secret of the webhooks has {} bytes and can be guessed: use at least {MIN_SECRET}",
            bytes.len()
        )));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// The minimum length of a secret, in bytes: a shorter one can be guessed with
/// one recorded request.
const MIN_SECRET: usize = 16;

/// The length of a secret in bytes.
///
/// Source: Standard Webhooks, "Webhook secret".
const STANDARD_SIZE: std::ops::RangeInclusive<usize> = 24..=64;

impl<S> Clone for WebhookKeys<S> {
    fn clone(&self) -> Self {
        Self { keys: Arc::clone(&self.keys), clock: self.clock.clone(), sender: PhantomData }
    }
}

impl<S: WebhookSender> fmt::Debug for WebhookKeys<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookKeys({}, {} keys)", S::NAME, self.keys.len())
    }
}
