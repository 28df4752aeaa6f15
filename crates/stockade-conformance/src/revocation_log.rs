//! [`revocation_log`]: checks the guarantees of a revocation log.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stockade_auth::{
    Claims, RevocationStatus as Status, Revocations, Secret, TokenIssuer, TokenVerifier, UnixClock,
};
use tokio::task::JoinSet;

use super::{equal, succeeds, unique_text, until};
use crate::fail::{fail, or_fail};

/// Checks the guarantees of a [`RevocationLog`](stockade_auth::RevocationLog):
///
/// - All processes reject exactly the tokens that one process revoked, and
///   accept others, such as a token of another issuer.
/// - A new process knows all entries before it accepts tokens.
/// - An entry arrives with its kind and its times in milliseconds, however
///   often it is published.
///
/// Each call of `make` creates the revocations of another process. They share
/// one log, through [`Revocations::shared`] or a function such as
/// `Redis::revocations`.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use stockade::auth::{
///     PublishFuture, Revocation, RevocationFeed, RevocationLog, Revocations,
/// };
/// use stockade::testing::conformance;
///
/// /// A log for several handles of one process.
/// #[derive(Default)]
/// struct Shared(Mutex<Vec<RevocationFeed>>);
///
/// impl RevocationLog for Shared {
///     fn attach(&self, feed: RevocationFeed) {
///         let mut feeds = self.0.lock().unwrap();
///         // A later feed receives the entries of the others.
///         feed.apply(feeds.iter().filter_map(RevocationFeed::entries).flatten());
///         feed.note_contact();
///         feeds.push(feed);
///     }
///
///     fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
///         self.0.lock().unwrap().retain(|feed| feed.apply([entry]));
///         Box::pin(async { Ok(()) })
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let log = Arc::new(Shared::default());
/// conformance::revocation_log(|| Revocations::shared(log.clone())).await;
/// # }
/// ```
///
/// # Panics
/// Panics if the log violates a guarantee, fails, or does not distribute an
/// entry within a minute. Requires a tokio runtime with timers.
pub async fn revocation_log(make: impl Fn() -> Revocations) {
    let tokens = Tokens { secret: or_fail(Secret::new(unique_text())) };
    let nodes = [make(), make(), make()];
    for node in &nodes {
        reports("a process is connected to the log", node, &tokens.next(), Status::NotRevoked)
            .await;
    }
    let check = Check { nodes, tokens };
    check.all_processes_reject_a_revoked_token().await;
    check.duplicate_entries_have_no_effect().await;
    check.all_processes_reject_older_tokens_of_a_subject().await;
    check.times_keep_their_milliseconds().await;
    check.tokens_of_other_issuers_are_accepted().await;
    check.entries_expire().await;
    check.concurrent_revocations_reach_all_processes().await;
    check.a_new_process_reads_all_entries(&make).await;
    check.revocations_outlive_their_process(make()).await;
}

/// Processes that share one log.
struct Check {
    nodes: [Revocations; 3],
    tokens: Tokens,
}

/// Creates verified tokens.
struct Tokens {
    secret: Secret,
}

impl Tokens {
    /// Creates a token with these claims, issued at a time.
    fn with(&self, claims: Value, at: SystemTime) -> Claims {
        let millis = or_fail(at.duration_since(UNIX_EPOCH)).as_millis();
        let clock = UnixClock::at_millis(or_fail(millis.try_into()));
        let issuer = TokenIssuer::new().clock(clock.clone());
        let token = or_fail(issuer.issue(claims, "1h", &self.secret));
        or_fail(TokenVerifier::new().clock(clock).verify(&token, &self.secret))
    }

    /// Creates a unique token.
    fn next(&self) -> Claims {
        self.with(json!({ "jti": unique_text(), "sub": unique_text() }), SystemTime::now())
    }
}

/// Waits until a process reports this status for a token.
async fn reports(promise: &str, node: &Revocations, token: &Claims, expected: Status) {
    if !until(async || node.check(token) == expected).await {
        fail(format!("{promise}: found {:?}, expected {expected:?}", node.check(token)));
    }
}

