//! The task that receives messages for channels with local members, on a
//! separate connection.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use redis::Msg;
use redis::aio::PubSub;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::connection::{Changes, Connection, next, ping};
use super::envelope::Heard;
use super::listening::{Listening, LogQuery, Position, Step};
use super::log::{Read, read};
use super::node::{COMPARE, Command, Node};
use super::open_channel::{OpenChannel, deliver};
use super::presence;
use crate::backoff::Backoff;

pub(crate) struct Subscription {
    pub(super) node: Arc<Node>,
    pub(super) channels: HashMap<String, OpenChannel>,
    connection: Option<Connection>,
    /// The names that Redis has confirmed.
    subscribed: HashSet<String>,
    /// The names that may have to be subscribed or unsubscribed.
    changes: HashSet<String>,
    is_changing: bool,
    work: JoinSet<Done>,
    pub(super) to_read: VecDeque<(String, Purpose)>,
    /// Failed reads.
    pub(super) later: Vec<(String, Purpose)>,
    reads: usize,
    /// Channels that were behind, and the position that a comparison found.
    pub(super) behind: Vec<(Instant, String, Position)>,
    backoff: Backoff,
    next_attempt: Option<Instant>,
    next_comparison: Instant,
    /// The server's run ID, which changes when the server is restarted or
    /// replaced.
    engine: Option<String>,
    births: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// Messages wait for the response.
    Fill,
    /// A check for missing messages.
    Compare,
}

/// The result of work outside the task.
pub(super) enum Done {
    Connected(Option<(PubSub, Option<String>)>),
    /// The names were subscribed or unsubscribed on the connection with this
    /// number.
    Changed(u64, Changes, bool),
    Pinged(u64, bool),
    Engine(Option<String>),
    Read(String, u64, Purpose, LogQuery, Option<Read>),
    Tidied,
}

