//! [`Contestant`]: a server in one of its modes.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;

use bench_common::Mode;
use bench_runner::{Outcome, place};
use bench_scenarios::Scenario;

/// A server in one of its modes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Contestant {
    pub(crate) peer: &'static str,
    mode: Mode,
}

impl Contestant {
    /// All contestants; the first is the baseline.
    pub(crate) const ALL: [Self; 5] = [
        Self::bare("hyper"),
        Self::bare("stockade"),
        Self { peer: "stockade", mode: Mode::Defaults },
        Self::bare("axum"),
        Self::bare("actix"),
    ];

    const fn bare(peer: &'static str) -> Self {
        Self { peer, mode: Mode::Bare }
    }

    /// Returns true for contestants that stockade is compared with.
    pub(crate) fn is_peer(self) -> bool {
        self.peer != "stockade"
    }

    /// Returns the command that starts it.
    pub(crate) fn command(self, scenario: Scenario, folder: &Path) -> Outcome<Command> {
        let own = env::current_exe().map_err(|error| error.to_string())?;
        let name = format!("scenarios-{}{}", self.peer, env::consts::EXE_SUFFIX);
        let mut command = Command::new(own.with_file_name(name));
        command.args([scenario.name(), self.mode.name()]).arg(folder);
        Ok(command)
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.peer, self.mode.name())
    }
}

/// Builds the servers with the profile of this program.
pub(crate) fn build() -> Outcome {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.parent().and_then(Path::file_name).unwrap_or_default();
    let profile = if folder == "debug" { "dev".as_ref() } else { folder };
    let mut command = place::cargo()?;
    command.args(["build", "--locked", "-p", "bench-scenarios", "--profile"]).arg(profile);
    let mut peers: Vec<_> = Contestant::ALL.iter().map(|contestant| contestant.peer).collect();
    peers.dedup();
    for peer in peers {
        command.arg("--bin").arg(format!("scenarios-{peer}"));
    }
    place::run(&mut command)
}