/// Fails unless a process reports this status for a token now.
fn reports_now(promise: &str, node: &Revocations, token: &Claims, expected: Status) {
    equal(promise, &node.check(token), &expected);
}

impl Check {
    async fn all_report(&self, promise: &str, token: &Claims, expected: Status) {
        for node in &self.nodes {
            reports(promise, node, token, expected).await;
        }
    }

    async fn all_processes_reject_a_revoked_token(&self) {
        for round in 0..20 {
            let (token, node) = (self.tokens.next(), &self.nodes[round % 3]);
            succeeds("a token is revoked", node.revoke(&token).await);
            reports_now("the same process rejects it immediately", node, &token, Status::Revoked);
            self.all_report(
                "all processes reject a token that one process revokes",
                &token,
                Status::Revoked,
            )
            .await;
        }
        for node in &self.nodes {
            reports_now("another token is accepted", node, &self.tokens.next(), Status::NotRevoked);
        }
    }

    async fn duplicate_entries_have_no_effect(&self) {
        let token = self.tokens.next();
        for node in self.nodes.iter().chain(&self.nodes) {
            succeeds("a token is revoked again, in each process", node.revoke(&token).await);
        }
        let promise = "all processes reject a token that each process revokes";
        self.all_report(promise, &token, Status::Revoked).await;
    }

    async fn all_processes_reject_older_tokens_of_a_subject(&self) {
        let (subject, other) = (unique_text(), unique_text());
        let now = SystemTime::now();
        let old = self.tokens.with(json!({ "sub": subject, "jti": unique_text() }), now);
        let bystander = self.tokens.with(json!({ "sub": other }), now);
        // A token id is not a subject.
        let named = self.tokens.with(json!({ "sub": other, "jti": subject }), now);
        let later = now + Duration::from_secs(60);
        let new = self.tokens.with(json!({ "sub": subject }), later);

        let before = now + Duration::from_secs(1);
        succeeds("a subject is revoked", self.nodes[0].revoke_before(None, &subject, before).await);
        self.all_report(
            "all processes reject a subject that one process revokes",
            &old,
            Status::Revoked,
        )
        .await;
        for node in &self.nodes {
            let accepted = Status::NotRevoked;
            reports_now("the next token of a revoked subject is accepted", node, &new, accepted);
            reports_now("another subject is accepted", node, &bystander, accepted);
            reports_now(
                "a token with the id of a revoked subject is accepted",
                node,
                &named,
                accepted,
            );
        }
    }

