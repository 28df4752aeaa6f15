//! The queue of messages to publish.

use std::collections::VecDeque;
use std::sync::Mutex;

use stockade_errors::locks::lock;
use stockade_websockets::{BroadcastError, SocketId};
use tokio::sync::Notify;

use super::channel::Channel;
use super::envelope::Envelope;

/// A bounded queue. Messages count until they are published, even after they
/// leave the queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<(Channel, Vec<u8>)>,
    /// The number and total bytes of messages, both queued and in flight.
    count: usize,
    bytes: usize,
    /// The number of the last message of this process.
    last: u64,
    /// The number of dropped messages since the queue was last empty.
    dropped: u64,
}

/// The next messages, grouped by channel and in order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) groups: Vec<(Channel, Vec<Vec<u8>>)>,
    count: usize,
    bytes: usize,
}

impl Queue {
    /// Appends a message of a process.
    pub(crate) fn push(
        &self,
        channel: Channel,
        node: u64,
        except: Option<SocketId>,
        text: &str,
    ) -> Result<(), BroadcastError> {
        if text.len() > MAX_MESSAGE {
            return Err(BroadcastError::TooLarge);
        }
        let mut waiting = lock(&self.waiting);
        if waiting.count >= MAX_MESSAGES || waiting.bytes + text.len() > MAX_BYTES {
            waiting.dropped += 1;
            // Log the first dropped message, then once per queue length.
            if waiting.dropped % MAX_DROPPED_QUIETLY == 1 {
                let dropped = waiting.dropped;
                log::error!(
                    target: "stockade",
                    "redis: {dropped} messages to rooms were dropped, because too many are queued"
                );
            }
            return Err(BroadcastError::Overloaded);
        }
        waiting.last += 1;
        let message = Envelope { node, count: waiting.last, except, text }.write();
        waiting.count += 1;
        waiting.bytes += message.len();
        waiting.messages.push_back((channel, message));
        drop(waiting);
        self.added.notify_one();
        Ok(())
    }

    /// Waits for messages and takes a batch.
    pub(crate) async fn take(&self) -> Batch {
        loop {
            let added = self.added.notified();
            let batch = self.try_take();
            if batch.count > 0 {
                return batch;
            }
            added.await;
        }
    }

    fn try_take(&self) -> Batch {
        let mut waiting = lock(&self.waiting);
        let mut batch = Batch::default();
        while batch.count < MAX_BATCH && batch.bytes < MAX_BATCH_BYTES {
            let Some((channel, message)) = waiting.messages.pop_front() else { break };
            batch.count += 1;
            batch.bytes += message.len();
            match batch.groups.iter_mut().find(|(of, _)| *of == channel) {
                Some((_, group)) => group.push(message),
                None => batch.groups.push((channel, vec![message])),
            }
        }
        batch
    }

    /// Frees the capacity that a batch occupied.
    pub(crate) fn done(&self, batch: &Batch) {
        let mut waiting = lock(&self.waiting);
        waiting.count -= batch.count;
        waiting.bytes -= batch.bytes;
        if waiting.count == 0 {
            waiting.dropped = 0;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.waiting).count == 0
    }
}

/// The maximum number of messages and their total size, 8 MiB.
pub(crate) const MAX_MESSAGES: usize = 4_096;
const MAX_BYTES: usize = 8_388_608;
/// The maximum size of a message: 64 KiB.
const MAX_MESSAGE: usize = 65_536;
/// The maximum number of messages in a batch, and their total size.
const MAX_BATCH: usize = 128;
const MAX_BATCH_BYTES: usize = 524_288;
const MAX_DROPPED_QUIETLY: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &Queue, room: &str, text: &str) -> Result<(), BroadcastError> {
        queue.push(Channel::Room(room.into()), 7, None, text)
    }

    #[tokio::test]
    async fn a_batch_keeps_the_order_of_each_channel() {
        let queue = Queue::default();
        for text in ["1", "2", "3"] {
            push(&queue, "a", text).unwrap();
            push(&queue, "b", text).unwrap();
        }
        let batch = queue.take().await;
        let texts = batch.groups.iter().map(|(_, group)| {
            let texts = group.iter().map(|bytes| Envelope::read(bytes).unwrap().text);
            texts.collect::<Vec<_>>().concat()
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["123", "123"]);
        assert!(!queue.is_empty(), "it is not done");
        queue.done(&batch);
        assert!(queue.is_empty());
    }

    #[tokio::test]
    async fn the_queue_is_bounded() {
        let queue = Queue::default();
        let large = "x".repeat(MAX_MESSAGE);
        assert_eq!(push(&queue, "a", &format!("{large}x")), Err(BroadcastError::TooLarge));
        let taken = (0..1_000).filter(|_| push(&queue, "a", &large).is_ok()).count();
        assert_eq!(taken, 127, "8 MiB with their envelopes");
        let batch = queue.take().await;
        assert_eq!(push(&queue, "a", &large), Err(BroadcastError::Overloaded), "not done yet");
        queue.done(&batch);
        assert_eq!(push(&queue, "a", &large), Ok(()));

        let queue = Queue::default();
        let taken = (0..5_000).filter(|_| push(&queue, "a", "").is_ok()).count();
        assert_eq!(taken, MAX_MESSAGES);
    }
}
