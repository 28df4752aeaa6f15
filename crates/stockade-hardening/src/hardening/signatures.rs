//! Missing, forged and recorded signatures of webhooks.

use std::sync::Arc;

use http::StatusCode;
use stockade_auth::UnixClock;
use stockade_auth::webhooks::{WebhookFormat, WebhookKeys, WebhookSender};
use stockade_map::SignatureInfo;

use super::AttackFamily;
use super::attack_target::{AttackTarget, json_of};
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::shot::{Shot, ShotBody};

const RULE: Rule = Rule {
    family: AttackFamily::Credentials,
    text: "a webhook responds with 401 unless its signature is valid, recent and over this body, \
           and its handler does not run (OWASP API2)",
    mend: "take `Signed<T, S>`; in your own extractor, compare the whole HMAC-SHA256 of time and \
           raw body, and reject old times",
};

/// The keys of a sender, without its type.
pub(super) struct Signer {
    pub(super) sender: &'static str,
    now: Box<dyn Fn() -> Option<u64> + Send + Sync>,
    sign: Box<Sign>,
}

/// Signs a body at a time in seconds since 1970.
type Sign = dyn Fn(u64, &[u8]) -> SignatureHeaders + Send + Sync;

/// The headers of a signature.
pub(super) type SignatureHeaders = Vec<(&'static str, String)>;

impl Signer {
    pub(super) fn new<S: WebhookSender>(keys: WebhookKeys<S>) -> Self {
        let clock = keys.clone();
        Self {
            sender: S::NAME,
            now: Box::new(move || clock.now()),
            sign: Box::new(move |seconds, body| keys.sign_at(seconds, ID, body)),
        }
    }

    /// Returns the headers of a valid request.
    pub(super) fn headers(&self, body: &[u8]) -> SignatureHeaders {
        (self.sign)((self.now)().unwrap_or_default(), body)
    }
}

/// A route with signatures, and a request for it without one.
struct SignedTarget<'t> {
    target: &'t AttackTarget,
    signature: &'t SignatureInfo,
    format: WebhookFormat,
    shot: Shot,
    body: Vec<u8>,
}

/// Sends wrong signatures to each route that verifies them.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        let Some(signature) = &target.route.signature else { continue };
        let shot = runner.shot_let_through(RULE.family, target, "all signatures");
        let Some(shot) = shot else { continue };
        runner.attack(&RULE, Some(target), "no signature", shot.clone(), is_refused).await;
        let Some(format) = WebhookFormat::by_name(&signature.format) else {
            let reason = format!("the format {:?} is unknown", signature.format);
            runner.leave(RULE.family, Some(target), "forged signatures", reason);
            continue;
        };
        let body = match &shot.body {
            ShotBody::Whole(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        let signed = SignedTarget { target, signature, format, shot, body };
        attack_without_keys(runner, &signed).await;
        attack_with_keys(runner, &signed).await;
    }
}

/// Sends signatures that anybody can make.
async fn attack_without_keys(runner: &mut Runner<'_>, signed: &SignedTarget<'_>) {
    let known = signer(runner, signed).and_then(|signer| (signer.now)());
    let now = known.or_else(|| UnixClock::default().now()).unwrap_or_default();
    let headers = signed.format.sign(OTHER_KEY, now, ID, &signed.body);
    let (name, value) = headers.last().cloned().unwrap_or_default();
    let forged = [
        ("an empty signature header", String::new()),
        ("a header without a signature", without_tag(signed.format, &value)),
        ("a signature in an unsupported version", in_other_version(signed.format, &value)),
        ("a signature with another secret", value),
    ];
    for (attack, value) in forged {
        let shot = with(&signed.shot, &headers).set(name, value);
        runner.attack(&RULE, Some(signed.target), attack, shot, is_refused).await;
    }
}

/// Sends signatures that only the sender can make, and that do not fit the
/// request.
async fn attack_with_keys(runner: &mut Runner<'_>, signed: &SignedTarget<'_>) {
    let target = signed.target;
    let Some(signer) = signer(runner, signed) else {
        let reason = format!(
            "the secret of {} is unknown: pass its keys to `Hardening::webhook_keys`",
            signed.signature.sender
        );
        runner.leave(RULE.family, Some(target), "recorded signatures", reason);
        return;
    };
    let Some(now) = (signer.now)() else { return };
    if !keys_match(runner, signed, signer, now).await {
        let reason = "the keys of `Hardening::webhook_keys` do not match the keys of the route";
        runner.leave(RULE.family, Some(target), "recorded signatures", reason);
        return;
    }
    for (attack, headers) in recorded(signed, signer, now) {
        let shot = with(&signed.shot, &headers);
        runner.attack(&RULE, Some(target), attack, shot, is_refused).await;
    }
}

