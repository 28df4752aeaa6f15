//! [`Subscription`]: the task that hears the channels with members here, on a connection
//! of its own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream as _;
use redis::Msg;
use redis::aio::{PubSub, PubSubSink, PubSubStream};
use stockade_websockets::Order;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::channel::Channel;
use super::envelope::{Envelope, Heard, UNNUMBERED};
use super::listening::{Listening, Position, Question, Step};
use super::log::{Read, read};
use super::node::{COMPARE, Command, Node};
use super::presence;
use crate::backoff::Backoff;

pub(crate) struct Subscription {
    pub(super) node: Arc<Node>,
    pub(super) channels: HashMap<String, Open>,
    connection: Option<Connection>,
    /// The names that the engine has confirmed.
    subscribed: HashSet<String>,
    /// The names that may have to be subscribed or unsubscribed.
    changes: HashSet<String>,
    is_changing: bool,
    work: JoinSet<Done>,
    pub(super) to_read: VecDeque<(String, Purpose)>,
    /// Readings that failed.
    pub(super) later: Vec<(String, Purpose)>,
    reads: usize,
    /// Channels that were found behind, and the position that was found.
    pub(super) behind: Vec<(Instant, String, Position)>,
    backoff: Backoff,
    next_attempt: Option<Instant>,
    next_comparison: Instant,
    /// The run of the engine, which changes when it is another one or was restarted.
    engine: Option<String>,
    births: u64,
}

/// A channel with members here.
pub(super) struct Open {
    pub(super) channel: Channel,
    /// Tells it from one of the same name that was closed.
    pub(super) birth: u64,
    pub(super) listening: Listening,
    is_ready: bool,
    waiting: Vec<oneshot::Sender<()>>,
}

struct Connection {
    number: u64,
    sink: PubSubSink,
    stream: PubSubStream,
    last_heard: Instant,
    is_pinged: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// Messages wait for the answer.
    Fill,
    /// A look whether something is missing.
    Compare,
}

/// Work that was done beside the task.
pub(super) enum Done {
    Connected(Option<(PubSub, Option<String>)>),
    /// The names were subscribed or unsubscribed on the connection of this number.
    Changed(u64, Vec<String>, bool),
    Pinged(u64, bool),
    Engine(Option<String>),
    Read(String, u64, Purpose, Question, Option<Read>),
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

