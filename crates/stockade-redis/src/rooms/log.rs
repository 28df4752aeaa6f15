//! Reads a channel's position and log, and acts on the result.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use stockade_errors::locks::lock;
use stockade_websockets::{History, HistoryEntry};
use tokio::time::Instant;

use super::channel::{Channel, Keys};
use super::envelope::Envelope;
use super::listening::{LogQuery, LogReply, Position};
use super::node::{DEADLINE, Node, random};
use super::open_channel::deliver;
use super::script::READ;
use super::subscription::{Purpose, Subscription};
use crate::error::LinkError;
use crate::script::millis;

/// A response from Redis.
pub(crate) struct Read {
    answer: LogReply,
    /// True if Redis lists this process among the processes with members.
    is_here: bool,
    /// The number of processes with members.
    nodes: usize,
}

/// Reads a channel's position and the messages after the known position.
pub(super) async fn read(
    node: &Node,
    name: &str,
    question: &LogQuery,
    purpose: Purpose,
) -> Result<Read, LinkError> {
    let most = if purpose == Purpose::Fill { MOST_READ } else { 0 };
    let epoch = match node.settings.is_numbered {
        true => format!("{:x}", random()),
        false => String::new(),
    };
    ask(node, name, epoch, question, most).await
}

async fn ask(
    node: &Node,
    name: &str,
    new_epoch: String,
    question: &LogQuery,
    most: usize,
) -> Result<Read, LinkError> {
    let keys = Keys::of(name);
    let known = question.after.as_ref();
    let arguments = [
        new_epoch,
        millis(node.settings.life()),
        known.map_or_else(String::new, |it| it.epoch.clone()),
        known.map_or(0, |it| it.number).to_string(),
        u8::from(question.renew).to_string(),
        most.to_string(),
        format!("{:016x}", node.id),
    ];
    let keys = [keys.head.as_str(), &keys.log, &keys.here];
    let found = node.redis.run_on(&READ, &keys, &arguments, DEADLINE).await;
    let (epoch, number, here, nodes, found): (String, u64, u64, usize, Vec<Vec<u8>>) = found?;
    let messages = found.chunks_exact(2).filter_map(|pair| {
        let number = std::str::from_utf8(&pair[0]).ok()?.parse().ok()?;
        Some((number, pair[1].clone()))
    });
    let position = Position { epoch, number };
    let answer = LogReply { position, messages: messages.collect() };
    Ok(Read { answer, is_here: here == 1, nodes })
}

/// Returns the messages to a room after the message with this ID.
pub(super) async fn since(node: &Node, room: &str, id: &str) -> Result<History, LinkError> {
    let name = node.name(&Channel::Room(room.into()));
    let (epoch, number) = id.rsplit_once('-').unwrap_or_default();
    // An invalid ID does not match any epoch, so the whole log is returned.
    let number = number.parse::<u64>().ok();
    let epoch = if number.is_some() && !epoch.is_empty() { epoch } else { "none" };
    let after = Position { epoch: epoch.to_owned(), number: number.unwrap_or(0) };
    let question = LogQuery { after: Some(after.clone()), renew: false };
    let LogReply { position, messages } =
        ask(node, &name, String::new(), &question, MOST_HISTORY).await?.answer;
    let mut is_complete = position.epoch == after.epoch && position.number >= after.number;
    let mut last = after.number;
    let mut senders = HashMap::new();
    let mut past = Vec::new();
    for (number, bytes) in messages {
        is_complete &= number == last + 1;
        last = number;
        let Some(envelope) = Envelope::read(&bytes) else { continue };
        // A message that was published again.
        if senders.get(&envelope.node).is_some_and(|count| *count >= envelope.count) {
            continue;
        }
        senders.insert(envelope.node, envelope.count);
        let id = format!("{}-{number}", position.epoch);
        past.push(HistoryEntry::new(id, envelope.text.to_owned()));
    }
    is_complete &= last == position.number;
    Ok(History::new(past, is_complete))
}

impl Subscription {
    /// Processes a response or a failed read.
    pub(super) fn answered(
        &mut self,
        name: String,
        birth: u64,
        purpose: Purpose,
        question: &LogQuery,
        read: Option<Read>,
    ) {
        let Some(open) = self.channels.get_mut(&name).filter(|it| it.birth == birth) else {
            return;
        };
        let Some(Read { answer, is_here, nodes }) = read else {
            // Comparisons repeat automatically.
            if purpose == Purpose::Fill {
                self.later.push((name, purpose));
            }
            return;
        };
        let mut untidy = None;
        if let Channel::Room(room) = &open.channel {
            if !is_here && lock(&self.node.open).contains(room) {
                self.node.write_later([Arc::clone(room)]);
            }
            untidy = (nodes > self.node.nodes.load(Ordering::Relaxed)).then(|| Arc::clone(room));
        }
        match purpose {
            Purpose::Compare if !self.node.settings.is_numbered => {}
            Purpose::Compare => {
                let Some(before) = &question.after else { return };
                if open.listening.compared(before, &answer.position) {
                    open.listening.begin();
                    self.to_read.push_back((name, Purpose::Fill));
                } else if open.listening.is_behind(&answer.position) {
                    // The message may still be in transit.
                    self.behind.push((Instant::now() + ON_ITS_WAY, name, answer.position));
                }
            }
            Purpose::Fill => {
                let epoch = answer.position.epoch.clone();
                let filled = open.listening.filled(question, answer, MOST_READ);
                if let (Some(missed), Some(rooms)) = (filled.gap, self.node.rooms()) {
                    rooms.report_gap(open.channel.audience(), missed);
                }
                for (number, bytes) in filled.deliver {
                    if let Some(envelope) = Envelope::read(&bytes) {
                        deliver(&self.node, &open.channel, &epoch, number, &envelope);
                    }
                }
                if filled.again {
                    self.to_read.push_back((name, Purpose::Fill));
                } else {
                    open.ready(&self.node);
                }
            }
        }
        if let Some(room) = untidy {
            self.tidy(room);
        }
    }

    /// Checks the channels that are still behind. If their messages did not
    /// arrive, this also abandons the connection.
    pub(super) fn check_behind(&mut self, now: Instant) {
        let (due, rest) = std::mem::take(&mut self.behind).into_iter().partition(|it| it.0 <= now);
        self.behind = rest;
        let due: Vec<(Instant, String, Position)> = due;
        let is_behind = |(_, name, position): &(Instant, String, Position)| {
            self.channels.get(name).is_some_and(|open| open.listening.is_behind(position))
        };
        if due.iter().any(is_behind) {
            // All channels are read after the next connect.
            self.lose();
        }
    }
}

/// The maximum number of messages per read.
pub(crate) const MOST_READ: usize = 128;
/// The maximum number of messages in a history.
const MOST_HISTORY: usize = 1_000;
/// The time for which a message may be in transit.
const ON_ITS_WAY: Duration = Duration::from_secs(1);
