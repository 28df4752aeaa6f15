//! [`Site`]: three nodes behind HAProxy.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::engine::Engines;
use crate::{Programs, Scale};
use xtask::running::{Running, free_port};
use xtask::{announce, root};

pub struct Site {
    pub engines: Engines,
    programs: Programs,
    nodes: Vec<Running>,
    /// The variables of each node.
    settings: Vec<Settings>,
    /// The addresses of the nodes, for clients that choose one.
    pub addresses: Vec<String>,
    _haproxy: Running,
    /// The address of HAProxy.
    pub address: String,
    pub scale: Scale,
    /// The number of exhausted windows; each belongs to a different client.
    pub windows: u32,
}

type Settings = Vec<(&'static str, String)>;

impl Site {
    pub fn start(programs: &Programs, engines: Engines, scale: Scale) -> Result<Self, String> {
        let (mut nodes, mut addresses, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for name in NAMES {
            let proxy = engines.proxy.as_ref().filter(|_| name == "c");
            let own = proxy.map(|proxy| ("REDIS_URL", format!("redis://127.0.0.1:{}", proxy.port)));
            let deadline = ("DEADLINE", scale.deadline.to_string());
            let lease = ("LEASE", scale.lease.to_string());
            let settings = engines.settings.iter().cloned().chain(own).chain([deadline, lease]);
            let settings: Settings = settings.collect();
            let (node, address) = start_node(programs, name, &settings, "0")?;
            nodes.push(node);
            addresses.push(address);
            all.push(settings);
        }
        let port = free_port();
        let mut haproxy = Command::new(&programs.haproxy);
        haproxy.args(["-db", "-f"]).arg(root().join("examples/cluster/haproxy.cfg"));
        haproxy.env("PORT", port.to_string());
        haproxy.envs(["NODE_A", "NODE_B", "NODE_C"].into_iter().zip(&addresses));
        haproxy.stdout(Stdio::null()).stderr(log(programs, "haproxy")?);
        announce(&haproxy);
        let haproxy = Running::start(&mut haproxy, "HAProxy")?;
        let address = format!("127.0.0.1:{port}");
        let site = Self {
            engines,
            programs: programs.clone(),
            nodes,
            settings: all,
            addresses,
            _haproxy: haproxy,
            address,
            scale,
            windows: 0,
        };
        site.settle()?;
        Ok(site)
    }

    /// Waits until all nodes use the store, which thirty consecutive responses
    /// must show.
    pub fn settle(&self) -> Result<(), String> {
        let begin = Instant::now();
        let mut shared = 0;
        let mut connection = None;
        while shared < 30 {
            if begin.elapsed() > Duration::from_secs(60) {
                return Err("the nodes do not use the engine within a minute".to_owned());
            }
            let response = match connection.take() {
                Some(there) => Ok(there),
                None => Connection::open(&self.address),
            };
            let response = response.and_then(|mut there: Connection| {
                let response = there.get("/catalog", 0)?;
                connection = Some(there);
                Ok(response)
            });
            if response.is_ok_and(|response| response.is_shared()) {
                shared += 1;
            } else {
                shared = 0;
                thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    /// Returns the processor time of all nodes together.
    pub fn processor_time(&self) -> Result<Duration, String> {
        // Source: proc_pid_stat(5); a tick is 1/100 s.
        let ticks = |node: &Running| -> Result<u64, String> {
            let file = format!("/proc/{}/stat", node.id());
            let stat = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
            let (_, fields) = stat.rsplit_once(") ").ok_or(format!("{file}: no name"))?;
            let times = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
            times.sum::<Result<u64, _>>().map_err(|error| format!("{file}: {error}"))
        };
        let all: u64 = self.nodes.iter().map(ticks).sum::<Result<_, _>>()?;
        Ok(Duration::from_millis(10 * all))
    }

    /// Kills a node immediately.
    pub fn kill_node(&mut self, index: usize) -> Result<(), String> {
        let node = self.nodes.get_mut(index).ok_or("unknown node")?;
        node.end()
    }

    /// Restarts a killed node at its address.
    pub fn restart_node(&mut self, index: usize) -> Result<(), String> {
        let (_, port) =
            self.addresses[index].rsplit_once(':').ok_or("an address does not have a port")?;
        let (name, settings) = (NAMES[index], &self.settings[index]);
        let (node, _) = start_node(&self.programs, name, settings, port)?;
        self.nodes[index] = node;
        Ok(())
    }
}

/// The names of the nodes.
const NAMES: [&str; 3] = ["a", "b", "c"];

fn log(programs: &Programs, name: &str) -> Result<Stdio, String> {
    let file = programs.folder.join(format!("{name}.log"));
    File::create(file).map(Stdio::from).map_err(|error| error.to_string())
}

fn start_node(
    programs: &Programs,
    name: &str,
    settings: &Settings,
    port: &str,
) -> Result<(Running, String), String> {
    let mut command = Command::new(&programs.node);
    // The load acts as a proxy in front of HAProxy and sets the client
    // addresses.
    command.env("PORT", port).env("NODE", name).env("PROXIES", "2");
    command.env("RUST_LOG", "info").envs(settings.iter().cloned());
    command.stdout(Stdio::piped()).stderr(log(programs, name)?);
    announce(&command);
    let mut node = Running::start(&mut command, "a node")?;
    let stdout = node.stdout.take().ok_or("a node does not have output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
    let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once(';'));
    let (address, _) =
        address.ok_or(format!("found no address in the output {line:?} of a node"))?;
    Ok((node, address.to_owned()))
}
