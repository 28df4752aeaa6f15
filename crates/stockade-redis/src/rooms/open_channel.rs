//! A channel with members in this process.

use std::sync::atomic::Ordering;

use stockade_websockets::Order;
use tokio::sync::oneshot;

use super::channel::Channel;
use super::envelope::{Envelope, UNNUMBERED};
use super::listening::Listening;
use super::node::Node;

/// A channel with members in this process.
pub(super) struct OpenChannel {
    pub(super) channel: Channel,
    /// Distinguishes it from a closed channel with the same name.
    pub(super) birth: u64,
    pub(super) listening: Listening,
    pub(super) is_ready: bool,
    pub(super) waiting: Vec<oneshot::Sender<()>>,
}

impl OpenChannel {
    /// Notifies waiting callers that the channel is subscribed or closed.
    pub(super) fn ready(&mut self, node: &Node) {
        if !std::mem::replace(&mut self.is_ready, true) {
            node.opening.fetch_sub(1, Ordering::AcqRel);
        }
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(());
        }
    }
}

/// Delivers a message to the local members, unless they already have it.
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
