//! [`WebhookFormat`]: the headers of a signature.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// A format of webhook signatures. Each one uses HMAC-SHA256.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum WebhookFormat {
    /// `X-Hub-Signature-256: sha256=` and the hex signature of the body. It
    /// does not sign a time.
    ///
    /// Source: GitHub Docs, "Validating webhook deliveries".
    GitHub,
    /// `Stripe-Signature: t=…,v1=…` with the time and the hex signature of time
    /// and body. Several `v1` are allowed, and other schemes are ignored.
    ///
    /// Source: Stripe Docs, "Verify webhook signatures manually".
    Stripe,
    /// `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,` with the
    /// base64 signature of id, time and body. Several signatures are separated
    /// by spaces, and other versions are ignored.
    ///
    /// Source: Standard Webhooks, "Verifying signatures".
    StandardWebhooks,
}

/// The header of GitHub.
pub(super) const HUB_SIGNATURE: &str = "x-hub-signature-256";

/// The header of Stripe.
pub(super) const STRIPE_SIGNATURE: &str = "stripe-signature";

/// The headers of Standard Webhooks.
pub(super) const WEBHOOK_ID: &str = "webhook-id";
pub(super) const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
pub(super) const WEBHOOK_SIGNATURE: &str = "webhook-signature";

impl WebhookFormat {
    const ALL: [Self; 3] = [Self::GitHub, Self::Stripe, Self::StandardWebhooks];

    /// Returns the name in route maps and locks, such as `stripe`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::Stripe => "stripe",
            Self::StandardWebhooks => "standard-webhooks",
        }
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the headers that it needs, in lower case. The last one has the
    /// signature.
    #[must_use]
    pub const fn headers(self) -> &'static [&'static str] {
        match self {
            Self::GitHub => &[HUB_SIGNATURE],
            Self::Stripe => &[STRIPE_SIGNATURE],
            Self::StandardWebhooks => &[WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE],
        }
    }

    /// Returns true if it signs the time of the request.
    #[must_use]
    pub const fn has_time(self) -> bool {
        !matches!(self, Self::GitHub)
    }

    /// Signs a body with the bytes of a key. Returns the headers of the
    /// request. `id` is the message id of Standard Webhooks; other formats
    /// ignore it.
    #[must_use]
    pub fn sign(
        self,
        key: &[u8],
        unix_seconds: u64,
        id: &str,
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        self.sign_with(&key, unix_seconds, id, body)
    }

    pub(super) fn sign_with(
        self,
        key: &hmac::Key,
        unix_seconds: u64,
        id: &str,
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let time = unix_seconds.to_string();
        match self {
            Self::GitHub => {
                let tag = hex::encode(tag(key, &[], body));
                vec![(HUB_SIGNATURE, format!("sha256={tag}"))]
            }
            Self::Stripe => {
                let tag = hex::encode(tag(key, &[&time], body));
                vec![(STRIPE_SIGNATURE, format!("t={time},v1={tag}"))]
            }
            Self::StandardWebhooks => {
                let tag = STANDARD.encode(tag(key, &[id, &time], body));
                vec![
                    (WEBHOOK_ID, id.to_owned()),
                    (WEBHOOK_TIMESTAMP, time),
                    (WEBHOOK_SIGNATURE, format!("v1,{tag}")),
                ]
            }
        }
    }
}

/// Returns the HMAC of the parts and the body, which dots separate. Does not
/// copy the body.
pub(super) fn tag(key: &hmac::Key, parts: &[&str], body: &[u8]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part.as_bytes());
        context.update(b".");
    }
    context.update(body);
    context.sign()
}

impl fmt::Display for WebhookFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
