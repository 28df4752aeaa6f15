//! Redis setups of a run: a single server, a master with Sentinel, and a
//! cluster.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Programs;
use crate::proxy::Proxy;
use xtask::running::{Running, free_port};

/// The Redis servers of a stage, and the settings that nodes need to find them.
pub struct Engines {
    /// The servers. The first one is the master; in a cluster, it is the master
    /// of the first third of the slots.
    pub engines: Vec<Engine>,
    pub sentinels: Vec<Engine>,
    /// Variables for the nodes.
    pub settings: Vec<(&'static str, String)>,
    /// The proxy of the last process, if it has a separate connection.
    pub proxy: Option<Proxy>,
}

/// A Redis server, which is killed on drop.
pub struct Engine {
    program: PathBuf,
    words: Vec<String>,
    folder: PathBuf,
    process: Running,
    pub port: u16,
}

/// Starts a single server.
pub fn one(programs: &Programs) -> Result<Engines, String> {
    let engine = Engine::start(programs, &[])?;
    let settings = vec![("REDIS_URL", format!("redis://127.0.0.1:{}", engine.port))];
    let proxy = Some(Proxy::to(engine.port)?);
    Ok(Engines { engines: vec![engine], sentinels: Vec::new(), settings, proxy })
}

/// Starts a master, two replicas and three sentinels.
pub fn sentinel(programs: &Programs) -> Result<Engines, String> {
    let master = Engine::start(programs, &[])?;
    let port = master.port.to_string();
    let mut engines = vec![master];
    for _ in 0..2 {
        engines.push(Engine::start(programs, &["--replicaof", "127.0.0.1", &port])?);
    }
    let configuration = format!(
        "sentinel monitor shop 127.0.0.1 {port} 2\n\
         sentinel down-after-milliseconds shop 1000\nsentinel failover-timeout shop 5000\n"
    );
    let mut sentinels = Vec::new();
    for _ in 0..3 {
        sentinels.push(Engine::start_sentinel(programs, &configuration)?);
    }
    for sentinel in &sentinels {
        until("all sentinels", || {
            Ok(sentinel.ask(&["INFO", "sentinel"])?.contains("slaves=2,sentinels=3"))
        })?;
    }
    in_step(&engines, 2)?;
    let nodes = addresses(&sentinels);
    let settings = vec![("REDIS_NODES", nodes), ("REDIS_MASTER", "shop".to_owned())];
    Ok(Engines { engines, sentinels, settings, proxy: None })
}

/// Starts a cluster of three masters, each with a replica.
pub fn cluster(programs: &Programs) -> Result<Engines, String> {
    let (mut engines, mut ports) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let port = free_port().to_string();
        let words = "--cluster-enabled yes --cluster-config-file nodes.conf \
            --cluster-node-timeout 1000 --cluster-replica-validity-factor 0 \
            --cluster-require-full-coverage no --cluster-port";
        let mut words: Vec<_> = words.split_whitespace().collect();
        words.push(&port);
        engines.push(Engine::start(programs, &words)?);
        ports.push(port);
    }
    let ranges = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];
    for (index, engine) in engines.iter().enumerate() {
        engine.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()])?;
        if let Some([first, last]) = ranges.get(index) {
            engine.ask(&["CLUSTER", "ADDSLOTSRANGE", first, last])?;
        }
        let port = engine.port.to_string();
        engines[0].ask(&["CLUSTER", "MEET", "127.0.0.1", &port, &ports[index]])?;
    }
    let info = |engine: &Engine| engine.ask(&["CLUSTER", "INFO"]);
    for engine in &engines {
        until("all nodes", || Ok(info(engine)?.contains("cluster_known_nodes:6")))?;
    }
    for (replica, master) in engines[3..].iter().zip(&engines) {
        let master = master.ask(&["CLUSTER", "MYID"])?;
        until("a master", || Ok(replica.ask(&["CLUSTER", "REPLICATE", &master])? == "+OK"))?;
    }
    for engine in &engines {
        until("a cluster", || Ok(info(engine)?.contains("cluster_state:ok")))?;
    }
    in_step(&engines, 3)?;
    let settings = vec![("REDIS_NODES", addresses(&engines))];
    Ok(Engines { engines, sentinels: Vec::new(), settings, proxy: None })
}

fn addresses(engines: &[Engine]) -> String {
    let each = engines.iter().map(|engine| format!("redis://127.0.0.1:{}", engine.port));
    each.collect::<Vec<_>>().join(",")
}

