//! Webhooks that lose a part of their signature check, one at a time.

use std::marker::PhantomData;
use std::time::{Duration, SystemTime};

use stockade::auth::UnixClock;
use stockade::auth::webhooks::{
    GitHub, StandardWebhooks, Stripe, WebhookFormat, WebhookKeys, WebhookSender,
};
use stockade::description::SignatureInfo;
use stockade::middleware::Signed;
use stockade::openapi::lock::Lock;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::testing::{AttackFamily, Hardening, HardeningReport, TestClient};
use stockade::{FromRequest, RouteDescription};

use crate::block_on;

#[derive(serde::Deserialize, Schema)]
struct Event {
    #[schema(max_length = 100)]
    id: String,
    #[schema(minimum = 0, maximum = 1_000)]
    amount: u32,
}

/// The time of the program.
const NOW: u64 = 1_700_000_000;

/// A secret that is valid for each format.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn keys<S: WebhookSender>() -> WebhookKeys<S> {
    WebhookKeys::new(SECRET).unwrap().clock(UnixClock::at(NOW))
}

async fn unsigned(Body(event): Body<Event>) -> String {
    format!("{} {}", event.id, event.amount)
}

async fn signed<S: WebhookSender>(Signed { body, .. }: Signed<Event, S>) -> String {
    format!("{} {}", body.id, body.amount)
}

fn of<S: WebhookSender>() -> Router {
    let api = routes! { "webhooks": { POST: signed::<S> } };
    create_router(api, RouterOptions::new()).state(keys::<S>())
}

/// Stripe, with signatures that are valid for a day.
struct Late;

impl WebhookSender for Late {
    const NAME: &'static str = "stripe";
    const FORMAT: WebhookFormat = WebhookFormat::Stripe;
    const TOLERANCE: Duration = Duration::from_secs(86_400);
}

/// A check of `Stripe-Signature` that the program writes itself.
trait Check: Send + Sync + 'static {
    /// Returns true if the handler may run.
    fn accepts(header: Option<&str>, body: &[u8]) -> bool;
}

/// The body of a request that passes a check.
struct ByHand<C>(Event, PhantomData<fn(C)>);

impl<C: Check> FromRequest for ByHand<C> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let body = req.bytes().await?;
        let header = req.headers().get("stripe-signature");
        let header = header.map(|value| value.to_str().unwrap_or_default());
        if !C::accepts(header, &body) {
            let error = ApiError::new(401, "Not signed");
            return Err(error.with_header("www-authenticate", "Webhook"));
        }
        let Body(event) = Body::from_request(req).await?;
        Ok(Self(event, PhantomData))
    }

    fn describe(doc: &mut RouteDescription) {
        let signature = SignatureInfo::new("stripe", "stripe");
        doc.verifies_signature(signature.max_age(Duration::from_secs(300)));
        doc.reads_header("Stripe-Signature", true);
        doc.may_respond(401, "Not signed");
        Body::<Event>::describe(doc);
    }
}

/// Returns the time in a header, and the header that the sender would send at
/// this time.
fn expected(header: &str, body: &[u8]) -> Option<(u64, String)> {
    let time = header.strip_prefix("t=")?.split(',').next()?.parse().ok()?;
    let (_, expected) = keys::<Stripe>().sign_at(time, "", body).remove(0);
    Some((time, expected))
}

fn is_recent(time: u64) -> bool {
    time.abs_diff(NOW) <= 300
}

struct Whole;

impl Check for Whole {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        let Some(header) = header else { return false };
        expected(header, body).is_some_and(|(time, whole)| is_recent(time) && whole == header)
    }
}

/// Any signature.
struct Any;

impl Check for Any {
    fn accepts(header: Option<&str>, _: &[u8]) -> bool {
        header.is_some_and(|header| header.contains("v1="))
    }
}

/// A signature, or none.
struct IfPresent;

impl Check for IfPresent {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        header.is_none() || Whole::accepts(header, body)
    }
}

