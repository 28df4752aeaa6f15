//! Signatures of webhooks: requests that another service sends.
//!
//! A sender signs each request with HMAC-SHA256 and a secret that both sides
//! know. [`WebhookKeys`] verifies the signature over the raw body. The
//! extractor `Signed` of `stockade::middleware` does so for a route.
//!
//! ```
//! use stockade_auth::UnixClock;
//! use stockade_auth::webhooks::{StandardWebhooks, WebhookError, WebhookKeys};
//!
//! // The example of the Standard Webhooks documentation.
//! let keys = WebhookKeys::<StandardWebhooks>::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?
//!     .clock(UnixClock::at(1_614_265_330));
//! let header = |name: &str| match name {
//!     "webhook-id" => Some("msg_p5jXN8AQM9LWM0D4loKWxJek"),
//!     "webhook-timestamp" => Some("1614265330"),
//!     "webhook-signature" => Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
//!     _ => None,
//! };
//! assert!(keys.verify(header, br#"{"test": 2432232314}"#).is_ok());
//! let forged = keys.verify(header, br#"{"test": 1}"#);
//! assert_eq!(forged.unwrap_err(), WebhookError::Wrong);
//! # Ok::<(), stockade_errors::ConfigError>(())
//! ```

// Contents of the modules:
// - `format`: the headers of each format; `head`: the headers of a request.
// - `keys`: `WebhookKeys`; `sender`: `WebhookSender`; `error`: `WebhookError`.

mod error;
mod format;
mod head;
mod keys;
mod sender;
#[cfg(test)]
mod tests;

pub use error::WebhookError;
pub use format::WebhookFormat;
pub use head::WebhookHead;
pub use keys::WebhookKeys;
pub use sender::{GitHub, StandardWebhooks, Stripe, WebhookSender};
