//! Tests clients that close their sending side after their request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_core::{Request, Response};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Notify;

use super::{Running, get, ms, options, soon, start, text};

/// The state of one slow handler.
#[derive(Default)]
pub(super) struct Handler {
    begun: Notify,
    go_on: Notify,
    is_dropped: AtomicBool,
}

/// Reports when the future of a handler is dropped.
struct Dropped(Arc<Handler>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl Handler {
    /// Responds after the signal to continue.
    pub(super) async fn answer(self: Arc<Self>, _: Request) -> Response {
        let dropped = Dropped(Arc::clone(&self));
        self.begun.notify_one();
        self.go_on.notified().await;
        drop(dropped);
        text(200, "late")
    }
}

async fn started(half_close: bool) -> (Running, Arc<Handler>) {
    let handler = Arc::new(Handler::default());
    let inner = Arc::clone(&handler);
    let app = move |request| Arc::clone(&inner).answer(request);
    (start(options().half_close(half_close), app).await, handler)
}

#[tokio::test]
async fn by_default_the_handler_ends() {
    let (server, handler) = started(false).await;
    let mut client = server.connect().await;
    client.send(get("/")).await;
    soon(handler.begun.notified()).await;
    client.stream.shutdown().await.unwrap();
    client.closed().await;
    assert!(handler.is_dropped.load(Ordering::Relaxed));
}

#[tokio::test]
async fn with_the_option_the_response_is_sent_and_the_connection_ends() {
    let (server, handler) = started(true).await;
    for closes_at_once in [true, false] {
        let mut client = server.connect().await;
        client.send(get("/")).await;
        if closes_at_once {
            client.stream.shutdown().await.unwrap();
        }
        soon(handler.begun.notified()).await;
        if !closes_at_once {
            client.stream.shutdown().await.unwrap();
        }
        // Enough time to notice the end if the server checked for it.
        tokio::time::sleep(ms(50)).await;
        assert!(!handler.is_dropped.swap(false, Ordering::Relaxed), "{closes_at_once}");
        handler.go_on.notify_one();
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "late"));
        client.closed().await;
        handler.is_dropped.store(false, Ordering::Relaxed);
    }
}
