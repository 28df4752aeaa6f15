//! The task that publishes queued messages and retries until it succeeds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use stockade_websockets::Order;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::channel::{Channel, Keys};
use super::node::{DEADLINE, Node, random};
use super::script::{PUBLISH, PUBLISH_ONLY};
use crate::error::{LinkError, wants_another_connection};
use crate::script::millis;

/// Publishes until the rooms are dropped, then publishes the rest of the queue.
pub(crate) async fn run(node: Arc<Node>) {
    tokio::select! {
        () = publish(&node) => {}
        () = async {
            node.end().await;
            let empty = async {
                while !node.queue.is_empty() {
                    sleep(Duration::from_millis(10)).await;
                }
            };
            let _ = timeout(LAST, empty).await;
        } => {}
    }
}

async fn publish(node: &Arc<Node>) {
    loop {
        let mut batch = node.queue.take().await;
        let mut groups = std::mem::take(&mut batch.groups);
        // A single channel is the common case and needs no extra task.
        let last = groups.pop();
        let mut others = JoinSet::new();
        for (channel, messages) in groups {
            let node = Arc::clone(node);
            others.spawn(async move { publish_group(&node, channel, &messages).await });
        }
        if let Some((channel, messages)) = last {
            publish_group(node, channel, &messages).await;
        }
        while others.join_next().await.is_some() {}
        node.queue.done(&batch);
    }
}

/// Publishes messages to one channel in one step. A retry may publish them
/// again; receivers recognize this by the sequence numbers.
async fn publish_group(node: &Arc<Node>, channel: Channel, messages: &[Vec<u8>]) {
    if node.settings.order == Order::Room && node.opening.load(Ordering::Acquire) > 0 {
        // Local members receive the message through the echo, so the channel
        // must be subscribed.
        node.heard(channel.clone()).await;
    }
    let mut wait = SHORTEST;
    let mut refusals = 0;
    loop {
        let Err(error) = try_publish(node, &channel, messages).await else { return };
        node.note_outage();
        if let LinkError::Failed(cause) = &error
            && !cause.is_io_error()
            && !cause.is_connection_dropped()
            && !wants_another_connection(cause)
        {
            refusals += 1;
        }
        if refusals >= MAX_REFUSALS {
            let (audience, lost) = (channel.audience(), messages.len());
            log::error!(target: "stockade", "{lost} messages to {audience} were lost: {error}");
            return;
        }
        sleep(wait).await;
        wait = (wait * 2).min(LONGEST);
    }
}

async fn try_publish(
    node: &Node,
    channel: &Channel,
    messages: &[Vec<u8>],
) -> Result<(), LinkError> {
    let (redis, settings) = (&node.redis, &node.settings);
    let name = node.name(channel);
    if !settings.is_numbered {
        return redis.run_on(&PUBLISH_ONLY, &[&name], messages, DEADLINE).await;
    }
    let keys = Keys::of(&name);
    let mut arguments = vec![
        format!("{:x}", random()).into_bytes(),
        millis(settings.life()).into_bytes(),
        millis(settings.log_time).into_bytes(),
        node.log_messages().to_string().into_bytes(),
    ];
    arguments.extend_from_slice(messages);
    redis.run_on(&PUBLISH, &[&keys.head, &keys.log, &name], &arguments, DEADLINE).await
}

/// The time limit for the rest of the queue after the rooms are dropped.
const LAST: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);
/// The number of errors from a responding server before messages are dropped.
const MAX_REFUSALS: u32 = 20;