    async fn times_keep_their_milliseconds(&self) {
        let subject = unique_text();
        // All within one second.
        let seconds = or_fail(SystemTime::now().duration_since(UNIX_EPOCH)).as_secs();
        let at = |millis| UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis);
        let token =
            |millis| self.tokens.with(json!({ "sub": subject, "jti": unique_text() }), at(millis));
        let (old, new) = (token(299), token(301));
        let revoked = self.nodes[1].revoke_before(None, &subject, at(300)).await;
        succeeds("a subject is revoked within a second", revoked);
        let promise = "all processes reject a token that is older by a millisecond";
        self.all_report(promise, &old, Status::Revoked).await;
        let promise = "all processes accept a token that is newer by a millisecond";
        self.all_report(promise, &new, Status::NotRevoked).await;
    }

    async fn tokens_of_other_issuers_are_accepted(&self) {
        let (id, subject) = (unique_text(), unique_text());
        let now = SystemTime::now();
        let token = |issuer: Option<&str>, id: &str| {
            let mut claims = json!({ "jti": id, "sub": subject });
            if let (Some(issuer), Some(claims)) = (issuer, claims.as_object_mut()) {
                claims.insert("iss".to_owned(), issuer.into());
            }
            self.tokens.with(claims, now)
        };
        let issuers = [None, Some("one"), Some("two")];
        let [first, second] = [&id, &unique_text()].map(|id| issuers.map(|it| token(it, id)));
        succeeds("a token of an issuer is revoked", self.nodes[1].revoke(&first[1]).await);
        let promise = "all processes reject a revoked token of one issuer";
        self.all_report(promise, &first[1], Status::Revoked).await;
        let promise = "a token of another issuer with the same id is accepted";
        self.all_report(promise, &first[0], Status::NotRevoked).await;
        self.all_report(promise, &first[2], Status::NotRevoked).await;

        let before = now + Duration::from_secs(1);
        let revoked = self.nodes[2].revoke_before(Some("two"), &subject, before).await;
        succeeds("a subject of an issuer is revoked", revoked);
        let promise = "all processes reject a revoked subject of one issuer";
        self.all_report(promise, &second[2], Status::Revoked).await;
        let promise = "the same subject of another issuer is accepted";
        self.all_report(promise, &second[0], Status::NotRevoked).await;
        self.all_report(promise, &second[1], Status::NotRevoked).await;
    }

    async fn entries_expire(&self) {
        let (short, marker) = (self.tokens.next(), self.tokens.next());
        let [here, others @ ..] = &self.nodes;
        succeeds("a token is revoked", here.revoke_for(&short, Duration::from_secs(2)).await);
        succeeds("a token is revoked", here.revoke(&marker).await);
        for node in others {
            reports(
                "all processes reject a token that one process revokes",
                node,
                &marker,
                Status::Revoked,
            )
            .await;
        }
        self.all_report("an entry expires in all processes", &short, Status::NotRevoked).await;
    }

    async fn concurrent_revocations_reach_all_processes(&self) {
        let mut revoking = JoinSet::new();
        for client in 0..30 {
            let node = self.nodes[client % 3].clone();
            let tokens: Vec<Claims> = (0..20).map(|_| self.tokens.next()).collect();
            revoking.spawn(async move {
                for token in &tokens {
                    succeeds("one of many concurrent revocations", node.revoke(token).await);
                }
                tokens
            });
        }
        while let Some(tokens) = revoking.join_next().await {
            for token in or_fail(tokens) {
                let promise = "each of many concurrent revocations reaches all processes";
                self.all_report(promise, &token, Status::Revoked).await;
            }
        }
        let counts = || self.nodes.iter().map(Revocations::count).collect::<BTreeSet<_>>();
        if !until(async || counts().len() == 1).await {
            fail(format!("all processes have the same number of entries: {:?}", counts()));
        }
    }

    async fn a_new_process_reads_all_entries(&self, make: &impl Fn() -> Revocations) {
        let promise = "a process that starts later reads all entries before it responds";
        let tokens = [self.tokens.next(), self.tokens.next()];
        for token in &tokens {
            succeeds("a token is revoked", self.nodes[1].revoke(token).await);
        }
        let new = make();
        for token in &tokens {
            if !until(async || new.check(token) != Status::Unknown).await {
                fail("a process must be connected to the log");
            }
            reports_now(promise, &new, token, Status::Revoked);
        }
        let token = self.tokens.next();
        reports_now("another token is accepted", &new, &token, Status::NotRevoked);
        succeeds("a token is revoked", new.revoke(&token).await);
        let promise = "all processes reject a token that a new process revokes";
        self.all_report(promise, &token, Status::Revoked).await;
    }

    async fn revocations_outlive_their_process(&self, goes: Revocations) {
        let promise = "revocations of a process remain when it stops";
        let token = self.tokens.next();
        reports("a process is connected to the log", &goes, &token, Status::NotRevoked).await;
        succeeds("a token is revoked", goes.revoke(&token).await);
        drop(goes);
        self.all_report(promise, &token, Status::Revoked).await;
        let next = self.tokens.next();
        succeeds("a token is revoked after a process stopped", self.nodes[2].revoke(&next).await);
        self.all_report("a token is revoked after a process stopped", &next, Status::Revoked).await;
    }
}
