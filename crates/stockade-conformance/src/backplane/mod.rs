//! [`backplane`]: checks the guarantees of a room backplane.

mod delivery;
mod faults;
mod process;
mod state;

pub use faults::backplane_under_faults;

use stockade_websockets::{Backplane, Order};

use self::process::Process;
use super::unique_text;

/// Checks the guarantees of a [`Backplane`]:
///
/// - Each member gets each message once. The messages of a process arrive in
///   order, and with [`Order::Room`] all members see the same order.
/// - Audiences are separate, and members that left get nothing.
/// - No gap is reported unless a message is missing.
/// - The members of all processes are known.
///
/// A backplane either reports that it does not store a
/// [`History`](stockade_websockets::History), or returns its history from any
/// id.
///
/// Each call of `make` creates the backplane of another process, connected to
/// all earlier ones. `order` is the order that they guarantee.
///
/// ```
/// use stockade::testing::conformance;
/// use stockade::websockets::{MemoryHub, Order};
///
/// # #[tokio::main]
/// # async fn main() {
/// for order in [Order::Local, Order::Room] {
///     let hub = MemoryHub::new(order);
///     conformance::backplane(order, || hub.backplane()).await;
/// }
/// # }
/// ```
///
/// # Panics
/// Panics if the backplane violates a guarantee, fails, or does not deliver a
/// message within a minute. Requires a tokio runtime with timers.
pub async fn backplane<B: Backplane>(order: Order, make: impl Fn() -> B) {
    let check = Check { order, make, name: unique_text() };
    check.every_broadcast_arrives_once_and_in_order().await;
    check.many_members_are_reached().await;
    check.messages_reach_only_their_room_unchanged().await;
    check.one_member_is_excluded().await;
    check.all_audiences_are_reached().await;
    check.a_new_member_gets_messages_of_its_process().await;
    check.members_that_left_get_no_messages().await;
    check.members_that_rejoin_get_messages().await;
    check.members_of_all_processes_are_known().await;
    check.history_continues_from_any_message().await;
}

/// A backplane under test.
struct Check<M> {
    order: Order,
    make: M,
    /// The prefix of all room names, unique for each run.
    name: String,
}

impl<B: Backplane, M: Fn() -> B> Check<M> {
    fn process(&self) -> Process {
        Process::new((self.make)(), &format!("/{}", self.name))
    }

    fn processes<const COUNT: usize>(&self) -> [Process; COUNT] {
        [(); COUNT].map(|()| self.process())
    }

    fn room(&self, name: &str) -> String {
        format!("{}{name}", self.name)
    }
}
