//! The task that publishes what waits in the queue, and repeats it until it is done.

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

/// Publishes until the rooms are gone, and then what is left.
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
        // One channel is the common case, which needs no task of its own.
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

/// Publishes messages to one channel in one step. It may happen twice, which their counts
/// show.
async fn publish_group(node: &Arc<Node>, channel: Channel, messages: &[Vec<u8>]) {
    if node.settings.order == Order::Room && node.opening.load(Ordering::Acquire) > 0 {
        // Own members get it by the echo, which is to be heard.
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
            log::error!(target: "stockade", "{lost} messages to {audience} are lost: {error}");
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

/// The time for what is left when the rooms are gone.
const LAST: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);
/// The times that an engine which answers may refuse messages before they are dropped.
const MAX_REFUSALS: u32 = 20;
