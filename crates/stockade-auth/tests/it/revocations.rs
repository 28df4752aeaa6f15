//! Tokens that are rejected before they expire.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stockade_auth::{
    Claims, PublishFuture, QueryFuture, Revocation, RevocationFeed, RevocationKey, RevocationLog,
    RevocationStatus as Status, Revocations, RevokeError, StalePolicy, TokenIssuer, UnixClock,
};

use crate::support::{HEADER, NOW, forge, secret, verifier};

/// Returns the result of a future that is ready, because memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let outcome = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(value) = outcome else { unreachable!("memory does not wait") };
    value
}

fn claims(payload: &Value) -> Claims {
    verifier().verify(&forge(HEADER, payload.to_string()), &secret()).unwrap()
}

fn at(seconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs_f64(seconds)
}

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicU64>);

impl Hands {
    fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }

    fn clock(&self) -> UnixClock {
        let hands = Arc::clone(&self.0);
        UnixClock::new(move || hands.load(Ordering::Relaxed))
    }
}

fn in_memory() -> (Revocations, Hands) {
    let hands = Hands::default();
    hands.set(NOW);
    (Revocations::in_memory().clock(hands.clock()), hands)
}

#[test]
fn a_token_is_revoked_by_its_id_or_by_its_payload() {
    let (revocations, _) = in_memory();
    let exp = NOW + 60;
    let named = claims(&json!({ "jti": "a", "exp": exp, "iat": NOW }));
    let renamed = claims(&json!({ "jti": "a", "exp": exp + 1, "iat": NOW }));
    let other = claims(&json!({ "jti": "b", "exp": exp, "iat": NOW }));
    now(revocations.revoke(&named)).unwrap();
    assert_eq!(revocations.check(&named), Status::Revoked);
    assert_eq!(revocations.check(&renamed), Status::Revoked);
    assert_eq!(revocations.check(&other), Status::NotRevoked);

    let unnamed = claims(&json!({ "sub": "ada", "exp": exp }));
    let twin = claims(&json!({ "sub": "ada", "exp": exp + 1 }));
    // An id that is not text is ignored.
    let strange = claims(&json!({ "jti": 7, "exp": exp }));
    for (token, others) in [(&unnamed, [&twin, &strange]), (&strange, [&twin, &other])] {
        now(revocations.revoke(token)).unwrap();
        assert_eq!(revocations.check(token), Status::Revoked);
        assert!(others.iter().all(|other| revocations.check(other) == Status::NotRevoked));
    }
    let clone = revocations.clone();
    assert_eq!((clone.check(&named), clone.check(&other)), (Status::Revoked, Status::NotRevoked));
    assert_eq!(revocations.count(), 3);
}

#[test]
fn an_id_is_revoked_without_its_token() {
    let (revocations, _) = in_memory();
    now(revocations.revoke_id(None, "a", at(NOW as f64 + 60.0))).unwrap();
    let token = claims(&json!({ "\u{6a}ti": "a", "exp": NOW + 60 }));
    assert_eq!(revocations.check(&token), Status::Revoked);
}

