//! Rows of the table: each causes a fault or a flood and reports the effect on
//! clients.

use std::thread;
use std::time::{Duration, Instant};

use crate::Row;
use crate::client::{Load, Sample, flood};
use crate::engine::until;
use crate::site::Site;

/// The length of an outage.
const OUTAGE: Duration = Duration::from_secs(3);

/// Floods windows of 100 requests with 3,000 each.
pub fn exact(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let windows = site.scale.windows;
    let mut others = Vec::new();
    for _ in 0..windows {
        site.windows += 1;
        let passed = flood(&site.address, "/orders", site.windows)?;
        if passed != 100 {
            others.push(passed.to_string());
        }
    }
    let found = match &others[..] {
        [] => format!("100 in each of {windows}"),
        others => format!("{} in {} of {windows}", others.join(", "), others.len()),
    };
    Ok(Row {
        name: "3,000 requests of a client with a limit of 100, by 30 connections".to_owned(),
        wanted: format!("100 pass in each of {windows} windows"),
        found,
        holds: others.is_empty(),
    })
}

/// Floods an exhausted window.
pub fn refusals_cost_nothing(site: &mut Site) -> Result<Row, String> {
    let before = scripts(site)?;
    if before == 0 {
        return Err("no limit script read its count".to_owned());
    }
    let passed = flood(&site.address, "/orders", site.windows)?;
    let commands = scripts(site)? - before;
    Ok(Row {
        name: "3,000 further requests of a rejected client".to_owned(),
        wanted: "0 pass, at most 30 commands".to_owned(),
        found: format!("{passed} pass, {commands} commands"),
        holds: passed == 0 && commands <= 30,
    })
}

/// Returns the number of limit scripts that the store has run. Each of them
/// reads its count once with a command that no other script uses.
pub fn scripts(site: &Site) -> Result<u64, String> {
    let stats = site.engines.engines[0].ask(&["INFO", "commandstats"])?;
    let calls = stats.lines().filter_map(|it| it.strip_prefix("cmdstat_get:calls="));
    Ok(calls.filter_map(|it| it.split(',').next()?.parse::<u64>().ok()).sum())
}

/// Kills the store and restarts it without its data.
pub fn killed(site: &mut Site) -> Result<Row, String> {
    under_load(site, "kill -9 of the engine, back after 3 s", |site| {
        let engine = &mut site.engines.engines[0];
        engine.kill()?;
        thread::sleep(OUTAGE);
        engine.restart()
    })
}

/// Stops the process of the store, which keeps its sockets open.
pub fn stopped(site: &mut Site) -> Result<Row, String> {
    under_load(site, "SIGSTOP of the engine, SIGCONT after 3 s", |site| {
        let engine = &site.engines.engines[0];
        engine.signal("-STOP")?;
        thread::sleep(OUTAGE);
        engine.signal("-CONT")
    })
}

/// Closes the connections of all nodes ten times.
pub fn clients_killed(site: &mut Site) -> Result<Row, String> {
    under_load(site, "CLIENT KILL, 10 times", |site| {
        repeat(site, &["CLIENT", "KILL", "TYPE", "normal"])
    })
}

/// Deletes the scripts ten times.
pub fn scripts_flushed(site: &mut Site) -> Result<Row, String> {
    under_load(site, "SCRIPT FLUSH, 10 times", |site| repeat(site, &["SCRIPT", "FLUSH"]))
}

/// Deletes the data ten times.
pub fn emptied(site: &mut Site) -> Result<Row, String> {
    under_load(site, "FLUSHALL, 10 times", |site| repeat(site, &["FLUSHALL"]))
}

