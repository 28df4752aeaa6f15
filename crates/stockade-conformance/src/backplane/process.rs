//! [`Process`]: the rooms of one process, and [`Client`], a member of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use stockade_errors::locks::lock;
use stockade_websockets::__internal::Loopback;
use stockade_websockets::{Audience, Backplane, Member, RoomLimits, Rooms, WebSocket};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::fail::{fail, or_fail};
use crate::{PATIENCE, succeeds, until};

/// The rooms of one process.
pub(super) struct Process {
    pub(super) rooms: Rooms,
    gaps: Arc<Mutex<Vec<Option<u64>>>>,
    /// The route pattern of its members, unique for each run.
    route: String,
}

/// A member with its received texts.
pub(super) struct Client {
    pub(super) member: Member,
    pub(super) socket: WebSocket,
    texts: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Process {
    pub(super) fn new(backplane: impl Backplane, route: &str) -> Self {
        let gaps = Arc::new(Mutex::new(Vec::new()));
        let reported = Arc::clone(&gaps);
        let rooms = Rooms::with_backplane(RoomLimits::new(), backplane)
            .on_gap(move |gap| lock(&reported).push(gap.missed));
        Self { rooms, gaps, route: route.to_owned() }
    }

    /// Adds a member to a room. It may not receive messages from other processes
    /// yet.
    pub(super) fn enter(&self, room: &str) -> Client {
        let opened = Loopback::open(&self.route).ok_or("cannot get random bytes");
        let (socket, mut end) = or_fail(opened);
        let member = or_fail(self.rooms.enter(socket.sender()));
        or_fail(member.join(room));
        let texts = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&texts);
        let task = tokio::spawn(async move {
            while let Some(text) = end.next().await {
                lock(&received).push(text);
            }
        });
        Client { member, socket, texts, task }
    }

    /// Adds a member to a room, and waits until it receives messages.
    pub(super) async fn join(&self, room: &str) -> Client {
        let client = self.enter(room);
        client.is_ready(room).await;
        client
    }

    pub(super) fn broadcast(&self, room: &str, text: impl Into<String>) -> usize {
        self.rooms.broadcast(Audience::Room(room), text)
    }

    pub(super) fn gaps(&self) -> Vec<Option<u64>> {
        lock(&self.gaps).clone()
    }
}

impl Client {
    /// Waits until the member can receive messages from other processes in a
    /// room.
    pub(super) async fn is_ready(&self, room: &str) {
        let begin = Instant::now();
        loop {
            // A backplane may give up before the backend is available.
            match self.member.ready(room).await {
                Err(_) if begin.elapsed() < PATIENCE => {}
                outcome => return succeeds("a member gets the messages of a joined room", outcome),
            }
        }
    }

    pub(super) fn texts(&self) -> Vec<String> {
        lock(&self.texts).clone()
    }

    pub(super) fn has(&self, text: &str) -> bool {
        lock(&self.texts).iter().any(|it| it == text)
    }

    /// Waits for a text.
    pub(super) async fn gets(&self, promise: &str, text: &str) {
        if !until(async || self.has(text)).await {
            let texts = self.texts();
            let (count, last) = (texts.len(), texts.last());
            fail(format!("{promise}: no {text:?} among {count} messages, the last is {last:?}"));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Fails if a text arrived twice; returns all texts.
pub(super) fn once<'t>(promise: &str, texts: &'t [String]) -> HashSet<&'t str> {
    let mut unique = HashSet::new();
    for text in texts {
        if !unique.insert(text.as_str()) {
            fail(format!("{promise}: {text:?} arrived twice"));
        }
    }
    unique
}
