//! A `redis-server` process for one test, on a free local port.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use stockade_redis::{CLUSTER_COMMANDS, COMMANDS};
use tempfile::TempDir;

/// The start mode of a server.
#[derive(Clone)]
enum Start {
    /// A regular server with extra settings.
    Engine(Vec<String>),
    /// A sentinel with these configuration lines.
    Sentinel(String),
}

/// A server process. Dropping it stops the server.
pub(crate) struct Engine {
    program: String,
    start: Start,
    pub(crate) port: u16,
    process: Child,
    folder: TempDir,
}

impl Engine {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with extra settings.
    pub(crate) fn start_with(settings: &[&str]) -> Self {
        let settings = settings.iter().map(|&word| word.to_owned()).collect();
        Self::start_as(&Start::Engine(settings))
    }

    /// Starts a sentinel with these configuration lines.
    pub(crate) fn start_sentinel(configuration: &str) -> Self {
        Self::start_as(&Start::Sentinel(configuration.to_owned()))
    }

    fn start_as(start: &Start) -> Self {
        let Ok(program) = std::env::var("STOCKADE_REDIS_SERVER") else {
            panic!("STOCKADE_REDIS_SERVER is not set; `cargo xtask redis` sets it");
        };
        // Another process may take the port before the server does.
        let engine = (0..20).find_map(|_| {
            let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
            let process = spawn(&program, port, &folder, start);
            let (program, start) = (program.clone(), start.clone());
            let mut engine = Self { program, start, port, process, folder };
            engine.is_ready().then_some(engine)
        });
        engine.unwrap_or_else(|| panic!("{program} does not start"))
    }

    /// Returns the URL for a user with only the permissions that the crate
    /// documents.
    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    /// Kills the server, like a crash.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Restarts the server on its port, without its data.
    pub(crate) fn restart(&mut self) {
        let begin = Instant::now();
        loop {
            self.process = spawn(&self.program, self.port, &self.folder, &self.start);
            if self.is_ready() {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "it does not start again");
        }
    }

    /// Suspends the process. Its sockets stay open but it does not respond.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Sends a command as the admin user and returns the reply.
    pub(crate) fn admin(&self, command: &[&str]) -> String {
        ask(self.port, command).unwrap()
    }

    /// Sends a command that returns a list.
    pub(crate) fn list(&self, command: &[&str]) -> Vec<String> {
        let mut answer = send(self.port, command).unwrap();
        let length = read(&mut answer).unwrap();
        let length = length.trim_start_matches('*').parse().unwrap();
        (0..length).map(|_: usize| read(&mut answer).unwrap()).collect()
    }

    /// Waits until the server responds. Returns false if it has ended or
    /// another server has its port.
    fn is_ready(&mut self) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            let id = format!("process_id:{}\r", self.process.id());
            if ask(self.port, &["INFO", "server"]).is_ok_and(|answer| answer.contains(&id)) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The process may already be dead.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits up to a minute for a condition.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no sign of {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub(crate) fn url(port: u16) -> String {
    format!("redis://shop:secret@127.0.0.1:{port}")
}

fn spawn(program: &str, port: u16, folder: &TempDir, start: &Start) -> Child {
    let mut command = Command::new(program);
    match start {
        Start::Engine(settings) => {
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
            command.args(["--maxmemory-policy", "noeviction", "--enable-debug-command", "local"]);
            command.args(["--repl-diskless-sync-delay", "0"]).arg("--dir").arg(folder.path());
            command.args(["--user", "shop", "on", ">secret", "~shop:*", "&shop:*", "-@all"]);
            command.args(COMMANDS.iter().map(|command| format!("+{command}")));
            if settings.iter().any(|word| word == "--cluster-enabled") {
                command.args(CLUSTER_COMMANDS.iter().map(|command| format!("+{command}")));
            }
            command.args(settings);
        }
        Start::Sentinel(configuration) => {
            // A sentinel writes its state to its configuration file.
            let file = folder.path().join("sentinel.conf");
            let text = format!("port {port}\nbind 127.0.0.1\n{configuration}");
            std::fs::write(&file, text).unwrap();
            command.arg(file).arg("--sentinel");
        }
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns a port that no other test of this process gets. It is below the
/// range for outgoing connections, so it is still free after a restart.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(std::process::id() % 200).unwrap() * 100;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 2_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Sends one command on a new connection and returns the reply, or the length
/// of a list reply.
fn ask(port: u16, command: &[&str]) -> std::io::Result<String> {
    read(&mut send(port, command)?)
}

fn send(port: u16, command: &[&str]) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut request = format!("*{}\r\n", command.len());
    for word in command {
        request += &format!("${}\r\n{word}\r\n", word.len());
    }
    stream.write_all(request.as_bytes())?;
    Ok(BufReader::new(stream))
}

fn read(answer: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let Some(length) = line.strip_prefix('$').and_then(|rest| rest.trim().parse().ok()) else {
        return Ok(line.trim_end().to_owned());
    };
    let mut text = vec![0; length];
    answer.read_exact(&mut text)?;
    // Consume the end of the line.
    answer.read_line(&mut line)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
