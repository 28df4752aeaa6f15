//! [`Server`]: the process of an echo server, and its CPU time.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::Error;

/// A running server, which stops on drop.
pub struct Server {
    name: String,
    process: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts this program as the server with this name.
    pub fn start(name: &str, pinned: bool) -> Result<Self, Error> {
        let mut command = on_first_core(pinned, &env::current_exe()?);
        command.arg(name);
        Self::spawn(name, command)
    }

    /// Starts a Node.js script.
    pub fn start_node(script: &Path, pinned: bool) -> Result<Self, Error> {
        let mut command = on_first_core(pinned, Path::new("node"));
        command.arg(script);
        Self::spawn("ws (npm)", command)
    }

    fn spawn(name: &str, mut command: Command) -> Result<Self, Error> {
        let process = command.stdout(Stdio::piped()).spawn()?;
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self { name: name.to_owned(), process, address: nowhere };
        let stdout = server.process.stdout.take().ok_or("a server has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        server.address = line.trim().parse().map_err(|_| format!("{name} says {line:?}"))?;
        Ok(server)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the time that all its threads have run on a core so far.
    ///
    /// This is the first number of `schedstat`, in nanoseconds.
    pub fn cpu(&self) -> Result<Duration, Error> {
        let mut total = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let schedstat = fs::read_to_string(task?.path().join("schedstat"))?;
            let nanoseconds = schedstat.split_whitespace().next().ok_or("an empty schedstat")?;
            total += nanoseconds.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(total))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process must never be left running.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Pins this process to the second core; the first core is for the servers. If
/// this is not possible, it prints a message and returns false.
pub fn pin() -> bool {
    let two = thread::available_parallelism().is_ok_and(|count| count.get() >= 2);
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "--pid", "1"]).arg(std::process::id().to_string());
    let pinned = two && command.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !pinned {
        println!("SKIPPED: a core for the servers alone (it needs two, and `taskset`)");
    }
    pinned
}

fn on_first_core(pinned: bool, program: &Path) -> Command {
    if !pinned {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(program);
    command
}
