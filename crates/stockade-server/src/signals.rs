//! The signals that stop a server: SIGTERM and SIGINT (Ctrl-C).

use std::io;

use tokio::sync::watch;

use crate::accept::Stage;

/// The signals, watched once [`watch`](Self::watch) is called.
///
/// tokio installs its handlers for the lifetime of the process, so from then on
/// the signals never terminate the process by default.
#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn watch() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Ctrl-C, watched from the first wait on. Until then it terminates the process
/// by default, even after [`watch`](Self::watch).
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}

/// Begins the shutdown at the first signal, and ends it immediately at the
/// second.
pub(crate) async fn obey(mut signals: Signals, stage: watch::Sender<Stage>) {
    for next in [Stage::Leaving, Stage::Ended] {
        let name = signals.next().await;
        log::info!(target: "stockade::server", "{name} received");
        advance(&stage, next);
    }
}

/// Moves a server to a later stage, never to an earlier one.
pub(crate) fn advance(stage: &watch::Sender<Stage>, next: Stage) {
    stage.send_if_modified(|stage| {
        let forward = *stage < next;
        *stage = next.max(*stage);
        forward
    });
}