#[test]
fn the_tokens_of_another_issuer_stay_valid() {
    let (revocations, _) = in_memory();
    let issuers = [None, Some("a"), Some("b"), Some("")];
    let token = |issuer: Option<&str>, id: &str| {
        let mut payload =
            json!({ "jti": id, "sub": "ada", "iat": NOW - 10, "exp": NOW + 60, "iss": issuer });
        if issuer.is_none() {
            payload.as_object_mut().unwrap().remove("iss");
        }
        claims(&payload)
    };
    let revoked_of =
        |id: &str| issuers.map(|issuer| revocations.check(&token(issuer, id)) == Status::Revoked);
    now(revocations.revoke(&token(Some("a"), "1"))).unwrap();
    assert_eq!(revoked_of("1"), [false, true, false, false]);
    now(revocations.revoke(&token(None, "2"))).unwrap();
    assert_eq!(revoked_of("2"), [true, false, false, false]);
    now(revocations.revoke_id(Some("b"), "3", at(NOW as f64))).unwrap();
    assert_eq!(revoked_of("3"), [false, false, true, false]);
    assert_eq!(revoked_of("4"), [false; 4]);
    now(revocations.revoke_before(Some(""), "ada", at(NOW as f64))).unwrap();
    assert_eq!(revoked_of("4"), [false, false, false, true]);
    now(revocations.revoke_before(None, "ada", at(NOW as f64))).unwrap();
    assert_eq!(revoked_of("4"), [true, false, false, true]);
    now(revocations.revoke_before(Some("a"), "ada", at(NOW as f64))).unwrap();
    assert_eq!(revoked_of("4"), [true, true, false, true]);
    // The spelling of the issuer does not matter.
    let escaped = forge(HEADER, r#"{"\u0069ss":"\u0061","sub":"ada","exp":9999999999}"#);
    let escaped = verifier().verify(&escaped, &secret()).unwrap();
    assert_eq!(revocations.check(&escaped), Status::Revoked);
}

/// Issues a token for `ada` at this millisecond of the second [`NOW`].
fn issued_at(millis: u64) -> Claims {
    let issuer = TokenIssuer::new().clock(UnixClock::at_millis(NOW * 1_000 + millis));
    let token = issuer.issue(json!({ "sub": "ada" }), "1h", &secret()).unwrap();
    verifier().verify(&token, &secret()).unwrap()
}

#[test]
fn a_younger_token_of_the_same_second_is_valid() {
    let (revocations, hands) = in_memory();
    let time = UNIX_EPOCH + Duration::from_millis(NOW * 1_000 + 300);
    now(revocations.revoke_before(None, "ada", time)).unwrap();
    for (millis, expected) in [
        (0, Status::Revoked),
        (299, Status::Revoked),
        (300, Status::NotRevoked),
        (301, Status::NotRevoked),
        (999, Status::NotRevoked),
    ] {
        assert_eq!(revocations.check(&issued_at(millis)), expected, "{millis}");
    }
    // The new token is valid for its whole lifetime, and the old one stays
    // revoked.
    hands.set(NOW + 3_599);
    assert_eq!(revocations.check(&issued_at(301)), Status::NotRevoked);
    assert_eq!(revocations.check(&issued_at(299)), Status::Revoked);
    // A fraction of a millisecond is rounded up.
    let time = UNIX_EPOCH + Duration::from_micros(NOW * 1_000_000 + 300_001);
    now(revocations.revoke_before(None, "ada", time)).unwrap();
    assert_eq!(revocations.check(&issued_at(300)), Status::Revoked);
    assert_eq!(revocations.check(&issued_at(301)), Status::NotRevoked);
}

#[test]
fn tokens_without_milliseconds_are_revoked_by_the_second() {
    let (revocations, _) = in_memory();
    let time = UNIX_EPOCH + Duration::from_millis(NOW * 1_000 + 300);
    now(revocations.revoke_before(None, "ada", time)).unwrap();
    let token = |rest: &str| {
        let payload = format!(r#"{{"sub":"ada","iat":{NOW},"exp":{}{rest}}}"#, NOW + 60);
        revocations.check(&verifier().verify(&forge(HEADER, payload), &secret()).unwrap())
    };
    assert_eq!(token(""), Status::Revoked);
    // Milliseconds are also ignored if they contradict `iat` or are not a
    // number.
    for other in [(NOW + 1) * 1_000, NOW * 1_000 - 1, u64::MAX] {
        assert_eq!(token(&format!(r#","iat_ms":{other}"#)), Status::Revoked, "{other}");
    }
    assert_eq!(token(&format!(r#","iat_ms":"{}""#, NOW * 1_000 + 999)), Status::Revoked);
    assert_eq!(token(&format!(r#","iat_ms":{}"#, NOW * 1_000 + 999)), Status::NotRevoked);
}

/// Logs of earlier versions contain the time of a subject in whole seconds,
/// rounded up.
#[test]
fn entries_in_seconds_still_count() {
    let (log, hands) = (Arc::new(DeepLog::default()), Hands::default());
    hands.set(NOW);
    let revocations = Revocations::shared(log.clone()).clock(hands.clock());
    let feed = log.feeds.lock().unwrap()[0].clone();
    feed.note_contact();
    now(revocations.revoke_before(None, "ada", at(NOW as f64 - 100.0))).unwrap();
    let new = feed.entries().unwrap()[0].to_bytes();
    assert_eq!((new[0], new.len()), (4, 33));
    let times = [NOW + 3_600, NOW + 1].map(u64::to_be_bytes).concat();
    let old = Revocation::from_bytes(&[&[2], &new[1..17], &times].concat()).unwrap();

    assert_eq!(revocations.check(&issued_at(999)), Status::NotRevoked);
    assert!(feed.apply([old]));
    assert_eq!(revocations.check(&issued_at(999)), Status::Revoked);
    let entries = feed.entries().unwrap();
    assert!(entries.len() == 2 && entries.contains(&old));
    hands.set(NOW + 3_600);
    assert_eq!(feed.sweep().unwrap(), [old]);
    assert_eq!(revocations.count(), 1);

    // The same for entries that are only in the log.
    let deep = Arc::new(DeepLog::default());
    let asking = Revocations::shared(deep.clone()).clock(UnixClock::at(NOW)).max_entries(0);
    deep.feeds.lock().unwrap()[0].note_contact();
    let time = UNIX_EPOCH + Duration::from_millis(NOW * 1_000 + 300);
    now(asking.revoke_before(None, "ada", time)).unwrap();
    assert_eq!(now(asking.check_or_query(&issued_at(299))), Status::Revoked);
    assert_eq!(now(asking.check_or_query(&issued_at(300))), Status::NotRevoked);
    deep.beyond.lock().unwrap().push(old);
    let late = Revocations::shared(deep.clone()).clock(UnixClock::at(NOW)).max_entries(0);
    let feed = deep.feeds.lock().unwrap()[1].clone();
    feed.note_contact();
    assert!(feed.apply([Revocation::beyond(NOW + 3_600)]));
    assert_eq!(now(late.check_or_query(&issued_at(300))), Status::Revoked);
}

/// Entries of earlier versions do not name an issuer. They revoke the tokens of
/// all issuers until they expire.
#[test]
fn entries_of_earlier_versions_still_count() {
    let bytes = |kind: u8, name: &str, times: &[u64]| {
        let times = times.iter().flat_map(|time| time.to_be_bytes());
        [kind].into_iter().chain(hex::decode(name).unwrap()).chain(times).collect::<Vec<u8>>()
    };
    // The name of the subject `user:7`.
    let subject = bytes(2, "7a90948f5e5245fd2e6f45ddacae049d", &[NOW + 3_600, NOW - 5]);
    let entry = Revocation::from_bytes(&subject).unwrap();
    let log = Arc::new(DeepLog::default());
    let revocations = Revocations::shared(log.clone()).clock(UnixClock::at(NOW));
    let feed = log.feeds.lock().unwrap()[0].clone();
    feed.note_contact();
    assert!(feed.apply([entry]));
    let token = |issuer: &str, issued: u64| {
        let payload = json!({ "iss": issuer, "sub": "user:7", "iat": issued, "exp": NOW + 60 });
        revocations.check(&claims(&payload))
    };
    for issuer in ["a", "b"] {
        assert_eq!(token(issuer, NOW - 6), Status::Revoked);
        assert_eq!(token(issuer, NOW - 5), Status::NotRevoked);
    }
    // Both entries of a subject apply.
    now(revocations.revoke_before(Some("a"), "user:7", at(NOW as f64 - 8.0))).unwrap();
    assert_eq!(token("a", NOW - 6), Status::Revoked);
    now(revocations.revoke_before(Some("a"), "user:7", at(NOW as f64 - 2.0))).unwrap();
    assert_eq!(token("a", NOW - 3), Status::Revoked);
    assert_eq!(token("b", NOW - 3), Status::NotRevoked);

    // The same for an entry that is only in the log.
    let deep = Arc::new(DeepLog::default());
    let asking = Revocations::shared(deep.clone()).clock(UnixClock::at(NOW)).max_entries(0);
    deep.beyond.lock().unwrap().push(entry);
    let feed = deep.feeds.lock().unwrap()[0].clone();
    feed.note_contact();
    assert!(feed.apply([Revocation::beyond(NOW + 3_600)]));
    let of_issuer = |issuer: Option<&str>, issued: u64| {
        let payload = json!({ "sub": "user:7", "iss": issuer, "iat": issued, "exp": NOW + 60 });
        now(asking.check_or_query(&claims(&payload)))
    };
    assert_eq!(of_issuer(Some("a"), NOW - 6), Status::Revoked);
    assert_eq!(of_issuer(None, NOW - 6), Status::Revoked);
    now(asking.revoke_before(Some("a"), "user:7", at(NOW as f64))).unwrap();
    assert_eq!(of_issuer(Some("a"), NOW - 3), Status::Revoked);
    assert_eq!(of_issuer(Some("b"), NOW - 3), Status::NotRevoked);
}

#[test]
fn a_token_without_an_end_needs_a_time() {
    let (revocations, hands) = in_memory();
    let token = claims(&json!({ "jti": "a" }));
    assert!(matches!(now(revocations.revoke(&token)), Err(RevokeError::NoExpiry)));
    assert_eq!(revocations.check(&token), Status::NotRevoked);
    now(revocations.revoke_for(&token, Duration::from_secs(100))).unwrap();
    hands.set(NOW + 99);
    assert_eq!(revocations.check(&token), Status::Revoked);
    hands.set(NOW + 100);
    assert_eq!(revocations.check(&token), Status::NotRevoked);
}

#[test]
fn all_older_tokens_of_a_subject_are_revoked() {
    let (revocations, hands) = in_memory();
    let token = |subject: &str, issued: u64| {
        claims(&json!({ "sub": subject, "iat": issued, "exp": NOW + 3_600 }))
    };
    now(revocations.revoke_before(None, "ada", at(NOW as f64 - 10.0))).unwrap();
    assert_eq!(revocations.check(&token("ada", NOW - 11)), Status::Revoked);
    assert_eq!(revocations.check(&token("ada", NOW - 10)), Status::NotRevoked);
    assert_eq!(revocations.check(&token("bob", NOW - 11)), Status::NotRevoked);
    let undated = claims(&json!({ "sub": "ada", "exp": NOW + 60 }));
    assert_eq!(revocations.check(&undated), Status::Revoked);

    // A time within a second revokes all tokens of that second.
    now(revocations.revoke_before(None, "ada", at(NOW as f64 - 4.5))).unwrap();
    assert_eq!(revocations.check(&token("ada", NOW - 5)), Status::Revoked);
    assert_eq!(revocations.check(&token("ada", NOW - 4)), Status::NotRevoked);
    // An earlier time does not undo anything.
    now(revocations.revoke_before(None, "ada", at(1.0))).unwrap();
    assert_eq!(revocations.check(&token("ada", NOW - 5)), Status::Revoked);
    assert_eq!(revocations.count(), 1);

    hands.set(NOW + 30 * 86_400 + 599);
    assert_eq!(revocations.check(&token("ada", NOW - 5)), Status::Revoked);
    hands.set(NOW + 30 * 86_400 + 600);
    assert_eq!(revocations.check(&token("ada", NOW - 5)), Status::NotRevoked);
}

#[test]
fn expired_entries_are_removed() {
    let (revocations, hands) = in_memory();
    let token =
        |id: u64, exp: u64| claims(&json!({ "jti": id.to_string(), "exp": exp, "iat": NOW }));
    for id in 0..100 {
        now(revocations.revoke(&token(id, NOW + 60))).unwrap();
    }
    assert_eq!(revocations.count(), 100);
    // A verifier with a leeway may still accept it.
    hands.set(NOW + 60 + 599);
    assert_eq!(revocations.check(&token(7, NOW + 60)), Status::Revoked);
    hands.set(NOW + 60 + 600);
    now(revocations.revoke(&token(100, NOW + 3_600))).unwrap();
    assert_eq!(revocations.count(), 1);
    now(revocations.revoke(&token(7, NOW + 60))).unwrap();
    assert_eq!(revocations.count(), 1);
}

#[test]
fn entries_are_bounded() {
    let (revocations, hands) = in_memory();
    let revocations = revocations.max_entries(10);
    let token = |id: u64, exp: u64| claims(&json!({ "jti": id.to_string(), "exp": exp }));
    for id in 0..10 {
        now(revocations.revoke(&token(id, NOW + id))).unwrap();
    }
    let one_more = now(revocations.revoke(&token(10, NOW + 60)));
    assert!(matches!(one_more, Err(RevokeError::Full)));
    // An existing entry may change.
    now(revocations.revoke(&token(3, NOW + 60))).unwrap();
    hands.set(NOW + 600 + 5);
    now(revocations.revoke(&token(10, NOW + 60))).unwrap();
    // 0, 1, 2, 4 and 5 have expired.
    assert_eq!(revocations.count(), 6);
}

/// A log that records published entries and can be made to fail.
#[derive(Default)]
struct Log {
    feed: Mutex<Option<RevocationFeed>>,
    published: Mutex<Vec<Revocation>>,
    fails: bool,
    woken: AtomicU64,
}

impl RevocationLog for Log {
    fn attach(&self, feed: RevocationFeed) {
        *self.feed.lock().unwrap() = Some(feed);
    }

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        self.published.lock().unwrap().push(entry);
        let outcome = if self.fails { Err(RevokeError::Log("away".into())) } else { Ok(()) };
        Box::pin(async { outcome })
    }

    fn wake(&self) {
        self.woken.fetch_add(1, Ordering::Relaxed);
    }
}

impl Log {
    fn feed(&self) -> RevocationFeed {
        self.feed.lock().unwrap().clone().unwrap()
    }
}

#[test]
fn status_is_unknown_before_contact() {
    let hands = Hands::default();
    hands.set(NOW);
    let log = Arc::new(Log::default());
    let revocations = Revocations::shared(log.clone()).clock(hands.clock());
    let token = claims(&json!({ "jti": "a", "exp": NOW + 3_600, "iat": NOW }));
    // Before the first contact.
    assert_eq!(revocations.check(&token), Status::Unknown);
    assert_eq!(log.woken.load(Ordering::Relaxed), 1);
    let accepting = revocations.clone().stale(StalePolicy::Accept);
    assert_eq!(accepting.check(&token), Status::NotRevoked);
    let feed = log.feed();
    feed.note_contact();
    for (later, expected) in
        [(0, Status::NotRevoked), (30, Status::NotRevoked), (31, Status::Unknown)]
    {
        hands.set(NOW + later);
        assert_eq!(revocations.check(&token), expected, "{later}");
    }
    let short = revocations.clone().stale(StalePolicy::Refuse { after: Duration::from_secs(2) });
    feed.note_contact();
    hands.set(NOW + 31 + 3);
    assert_eq!(revocations.check(&token), Status::NotRevoked);
    assert_eq!(short.check(&token), Status::Unknown);
}

#[test]
fn processes_share_revocations() {
    let (here_log, there_log) = (Arc::new(Log::default()), Arc::new(Log::default()));
    let clock = || UnixClock::at(NOW);
    let here = Revocations::shared(here_log.clone()).clock(clock());
    let there = Revocations::shared(there_log.clone()).clock(clock());
    let token = claims(&json!({ "jti": "a", "sub": "ada", "exp": NOW + 3_600, "iat": NOW }));
    let older = claims(&json!({ "jti": "b", "sub": "ada", "exp": NOW + 3_600, "iat": NOW - 9 }));
    for log in [&here_log, &there_log] {
        log.feed().note_contact();
    }
    now(here.revoke(&token)).unwrap();
    now(here.revoke_before(None, "ada", at(NOW as f64))).unwrap();
    assert_eq!(there.check(&older), Status::NotRevoked);
    let told = here_log.published.lock().unwrap().clone();
    // Order and duplicates do not matter.
    assert!(there_log.feed().apply(told.iter().rev().chain(&told).copied()));
    assert_eq!([there.check(&token), there.check(&older)], [Status::Revoked; 2]);
    let mut known = there_log.feed().entries().unwrap();
    known.sort_by_key(Revocation::until);
    assert_eq!(known, told);

    drop((here, there));
    assert!(!there_log.feed().apply(told) && there_log.feed().entries().is_none());
}

#[test]
fn revokes_locally_if_the_log_fails() {
    let log = Arc::new(Log { fails: true, ..Log::default() });
    let revocations = Revocations::shared(log.clone()).clock(UnixClock::at(NOW));
    log.feed().note_contact();
    let token = claims(&json!({ "jti": "a", "exp": NOW + 60 }));
    let error = now(revocations.revoke(&token)).unwrap_err();
    assert_eq!(error.to_string(), "revoked only in this process for now: away");
    assert_eq!(stockade_errors::ApiError::from(error).status(), 503);
    assert_eq!(revocations.check(&token), Status::Revoked);
}

/// A log in memory that stores more than the processes and counts its queries.
#[derive(Default)]
struct DeepLog {
    feeds: Mutex<Vec<RevocationFeed>>,
    beyond: Mutex<Vec<Revocation>>,
    asked: AtomicU64,
    is_away: AtomicBool,
}

impl RevocationLog for DeepLog {
    fn attach(&self, feed: RevocationFeed) {
        self.feeds.lock().unwrap().push(feed);
    }

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        self.feeds.lock().unwrap().retain(|feed| feed.apply([entry]));
        Box::pin(async { Ok(()) })
    }

    fn can_query(&self) -> bool {
        true
    }

    fn publish_beyond(&self, entry: Revocation) -> PublishFuture<'_> {
        if self.is_away.load(Ordering::Relaxed) {
            return Box::pin(async { Err(RevokeError::Beyond("away".into())) });
        }
        self.beyond.lock().unwrap().push(entry);
        self.publish(Revocation::beyond(entry.until()))
    }

    fn query<'a>(&'a self, keys: &'a [RevocationKey]) -> QueryFuture<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let beyond = self.beyond.lock().unwrap().clone();
        let found = |key: &RevocationKey| beyond.iter().copied().find(|it| it.key() == *key);
        let found = keys.iter().map(found).collect();
        let is_away = self.is_away.load(Ordering::Relaxed);
        Box::pin(async move { if is_away { Err("away".into()) } else { Ok(found) } })
    }
}

#[test]
fn queries_the_log_beyond_the_bound() {
    let (log, hands) = (Arc::new(DeepLog::default()), Hands::default());
    hands.set(NOW);
    let node = || Revocations::shared(log.clone()).clock(hands.clock()).max_entries(1);
    let (here, there) = (node(), node());
    let contact = || log.feeds.lock().unwrap().iter().for_each(RevocationFeed::note_contact);
    contact();
    let token = |id: &str| claims(&json!({ "jti": id, "sub": id, "exp": NOW + 3_600, "iat": NOW }));
    now(here.revoke(&token("a"))).unwrap();
    assert_eq!(now(there.check_or_query(&token("b"))), Status::NotRevoked);
    assert_eq!(log.asked.load(Ordering::Relaxed), 0);

    now(here.revoke(&token("b"))).unwrap();
    assert_eq!([here.check(&token("b")), there.check(&token("b"))], [Status::Inconclusive; 2]);
    for _ in 0..3 {
        assert_eq!(now(there.check_or_query(&token("b"))), Status::Revoked);
        assert_eq!(now(there.check_or_query(&token("c"))), Status::NotRevoked);
        assert_eq!(now(there.check_or_query(&token("a"))), Status::Revoked);
    }
    // Once for each token that is not in memory.
    assert_eq!(log.asked.load(Ordering::Relaxed), 2);
    // The revocation applies immediately in its own process, and elsewhere
    // after 5 s.
    assert_eq!(now(here.check_or_query(&token("c"))), Status::NotRevoked);
    now(here.revoke_before(None, "c", at(NOW as f64 + 1.0))).unwrap();
    assert_eq!(now(here.check_or_query(&token("c"))), Status::Revoked);
    assert_eq!(now(there.check_or_query(&token("c"))), Status::NotRevoked);
    hands.set(NOW + 6);
    assert_eq!(now(there.check_or_query(&token("c"))), Status::Revoked);

    // If the log is unavailable, results up to 30 s old are used. After that,
    // the status is unknown.
    assert_eq!(now(there.check_or_query(&token("d"))), Status::NotRevoked);
    log.is_away.store(true, Ordering::Relaxed);
    assert!(matches!(now(there.revoke(&token("d"))), Err(RevokeError::Beyond(_))));
    let accepting = there.clone().stale(StalePolicy::Accept);
    for (later, expected) in [(6 + 30, Status::NotRevoked), (6 + 31, Status::Unknown)] {
        hands.set(NOW + later);
        contact();
        assert_eq!(now(there.check_or_query(&token("d"))), expected, "{later}");
    }
    assert_eq!(now(there.check_or_query(&token("b"))), Status::Revoked);
    assert_eq!(now(there.check_or_query(&token("e"))), Status::Unknown);
    assert_eq!(now(accepting.check_or_query(&token("e"))), Status::NotRevoked);

    // The log is not queried once all entries have expired.
    hands.set(NOW + 32 * 86_400);
    contact();
    assert_eq!(there.check(&token("e")), Status::NotRevoked);
    let expired = log.feeds.lock().unwrap()[1].sweep().unwrap();
    assert_eq!(expired.iter().filter(|entry| entry.is_beyond()).count(), 2);
}

#[test]
fn a_check_allocates_nothing() {
    let (revocations, _) = in_memory();
    let token = claims(&json!({ "jti": "a", "sub": "ada", "exp": NOW + 60, "iat": NOW }));
    now(revocations.revoke_id(None, "b", at(NOW as f64 + 60.0))).unwrap();
    now(revocations.revoke_before(None, "bob", at(NOW as f64))).unwrap();
    let counted = allocation_counter::measure(|| {
        assert_eq!(revocations.check(&token), Status::NotRevoked);
    });
    assert_eq!(counted.count_total, 0);
}