/// A signature, or an empty one.
struct Unless;

impl Check for Unless {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        header == Some("") || Whole::accepts(header, body)
    }
}

/// A signature of any time.
struct Timeless;

impl Check for Timeless {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        let Some(header) = header else { return false };
        expected(header, body).is_some_and(|(_, whole)| whole == header)
    }
}

/// A signature that is not too old, but may be of the future.
struct Future;

impl Check for Future {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        let Some(header) = header else { return false };
        let whole = expected(header, body);
        whole.is_some_and(|(time, whole)| time + 300 >= NOW && whole == header)
    }
}

/// The beginning of a signature.
struct Prefix;

impl Check for Prefix {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        let Some(header) = header else { return false };
        let whole = expected(header, body);
        let is_prefix = |whole: &str| header.len() > 40 && whole.starts_with(header);
        whole.is_some_and(|(time, whole)| is_recent(time) && is_prefix(&whole))
    }
}

/// A signature over the parsed body instead of the raw bytes.
struct Parsed;

impl Check for Parsed {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        let trimmed = std::str::from_utf8(body).unwrap_or_default().trim();
        Whole::accepts(header, trimmed.as_bytes()) || Whole::accepts(header, &[body, b" "].concat())
    }
}

/// A signature in any version.
struct Versionless;

impl Check for Versionless {
    fn accepts(header: Option<&str>, body: &[u8]) -> bool {
        Whole::accepts(header.map(|it| it.replace("v0=", "v1=")).as_deref(), body)
    }
}

/// Sends all attacks on credentials and signatures to a route with this check.
fn attacked<C: Check>() -> HardeningReport {
    let handler = async |ByHand(event, _): ByHand<C>| format!("{} {}", event.id, event.amount);
    let api = routes! { "webhooks": { POST: handler } };
    let router = create_router(api, RouterOptions::new());
    block_on(Hardening::new(router).webhook_keys(keys::<Stripe>()).run())
}

/// Removed checks that hardening notices: the attack that gets through.
#[test]
fn hardening_finds_removed_checks() {
    #[track_caller]
    fn check<C: Check>(attack: &str) {
        let report = attacked::<C>();
        let found: Vec<&str> = report.failures.iter().map(|it| it.attack.as_str()).collect();
        assert!(found.contains(&attack), "{found:?} {report}");
        let text = report.to_string();
        let place = format!("on POST /webhooks ({}:", file!());
        assert!(text.contains(&format!("FAILED credentials: {attack}, {place}")), "{text}");
    }
    attacked::<Whole>().assert();
    check::<Any>("a signature with another secret");
    check::<IfPresent>("no signature");
    check::<Unless>("an empty signature header");
    check::<Timeless>("an old signature");
    check::<Future>("a signature of the future");
    check::<Prefix>("a truncated signature");
    check::<Parsed>("a signature over another body");
    check::<Versionless>("a valid signature in an unsupported version");
}

#[test]
fn the_extractor_rejects_all_attacks() {
    #[track_caller]
    fn check<S: WebhookSender>(passed: usize) {
        let report = block_on(Hardening::new(of::<S>()).webhook_keys(keys::<S>()).run());
        report.assert();
        let count = report.count(AttackFamily::Credentials);
        assert_eq!((count.passed, count.not_attacked), (passed, 0), "{report}");
    }
    check::<GitHub>(8);
    check::<Stripe>(11);
    check::<StandardWebhooks>(12);
}

#[test]
fn unknown_and_wrong_keys_are_not_attacked() {
    let report = block_on(Hardening::new(of::<Stripe>()).run());
    report.assert();
    assert_eq!(report.count(AttackFamily::Credentials).passed, 5, "{report}");
    assert!(report.to_string().contains("the secret of stripe is unknown"), "{report}");
    let other = WebhookKeys::<Stripe>::new("another secret of stripe").unwrap();
    let other = other.clock(UnixClock::at(NOW));
    let report = block_on(Hardening::new(of::<Stripe>()).webhook_keys(other).run());
    assert!(report.to_string().contains("do not match the keys of the route"), "{report}");
}

