//! [`WebhookSender`]: a service that signs its requests.

use std::time::Duration;

use super::WebhookFormat;

/// A service that sends webhooks, as a type. The type connects a route with its
/// keys, so the keys of one sender never verify the requests of another.
///
/// [`GitHub`], [`Stripe`] and [`StandardWebhooks`] are senders. Declare your
/// own type for another service with one of these formats, or for a second
/// account:
///
/// ```
/// use stockade_auth::webhooks::{WebhookFormat, WebhookKeys, WebhookSender};
///
/// struct Payments;
///
/// impl WebhookSender for Payments {
///     const NAME: &'static str = "payments";
///     const FORMAT: WebhookFormat = WebhookFormat::StandardWebhooks;
/// }
///
/// let keys = WebhookKeys::<Payments>::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
pub trait WebhookSender: Send + Sync + 'static {
    /// The name of the sender in messages, route maps and locks, such as
    /// `stripe`.
    const NAME: &'static str;

    /// The format of its signatures.
    const FORMAT: WebhookFormat;

    /// The maximum difference between the signed time and the clock, in both
    /// directions. Default: five minutes, as Stripe and the Standard Webhooks
    /// libraries use. A recorded request can be sent again for this long. A
    /// format without a time ignores it.
    const TOLERANCE: Duration = Duration::from_secs(300);
}

/// GitHub, with the header `X-Hub-Signature-256`. Its signatures do not contain
/// the time, so a recorded request stays valid: store `X-GitHub-Delivery` to find
/// duplicates.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct GitHub;

impl WebhookSender for GitHub {
    const NAME: &'static str = "github";
    const FORMAT: WebhookFormat = WebhookFormat::GitHub;
}

/// Stripe, with the header `Stripe-Signature`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Stripe;

impl WebhookSender for Stripe {
    const NAME: &'static str = "stripe";
    const FORMAT: WebhookFormat = WebhookFormat::Stripe;
}

/// A sender that follows Standard Webhooks, with the headers `webhook-id`,
/// `webhook-timestamp` and `webhook-signature`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct StandardWebhooks;

impl WebhookSender for StandardWebhooks {
    const NAME: &'static str = "standard-webhooks";
    const FORMAT: WebhookFormat = WebhookFormat::StandardWebhooks;
}