impl Subscription {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self {
            node,
            channels: HashMap::new(),
            connection: None,
            subscribed: HashSet::new(),
            changes: HashSet::new(),
            is_changing: false,
            work: JoinSet::new(),
            to_read: VecDeque::new(),
            later: Vec::new(),
            reads: 0,
            behind: Vec::new(),
            backoff: Backoff::new(),
            next_attempt: Some(Instant::now()),
            next_comparison: Instant::now() + COMPARE,
            engine: None,
            births: 0,
        }
    }

    /// Receives messages until the rooms are dropped.
    pub(crate) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let node = Arc::clone(&self.node);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = node.end();
        tokio::pin!(end);
        loop {
            self.connect();
            self.change();
            self.start_reads();
            tokio::select! {
                () = &mut end => return,
                Some(command) = commands.recv() => self.act(command),
                message = next(&mut self.connection) => self.hear(message),
                Some(Ok(done)) = self.work.join_next() => self.finish(done),
                _ = tick.tick() => self.tick(),
            }
        }
    }

    fn act(&mut self, command: Command) {
        match command {
            Command::Open(channel) => {
                let name = self.node.name(&channel);
                self.births += 1;
                let open = OpenChannel {
                    channel,
                    birth: self.births,
                    listening: Listening::default(),
                    is_ready: false,
                    waiting: Vec::new(),
                };
                self.channels.insert(name.clone(), open);
                self.note_change(name);
            }
            Command::Close(channel) => {
                let name = self.node.name(&channel);
                if let Some(mut open) = self.channels.remove(&name) {
                    open.ready(&self.node);
                }
                self.note_change(name);
            }
            Command::Ready(channel, told) => match self.channels.get_mut(&self.node.name(&channel))
            {
                Some(open) if !open.is_ready => {
                    open.waiting.retain(|waiting| !waiting.is_closed());
                    open.waiting.push(told);
                }
                _ => {
                    let _ = told.send(());
                }
            },
        }
    }

    /// Records that a name may have to be subscribed or unsubscribed. Ignored
    /// while disconnected, because a new connection subscribes everything; an
    /// outage must not accumulate names.
    fn note_change(&mut self, name: String) {
        if self.connection.is_some() {
            self.changes.insert(name);
        }
    }

    /// Starts to connect if any channel is open.
    fn connect(&mut self) {
        let is_wanted = self.connection.is_none() && !self.channels.is_empty();
        if !is_wanted || self.next_attempt.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.next_attempt = None;
        let redis = self.node.redis.clone();
        self.work.spawn(async move {
            let connection = redis.subscriber().await;
            // Must follow the connect: the new server can then report what the
            // previous one has lost.
            let engine = redis.engine_run().await;
            Done::Connected(connection.map(|connection| (connection, engine)))
        });
    }

    /// Subscribes and unsubscribes in one batch at a time, which preserves
    /// their order.
    fn change(&mut self) {
        if self.is_changing || self.changes.is_empty() {
            return;
        }
        let Some(connection) = &self.connection else { return };
        let batch: Vec<String> = self.changes.iter().take(MAX_BATCH).cloned().collect();
        let mut changes = Changes::default();
        for name in batch {
            self.changes.remove(&name);
            match (self.channels.contains_key(&name), self.subscribed.contains(&name)) {
                (true, false) => changes.on.push(name),
                (false, true) => changes.off.push(name),
                _ => changes.same.push(name),
            }
        }
        let (sink, number) = (connection.sink.clone(), connection.number);
        self.is_changing = true;
        self.work.spawn(async move {
            let is_done = changes.make(sink).await;
            Done::Changed(number, changes, is_done)
        });
    }

    fn start_reads(&mut self) {
        while self.reads < MAX_READS {
            let Some((name, purpose)) = self.to_read.pop_front() else { return };
            let Some(open) = self.channels.get_mut(&name) else { continue };
            if purpose == Purpose::Fill {
                open.listening.begin();
            } else if open.listening.is_reading() {
                continue;
            }
            let question = open.listening.question();
            let (node, birth) = (Arc::clone(&self.node), open.birth);
            self.reads += 1;
            self.work.spawn(async move {
                let answer = read(&node, &name, &question, purpose).await.ok();
                Done::Read(name, birth, purpose, question, answer)
            });
        }
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Connected(None) => {
                self.wait();
            }
            Done::Connected(Some((connection, engine))) => {
                self.backoff = Backoff::new();
                if engine.is_none() {
                    self.next_comparison = Instant::now() + TICK;
                }
                self.check_engine(engine);
                let (sink, stream) = connection.split();
                let (number, last_heard) = (self.births, Instant::now());
                self.births += 1;
                self.connection =
                    Some(Connection { number, sink, stream, last_heard, is_pinged: false });
                self.subscribed.clear();
                self.changes = self.channels.keys().cloned().collect();
                // All channels are read when they are subscribed.
                self.to_read.clear();
                self.later.clear();
                self.behind.clear();
            }
            Done::Changed(number, changes, is_done) => {
                self.is_changing = false;
                if self.connection.as_ref().is_none_or(|it| it.number != number) {
                    return;
                }
                if !is_done {
                    return self.lose();
                }
                self.changed(changes);
            }
            Done::Pinged(number, is_answered) => {
                if let Some(it) = self.connection.as_mut().filter(|it| it.number == number) {
                    it.is_pinged = false;
                    it.last_heard = Instant::now();
                    if !is_answered {
                        self.lose();
                    }
                }
            }
            Done::Engine(engine) => {
                if self.check_engine(engine) {
                    self.read_all(Purpose::Fill);
                }
            }
            Done::Read(name, birth, purpose, question, answer) => {
                self.reads -= 1;
                self.answered(name, birth, purpose, &question, answer);
            }
            Done::Tidied => {}
        }
    }

    /// Applies changes that Redis has confirmed. A channel may have been opened
    /// or closed since; it is then in `changes` again.
    fn changed(&mut self, changes: Changes) {
        for name in &changes.off {
            self.subscribed.remove(name);
        }
        self.subscribed.extend(changes.on.iter().cloned());
        for name in changes.on.into_iter().chain(changes.same) {
            let Some(open) = self.channels.get_mut(&name) else { continue };
            if self.node.settings.is_numbered {
                open.listening.begin();
                self.to_read.push_back((name, Purpose::Fill));
            } else {
                open.ready(&self.node);
            }
        }
    }

    /// Records the server's run ID. Returns true if it has changed, because
    /// channels may then have lost acknowledged messages.
    fn check_engine(&mut self, engine: Option<String>) -> bool {
        let Some(engine) = engine else { return false };
        let before = self.engine.replace(engine);
        let is_other = before.is_some() && before != self.engine;
        if is_other {
            self.channels.values_mut().for_each(|open| open.listening.suspect());
        }
        is_other
    }

    fn read_all(&mut self, purpose: Purpose) {
        let names = self.channels.keys().filter(|name| self.subscribed.contains(*name));
        self.to_read.extend(names.map(|name| (name.clone(), purpose)));
    }

    /// Schedules the next connection attempt, within at most one second because
    /// the log is short.
    fn wait(&mut self) {
        self.next_attempt = Some(Instant::now() + self.backoff.wait().min(LONGEST_WAIT));
    }

    /// Abandons the connection and schedules the next attempt.
    pub(super) fn lose(&mut self) {
        self.connection = None;
        self.subscribed.clear();
        self.wait();
    }

    fn hear(&mut self, messages: Option<Vec<Msg>>) {
        let Some(messages) = messages else { return self.lose() };
        if let Some(connection) = &mut self.connection {
            connection.last_heard = Instant::now();
        }
        for message in messages {
            let name = message.get_channel_name();
            let Some(open) = self.channels.get_mut(name) else { continue };
            let Some(heard) = Heard::read(message.get_payload_bytes()) else { continue };
            match open.listening.heard(&heard) {
                Step::Drop => {}
                Step::Deliver => {
                    deliver(&self.node, &open.channel, heard.epoch, heard.number, &heard.envelope);
                }
                Step::Read => {
                    open.listening.begin();
                    self.to_read.push_back((name.to_owned(), Purpose::Fill));
                }
            }
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.to_read.extend(self.later.drain(..));
        self.check_behind(now);
        let Some(connection) = &mut self.connection else { return };
        if !connection.is_pinged && now - connection.last_heard >= SILENCE {
            connection.is_pinged = true;
            let (sink, number) = (connection.sink.clone(), connection.number);
            self.work.spawn(async move { Done::Pinged(number, ping(sink).await) });
        }
        if now >= self.next_comparison {
            self.next_comparison = now + COMPARE;
            self.read_all(Purpose::Compare);
            let redis = self.node.redis.clone();
            self.work.spawn(async move { Done::Engine(redis.engine_run().await) });
        }
    }

    /// Cleans up after processes that have ended.
    pub(super) fn tidy(&mut self, room: Arc<str>) {
        let node = Arc::clone(&self.node);
        self.work.spawn(async move {
            let _ = presence::count(&node, &room).await;
            Done::Tidied
        });
    }
}

/// The interval between checks for due work.
const TICK: Duration = Duration::from_millis(250);
/// The silence before the server gets a ping.
const SILENCE: Duration = Duration::from_secs(1);
/// The maximum delay between connection attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The maximum number of names per subscription command.
const MAX_BATCH: usize = 256;
/// The maximum number of concurrent reads.
const MAX_READS: usize = 64;
