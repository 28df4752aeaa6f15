//! [`Logged`]: captures log lines for tests.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The log lines of this thread since its creation.
#[derive(Clone, Debug, Default)]
pub struct Logged(Arc<Mutex<Vec<u8>>>);

impl Logged {
    /// Starts capturing, until the guard is dropped.
    #[must_use]
    pub fn lines() -> (Self, tracing::subscriber::DefaultGuard) {
        let logged = Self::default();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(logged.clone());
        (logged, lines.finish().set_default())
    }

    /// Returns all lines.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Counts the lines that contain `part`.
    #[must_use]
    pub fn count(&self, part: &str) -> usize {
        self.text().lines().filter(|line| line.contains(part)).count()
    }
}

impl io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Logged {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}
