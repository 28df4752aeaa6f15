//! [`backplane`]: the promises of a backplane of rooms.

mod delivery;
mod faults;
mod process;
mod state;

pub use faults::backplane_under_faults;

use stockade_websockets::{Backplane, Order};

use self::process::Process;
use super::unique_text;

/// Checks the promises of a [`Backplane`]: each member gets each message once, those of a
/// process in their order, and with [`Order::Room`] all members in one order; audiences
/// are kept apart, members that leave are left alone, no gap is reported where nothing is
/// missing, and the members of all processes are known.
///
/// A backplane that keeps no messages has no [`History`](stockade_websockets::History),
/// which says so. One that keeps them gives them from any id on.
///
/// `make` makes the backplane of one more process, joined with all that it has made
/// before. `order` is that of the backplanes.
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
/// When the backplane breaks a promise, fails, or does not deliver a message within a
/// minute. It needs a runtime of tokio with time.
pub async fn backplane<B: Backplane>(order: Order, make: impl Fn() -> B) {
    let check = Check { order, make, name: unique_text() };
    check.every_broadcast_comes_once_and_in_order().await;
    check.many_members_are_reached().await;
    check.any_text_goes_to_any_room().await;
    check.one_member_is_left_out().await;
    check.all_audiences_are_reached().await;
    check.a_new_member_hears_its_own_process().await;
    check.who_has_left_hears_nothing().await;
    check.a_room_that_is_left_and_joined_again_is_heard().await;
    check.members_of_all_processes_are_known().await;
    check.history_goes_on_from_any_message().await;
}

/// A backplane that is checked.
struct Check<M> {
    order: Order,
    make: M,
    /// The beginning of all names of rooms, which no other run has.
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
