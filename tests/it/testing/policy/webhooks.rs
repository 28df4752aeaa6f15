//! The rule about webhooks.

use std::time::Duration;

use stockade::auth::webhooks::{Stripe, WebhookFormat, WebhookKeys, WebhookSender};
use stockade::description::SignatureInfo;
use stockade::middleware::Signed;
use stockade::prelude::*;
use stockade::{FromRequest, RouteDescription};

use super::*;

#[derive(serde::Deserialize, Schema)]
struct Event {
    id: u64,
}

/// A sender with signatures that stay valid for a day.
struct Slow;

impl WebhookSender for Slow {
    const NAME: &'static str = "slow";
    const FORMAT: WebhookFormat = WebhookFormat::StandardWebhooks;
    const TOLERANCE: Duration = Duration::from_secs(86_400);
}

/// A signature that the program reads itself.
struct ByHand;

impl FromRequest for ByHand {
    async fn from_request(_: &mut Request) -> Result<Self, ApiError> {
        Ok(Self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("X-Signature", true);
    }
}

/// A signature that the program verifies and declares.
struct Declared;

impl FromRequest for Declared {
    async fn from_request(_: &mut Request) -> Result<Self, ApiError> {
        Ok(Self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.verifies_signature(SignatureInfo::new("bank", "own"));
    }
}

async fn read(Body(event): Body<Event>) -> String {
    event.id.to_string()
}

fn router() -> Router {
    let tree = routes! {
        "webhooks/signed": { POST: async |it: Signed<Event, Stripe>| it.body.id.to_string() },
        "webhooks/slow": { POST: async |it: Signed<Event, Slow>| it.body.id.to_string() },
        "webhooks/declared": { POST: async |_: Declared| "" },
        "webhooks/open": { POST: { read, public: "the sender signs" }, GET: { async || "", public: "a test" } },
        "gitHook": { POST: { read, public: "the sender signs" } },
        "events": { POST: { async |_: ByHand| "", public: "the sender signs" } },
        "webhooks": { middleware: [signed_in()], POST: read },
        "books": { POST: { read, public: "a test" } },
        "inherits": {
            auth: Auth::secret(secret()),
            POST: { async |it: Signed<Event, Stripe>| it.body.id.to_string(), public: "the sender signs" },
        },
    };
    create_router(tree, RouterOptions::new())
        .state(WebhookKeys::<Stripe>::new("whsec_0123456789abcdef").unwrap())
        .state(WebhookKeys::<Slow>::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap())
}

#[test]
fn a_webhook_must_verify_its_signature() {
    let map = map_of(router());
    let found = ["POST /webhooks/slow", "POST /webhooks/open", "POST /gitHook", "POST /events"];
    check_map("webhooks-signed", &map, &found);
    let texts = texts("webhooks-signed", &map);
    assert!(texts[0].contains("is valid for 1440 minutes"), "{texts:?}");
    assert!(texts[1].contains("because its name has \"webhooks\""), "{texts:?}");
    assert!(texts[3].contains("because it reads the header \"X-Signature\""), "{texts:?}");
}

#[test]
fn a_signed_route_needs_no_reason_to_be_public() {
    let map = map_of(router());
    check_map("access-declared", &map, &[]);
    let policy = Policy::recommended().without("access-declared", "a test");
    let found = policy.check(&map).into_iter().filter(|it| it.rule == "mutating-needs-user");
    assert_eq!(found.count(), 0);
    let listed = Policy::new().public_routes([
        "POST /webhooks/open",
        "GET /webhooks/open",
        "POST /gitHook",
        "POST /events",
        "POST /books",
        "POST /webhooks/signed",
    ]);
    let findings = listed.check(&map);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let text = "`public_routes` lists \"POST /webhooks/signed\", which requires a signature";
    assert!(findings[0].to_string().contains(text), "{findings:#?}");
}

#[test]
fn the_audit_names_the_sender() {
    let map = map_of(router());
    let audit = Policy::recommended().audit(&map).to_string();
    let line = audit.lines().find(|line| line.starts_with("POST /webhooks/signed"));
    assert!(line.is_some_and(|line| line.contains("the sender stripe")), "{audit}");
    assert!(!audit.contains("POST /webhooks/signed: "), "{audit}");
    let line = map.to_string();
    let line = line.lines().find(|line| line.contains("/webhooks/signed"));
    assert!(line.is_some_and(|line| line.contains("signed ")));
}

#[test]
fn two_signatures_are_a_configuration_error() {
    let tree = routes! {
        "x": { POST: async |_: Declared, it: Signed<Event, Stripe>| it.body.id.to_string() },
    };
    let keys = WebhookKeys::<Stripe>::new("whsec_0123456789abcdef").unwrap();
    let error = create_router(tree, RouterOptions::new()).state(keys).build().unwrap_err();
    assert!(error.to_string().contains("two parts verify a signature"), "{error}");
}