#[test]
fn signed_requests_reach_the_handler() {
    #[track_caller]
    fn check<S: WebhookSender>() {
        let body = r#"{"id":"evt_1","amount":7}"#;
        let client = TestClient::new(of::<S>()).with_contract();
        let mut request = client.post("/webhooks").header("content-type", "application/json");
        for (name, value) in keys::<S>().sign("msg_1", body.as_bytes()) {
            request = request.header(name, value.as_str());
        }
        block_on(async { request.body(body).await }).assert_text("evt_1 7");
        let unsigned = block_on(async { client.post("/webhooks").body(body).await });
        unsigned.assert_status(401).assert_header("www-authenticate", &challenge(S::FORMAT));
    }
    check::<GitHub>();
    check::<Stripe>();
    check::<StandardWebhooks>();
}

fn challenge(format: WebhookFormat) -> String {
    format!("Webhook header=\"{}\"", format.headers().last().unwrap())
}

/// Signatures that the policy of the router misses.
#[test]
fn the_policy_finds_webhooks_without_a_signature() {
    #[track_caller]
    fn check(api: RouteTree, rule: &str, text: &str) {
        let router = create_router(api, RouterOptions::new()).state(keys::<Late>());
        let error = router.policy(Policy::recommended()).build().unwrap_err().to_string();
        assert!(error.contains("POST /webhooks: "), "{error}");
        assert!(error.contains(&format!("[{rule}]")) && error.contains(text), "{error}");
        assert!(error.contains(&format!("({}:", file!())), "{error}");
    }
    assert!(of::<Stripe>().policy(Policy::recommended()).build().is_ok());
    let without = "it does not require authentication, and does not declare a reason";
    check(routes! { "webhooks": { POST: unsigned } }, "access-declared", without);
    let open = || routes! { "webhooks": { POST: { unsigned, public: "the sender signs it" } } };
    check(open(), "webhooks-signed", "but it does not verify a signature: anybody can send it");
    let late = || routes! { "webhooks": { POST: signed::<Late> } };
    check(late(), "webhooks-signed", "is valid for 1440 minutes");
}

/// Changes of a signature that the lock reports as weakening.
#[test]
fn the_lock_reports_weaker_signatures() {
    fn lock(router: Router) -> Lock {
        Lock::of(&router.build().unwrap().route_map()).unwrap()
    }
    #[track_caller]
    fn check(after: Router, rule: &str, text: &str) {
        let changes = lock(of::<Stripe>()).changes_to(&lock(after), SystemTime::UNIX_EPOCH);
        assert!(changes.is_weakening(), "{changes}");
        let found = changes.iter().find(|change| change.rule.id == rule);
        let found = found.unwrap_or_else(|| panic!("{changes}"));
        assert_eq!(found.routes, ["POST /webhooks"]);
        assert!(found.to_string().contains(text), "{found}");
    }
    let api = routes! { "webhooks": { POST: { unsigned, public: "the sender signs it" } } };
    let open = create_router(api, RouterOptions::new());
    check(open, "signature-not-required", "requests without a valid signature are accepted");
    check(of::<Late>(), "signature-age-raised", "signature/max_age_ms: 300000 -> 86400000");
    check(of::<GitHub>(), "signature-changed", "signature/sender: \"stripe\" -> \"github\"");
}

/// Mistakes that stop the build.
#[test]
fn the_build_rejects_missing_and_short_secrets() {
    let api = routes! { "webhooks": { POST: signed::<Stripe> } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    assert!(error.contains("POST /webhooks") && error.contains("WebhookKeys"), "{error}");
    assert!(error.contains(file!()), "{error}");
    for secret in ["", "too short"] {
        let error = WebhookKeys::<Stripe>::new(secret).unwrap_err().to_string();
        assert!(error.contains("can be guessed") && error.contains(file!()), "{error}");
    }
}
