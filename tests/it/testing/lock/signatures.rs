//! Signatures of webhooks.

use std::time::Duration;

use stockade::auth::webhooks::{GitHub, Stripe, WebhookFormat, WebhookKeys, WebhookSender};
use stockade::middleware::Signed;
use stockade::prelude::*;

use super::{Mutation, api, mutation};

#[derive(serde::Deserialize, Schema)]
struct Event {
    id: u64,
}

/// Stripe, with old signatures.
struct Late;

impl WebhookSender for Late {
    const NAME: &'static str = "stripe";
    const FORMAT: WebhookFormat = WebhookFormat::Stripe;
    const TOLERANCE: Duration = Duration::from_secs(3_600);
}

/// GitHub, under the name of another sender.
struct Renamed;

impl WebhookSender for Renamed {
    const NAME: &'static str = "stripe";
    const FORMAT: WebhookFormat = WebhookFormat::GitHub;
}

fn signed<S: WebhookSender>() -> Router {
    let handler = async |Signed { body, .. }: Signed<Event, S>| body.id.to_string();
    let keys = WebhookKeys::<S>::new("whsec_0123456789abcdef").unwrap();
    api(routes! { "x": { POST: handler } }).state(keys)
}

fn unsigned() -> Router {
    api(routes! { "x": { POST: async |Body(event): Body<Event>| event.id.to_string() } })
}

pub fn all() -> Vec<Mutation> {
    vec![
        mutation(
            "requests are signed",
            (unsigned(), signed::<Stripe>()),
            "B error-added request-header-required signature-required",
            "BW check-removed request-header-removed signature-not-required",
        ),
        mutation(
            "old signatures are accepted",
            (signed::<Stripe>(), signed::<Late>()),
            "W signature-age-raised",
            "B signature-age-lowered",
        ),
        mutation(
            "the sender has another name",
            (signed::<GitHub>(), signed::<Renamed>()),
            "BW signature-changed",
            "BW signature-changed",
        ),
        mutation(
            "signatures have no time",
            (signed::<Late>(), signed::<Renamed>()),
            "BW request-header-removed request-header-required signature-age-raised \
             signature-changed",
            "BW request-header-removed request-header-required signature-age-lowered \
             signature-changed",
        ),
    ]
}
