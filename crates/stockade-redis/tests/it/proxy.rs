//! [`Proxy`]: a way to an engine that can be cut, silenced, or led elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A proxy of its own for each test.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    upstream: Arc<AtomicU16>,
    /// The number of times that all connections were silenced.
    silenced: watch::Sender<u32>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let upstream = Arc::new(AtomicU16::new(port));
        let silenced = watch::Sender::new(0);
        let (to, silence) = (Arc::clone(&upstream), silenced.subscribe());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, to.load(Ordering::Relaxed), silence.clone()));
            }
        });
        Self { port: own, upstream, silenced, accepting }
    }

    /// Leads new connections to another engine.
    pub(crate) fn lead_to(&self, port: u16) {
        self.upstream.store(port, Ordering::Relaxed);
    }

    /// Makes the connections of now half-open: they stay, and carry nothing more.
    pub(crate) fn silence(&self) {
        self.silenced.send_modify(|times| *times += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass(mut client: TcpStream, port: u16, mut silence: watch::Receiver<u32>) {
    silence.mark_unchanged();
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        told = silence.changed() => {
            // Kept until the client has gone, which never learns anything.
            if told.is_ok() {
                let _ = client.readable().await;
                std::future::pending::<()>().await;
            }
        }
    }
}
