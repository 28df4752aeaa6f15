//! [`Node`]: the rooms of one process, as its tasks share them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use stockade_errors::locks::lock;
use stockade_websockets::{Audience, Order, Rooms, WeakRooms};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::channel::Channel;
use super::queue::{MAX_MESSAGES, Queue};
use super::subscription::Subscription;
use super::{presence, publisher};
use crate::link::Redis;

/// The choices of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) order: Order,
    pub(crate) is_numbered: bool,
    pub(crate) log_messages: usize,
    pub(crate) log_time: Duration,
}

impl Settings {
    /// Returns the life of the keys that comparisons keep alive.
    pub(crate) fn life(&self) -> Duration {
        self.log_time.max(3 * COMPARE)
    }
}

/// The rooms of one process.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) redis: Redis,
    pub(crate) id: u64,
    pub(crate) settings: Settings,
    rooms: WeakRooms,
    pub(crate) queue: Queue,
    /// The time until which the log is long, because processes come back.
    long_until: Mutex<Option<Instant>>,
    commands: mpsc::UnboundedSender<Command>,
    /// The other end, until the tasks run.
    received: Mutex<Option<mpsc::UnboundedReceiver<Command>>>,
    is_started: AtomicBool,
    /// The channels that are opened and not heard yet.
    pub(crate) opening: AtomicUsize,
    /// The rooms with members here.
    pub(crate) open: Mutex<HashSet<Arc<str>>>,
    /// The rooms whose members are to be written.
    pub(crate) changed: Mutex<HashSet<Arc<str>>>,
    pub(crate) has_changed: Notify,
    /// The number of processes that the engine remembers.
    pub(crate) nodes: AtomicUsize,
    /// True once the rooms are gone.
    pub(crate) ended: watch::Sender<bool>,
}

/// A request to the task of the subscription.
#[derive(Debug)]
pub(crate) enum Command {
    Open(Channel),
    Close(Channel),
    /// Answered when the channel is heard, or is not open.
    Ready(Channel, oneshot::Sender<()>),
}

impl Node {
    pub(crate) fn new(redis: Redis, settings: Settings, rooms: &Rooms) -> Self {
        let (commands, received) = mpsc::unbounded_channel();
        Self {
            redis,
            id: random(),
            settings,
            rooms: rooms.downgrade(),
            queue: Queue::default(),
            long_until: Mutex::new(None),
            commands,
            received: Mutex::new(Some(received)),
            is_started: AtomicBool::new(false),
            opening: AtomicUsize::new(0),
            open: Mutex::default(),
            changed: Mutex::default(),
            has_changed: Notify::new(),
            nodes: AtomicUsize::new(usize::MAX),
            ended: watch::Sender::new(false),
        }
    }

    /// Starts the tasks, if they do not run and there is a runtime.
    pub(crate) fn start(self: &Arc<Self>) {
        if self.is_started.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let Some(commands) = lock(&self.received).take() else { return };
        self.is_started.store(true, Ordering::Relaxed);
        runtime.spawn(Subscription::new(Arc::clone(self)).run(commands));
        runtime.spawn(publisher::run(Arc::clone(self)));
        runtime.spawn(presence::run(Arc::clone(self)));
    }

    pub(crate) fn rooms(&self) -> Option<Rooms> {
        self.rooms.upgrade()
    }

    /// Returns the name of a channel in the engine.
    pub(crate) fn name(&self, channel: &Channel) -> String {
        channel.name(self.redis.prefix())
    }

    pub(crate) fn opened(&self, audience: Audience<'_>) {
        let Some(channel) = Channel::of(audience) else { return };
        if let Channel::Room(room) = &channel {
            lock(&self.open).insert(Arc::clone(room));
        }
        self.opening.fetch_add(1, Ordering::AcqRel);
        let _ = self.commands.send(Command::Open(channel));
    }

    pub(crate) fn closed(&self, audience: Audience<'_>) {
        let Some(channel) = Channel::of(audience) else { return };
        if let Channel::Room(room) = &channel {
            lock(&self.open).remove(room);
        }
        let _ = self.commands.send(Command::Close(channel));
    }

    /// Notes that the members of a room are to be written.
    pub(crate) fn write_later(&self, rooms: impl IntoIterator<Item = Arc<str>>) {
        lock(&self.changed).extend(rooms);
        self.has_changed.notify_one();
    }

    /// Notes that the engine did not answer. Others may have lost their connections too:
    /// for a while the log keeps what comes out of the queues at once, or they would find
    /// its end alone.
    pub(crate) fn note_outage(&self) {
        *lock(&self.long_until) = Some(Instant::now() + LONG);
    }

    /// Returns the number of messages that the log keeps now.
    pub(crate) fn log_messages(&self) -> usize {
        let mut long_until = lock(&self.long_until);
        *long_until = long_until.filter(|until| *until > Instant::now());
        if long_until.is_none() {
            return self.settings.log_messages;
        }
        let queues = self.nodes.load(Ordering::Relaxed).clamp(1, MAX_LONG);
        self.settings.log_messages.max(queues * MAX_MESSAGES)
    }

    /// Waits until a channel is heard; returns at once for one that is not open.
    pub(crate) async fn heard(&self, channel: Channel) {
        let (told, is_heard) = oneshot::channel();
        if self.commands.send(Command::Ready(channel, told)).is_ok() {
            // The task answers, or has ended.
            let _ = is_heard.await;
        }
    }

    /// Waits until the rooms are gone.
    pub(crate) async fn end(&self) {
        let mut ended = self.ended.subscribe();
        // It fails if the node is gone, which this borrows.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// Returns a random number: the name of a process, or of an epoch.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        // A system without random bytes: the keys of a map are as different.
        use std::hash::{BuildHasher as _, RandomState};
        return RandomState::new().hash_one(0);
    }
    u64::from_ne_bytes(bytes)
}

/// The time between two comparisons of all channels with the engine.
pub(crate) const COMPARE: Duration = Duration::from_secs(30);
/// The time after an outage in which the log is long, and for how many queues at most.
const LONG: Duration = Duration::from_secs(15);
const MAX_LONG: usize = 16;
/// The time that the engine has for an answer.
pub(crate) const DEADLINE: Duration = Duration::from_millis(500);
