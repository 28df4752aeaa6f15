//! Rooms of several processes on one server. Each process is a `Rooms` with a
//! separate link; its members are in-memory connections.

mod delivery;
mod failover;
mod faults;
mod load;
mod presence;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stockade_redis::{Redis, RedisOptions, RedisRooms};
use stockade_websockets::__internal::Loopback;
use stockade_websockets::{Member, RoomLimits, Rooms, WebSocket};
use tokio::task::JoinHandle;

/// The rooms of one process.
struct Process {
    rooms: Rooms,
    gaps: Arc<Mutex<Vec<Option<u64>>>>,
}

impl Process {
    fn open(url: &str) -> Self {
        Self::open_with(url, |rooms| rooms)
    }

    fn open_with(url: &str, set: impl Fn(RedisRooms) -> RedisRooms) -> Self {
        let redis = Redis::open(url, RedisOptions::new().prefix("shop")).unwrap();
        Self::over(&redis, set)
    }

    fn over(redis: &Redis, set: impl Fn(RedisRooms) -> RedisRooms) -> Self {
        let gaps = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&gaps);
        let rooms = Rooms::with_backplane(RoomLimits::new(), set(redis.rooms()))
            .on_gap(move |gap| told.lock().unwrap().push(gap.missed));
        Self { rooms, gaps }
    }

    /// Adds a member to a room and waits until it can receive messages.
    async fn join(&self, room: &str) -> Client {
        let client = self.enter(room);
        let begin = Instant::now();
        while client.member.ready(room).await.is_err() {
            assert!(begin.elapsed() < PATIENCE, "{room} is not heard");
        }
        client
    }

    fn enter(&self, room: &str) -> Client {
        let (socket, mut end) = Loopback::open("/chat").unwrap();
        let member = self.rooms.enter(socket.sender()).unwrap();
        member.join(room).unwrap();
        let texts = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&texts);
        let task = tokio::spawn(async move {
            while let Some(text) = end.next().await {
                received.lock().unwrap().push(text);
            }
        });
        Client { member, socket, texts, task }
    }

    fn gaps(&self) -> Vec<Option<u64>> {
        self.gaps.lock().unwrap().clone()
    }
}

/// A member with the texts that it received.
struct Client {
    member: Member,
    socket: WebSocket,
    texts: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Client {
    fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap().clone()
    }

    /// Waits for a text.
    async fn has(&self, text: &str) {
        let found = || self.texts.lock().unwrap().iter().any(|it| it == text);
        if !until(found).await {
            let texts = self.texts();
            panic!("no {text:?} among {}: {:?}", texts.len(), texts.last());
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for a condition. Returns false on timeout.
async fn until(holds: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Returns the set of texts. Fails on duplicates.
#[track_caller]
fn once(texts: &[String]) -> HashSet<&str> {
    let unique: HashSet<&str> = texts.iter().map(String::as_str).collect();
    let double = texts.len() - unique.len();
    assert_eq!(double, 0, "{double} of {} texts came twice", texts.len());
    unique
}

const PATIENCE: Duration = Duration::from_secs(60);
