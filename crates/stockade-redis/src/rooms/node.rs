//! The rooms of one process, shared by its tasks.

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

/// The settings from the application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) order: Order,
    pub(crate) is_numbered: bool,
    pub(crate) log_messages: usize,
    pub(crate) log_time: Duration,
}

impl Settings {
    /// Returns the TTL of the keys that comparisons renew.
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
    /// The time until which the log is longer, because processes are
    /// reconnecting.
    long_until: Mutex<Option<Instant>>,
    commands: mpsc::UnboundedSender<Command>,
    /// The receiver, until the tasks start.
    received: Mutex<Option<mpsc::UnboundedReceiver<Command>>>,
    is_started: AtomicBool,
    /// The number of channels that are open but not yet subscribed.
    pub(crate) opening: AtomicUsize,
    /// The rooms with members in this process.
    pub(crate) open: Mutex<HashSet<Arc<str>>>,
    /// The rooms with unwritten changes to their members.
    pub(crate) changed: Mutex<HashSet<Arc<str>>>,
    pub(crate) has_changed: Notify,
    /// The number of processes that Redis lists.
    pub(crate) nodes: AtomicUsize,
    /// True once the rooms are dropped.
    pub(crate) ended: watch::Sender<bool>,
}

/// A command for the subscription task.
#[derive(Debug)]
pub(crate) enum Command {
    Open(Channel),
    Close(Channel),
    /// Notifies the sender when the channel is subscribed or is not open.
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

    /// Starts the tasks if they are not running and a runtime exists.
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

    /// Returns the name of a channel in Redis.
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

    /// Schedules a write of the rooms' members.
    pub(crate) fn write_later(&self, rooms: impl IntoIterator<Item = Arc<str>>) {
        lock(&self.changed).extend(rooms);
        self.has_changed.notify_one();
    }

    /// Records that Redis did not respond. Other processes may have lost their
    /// connections too. For a while, the log has room for the full queues of
    /// all processes, so reconnecting processes find more than its end.
    pub(crate) fn note_outage(&self) {
        *lock(&self.long_until) = Some(Instant::now() + LONG);
    }

    /// Returns the current maximum length of the log.
    pub(crate) fn log_messages(&self) -> usize {
        let mut long_until = lock(&self.long_until);
        *long_until = long_until.filter(|until| *until > Instant::now());
        if long_until.is_none() {
            return self.settings.log_messages;
        }
        let queues = self.nodes.load(Ordering::Relaxed).clamp(1, MAX_LONG);
        self.settings.log_messages.max(queues * MAX_MESSAGES)
    }

    /// Waits until a channel is subscribed. Returns at once if it is not open.
    pub(crate) async fn heard(&self, channel: Channel) {
        let (told, is_heard) = oneshot::channel();
        if self.commands.send(Command::Ready(channel, told)).is_ok() {
            // An error means that the task has ended.
            let _ = is_heard.await;
        }
    }

    /// Waits until the rooms are dropped.
    pub(crate) async fn end(&self) {
        let mut ended = self.ended.subscribe();
        // Cannot fail: this borrows the node, which owns the sender.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// Returns a random number that names a process or an epoch.
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        // The system cannot provide random bytes. The random keys of a hash map
        // are a sufficient substitute.
        use std::hash::{BuildHasher as _, RandomState};
        return RandomState::new().hash_one(0);
    }
    u64::from_ne_bytes(bytes)
}

/// The interval between comparisons of all channels with Redis.
pub(crate) const COMPARE: Duration = Duration::from_secs(30);
/// The time for which the log is longer after an outage.
const LONG: Duration = Duration::from_secs(15);
/// The maximum number of queues that the longer log has room for.
const MAX_LONG: usize = 16;
/// The time limit for a response.
pub(crate) const DEADLINE: Duration = Duration::from_millis(500);
