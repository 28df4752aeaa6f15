//! [`Server`]: a running contestant, which stops when the value is dropped.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::{Outcome, place};

/// A server that has announced its address.
pub struct Server {
    process: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start(mut command: Command) -> Outcome<Self> {
        let name = format!("{:?}", command.get_program());
        command.stdout(Stdio::piped()).stdin(Stdio::null());
        let process = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let nowhere = SocketAddr::from(([0; 4], 0));
        // From here on, dropping the value always stops the server.
        let mut server = Self { process, address: nowhere };
        let stdout = server.process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let address = line.trim().strip_prefix("listening on ").map(str::parse);
        let Some(Ok(address)) = address else {
            return Err(format!("{name} says {line:?}, which has no address"));
        };
        server.address = address;
        Ok(server)
    }

    /// Starts a server on one processor only.
    pub fn start_on(processor: usize, command: Command) -> Outcome<Self> {
        place::on(processor, || Self::start(command))?
    }

    /// Returns the number of open files and sockets.
    pub fn open_files(&self) -> Outcome<usize> {
        let path = format!("/proc/{}/fd", self.id());
        let files = fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?;
        Ok(files.count())
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process must never be left running.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