fn repeat(site: &mut Site, command: &[&str]) -> Result<(), String> {
    for _ in 0..10 {
        site.engines.engines[0].ask(command)?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Disconnects one of three processes from the store; the others stay
/// connected.
pub fn cut_off(site: &mut Site) -> Result<Row, String> {
    under_load(site, "one of three processes disconnected from the engine for 3 s", |site| {
        cut(site, true)?;
        thread::sleep(OUTAGE);
        cut(site, false)
    })
}

/// Floods a window while one process is disconnected from the store and
/// therefore allows its third.
pub fn share_while_cut_off(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    cut(site, true)?;
    site.windows += 1;
    let passed = flood(&site.address, "/orders", site.windows)?;
    cut(site, false)?;
    site.settle()?;
    Ok(Row {
        name: "3,000 requests while one of three processes is disconnected".to_owned(),
        wanted: "100 to 134 pass".to_owned(),
        found: format!("{passed} pass"),
        holds: (100..=134).contains(&passed),
    })
}

fn cut(site: &Site, is_cut_off: bool) -> Result<(), String> {
    let proxy = site.engines.proxy.as_ref().ok_or("no process has a separate proxy")?;
    proxy.cut_off(is_cut_off);
    Ok(())
}

/// Kills one of the three processes and does not restart it.
pub fn node_killed(site: &mut Site) -> Result<Row, String> {
    let load = load(site);
    site.kill_node(2)?;
    thread::sleep(OUTAGE);
    let samples = load.end()?;
    let late = Instant::now() - OUTAGE / 2;
    let failed = samples.iter().filter(|it| it.is_failure()).count();
    let lately = samples.iter().filter(|it| it.begun > late && it.is_failure()).count();
    // Requests to the killed process get no response, at most one per
    // connection.
    let most = site.scale.connections as usize;
    Ok(Row {
        name: "kill -9 of a process".to_owned(),
        wanted: format!("at most {most} fail, none after 1.5 s"),
        found: format!("{failed} of {} fail, {lately} after 1.5 s", samples.len()),
        holds: failed <= most && lately == 0,
    })
}

/// Makes Sentinel promote a replica while the master is running.
pub fn failover_by_sentinel(site: &mut Site) -> Result<Row, String> {
    under_load(site, "SENTINEL FAILOVER", |site| fail_over(site))
}

/// Makes Sentinel promote a replica and waits until all servers are informed.
pub fn fail_over(site: &Site) -> Result<(), String> {
    let from = master(site)?;
    site.engines.sentinels[0].ask(&["SENTINEL", "FAILOVER", "shop"])?;
    promoted(site, from)?;
    // The old master must be informed too.
    until("a replica", || Ok(!site.engines.engines[from].is_master()?))
}

/// Kills the master reported by Sentinel.
pub fn master_killed(site: &mut Site) -> Result<Row, String> {
    // Sentinel does not start a failover shortly after the previous one.
    thread::sleep(Duration::from_secs(2));
    under_load(site, "kill -9 of the master", |site| {
        let from = master(site)?;
        site.engines.engines[from].kill()?;
        promoted(site, from)
    })
}

/// Returns the index of the master reported by Sentinel.
fn master(site: &Site) -> Result<usize, String> {
    let ask = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "shop"];
    let port = site.engines.sentinels[0].ask(&ask)?;
    let position = site.engines.engines.iter().position(|it| it.port.to_string() == port);
    position.ok_or(format!("Sentinel names another port: {port}"))
}

fn promoted(site: &Site, from: usize) -> Result<(), String> {
    until("another master", || {
        let now = master(site)?;
        Ok(now != from && site.engines.engines[now].is_master()?)
    })
}

/// Kills a master of a cluster; its replica takes over.
pub fn node_of_cluster_killed(site: &mut Site) -> Result<Row, String> {
    under_load(site, "kill -9 of a master of three", |site| {
        site.engines.engines[0].kill()?;
        until("another master", || site.engines.engines[3].is_master())
    })
}

fn load(site: &Site) -> Load {
    let pause = Duration::from_millis(site.scale.pause);
    let load = Load::start(&site.address, "/catalog", site.scale.connections, pause);
    thread::sleep(Duration::from_millis(500));
    load
}

/// Causes a fault under load. The store is available again when `fault`
/// returns. From then on, the nodes have a limited time until they use it
/// again.
fn under_load(
    site: &mut Site,
    name: &str,
    fault: impl FnOnce(&mut Site) -> Result<(), String>,
) -> Result<Row, String> {
    site.settle()?;
    let load = load(site);
    fault(site)?;
    let returned = Instant::now();
    site.settle()?;
    thread::sleep(Duration::from_millis(500));
    let samples = load.end()?;
    let count = |is: fn(&Sample) -> bool| samples.iter().filter(|it| is(it)).count();
    let failed = count(Sample::is_failure);
    let local = count(|it| !it.is_shared());
    let not_shared = samples.iter().filter(|it| !it.is_shared());
    let last = not_shared.map(|it| (it.begun + it.took).saturating_duration_since(returned)).max();
    let back = last.unwrap_or_default().as_millis();
    let late = count(|it| it.took > Duration::from_millis(120));
    let longest = samples.iter().map(|it| it.took).max().unwrap_or_default().as_millis();
    let most = site.scale.most_back;
    let is_in_time = late * 100 <= samples.len() && longest <= 1_000;
    let (times, is_in_time) = match site.scale.is_timed {
        true => (", at most 1 % above 120 ms, none above 1 s", is_in_time),
        false => ("", true),
    };
    Ok(Row {
        name: name.to_owned(),
        wanted: format!("no 5xx, back within {most} ms{times}"),
        found: format!(
            "{failed} of {} fail, {local} by the shares, back after {back} ms, {late} above 120 ms, \
             the longest {longest} ms",
            samples.len()
        ),
        holds: failed == 0 && back <= most && is_in_time,
    })
}