/// Returns valid signatures of other requests.
fn recorded(
    signed: &SignedTarget<'_>,
    signer: &Signer,
    now: u64,
) -> Vec<(&'static str, SignatureHeaders)> {
    let sign = &signer.sign;
    let other = [signed.body.as_slice(), b" "].concat();
    let valid = sign(now, &signed.body);
    let mut all = vec![
        ("a signature over another body", sign(now, &other)),
        ("a truncated signature", truncated(signed.format, valid.clone())),
        ("a valid signature in an unsupported version", unsupported(signed.format, valid.clone())),
    ];
    if let Some(max_age) = signed.signature.max_age_ms {
        let far = max_age / 1_000 + 60;
        let past = now.saturating_sub(far);
        all.push(("an old signature", sign(past, &signed.body)));
        let future = now.saturating_add(far);
        all.push(("a signature of the future", sign(future, &signed.body)));
        let text = (past.to_string(), now.to_string());
        let renewed = sign(past, &signed.body).into_iter();
        let renewed = renewed.map(|(name, value)| (name, value.replace(&text.0, &text.1)));
        all.push(("an old signature with the current time", renewed.collect()));
    }
    if signed.format == WebhookFormat::StandardWebhooks {
        let changed = valid.into_iter().map(|(name, value)| (name, value.replace(ID, "msg_other")));
        all.push(("a signature of another message id", changed.collect()));
    }
    all
}

/// Returns true unless a signed, malformed body is rejected for its signature.
/// Otherwise, wrong keys would make every attack pass.
async fn keys_match(
    runner: &mut Runner<'_>,
    signed: &SignedTarget<'_>,
    signer: &Signer,
    now: u64,
) -> bool {
    if json_of(&signed.target.route).is_none() || signed.target.takes_bytes() {
        return true;
    }
    let malformed = signed.shot.clone().body("application/json", "{");
    let shot = with(&malformed, &(signer.sign)(now, b"{"));
    let exchange = runner.send(Some(signed.target), &shot).await;
    exchange.is_ok_and(|exchange| exchange.status != StatusCode::UNAUTHORIZED)
}

/// Returns the keys of the sender, if the test has set them.
fn signer<'h>(runner: &Runner<'h>, signed: &SignedTarget<'_>) -> Option<&'h Signer> {
    let mut signers = runner.plan().signers.iter();
    signers.find(|signer| signer.sender == signed.signature.sender)
}

fn with(shot: &Shot, headers: &[(&'static str, String)]) -> Shot {
    headers.iter().fold(shot.clone(), |shot, (name, value)| shot.set(name, value))
}

/// Removes the signature from the value of its header.
fn without_tag(format: WebhookFormat, value: &str) -> String {
    let end = match format {
        WebhookFormat::StandardWebhooks => value.find(',').map(|comma| comma + 1),
        _ => value.rfind('=').map(|equals| equals + 1),
    };
    value.get(..end.unwrap_or_default()).unwrap_or_default().to_owned()
}

/// Changes the version of a signature to one that is not secure.
fn in_other_version(format: WebhookFormat, value: &str) -> String {
    match format {
        WebhookFormat::GitHub => value.replacen("sha256=", "sha1=", 1),
        _ => value.replacen("v1", "v0", 1),
    }
}

/// Changes the version of a valid signature.
fn unsupported(format: WebhookFormat, mut headers: SignatureHeaders) -> SignatureHeaders {
    if let Some((_, value)) = headers.last_mut() {
        *value = in_other_version(format, value);
    }
    headers
}

/// Removes the last characters of a signature, and keeps its encoding valid.
fn truncated(format: WebhookFormat, mut headers: SignatureHeaders) -> SignatureHeaders {
    if let Some((_, value)) = headers.last_mut() {
        let removed = match format {
            // 44 characters with a final `=`.
            WebhookFormat::StandardWebhooks => 4,
            _ => 2,
        };
        value.truncate(value.len().saturating_sub(removed));
    }
    headers
}

fn is_refused(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Verdict::Refused,
        status if status.is_client_error() => Verdict::Unproven(format!(
            "the response was {}, which may have another reason: respond with 401",
            status.as_u16()
        )),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// The message id of Standard Webhooks.
const ID: &str = "msg_hardening";

const OTHER_KEY: &[u8] = b"another secret of thirty-two bytes";