    /// Hears until the rooms are gone.
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
                let open = Open {
                    channel,
                    birth: self.births,
                    listening: Listening::default(),
                    is_ready: false,
                    waiting: Vec::new(),
                };
                self.channels.insert(name.clone(), open);
                self.changes.insert(name);
            }
            Command::Close(channel) => {
                let name = self.node.name(&channel);
                if let Some(mut open) = self.channels.remove(&name) {
                    open.ready(&self.node);
                }
                self.changes.insert(name);
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

    /// Begins to connect, if there is something to hear.
    fn connect(&mut self) {
        let is_wanted = self.connection.is_none() && !self.channels.is_empty();
        if !is_wanted || self.next_attempt.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.next_attempt = None;
        let redis = self.node.redis.clone();
        self.work.spawn(async move {
            let connection = redis.subscriber().await;
            // After that: what an engine of before has lost, the new one is asked for.
            let engine = redis.engine_run().await;
            Done::Connected(connection.map(|connection| (connection, engine)))
        });
    }

    /// Subscribes and unsubscribes, one batch at a time so that their order is kept.
    fn change(&mut self) {
        if self.is_changing || self.changes.is_empty() {
            return;
        }
        let Some(connection) = &self.connection else { return };
        let batch: Vec<String> = self.changes.iter().take(MAX_BATCH).cloned().collect();
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for name in &batch {
            self.changes.remove(name);
            match (self.channels.contains_key(name), self.subscribed.contains(name)) {
                (true, false) => on.push(name.clone()),
                (false, true) => off.push(name.clone()),
                _ => {}
            }
        }
        let (mut sink, number) = (connection.sink.clone(), connection.number);
        self.is_changing = true;
        self.work.spawn(async move {
            let changing = async {
                if !off.is_empty() {
                    sink.unsubscribe(&off).await?;
                }
                if !on.is_empty() {
                    sink.subscribe(&on).await?;
                }
                Ok::<_, redis::RedisError>(())
            };
            let is_done = timeout(CONFIRMED, changing).await.is_ok_and(|outcome| outcome.is_ok());
            Done::Changed(number, batch, is_done)
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
                self.judge_engine(engine);
                let (sink, stream) = connection.split();
                let (number, last_heard) = (self.births, Instant::now());
                self.births += 1;
                self.connection =
                    Some(Connection { number, sink, stream, last_heard, is_pinged: false });
                self.subscribed.clear();
                self.changes = self.channels.keys().cloned().collect();
            }
            Done::Changed(number, names, is_done) => {
                self.is_changing = false;
                if self.connection.as_ref().is_none_or(|it| it.number != number) {
                    return;
                }
                if !is_done {
                    return self.lose();
                }
                for name in names {
                    self.confirmed(name);
                }
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
                if self.judge_engine(engine) {
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

    /// Notes that a name is subscribed or not, as it was wanted.
    fn confirmed(&mut self, name: String) {
        let Some(open) = self.channels.get_mut(&name) else {
            self.subscribed.remove(&name);
            return;
        };
        if self.node.settings.is_numbered {
            open.listening.begin();
            self.to_read.push_back((name.clone(), Purpose::Fill));
        } else {
            open.ready(&self.node);
        }
        self.subscribed.insert(name);
    }

    /// Notes the run of the engine; returns true if it is another one than before, so
    /// that channels may have lost messages that were acknowledged.
    fn judge_engine(&mut self, engine: Option<String>) -> bool {
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

    /// Waits before the next attempt to connect, for a second at most: the log reaches
    /// for a short time.
    fn wait(&mut self) {
        self.next_attempt = Some(Instant::now() + self.backoff.wait().min(LONGEST_WAIT));
    }

    /// Gives the connection up; the next one is made at once.
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
            let (mut sink, number) = (connection.sink.clone(), connection.number);
            self.work.spawn(async move {
                let answer = timeout(PING_DEADLINE, sink.ping::<redis::Value>()).await;
                Done::Pinged(number, answer.is_ok_and(|answer| answer.is_ok()))
            });
        }
        if now >= self.next_comparison {
            self.next_comparison = now + COMPARE;
            self.read_all(Purpose::Compare);
            let redis = self.node.redis.clone();
            self.work.spawn(async move { Done::Engine(redis.engine_run().await) });
        }
    }

    /// Cleans up after processes that are gone.
    pub(super) fn tidy(&mut self, room: Arc<str>) {
        let node = Arc::clone(&self.node);
        self.work.spawn(async move {
            let _ = presence::count(&node, &room).await;
            Done::Tidied
        });
    }
}

impl Open {
    /// Notes that the channel is heard, or closed.
    pub(super) fn ready(&mut self, node: &Node) {
        if !std::mem::replace(&mut self.is_ready, true) {
            node.opening.fetch_sub(1, Ordering::AcqRel);
        }
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(());
        }
    }
}

/// Gives a message to the members here, unless they have it.
pub(super) fn deliver(
    node: &Node,
    channel: &Channel,
    epoch: &str,
    number: u64,
    envelope: &Envelope<'_>,
) {
    if envelope.node == node.id && node.settings.order == Order::Local {
        return;
    }
    let Some(rooms) = node.rooms() else { return };
    let (audience, text, except) = (channel.audience(), envelope.text, envelope.except);
    if epoch == UNNUMBERED {
        rooms.deliver(audience, text, except);
    } else {
        rooms.deliver_with_id(audience, &format!("{epoch}-{number}"), text, except);
    }
}

/// Waits for messages, and takes those that are there; `None` when the connection has
/// ended.
async fn next(connection: &mut Option<Connection>) -> Option<Vec<Msg>> {
    let Some(connection) = connection else { return std::future::pending().await };
    let mut messages = Vec::new();
    std::future::poll_fn(|cx| {
        while messages.len() < MAX_BATCH {
            match Pin::new(&mut connection.stream).poll_next(cx) {
                Poll::Ready(Some(message)) => messages.push(message),
                Poll::Ready(None) if messages.is_empty() => return Poll::Ready(None),
                Poll::Pending if messages.is_empty() => return Poll::Pending,
                _ => break,
            }
        }
        Poll::Ready(Some(std::mem::take(&mut messages)))
    })
    .await
}

/// The time between two looks at what is due.
const TICK: Duration = Duration::from_millis(250);
/// The silence after which the engine is pinged, and the time for its answer.
const SILENCE: Duration = Duration::from_secs(1);
const PING_DEADLINE: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The time for a subscription.
const CONFIRMED: Duration = Duration::from_secs(5);
/// The names that are subscribed at once, and messages that are taken at once.
const MAX_BATCH: usize = 256;
/// The channels that are read at the same time.
const MAX_READS: usize = 64;
