//! [`backplane_under_faults`]: checks that no message is lost silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stockade_websockets::{Backplane, Order};

use super::Check;
use super::delivery::in_order;
use super::process::{Process, once};
use crate::fail::{fail, or_fail};
use crate::{unique_text, until};

/// Checks a [`Backplane`] while `fault` runs. No message may arrive twice, and
/// the messages of a process must arrive in order. If a member misses a
/// message, the member's process must report a gap
/// ([`Rooms::on_gap`](stockade_websockets::Rooms::on_gap)).
///
/// Two of three processes broadcast during the check. `fault` causes faults,
/// such as cut connections or a restarted backend, and returns after recovery.
/// Messages sent after that must arrive within a minute. `make` and `order` are
/// the arguments of [`backplane`](super::backplane).
///
/// ```
/// use std::time::Duration;
///
/// use stockade::testing::conformance;
/// use stockade::websockets::{MemoryHub, Order};
///
/// # #[tokio::main]
/// # async fn main() {
/// let hub = MemoryHub::default();
/// let nothing = async || tokio::time::sleep(Duration::from_millis(20)).await;
/// conformance::backplane_under_faults(Order::Local, || hub.backplane(), nothing).await;
/// # }
/// ```
///
/// # Panics
/// Panics if the backplane violates a guarantee. Requires a tokio runtime with
/// timers.
pub async fn backplane_under_faults<B: Backplane>(
    order: Order,
    make: impl Fn() -> B,
    fault: impl AsyncFnOnce(),
) {
    let check = Check { order, make, name: unique_text() };
    let (room, processes) = (check.room("faults"), Arc::new(check.processes::<3>()));
    let mut clients = Vec::new();
    for process in &*processes {
        clients.push(process.join(&room).await);
    }
    let ended = Arc::new(AtomicBool::new(false));
    let talk = talk(Arc::clone(&processes), room.clone(), Arc::clone(&ended));
    let talk = tokio::spawn(talk);
    fault().await;
    ended.store(true, Ordering::Relaxed);
    let sent = or_fail(talk.await);
    for (sender, process) in processes[..2].iter().enumerate() {
        process.broadcast(&room, format!("{sender} last"));
    }
    for (process, client) in processes.iter().zip(&clients) {
        for sender in 0..2 {
            client.gets("messages sent after a fault arrive", &format!("{sender} last")).await;
        }
        let texts = client.texts();
        let came = once("no message arrives twice", &texts).len();
        for sender in 0..2 {
            in_order(&texts, sender);
        }
        let missing = 2 * (sent + 1) - came;
        // The backplane may notice missing messages later, so wait for the
        // report.
        if !until(async || missing == 0 || !process.gaps().is_empty()).await {
            fail(format!(
                "no message is lost silently: {missing} are missing, and no gap was reported"
            ));
        }
    }
}

/// Broadcasts in two processes, and returns the number of broadcasts.
async fn talk(processes: Arc<[Process; 3]>, room: String, ended: Arc<AtomicBool>) -> usize {
    let mut number = 0;
    while !ended.load(Ordering::Relaxed) {
        for (sender, process) in processes[..2].iter().enumerate() {
            process.broadcast(&room, format!("{sender} {number}"));
        }
        number += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    number
}
