//! [`Contestant`]: who takes part.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use bench_common::Mode;
use bench_common::workload::Workload;

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
    kind: Kind,
    modes: &'static [Mode],
}

/// What its server is: a program of this workspace, or a script of `node`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Program,
    Script,
}

/// All of them; the first is what the others are measured by.
pub(crate) const PEERS: &[Peer] = &[
    Peer { name: "hyper", kind: Kind::Program, modes: BARE_AND_FULL },
    Peer { name: "stockade", kind: Kind::Program, modes: &Mode::ALL },
    Peer { name: "axum", kind: Kind::Program, modes: BARE_AND_FULL },
    Peer { name: "actix", kind: Kind::Program, modes: BARE_AND_FULL },
    Peer { name: "poem", kind: Kind::Program, modes: BARE_AND_FULL },
    Peer { name: "salvo", kind: Kind::Program, modes: BARE_AND_FULL },
    Peer { name: "xitca", kind: Kind::Program, modes: &[Mode::Bare] },
    Peer { name: "ntex", kind: Kind::Program, modes: &[Mode::Bare] },
    Peer { name: "fastify", kind: Kind::Script, modes: BARE_AND_FULL },
    Peer { name: "express", kind: Kind::Script, modes: BARE_AND_FULL },
];

const BARE_AND_FULL: &[Mode] = &[Mode::Bare, Mode::Full];

impl Peer {
    /// The package of this workspace that starts it; `None` for a script.
    pub(crate) fn package(&self) -> Option<String> {
        (self.kind == Kind::Program).then(|| format!("bench-{}", self.name))
    }

    /// Returns true if it takes part in a workload. A pace is hyper's: most others could
    /// not follow.
    pub(crate) fn is_asked(&self, workload: &Workload) -> bool {
        !workload.paced || matches!(self.name, "hyper" | "stockade")
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
    /// The file of its program; `None` for a script.
    pub(crate) fn program(self) -> Option<PathBuf> {
        place::program(&self.peer.package()?).ok()
    }

    /// The file that decides what it does: its program or its script.
    pub(crate) fn file(self) -> Outcome<PathBuf> {
        match self.peer.package() {
            Some(package) => place::program(&package),
            None => Ok(place::script_of(self.peer.name)),
        }
    }

    /// The command that starts it.
    pub(crate) fn command(self) -> Outcome<Command> {
        let mut command = match self.peer.package() {
            Some(package) => Command::new(place::program(&package)?),
            None => place::script(self.peer.name),
        };
        command.arg(self.mode.name());
        Ok(command)
    }
}
