//! Presence: the members of each process, stored in Redis under a lease.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use stockade_errors::locks::lock;
use stockade_websockets::{Presence, SocketId};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::channel::{Channel, Keys};
use super::node::{DEADLINE, Node};
use super::script::{BEAT, FORGET, READ_HERE, WRITE_HERE};
use crate::error::LinkError;
use crate::script::millis;

/// Renews the lease and writes the members of rooms until the rooms are
/// dropped.
pub(crate) async fn run(node: Arc<Node>) {
    let mut beats = interval(BEAT_TIME);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Members are written only under a lease.
    let mut is_leased = false;
    loop {
        tokio::select! {
            () = node.end() => break,
            _ = beats.tick() => {}
            () = async {
                node.has_changed.notified().await;
                sleep(DELAY).await;
            }, if is_leased => {
                write_changed(&node).await;
                continue;
            }
        }
        if let Ok(leases) = beat(&node, Some(LEASE)).await {
            if leases.is_new {
                let open: Vec<_> = lock(&node.open).iter().cloned().collect();
                node.write_later(open);
            }
            is_leased = true;
            node.nodes.store(leases.live.len() + leases.stale.len(), Ordering::Relaxed);
            // This includes the rooms that failed before.
            write_changed(&node).await;
        }
    }
    write_changed(&node).await;
    let _ = beat(&node, Some(Duration::ZERO)).await;
}

struct Leases {
    /// True if Redis did not have a lease for this process.
    is_new: bool,
    live: Vec<String>,
    stale: Vec<String>,
}

/// Reads the leases. Renews the lease of this process if `lease` is set; zero
/// ends it.
async fn beat(node: &Node, lease: Option<Duration>) -> Result<Leases, LinkError> {
    let key = format!("{}:rooms:nodes", node.redis.prefix());
    let (id, lease) = match lease {
        Some(Duration::ZERO) => (id(node), "0".to_owned()),
        Some(lease) => (id(node), millis(lease)),
        None => (String::new(), millis(LEASE)),
    };
    let arguments = [id, lease, millis(REMEMBERED)];
    let answer = node.redis.run_on(&BEAT, &[&key], &arguments, DEADLINE).await;
    let (new, live, stale): (u64, Vec<String>, Vec<String>) = answer?;
    Ok(Leases { is_new: new == 1, live, stale })
}

fn id(node: &Node) -> String {
    format!("{:016x}", node.id)
}

/// Writes the members of changed rooms. Failed writes are retried with the next
/// beat.
async fn write_changed(node: &Arc<Node>) {
    let mut rooms = std::mem::take(&mut *lock(&node.changed)).into_iter();
    let mut writes = JoinSet::new();
    loop {
        while writes.len() < MAX_WRITES {
            let Some(room) = rooms.next() else { break };
            let node = Arc::clone(node);
            writes.spawn(async move {
                if write(&node, &room).await.is_err() {
                    lock(&node.changed).insert(room);
                }
            });
        }
        if writes.join_next().await.is_none() {
            return;
        }
    }
}

async fn write(node: &Node, room: &Arc<str>) -> Result<(), LinkError> {
    let members = node.rooms().map(|rooms| rooms.members(room)).unwrap_or_default();
    let mut value = String::new();
    if !members.is_empty() {
        value = members.len().to_string();
        for member in members {
            value = value + " " + &member.to_string();
        }
    }
    let keys = Keys::of(&node.name(&Channel::Room(Arc::clone(room))));
    let arguments = [id(node), millis(node.settings.life()), value];
    node.redis.run_on(&WRITE_HERE, &[&keys.here], &arguments, DEADLINE).await
}

/// Returns the members of a room in the other processes.
pub(crate) async fn read(node: &Node, room: &str) -> Result<Presence, LinkError> {
    let (values, stale_nodes) = read_values(node, room, false).await?;
    let members = values.iter().flat_map(|value| value.split(' ').skip(1));
    let members: Vec<SocketId> = members.filter_map(|id| id.parse().ok()).collect();
    Ok(Presence::new(members, stale_nodes))
}

/// Returns the number of members of a room in the other processes.
pub(crate) async fn count(node: &Node, room: &str) -> Result<usize, LinkError> {
    let (values, _) = read_values(node, room, true).await?;
    Ok(values.iter().filter_map(|value| value.parse::<usize>().ok()).sum())
}

/// Returns the entries of a room from other live processes, and the number of
/// processes with an expired lease. Removes processes whose leases expired long
/// ago.
async fn read_values(
    node: &Node,
    room: &str,
    counts: bool,
) -> Result<(Vec<String>, usize), LinkError> {
    let keys = Keys::of(&node.name(&Channel::Room(room.into())));
    let counts = if counts { "1" } else { "0" };
    let here = node.redis.run_on(&READ_HERE, &[&keys.here], &[counts], DEADLINE).await;
    let mut here: HashMap<String, String> = here?;
    here.remove(&id(node));
    if here.is_empty() {
        return Ok((Vec::new(), 0));
    }
    // Read the leases after the members, because a process takes its lease
    // before it writes members.
    let leases = beat(node, None).await?;
    let values = leases.live.iter().filter_map(|node| here.remove(node)).collect();
    let stale = leases.stale.iter().filter(|node| here.remove(*node).is_some()).count();
    let forgotten: Vec<String> = here.into_keys().collect();
    if !forgotten.is_empty() {
        let _: u64 = node.redis.run_on(&FORGET, &[&keys.here], &forgotten, DEADLINE).await?;
    }
    Ok((values, stale))
}

const BEAT_TIME: Duration = Duration::from_secs(5);
const LEASE: Duration = Duration::from_secs(15);
/// The delay before an expired lease and its members are removed.
const REMEMBERED: Duration = Duration::from_secs(300);
/// The time within which joins and leaves are batched.
const DELAY: Duration = Duration::from_millis(100);
/// The maximum number of concurrent writes.
const MAX_WRITES: usize = 64;
