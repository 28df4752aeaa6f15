//! Tests of exchanges: each event with its expected action.

use std::time::Duration;

use serde_json::json;

use super::*;

/// An event of a connection.
#[derive(Debug)]
enum Event {
    /// A text message from the client.
    Text(String),
    /// The payload of `connection_init` was accepted.
    Accepted,
    /// The payload of `connection_init` was rejected.
    Refused,
    /// A server error occurred.
    Failed,
    /// The stream of this operation has this outcome.
    Next(&'static str, i32),
    /// The operation with this id did not start.
    Error(&'static str),
    /// The stream of this operation has ended.
    Ended(&'static str),
    /// The clock shows this many milliseconds.
    Clock(u64),
}

use Event::{Accepted, Clock, Ended, Error, Failed, Next, Refused};

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn subscribe(id: &str) -> Event {
    text(&format!(r#"{{"type":"subscribe","id":"{id}","payload":{{"query":"{{a}}"}}}}"#))
}

fn shown(action: Action) -> String {
    match action {
        Action::Nothing => String::new(),
        Action::Send(text) => text,
        Action::Init(payload) => {
            format!("init {}", payload.as_deref().map_or("nothing", RawValue::get))
        }
        Action::Start { id, payload } => format!("start {id} {payload}"),
        Action::Stop(id) => format!("stop {id}"),
        Action::Close(close) => format!("close {close}"),
    }
}

/// Runs an exchange on a connection with at most 2 concurrent operations and an
/// init timeout of 10 s.
#[track_caller]
fn check(exchange: &[(Event, &str)]) {
    let began = Instant::now();
    let mut protocol = Protocol::new(2, Some(began + Duration::from_secs(10)));
    for (event, expected) in exchange {
        let action = match event {
            Event::Text(text) => protocol.receive(text),
            Accepted => protocol.acknowledge(),
            Refused => protocol.forbid("no token"),
            Failed => protocol.fail(),
            Next(id, outcome) => protocol.next(id, outcome),
            Error(id) => protocol.error(id, &json!([{ "message": "no such field" }])),
            Ended(id) => protocol.complete(id),
            Clock(at) => protocol.expire(began + Duration::from_millis(*at)),
        };
        assert_eq!(shown(action), *expected, "{event:?}");
    }
}

/// Runs an exchange on an acknowledged connection.
#[track_caller]
fn check_ready(exchange: Vec<(Event, &str)>) {
    let mut whole = vec![(text(INIT), "init nothing"), (Accepted, ACK)];
    whole.extend(exchange);
    check(&whole);
}

const INIT: &str = r#"{"type":"connection_init"}"#;
const ACK: &str = r#"{"type":"connection_ack"}"#;
const START_1: &str = r#"start 1 {"query":"{a}"}"#;
const START_2: &str = r#"start 2 {"query":"{a}"}"#;

#[test]
fn a_connection_begins_with_an_init() {
    check(&[(text(INIT), "init nothing"), (Accepted, ACK), (Accepted, "")]);
    let payload = r#"{"type":"connection_init","payload":{"token":"a"}}"#;
    check(&[(text(payload), r#"init {"token":"a"}"#), (Accepted, ACK)]);
    let null = r#"{"type":"connection_init","payload":null}"#;
    check(&[(text(null), "init nothing"), (Refused, "close 4403 (no token)"), (Accepted, "")]);
    check(&[(text(INIT), "init nothing"), (Failed, "close 4500 (Internal server error)")]);
}

#[test]
fn rejects_an_init_that_is_not_an_object_or_too_large() {
    for payload in ["7", "[]", "\"token\"", "true"] {
        let init = format!(r#"{{"type":"connection_init","payload":{payload}}}"#);
        check(&[(text(&init), "close 4400 (The payload must be an object)")]);
    }
    let long = "x".repeat(MAX_INIT);
    let init = format!(r#"{{"type":"connection_init","payload":{{"token":"{long}"}}}}"#);
    check(&[(text(&init), "close 4400 (The payload of `connection_init` is too large)")]);
}

#[test]
fn rejects_a_second_init() {
    const CLOSED: &str = "close 4429 (Too many initialisation requests)";
    check(&[(text(INIT), "init nothing"), (text(INIT), CLOSED), (Accepted, "")]);
    check_ready(vec![(text(INIT), CLOSED), (text(INIT), "")]);
}

#[test]
fn a_late_init_closes_the_connection() {
    const CLOSED: &str = "close 4408 (Connection initialisation timeout)";
    check(&[(Clock(9_999), ""), (Clock(10_000), CLOSED), (text(INIT), "")]);
    // Neither pings nor a slow validation of the payload extends the timeout.
    check(&[(text(r#"{"type":"ping"}"#), r#"{"type":"pong"}"#), (Clock(10_001), CLOSED)]);
    check(&[(text(INIT), "init nothing"), (Clock(10_000), CLOSED), (Accepted, "")]);
    check_ready(vec![(Clock(60_000), "")]);
    let mut endless = Protocol::new(1, None);
    assert_eq!(shown(endless.expire(Instant::now())), "");
}

#[test]
fn no_operation_runs_before_the_acknowledgement() {
    const CLOSED: &str = "close 4401 (Unauthorized)";
    check(&[(subscribe("1"), CLOSED), (text(INIT), "")]);
    check(&[(text(INIT), "init nothing"), (subscribe("1"), CLOSED)]);
}

#[test]
fn an_operation_runs_until_it_completes() {
    check_ready(vec![
        (subscribe("1"), START_1),
        (Next("1", 7), r#"{"id":"1","type":"next","payload":7}"#),
        (subscribe("2"), START_2),
        (Next("2", 8), r#"{"id":"2","type":"next","payload":8}"#),
        (Ended("1"), r#"{"id":"1","type":"complete"}"#),
        (text(r#"{"type":"complete","id":"2"}"#), "stop 2"),
        // Late outcomes are not sent.
        (Next("2", 9), ""),
        (Ended("2"), ""),
        (Error("2"), ""),
        // The id can be used again.
        (subscribe("1"), START_1),
        (Error("1"), r#"{"id":"1","type":"error","payload":[{"message":"no such field"}]}"#),
        (Ended("1"), ""),
        (subscribe("1"), START_1),
    ]);
}

#[test]
fn ignores_the_end_of_an_unknown_operation() {
    check_ready(vec![(text(r#"{"type":"complete","id":"nobody"}"#), "")]);
    check(&[(text(r#"{"type":"complete","id":"1"}"#), "")]);
}

#[test]
fn rejects_a_duplicate_operation_id() {
    check_ready(vec![
        (subscribe("1"), START_1),
        (subscribe("1"), "close 4409 (Subscriber for 1 already exists)"),
        (Next("1", 7), ""),
    ]);
}

#[test]
fn operations_are_counted() {
    const REFUSED: &str = r#"{"id":"3","type":"error","payload":[{"message":"At most 2 operations can run at a time"}]}"#;
    check_ready(vec![
        (subscribe("1"), START_1),
        (subscribe("2"), START_2),
        (subscribe("3"), REFUSED),
        (Ended("3"), ""),
        (Ended("2"), r#"{"id":"2","type":"complete"}"#),
        (subscribe("2"), START_2),
        (text(r#"{"type":"complete","id":"1"}"#), "stop 1"),
        (subscribe("1"), START_1),
    ]);
}

#[test]
fn responds_to_pings_at_any_time() {
    let ping = text(r#"{"type":"ping","payload":{"at":5}}"#);
    let pong = text(r#"{"type":"pong","payload":{"at":5}}"#);
    check(&[(ping, r#"{"type":"pong","payload":{"at":5}}"#), (pong, "")]);
    let ping = r#"{"type":"ping","payload":null}"#;
    check_ready(vec![(text(ping), r#"{"type":"pong"}"#), (text(r#"{"type":"pong"}"#), "")]);
}

#[test]
fn unknown_messages_close_the_connection() {
    let long = "x".repeat(MAX_ID + 1);
    let long = format!(r#"{{"type":"subscribe","id":"{long}","payload":{{}}}}"#);
    for (message, reason) in [
        ("", "The message is malformed"),
        ("{", "The message is malformed"),
        ("null", "The message is malformed"),
        ("[]", "The message is malformed"),
        (r#"{"id":"1"}"#, "The message is malformed"),
        (r#"{"type":1}"#, "The message is malformed"),
        (r#"{"type":"ping","type":"pong"}"#, "The message is malformed"),
        (r#"{"type":"complete","id":7}"#, "The message is malformed"),
        (r#"{"type":"start","id":"1"}"#, "The message has an unknown type"),
        (r#"{"type":"connection_ack"}"#, "The message has an unknown type"),
        (r#"{"type":"next","id":"1","payload":{}}"#, "The message has an unknown type"),
        (r#"{"type":"ping","payload":"now"}"#, "The payload must be an object"),
        (r#"{"type":"pong","payload":[]}"#, "The payload must be an object"),
        (r#"{"type":"complete"}"#, NO_ID),
        (r#"{"type":"subscribe","payload":{}}"#, NO_ID),
        (r#"{"type":"subscribe","id":"","payload":{}}"#, NO_ID),
        (&long, NO_ID),
        (r#"{"type":"subscribe","id":"1"}"#, "The payload must be an object"),
        (r#"{"type":"subscribe","id":"1","payload":null}"#, "The payload must be an object"),
        (r#"{"type":"subscribe","id":"1","payload":"{a}"}"#, "The payload must be an object"),
    ] {
        let closed = format!("close 4400 ({reason})");
        check_ready(vec![(text(message), &closed), (text(INIT), "")]);
    }
}

#[test]
fn a_shutdown_completes_each_operation_first() {
    let mut protocol = Protocol::new(50, None);
    protocol.receive(INIT);
    protocol.acknowledge();
    for id in ["b", "a", "c"] {
        let start = format!(r#"{{"type":"subscribe","id":"{id}","payload":{{}}}}"#);
        assert_eq!(shown(protocol.receive(&start)), format!("start {id} {{}}"));
    }
    assert_eq!(shown(protocol.complete("a")), r#"{"id":"a","type":"complete"}"#);
    let actions: Vec<_> = protocol.shut_down().into_iter().map(shown).collect();
    let complete = |id: &str| format!(r#"{{"id":"{id}","type":"complete"}}"#);
    let end = "close 1001 (the server is shutting down)".to_owned();
    assert_eq!(actions, [complete("b"), complete("c"), end]);
    assert_eq!(shown(protocol.receive(r#"{"type":"ping"}"#)), "");
}

#[test]
fn unserializable_outcome_closes_the_connection() {
    struct Unwritable;
    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    let mut protocol = Protocol::new(1, None);
    protocol.receive(INIT);
    protocol.acknowledge();
    protocol.receive(r#"{"type":"subscribe","id":"1","payload":{}}"#);
    assert_eq!(shown(protocol.next("1", &Unwritable)), "close 4500 (Internal server error)");
}
