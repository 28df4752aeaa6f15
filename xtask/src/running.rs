//! [`Running`]: a program started by a task, with its port and its folder.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{self, Child, Command};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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

/// Returns a port below the range for outgoing connections. The port is
/// therefore still free when a server restarts.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(process::id() % 200).unwrap_or_default() * 100;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 2_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until a program accepts connections.
pub fn wait_for(address: &str) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(address).is_err() {
        if Instant::now() > end {
            return Err(format!("the program does not listen on {address}"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// A temporary folder outside of the workspace, removed on drop.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates the folder. `name` and the process make its name unique.
    pub fn new(name: &str) -> Result<Self, String> {
        let path = env::temp_dir().join(format!("stockade-{name}-{}", process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
