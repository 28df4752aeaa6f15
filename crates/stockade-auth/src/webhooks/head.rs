//! [`WebhookHead`]: the signature headers of a request.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::format::{
    HUB_SIGNATURE, STRIPE_SIGNATURE, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP,
};
use super::{WebhookError, WebhookFormat};

/// The bytes of an HMAC-SHA256.
pub(super) type Tag = [u8; 32];

/// The signature headers of a request, before the body is verified.
#[derive(Clone, Eq, PartialEq)]
pub struct WebhookHead {
    /// The message id, if the format signs one.
    pub(super) id: Option<String>,
    /// The signed time: its text, and the seconds since 1970.
    pub(super) time: Option<(String, u64)>,
    pub(super) tags: Vec<Tag>,
}

impl WebhookHead {
    /// Returns the signed id of the message: the same for each attempt to
    /// deliver it. Only Standard Webhooks has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the signed time in seconds since 1970; `None` for GitHub.
    #[must_use]
    pub fn unix_seconds(&self) -> Option<u64> {
        self.time.as_ref().map(|(_, seconds)| *seconds)
    }

    /// Reads the headers.
    pub(super) fn read<'h>(
        format: WebhookFormat,
        mut header: impl FnMut(&'static str) -> Option<&'h str>,
    ) -> Result<Self, WebhookError> {
        let mut needed = |name| header(name).ok_or(WebhookError::Missing(name));
        match format {
            WebhookFormat::GitHub => {
                let value = needed(HUB_SIGNATURE)?;
                let tag = value.strip_prefix("sha256=").and_then(hex_tag);
                let tag = tag.ok_or(WebhookError::Malformed(HUB_SIGNATURE))?;
                Ok(Self { id: None, time: None, tags: vec![tag] })
            }
            WebhookFormat::Stripe => Self::of_stripe(needed(STRIPE_SIGNATURE)?),
            WebhookFormat::StandardWebhooks => {
                let id = needed(WEBHOOK_ID)?;
                let time = needed(WEBHOOK_TIMESTAMP)?;
                let listed = needed(WEBHOOK_SIGNATURE)?;
                // A dot would allow another split of id and time.
                if id.is_empty() || id.len() > MAX_ID || id.contains('.') {
                    return Err(WebhookError::Malformed(WEBHOOK_ID));
                }
                let time = seconds(time).ok_or(WebhookError::Malformed(WEBHOOK_TIMESTAMP))?;
                let signatures = listed.split(' ').filter_map(|it| it.strip_prefix("v1,"));
                let tags = signatures.take(MAX_SIGNATURES).filter_map(base64_tag).collect();
                let id = Some(id.to_owned());
                Self { id, time: Some(time), tags }.with_tags(WEBHOOK_SIGNATURE)
            }
        }
    }

    /// Reads `t=…,v1=…`.
    fn of_stripe(value: &str) -> Result<Self, WebhookError> {
        let malformed = WebhookError::Malformed(STRIPE_SIGNATURE);
        let (mut time, mut tags) = (None, Vec::new());
        for pair in value.split(',') {
            match pair.split_once('=').ok_or(malformed)? {
                ("t", _) if time.is_some() => return Err(malformed),
                ("t", text) => time = Some(seconds(text).ok_or(malformed)?),
                ("v1", tag) if tags.len() < MAX_SIGNATURES => tags.extend(hex_tag(tag)),
                // `v0` is for test events, and is not a secure signature.
                _ => {}
            }
        }
        let time = Some(time.ok_or(malformed)?);
        Self { id: None, time, tags }.with_tags(STRIPE_SIGNATURE)
    }

    /// Fails without a signature in a supported version.
    fn with_tags(self, header: &'static str) -> Result<Self, WebhookError> {
        if self.tags.is_empty() { Err(WebhookError::Malformed(header)) } else { Ok(self) }
    }
}

/// Reads the seconds since 1970, which are only digits.
fn seconds(text: &str) -> Option<(String, u64)> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse().ok().filter(|_| is_number)?;
    Some((text.to_owned(), seconds))
}

/// Reads the 64 hex digits of a complete signature.
fn hex_tag(text: &str) -> Option<Tag> {
    let mut tag = [0; 32];
    hex::decode_to_slice(text, &mut tag).ok()?;
    Some(tag)
}

/// Reads the base64 of a complete signature.
fn base64_tag(text: &str) -> Option<Tag> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

/// The maximum number of signatures that are compared. A sender has one for
/// each of its current secrets.
const MAX_SIGNATURES: usize = 16;

/// The maximum length of a message id, in bytes.
const MAX_ID: usize = 256;

/// Does not write the signatures, which are credentials.
impl fmt::Debug for WebhookHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookHead")
            .field("id", &self.id)
            .field("unix_seconds", &self.unix_seconds())
            .finish_non_exhaustive()
    }
}
