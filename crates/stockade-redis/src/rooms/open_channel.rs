//! [`OpenChannel`]: a channel with members here.

use std::sync::atomic::Ordering;

use stockade_websockets::Order;
use tokio::sync::oneshot;

use super::channel::Channel;
use super::envelope::{Envelope, UNNUMBERED};
use super::listening::Listening;
use super::node::Node;

/// A channel with members here.
pub(super) struct OpenChannel {
    pub(super) channel: Channel,
    /// Tells it from one of the same name that was closed.
    pub(super) birth: u64,
    pub(super) listening: Listening,
    pub(super) is_ready: bool,
    pub(super) waiting: Vec<oneshot::Sender<()>>,
}

impl OpenChannel {
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
        rooms.deliver_with_id(audience, format_args!("{epoch}-{number}"), text, except);
    }
}
