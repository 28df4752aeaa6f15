//! Decides which messages of a channel are delivered. Pure data: no clock, no
//! network.

use std::collections::HashMap;

use super::envelope::{Envelope, Heard, UNNUMBERED};

/// The position of this process in a channel's messages.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    /// The last message that was delivered or reported as missed. `None` until
    /// the channel's position is read.
    position: Option<Position>,
    /// True while a read is pending. Messages that arrive meanwhile are
    /// recorded here and read from the log later, which preserves the order.
    is_reading: bool,
    heard_meanwhile: Option<Position>,
    /// The sequence number of the last message from each process.
    senders: HashMap<u64, u64>,
    /// True if the numbers decreased: the server has lost the end of its data.
    went_back: bool,
    /// True if the server may have lost data although its responses do not show
    /// it.
    is_suspected: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Position {
    pub(crate) epoch: String,
    pub(crate) number: u64,
}

/// The action for a message.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Step {
    Deliver,
    Drop,
    /// Read the log first.
    Read,
}

/// A query to Redis.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LogQuery {
    /// The known position. `None` requests only the current position.
    pub(crate) after: Option<Position>,
    /// True if the server must start a new epoch.
    pub(crate) renew: bool,
}

/// A response: the channel's position and messages from the log.
#[derive(Debug)]
pub(crate) struct LogReply {
    pub(crate) position: Position,
    pub(crate) messages: Vec<(u64, Vec<u8>)>,
}

/// The result of processing a response.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// A gap, with the number of missed messages if known.
    pub(crate) gap: Option<Option<u64>>,
    pub(crate) deliver: Vec<(u64, Vec<u8>)>,
    /// True if there is more to read.
    pub(crate) again: bool,
}

impl Listening {
    pub(crate) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// Records that the server may have lost acknowledged messages.
    pub(crate) fn suspect(&mut self) {
        self.is_suspected = self.position.is_some();
    }

    /// Starts a read. New messages wait until it is complete.
    pub(crate) fn begin(&mut self) {
        self.is_reading = true;
    }

    pub(crate) fn question(&self) -> LogQuery {
        LogQuery { after: self.position.clone(), renew: self.went_back }
    }

    /// Decides the action for a published message.
    pub(crate) fn heard(&mut self, heard: &Heard<'_>) -> Step {
        if heard.epoch == UNNUMBERED {
            return self.check_sender(&heard.envelope);
        }
        let position = match &mut self.position {
            Some(position) if !self.is_reading => position,
            _ => {
                self.note(heard);
                return Step::Drop;
            }
        };
        if heard.epoch == position.epoch && heard.number == position.number + 1 {
            position.number = heard.number;
            return self.check_sender(&heard.envelope);
        }
        if heard.epoch == position.epoch && heard.number <= position.number {
            if !self.is_new(&heard.envelope) {
                return Step::Drop;
            }
            // A duplicate number: a lagging replica was promoted.
            self.went_back = true;
        }
        self.note(heard);
        Step::Read
    }

    /// Evaluates the result of a comparison that started at position `before`.
    /// Returns true if the log must be read now.
    pub(crate) fn compared(&mut self, before: &Position, found: &Position) -> bool {
        let Some(position) = &self.position else { return false };
        if self.is_reading || position.epoch != before.epoch {
            return false;
        }
        let has_gone_back = found.epoch == before.epoch && found.number < before.number;
        self.went_back |= has_gone_back;
        has_gone_back || found.epoch != position.epoch
    }

    /// Returns true if messages up to this position are missing here.
    pub(crate) fn is_behind(&self, found: &Position) -> bool {
        let here = self.position.as_ref().filter(|_| !self.is_reading);
        here.is_some_and(|it| it.epoch != found.epoch || it.number < found.number)
    }

    /// Processes the response to `question`.
    pub(crate) fn filled(&mut self, question: &LogQuery, answer: LogReply, most: usize) -> Filled {
        let mut filled = Filled::default();
        let LogReply { position: found, messages } = answer;
        let before = question.after.as_ref();
        if before.is_some_and(|it| it.epoch == found.epoch && found.number < it.number) {
            self.went_back = true;
            filled.again = true;
            return filled;
        }
        self.went_back = false;
        match &mut self.position {
            None => self.position = Some(found),
            Some(position) => {
                let is_new = position.epoch != found.epoch;
                if is_new {
                    *position = Position { epoch: found.epoch.clone(), number: 0 };
                }
                let is_cut = messages.len() >= most;
                let mut missed = 0;
                for (number, bytes) in messages {
                    let Some(position) = &mut self.position else { break };
                    if number <= position.number {
                        continue;
                    }
                    missed += number - position.number - 1;
                    position.number = number;
                    let envelope = Envelope::read(&bytes);
                    if envelope.is_some_and(|it| self.check_sender(&it) == Step::Deliver) {
                        filled.deliver.push((number, bytes));
                    }
                }
                if let Some(position) = &mut self.position {
                    if !is_cut && position.number < found.number {
                        missed += found.number - position.number;
                        position.number = found.number;
                    }
                    filled.again = position.number < found.number;
                }
                if is_new || std::mem::take(&mut self.is_suspected) {
                    filled.gap = Some(None);
                } else if missed > 0 {
                    filled.gap = Some(Some(missed));
                }
            }
        }
        if let (Some(heard), Some(here)) = (self.heard_meanwhile.take(), &self.position) {
            filled.again |= heard.epoch != here.epoch || heard.number > here.number;
        }
        self.is_reading = filled.again;
        filled
    }

    fn note(&mut self, heard: &Heard<'_>) {
        let (epoch, number) = (heard.epoch, heard.number);
        match &mut self.heard_meanwhile {
            Some(noted) if noted.epoch == epoch => noted.number = noted.number.max(number),
            noted => *noted = Some(Position { epoch: epoch.to_owned(), number }),
        }
    }

    fn is_new(&self, envelope: &Envelope<'_>) -> bool {
        self.senders.get(&envelope.node).is_none_or(|last| envelope.count > *last)
    }

    /// Drops a message that is not newer than the last one from its sender.
    fn check_sender(&mut self, envelope: &Envelope<'_>) -> Step {
        if !self.is_new(envelope) {
            return Step::Drop;
        }
        if self.senders.len() >= MAX_SENDERS && !self.senders.contains_key(&envelope.node) {
            self.senders.clear();
        }
        self.senders.insert(envelope.node, envelope.count);
        Step::Deliver
    }
}

/// The number of senders to remember for each channel.
const MAX_SENDERS: usize = 1_024;

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;
