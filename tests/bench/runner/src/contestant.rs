//! [`Contestant`]: a participant in the benchmark.

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

/// The kind of server: a program of this workspace, or a `node` script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Program,
    Script,
}

/// All peers; the first is the baseline.
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
    /// Returns the package of this workspace that starts it, or `None` for a
    /// script.
    pub(crate) fn package(&self) -> Option<String> {
        (self.kind == Kind::Program).then(|| format!("bench-{}", self.name))
    }

    /// Returns true if it runs this workload. The pace is tuned for hyper, and
    /// most others cannot follow it.
    pub(crate) fn is_asked(&self, workload: &Workload) -> bool {
        !workload.paced || matches!(self.name, "hyper" | "stockade")
    }

    /// Returns a contestant for each mode of the peer.
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
    /// Returns the program file, or `None` for a script.
    pub(crate) fn program(self) -> Option<PathBuf> {
        place::program(&self.peer.package()?).ok()
    }

    /// Returns the file that defines its behavior: the program or the script.
    pub(crate) fn file(self) -> Outcome<PathBuf> {
        match self.peer.package() {
            Some(package) => place::program(&package),
            None => Ok(place::script_of(self.peer.name)),
        }
    }

    /// Returns the command that starts it.
    pub(crate) fn command(self) -> Outcome<Command> {
        let mut command = match self.peer.package() {
            Some(package) => Command::new(place::program(&package)?),
            None => place::script(self.peer.name),
        };
        command.arg(self.mode.name());
        Ok(command)
    }
}
