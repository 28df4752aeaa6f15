//! Simulates a room of up to 1,000 processes in virtual time.
//!
//! Connections end or swallow everything, and the server restarts, lags and
//! loses data. Each message must be delivered once, or a gap must be reported.
//!
//! [`Listening`] is the real one. The scripts, and the reads and comparisons of
//! the subscription, are reimplemented here as far as they matter.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use stockade_errors::random::Random;

use super::envelope::{Envelope, Heard};
use super::listening::{Listening, LogQuery, LogReply, Position, Step};

/// The seeds of each run, including seeds that once failed.
const SEEDS: [u64; 3] = [1, 7, 4_711];
/// Times are in milliseconds. Faults end early to leave time for the last
/// comparison.
const FAULTS_END: u64 = 20_000;
const END: u64 = 40_000;
const STEP: u64 = 5;
/// The real interval is 30 s, which would leave no time for other events.
const COMPARE: u64 = 5_000;
/// The time until a silent connection is closed: a ping without a response.
const NOTICED: u64 = 2_000;
const MOST_READ: usize = 128;

/// The data of the scripts `PUBLISH` and `READ`.
#[derive(Default)]
struct Engine {
    epoch: Option<String>,
    epochs: u64,
    number: u64,
    log: VecDeque<(u64, Vec<u8>)>,
    run: u64,
}

impl Engine {
    fn begin_epoch(&mut self) {
        self.epochs += 1;
        (self.epoch, self.number) = (Some(format!("e{}", self.epochs)), 0);
        self.log.clear();
    }

    /// Returns the message in its published form.
    fn publish(&mut self, envelope: &[u8]) -> Rc<[u8]> {
        if self.epoch.is_none() {
            self.begin_epoch();
        }
        self.number += 1;
        self.log.push_back((self.number, envelope.to_vec()));
        if self.log.len() > 100 {
            self.log.pop_front();
        }
        let head = format!("{} {} ", self.epoch.as_deref().unwrap_or_default(), self.number);
        [head.as_bytes(), envelope].concat().into()
    }

    fn read(&mut self, question: &LogQuery, most: usize) -> LogReply {
        let known = question.after.as_ref();
        let is_same = known.is_some_and(|it| Some(&it.epoch) == self.epoch.as_ref());
        if self.epoch.is_none() || (question.renew && is_same) {
            self.begin_epoch();
        }
        let epoch = self.epoch.clone().unwrap_or_default();
        let after = known.filter(|it| it.epoch == epoch).map_or(0, |it| it.number);
        let newer = self.log.iter().filter(|(number, _)| *number > after && known.is_some());
        let messages = newer.take(most).cloned().collect();
        LogReply { position: Position { epoch, number: self.number }, messages }
    }

    /// Loses the last messages, like a lagging replica, or everything.
    fn fail_over(&mut self, lost: Option<u64>) {
        self.run += 1;
        match lost {
            None => self.epoch = None,
            Some(lost) => {
                self.number = self.number.saturating_sub(lost);
                let number = self.number;
                self.log.retain(|(at, _)| *at <= number);
            }
        }
    }
}

#[derive(Default)]
struct Node {
    listening: Listening,
    is_connected: bool,
    /// True while the network swallows incoming messages.
    is_deaf: bool,
    /// The time of the next connection attempt, or the end of a silent
    /// connection.
    next_change: u64,
    run: Option<u64>,
    coming: VecDeque<(u64, Rc<[u8]>)>,
    reading: Option<(u64, LogQuery)>,
    next_comparison: u64,
    behind: Option<(u64, Position)>,
    /// The sequence numbers of all delivered messages. `last` is the most
    /// recent one.
    delivered: HashSet<u64>,
    last: u64,
    doubles: usize,
    gaps: usize,
    /// True if a gap was reported after the last message.
    is_told: bool,
    /// The number of silent gaps: missing messages without a report.
    silent: usize,
}

impl Node {
    fn lose(&mut self, now: u64) {
        (self.is_connected, self.is_deaf) = (false, false);
        self.coming.clear();
        (self.reading, self.behind) = (None, None);
        self.next_change = now + 50;
    }

    fn deliver(&mut self, envelope: &Envelope<'_>) {
        self.doubles += usize::from(!self.delivered.insert(envelope.count));
        self.silent += usize::from(envelope.count != self.last + 1 && !self.is_told);
        (self.last, self.is_told) = (envelope.count, false);
    }

    fn begin_reading(&mut self, at: u64) {
        self.listening.begin();
        self.reading = Some((at, self.listening.question()));
    }

