//! Backplanes that violate a guarantee.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use stockade_websockets::{
    Audience, Backplane, BackplaneFuture, History, MemoryBackplane, MemoryHub, Order, Presence,
    PublishReceipt, Rooms, SocketId,
};

use super::fails_with;
use crate::{backplane, backplane_under_faults};

/// A backplane with one fault.
struct Faulty {
    backplane: MemoryBackplane,
    fault: Fault,
    messages: AtomicUsize,
    held: Mutex<Option<Bytes>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Every tenth message is lost.
    LosesMessages,
    /// Every tenth message arrives twice.
    RepeatsMessages,
    /// Every tenth message arrives after the next one.
    ReordersMessages,
    /// Every tenth message reaches other processes with the next one.
    DelaysMessages,
    /// An excluded member gets the message in another process.
    IgnoresExclusions,
    /// Members of the same process get both the echo and the message.
    EchoesMessages,
    /// The members of other processes are unknown.
    HidesOtherProcesses,
    /// It reports an empty history as complete.
    ClaimsCompleteHistory,
}

impl Backplane for Faulty {
    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt {
        let is_tenth = self.messages.fetch_add(1, Ordering::Relaxed) % 10 == 5;
        let publish = |text: &Bytes, except| self.backplane.publish(audience, text, except);
        match self.fault {
            Fault::LosesMessages if is_tenth => return PublishReceipt::SENT,
            Fault::ReordersMessages | Fault::DelaysMessages if is_tenth => {
                *self.held.lock().unwrap() = Some(text.clone());
                return PublishReceipt::SENT;
            }
            Fault::RepeatsMessages if is_tenth => drop(publish(text, except)),
            Fault::IgnoresExclusions => return publish(text, None),
            _ => {}
        }
        let held = self.held.lock().unwrap().take();
        let [first, second] = match self.fault {
            Fault::DelaysMessages => [held.as_ref(), None],
            _ => [None, held.as_ref()],
        };
        let _ = first.map(|held| publish(held, None));
        let published = publish(text, except);
        let _ = second.map(|held| publish(held, None));
        if self.fault == Fault::EchoesMessages { PublishReceipt::SENT } else { published }
    }

    fn attach(&self, rooms: &Rooms) {
        self.backplane.attach(rooms);
    }

    fn presence<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, Presence> {
        match self.fault {
            Fault::HidesOtherProcesses => Box::pin(async { Ok(Presence::default()) }),
            _ => self.backplane.presence(room),
        }
    }

    fn since<'a>(&'a self, room: &'a str, id: &'a str) -> BackplaneFuture<'a, History> {
        match self.fault {
            Fault::ClaimsCompleteHistory => Box::pin(async { Ok(History::new(Vec::new(), true)) }),
            _ => self.backplane.since(room, id),
        }
    }
}

fn faulty(hub: &MemoryHub, fault: Fault) -> Faulty {
    let (messages, held) = (AtomicUsize::new(0), Mutex::new(None));
    Faulty { backplane: hub.backplane(), fault, messages, held }
}

#[tokio::test]
async fn rejects_faulty_implementations() {
    use Order::{Local, Room};
    for (order, fault, words) in [
        (Local, Fault::LosesMessages, "each member gets each message once: found 5"),
        (Local, Fault::RepeatsMessages, "each member gets each message once: "),
        (Local, Fault::ReordersMessages, "the messages of a process must arrive in order"),
        (Local, Fault::IgnoresExclusions, "one member is excluded"),
        (Room, Fault::EchoesMessages, "each member gets each message once: \"0 0\" arrived twice"),
        (Local, Fault::ClaimsCompleteHistory, "is not reported as complete"),
    ] {
        let hub = MemoryHub::new(order);
        fails_with(backplane(order, || faulty(&hub, fault)), words).await;
    }
    // This hub delivers to its own members immediately, although the check
    // expects one order for all.
    let hub = MemoryHub::new(Local);
    let words = "with Order::Room, all members must get all messages in the same order";
    fails_with(backplane(Room, || faulty(&hub, Fault::DelaysMessages)), words).await;
}

/// A minute of waiting passes immediately.
#[tokio::test(start_paused = true)]
async fn detects_unknown_members_of_other_processes() {
    let hub = MemoryHub::default();
    let words = "the members of all processes are known: ";
    fails_with(backplane(Order::Local, || faulty(&hub, Fault::HidesOtherProcesses)), words).await;
}

#[tokio::test(start_paused = true)]
async fn detects_silent_losses_under_faults() {
    let fault = async || tokio::time::sleep(Duration::from_secs(1)).await;
    let hub = MemoryHub::default();
    backplane_under_faults(Order::Local, || hub.backplane(), fault).await;
    for (fault, words) in [
        (Fault::LosesMessages, "no message is lost silently: "),
        (Fault::RepeatsMessages, "no message arrives twice"),
        (Fault::ReordersMessages, "the messages of a process must arrive in order"),
    ] {
        let (hub, wait) = (MemoryHub::default(), Duration::from_secs(1));
        let pause = async || tokio::time::sleep(wait).await;
        let checked = backplane_under_faults(Order::Local, || faulty(&hub, fault), pause);
        fails_with(checked, words).await;
    }
}
