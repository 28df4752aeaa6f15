//! Tests the order, gaps and duplicates of a channel.

use super::*;

fn position(epoch: &str, number: u64) -> Position {
    Position { epoch: epoch.to_owned(), number }
}

fn envelope(count: u64) -> Envelope<'static> {
    Envelope { node: 7, count, except: None, text: "hi" }
}

fn heard(epoch: &str, number: u64, count: u64) -> Heard<'_> {
    Heard { epoch, number, envelope: envelope(count) }
}

/// Returns a response with these log messages. The sender's sequence number
/// equals the message number.
fn answer(epoch: &str, number: u64, log: &[u64]) -> LogReply {
    let messages = log.iter().map(|number| (*number, envelope(*number).write())).collect();
    LogReply { position: position(epoch, number), messages }
}

/// Returns a channel at position 2.
fn open() -> Listening {
    let mut listening = Listening::default();
    listening.begin();
    assert_eq!(listening.question(), LogQuery { after: None, renew: false });
    let filled = fill(&mut listening, answer("e", 2, &[]));
    assert_eq!(filled, (None, vec![], false));
    listening
}

/// Applies a response to the current query.
fn fill(listening: &mut Listening, answer: LogReply) -> (Option<Option<u64>>, Vec<u64>, bool) {
    let question = listening.question();
    let filled = listening.filled(&question, answer, 10);
    let numbers = filled.deliver.iter().map(|(number, _)| *number).collect();
    (filled.gap, numbers, filled.again)
}

#[test]
fn messages_are_delivered_once_and_in_order() {
    let mut listening = open();
    assert_eq!(listening.heard(&heard("e", 3, 3)), Step::Deliver);
    assert_eq!(listening.heard(&heard("e", 3, 3)), Step::Drop);
    assert_eq!(listening.heard(&heard("e", 4, 3)), Step::Drop, "published twice");
    assert_eq!(listening.heard(&heard("e", 5, 5)), Step::Deliver);
    assert_eq!(listening.heard(&heard(UNNUMBERED, 0, 6)), Step::Deliver);
    assert_eq!(listening.heard(&heard(UNNUMBERED, 0, 6)), Step::Drop);
    assert!(!listening.is_behind(&position("e", 5)) && listening.is_behind(&position("e", 6)));
}

#[test]
fn fills_a_hole_before_delivering_newer_messages() {
    let mut listening = open();
    assert_eq!(listening.heard(&heard("e", 5, 5)), Step::Read);
    listening.begin();
    assert_eq!(listening.heard(&heard("e", 6, 6)), Step::Drop);
    assert_eq!(fill(&mut listening, answer("e", 5, &[3, 4, 5])), (None, vec![3, 4, 5], true));
    assert!(listening.is_reading(), "6 is missing");
    assert_eq!(fill(&mut listening, answer("e", 6, &[6])), (None, vec![6], false));
    assert_eq!(listening.heard(&heard("e", 7, 7)), Step::Deliver);
}

#[test]
fn messages_missing_in_the_log_are_a_gap() {
    let mut listening = open();
    listening.begin();
    assert_eq!(fill(&mut listening, answer("e", 9, &[6, 8])), (Some(Some(5)), vec![6, 8], false));
    listening.begin();
    assert_eq!(fill(&mut listening, answer("e", 12, &[])), (Some(Some(3)), vec![], false));
    // A full response is followed by another read.
    listening.begin();
    let log: Vec<u64> = (13..23).collect();
    assert_eq!(fill(&mut listening, answer("e", 30, &log)), (None, log, true));
}

#[test]
fn a_new_epoch_is_a_gap_and_begins_with_its_first_message() {
    let mut listening = open();
    assert_eq!(listening.heard(&heard("f", 2, 12)), Step::Read);
    listening.begin();
    let answer = LogReply {
        position: position("f", 2),
        messages: vec![(1, envelope(11).write()), (2, envelope(12).write())],
    };
    assert_eq!(fill(&mut listening, answer), (Some(None), vec![1, 2], false));
    assert_eq!(listening.heard(&heard("f", 3, 13)), Step::Deliver);
    // A message that the publisher repeats after the loss is still recognized.
    assert_eq!(listening.heard(&heard("f", 4, 13)), Step::Drop);
}

#[test]
fn decreasing_numbers_end_the_epoch() {
    // Detected by a message.
    let mut listening = open();
    assert_eq!(listening.heard(&heard("e", 3, 3)), Step::Deliver);
    assert_eq!(listening.heard(&heard("e", 2, 4)), Step::Read);
    listening.begin();
    assert!(listening.question().renew);
    assert_eq!(fill(&mut listening, answer("f", 0, &[])), (Some(None), vec![], true));
    // The message of the old epoch was recorded, so one more read is needed.
    assert_eq!(fill(&mut listening, answer("f", 0, &[])), (None, vec![], false));

    // Detected by a comparison. An outdated comparison is ignored.
    let mut listening = open();
    assert!(!listening.compared(&position("e", 2), &position("e", 7)));
    assert!(listening.compared(&position("e", 2), &position("e", 1)));
    assert!(listening.question().renew);
    // Detected by a read.
    let mut listening = open();
    listening.begin();
    assert_eq!(fill(&mut listening, answer("e", 1, &[])), (None, vec![], true));
    assert!(listening.question().renew);
}

#[test]
fn keeps_messages_that_arrive_while_a_channel_opens() {
    let mut listening = Listening::default();
    listening.begin();
    assert_eq!(listening.heard(&heard("e", 3, 3)), Step::Drop);
    assert_eq!(fill(&mut listening, answer("e", 2, &[])), (None, vec![], true));
    assert_eq!(fill(&mut listening, answer("e", 3, &[3])), (None, vec![3], false));
}

#[test]
fn a_restart_of_redis_is_one_gap() {
    let mut listening = open();
    listening.suspect();
    listening.begin();
    assert_eq!(fill(&mut listening, answer("e", 3, &[3])), (Some(None), vec![3], false));
    listening.begin();
    assert_eq!(fill(&mut listening, answer("e", 3, &[])), (None, vec![], false));
}
