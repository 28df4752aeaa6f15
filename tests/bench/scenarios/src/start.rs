//! [`Start`]: the arguments of a server, and its runtime.

use std::env;
use std::io;
use std::path::PathBuf;

use bench_common::Mode;
use tokio::runtime::{Builder, Runtime};

use crate::{BoxError, Scenario};

/// The arguments of a server: `<scenario> [<mode> [<folder>]]`.
#[derive(Clone, Debug)]
pub struct Start {
    /// The scenario to serve.
    pub scenario: Scenario,
    /// The amount of additional work. Peers of stockade are always bare.
    pub mode: Mode,
    /// The folder with the certificate and the file.
    pub folder: PathBuf,
}

impl Start {
    /// Reads the arguments of the process.
    ///
    /// # Errors
    /// Returns an error if the scenario or mode does not exist.
    pub fn from_args() -> Result<Self, BoxError> {
        let mut args = env::args().skip(1);
        let scenario = Scenario::named(&args.next().unwrap_or_default())?;
        let name = args.next().unwrap_or_else(|| Mode::Bare.name().to_owned());
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        let mode = mode.ok_or_else(|| format!("there is no mode {name:?}"))?;
        Ok(Self { scenario, mode, folder: args.next().unwrap_or_default().into() })
    }

    /// Creates the tokio runtime with one thread, or with the number of workers
    /// in the scenario.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot create threads.
    pub fn runtime(&self) -> io::Result<Runtime> {
        match self.scenario.workers() {
            1 => Builder::new_current_thread().enable_all().build(),
            workers => Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
        }
    }
}