/// Waits until this number of replicas has the data of their masters.
fn in_step(engines: &[Engine], replicas: usize) -> Result<(), String> {
    until("the replicas", || {
        let states = engines.iter().map(|engine| engine.ask(&["INFO", "replication"]));
        let states: Vec<String> = states.collect::<Result<_, _>>()?;
        let there = states.iter().filter(|state| state.contains("master_link_status:up"));
        Ok(there.count() == replicas)
    })
}

/// Waits until a condition is true.
pub fn until(what: &str, is_so: impl Fn() -> Result<bool, String>) -> Result<(), String> {
    let begin = Instant::now();
    while !is_so()? {
        if begin.elapsed() > Duration::from_secs(60) {
            return Err(format!("timed out after a minute while waiting for {what}"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

impl Engine {
    fn start(programs: &Programs, settings: &[&str]) -> Result<Self, String> {
        let words = |port: u16, _: &Path| {
            let port = port.to_string();
            let own = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--maxmemory-policy"];
            let rest = ["noeviction", "--repl-diskless-sync-delay", "0"];
            let words = own.iter().chain(&rest).chain(settings);
            Ok(words.map(|&word| word.to_owned()).collect())
        };
        Self::start_with(programs, words)
    }

    fn start_sentinel(programs: &Programs, configuration: &str) -> Result<Self, String> {
        let words = |port: u16, folder: &Path| {
            // Sentinel writes its state into this file.
            let file = folder.join("sentinel.conf");
            let text = format!("port {port}\nbind 127.0.0.1\n{configuration}");
            fs::write(&file, text).map_err(|error| error.to_string())?;
            Ok(vec![file.display().to_string(), "--sentinel".to_owned()])
        };
        Self::start_with(programs, words)
    }

    fn start_with(
        programs: &Programs,
        words: impl Fn(u16, &Path) -> Result<Vec<String>, String>,
    ) -> Result<Self, String> {
        let program = &programs.engine;
        // Another process may bind the port before the server does.
        for _ in 0..10 {
            let port = free_port();
            let folder = programs.folder.join(port.to_string());
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            let words = words(port, &folder)?;
            let process = spawn(program, &words, &folder)?;
            let mut engine = Self { program: program.to_owned(), words, folder, process, port };
            if engine.is_ready() {
                return Ok(engine);
            }
        }
        Err(format!("{} does not start", program.display()))
    }

    /// Kills it immediately, like a crash.
    pub fn kill(&mut self) -> Result<(), String> {
        self.process.end()
    }

    /// Restarts it on the same port, without its data.
    pub fn restart(&mut self) -> Result<(), String> {
        for _ in 0..100 {
            self.process = spawn(&self.program, &self.words, &self.folder)?;
            if self.is_ready() {
                return Ok(());
            }
        }
        Err("the engine did not restart".to_owned())
    }

    /// Sends a signal. `-STOP` keeps the sockets open but stops all responses.
    pub fn signal(&self, signal: &str) -> Result<(), String> {
        signal_process(&self.process, signal)
    }

    /// Sends a command on a new connection and returns the response. For a
    /// list, it returns the last element.
    pub fn ask(&self, command: &[&str]) -> Result<String, String> {
        ask(self.port, command).map_err(|error| format!("port {}: {error}", self.port))
    }

    pub fn is_master(&self) -> Result<bool, String> {
        Ok(self.ask(&["INFO", "replication"])?.contains("role:master"))
    }

    fn is_ready(&mut self) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(30) {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return false;
            }
            let id = format!("process_id:{}\r", self.process.id());
            if ask(self.port, &["INFO", "server"]).is_ok_and(|answer| answer.contains(&id)) {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

pub fn signal_process(process: &Child, signal: &str) -> Result<(), String> {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status();
    match sent {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("kill {signal} failed")),
    }
}

fn spawn(program: &Path, words: &[String], folder: &Path) -> Result<Running, String> {
    let log = File::create(folder.join("log")).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdout(Stdio::from(log)).stderr(Stdio::null());
    Running::start(&mut command, &program.display().to_string())
}

fn ask(port: u16, command: &[&str]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut request = format!("*{}\r\n", command.len());
    for word in command {
        request += &format!("${}\r\n{word}\r\n", word.len());
    }
    stream.write_all(request.as_bytes())?;
    read(&mut BufReader::new(stream))
}

fn read(answer: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let number = |rest: &str| rest.trim().parse().ok();
    if let Some(parts) = line.strip_prefix('*').and_then(number) {
        let mut last = String::new();
        for _ in 0..parts {
            last = read(answer)?;
        }
        return Ok(last);
    }
    let Some(length) = line.strip_prefix('$').and_then(number) else {
        return Ok(line.trim_end().to_owned());
    };
    let mut text = vec![0; length];
    answer.read_exact(&mut text)?;
    // Reads the end of the line.
    answer.read_line(&mut line)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
