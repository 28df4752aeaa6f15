//! A client that disconnects during a request, over a real socket.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::*;

/// Sends a notification when the future that holds it is dropped.
struct Left(Arc<Notify>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

const LINES: &str = "POST /x HTTP/1.1\r\nhost: a\r\nidempotency-key: \"k\"\r\n\
                     connection: close\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_retry_after_a_disconnect_gets_the_response() {
    let [begun, left, go] = [(); 3].map(|()| Arc::new(Notify::new()));
    let runs = Runs::default();
    let handler = {
        let (runs, begun, go) = (runs.clone(), Arc::clone(&begun), Arc::clone(&go));
        move || {
            let number = runs.begin();
            let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
            async move {
                begun.notify_one();
                go.notified().await;
                number.to_string()
            }
        }
    };
    let watch = {
        let left = Arc::clone(&left);
        async move |req: Request, next: Next| {
            let _left = Left(Arc::clone(&left));
            next.run(req).await
        }
    };
    let mut router = Router::with_options(quiet());
    router.post("/x", handler).middleware([Middleware::new(watch), with_idempotency(in_memory())]);
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let address = server.local_addr();
    let serving = tokio::spawn(server.serve());

    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(LINES.as_bytes()).await.unwrap();
    begun.notified().await;
    drop(first);
    // The server has noticed the disconnect and dropped the request.
    left.notified().await;
    go.notify_one();

    // The handler continues in a separate task.
    let answer = loop {
        let mut again = TcpStream::connect(address).await.unwrap();
        again.write_all(LINES.as_bytes()).await.unwrap();
        let mut answer = String::new();
        again.read_to_string(&mut answer).await.unwrap();
        if !answer.starts_with("HTTP/1.1 409 ") {
            break answer;
        }
    };
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("idempotency-replayed: true") && answer.ends_with("\r\n1"), "{answer}");
    assert_eq!(runs.count(), 1);
    serving.abort();
}