    fn step(&mut self, now: u64, engine: &mut Engine, numbers: &mut Random) {
        if now >= self.next_change && (self.is_deaf || !self.is_connected) {
            if self.is_deaf {
                return self.lose(now);
            }
            self.is_connected = true;
            if self.run.replace(engine.run).is_some_and(|before| before != engine.run) {
                self.listening.suspect();
            }
            self.begin_reading(now + 1 + numbers.below(30));
        }
        while self.coming.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, bytes)) = self.coming.pop_front() else { break };
            let Some(heard) = Heard::read(&bytes) else { continue };
            match self.listening.heard(&heard) {
                Step::Deliver => self.deliver(&heard.envelope),
                Step::Drop => {}
                Step::Read => self.begin_reading(now + 1 + numbers.below(30)),
            }
        }
        if !self.is_connected || self.is_deaf {
            return;
        }
        if let Some((_, question)) = self.reading.take_if(|(at, _)| *at <= now) {
            let answer = engine.read(&question, MOST_READ);
            let filled = self.listening.filled(&question, answer, MOST_READ);
            // A gap is reported before the messages of the same response. It
            // covers all messages that are missing before, between and after
            // them.
            let is_gap = filled.gap.is_some();
            self.gaps += usize::from(is_gap);
            self.is_told |= is_gap;
            for (_, bytes) in &filled.deliver {
                if let Some(envelope) = Envelope::read(bytes) {
                    self.deliver(&envelope);
                    self.is_told = is_gap;
                }
            }
            if filled.again {
                self.begin_reading(now + 1 + numbers.below(30));
            }
        }
        self.compare(now, engine, numbers);
    }

    fn compare(&mut self, now: u64, engine: &mut Engine, numbers: &mut Random) {
        if let Some((_, position)) = self.behind.take_if(|(at, _)| *at <= now)
            && self.listening.is_behind(&position)
        {
            return self.lose(now);
        }
        let question = self.listening.question();
        let Some(before) = &question.after else { return };
        if now < self.next_comparison || self.listening.is_reading() {
            return;
        }
        self.next_comparison = now + COMPARE;
        let found = engine.read(&question, 0).position;
        if self.listening.compared(before, &found) {
            self.begin_reading(now + 1 + numbers.below(30));
        } else if self.listening.is_behind(&found) {
            self.behind = Some((now + 1_000, found));
        }
    }
}

#[derive(Debug, Default)]
struct Figures {
    published: u64,
    missed: u64,
    silent: usize,
    doubles: usize,
    gaps: usize,
    faults: usize,
}

fn simulate(seed: u64, count: usize, has_faults: bool) -> Figures {
    let (mut engine, mut numbers) = (Engine::default(), Random::new(seed));
    let mut nodes: Vec<Node> = std::iter::repeat_with(Node::default).take(count).collect();
    let mut published = 0;
    let mut figures = Figures::default();
    for now in (0..END).step_by(usize::try_from(STEP).unwrap()) {
        // The first reads finish before the first message.
        let is_on = (1_000..FAULTS_END).contains(&now);
        if is_on && has_faults {
            figures.faults += usize::from(fault(now, &mut nodes, &mut engine, &mut numbers));
        }
        if is_on || now == END - 10_000 {
            published += 1;
            // One process publishes everything, so its sequence numbers define
            // the order.
            let envelope = Envelope { node: 7, count: published, except: None, text: "hi" }.write();
            let times = 1 + u64::from(has_faults && numbers.below(20) == 0);
            for _ in 0..times {
                let bytes = engine.publish(&envelope);
                for node in nodes.iter_mut().filter(|it| it.is_connected && !it.is_deaf) {
                    let at = now + 1 + numbers.below(20);
                    // A connection preserves the order.
                    let at = node.coming.back().map_or(at, |last| last.0.max(at));
                    node.coming.push_back((at, Rc::clone(&bytes)));
                }
            }
        }
        nodes.iter_mut().for_each(|node| node.step(now, &mut engine, &mut numbers));
    }
    figures.published = published;
    for node in &nodes {
        figures.doubles += node.doubles;
        figures.gaps += node.gaps;
        figures.missed += published - node.delivered.len() as u64;
        // Nothing was reported after the last delivered message.
        let is_behind = node.last != published && !node.is_told;
        figures.silent += node.silent + usize::from(is_behind);
    }
    figures
}

/// Occasionally causes one fault.
fn fault(now: u64, nodes: &mut [Node], engine: &mut Engine, numbers: &mut Random) -> bool {
    let node = usize::try_from(numbers.below(nodes.len() as u64)).unwrap();
    match numbers.below(1_000) {
        0..40 => nodes[node].lose(now),
        40..60 if nodes[node].is_connected => {
            let node = &mut nodes[node];
            node.is_deaf = true;
            node.next_change = now + NOTICED;
            // Messages in transit are lost too.
            node.coming.clear();
        }
        kind @ 60..64 => {
            let lost = (kind < 63).then(|| numbers.below(20));
            engine.fail_over(lost);
            nodes.iter_mut().for_each(|node| node.lose(now));
        }
        _ => return false,
    }
    true
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are for the book")]
fn no_message_is_lost_silently() {
    let is_long = std::env::var("STOCKADE_REDIS_LONG").is_ok();
    let sizes: &[usize] = if is_long { &[3, 30, 100, 1_000] } else { &[3, 10] };
    for &count in sizes {
        let calm = simulate(SEEDS[0], count, false);
        assert_eq!((calm.missed, calm.doubles, calm.gaps), (0, 0, 0), "{count}: {calm:?}");
        let more = if is_long { 100..105 } else { 0..0 };
        for seed in SEEDS.into_iter().chain(more) {
            let figures = simulate(seed, count, true);
            eprintln!("room: {count} processes, seed {seed}: {figures:?}");
            let found = (figures.silent, figures.doubles);
            assert_eq!(found, (0, 0), "seed {seed}, {count} processes: {figures:?}");
        }
    }
}
