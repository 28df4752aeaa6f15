//! [`Contestant`]: who takes part.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use bench_common::Mode;

use crate::{Outcome, place};

/// A server in one mode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Contestant {
    pub(crate) peer: &'static Peer,
    pub(crate) mode: Mode,
}

/// A framework.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    modes: &'static [Mode],
}

/// All of them; the first is what the others are measured by.
pub(crate) const PEERS: &[Peer] = &[
    Peer { name: "hyper", modes: &[Mode::Bare, Mode::Full] },
    Peer { name: "stockade", modes: &[Mode::Bare, Mode::Defaults, Mode::Full] },
    Peer { name: "axum", modes: &[Mode::Bare, Mode::Full] },
    Peer { name: "actix", modes: &[Mode::Bare, Mode::Full] },
    Peer { name: "ntex", modes: &[Mode::Bare] },
    Peer { name: "poem", modes: &[Mode::Bare, Mode::Full] },
];

impl Peer {
    /// The package of this workspace that starts it.
    pub(crate) fn package(&self) -> String {
        format!("bench-{}", self.name)
    }

    /// The peer once in each of its modes.
    pub(crate) fn contestants(&'static self) -> impl Iterator<Item = Contestant> {
        self.modes.iter().map(move |&mode| Contestant { peer: self, mode })
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.peer.name, self.mode.name())
    }
}

impl Contestant {
    /// The file of its program.
    pub(crate) fn program(self) -> Option<PathBuf> {
        place::program(&self.peer.package()).ok()
    }

    /// The command that starts it.
    pub(crate) fn command(self) -> Outcome<Command> {
        let mut command = Command::new(place::program(&self.peer.package())?);
        command.arg(self.mode.name());
        Ok(command)
    }
}
