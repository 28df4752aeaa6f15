//! [`Running`]: a program started by a task.

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command};

/// A program started by a task. It is killed on drop, so it is never left
/// running.
pub struct Running(Child);

impl Running {
    /// Starts a program that messages call `name`.
    pub fn start(command: &mut Command, name: &str) -> Result<Self, String> {
        command.spawn().map(Self).map_err(|error| format!("cannot start {name}: {error}"))
    }

    /// Kills the program with SIGKILL, which cannot be handled.
    pub fn end(&mut self) -> Result<(), String> {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        ended.map(drop).map_err(|error| format!("a program did not end: {error}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}
