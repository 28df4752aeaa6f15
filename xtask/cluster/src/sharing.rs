//! Rows about shared data other than limits: rooms, sessions, idempotency keys
//! and revoked tokens. Here, clients choose their node.

use std::collections::HashMap;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::Row;
use crate::client::{Connection, Response};
use crate::rows::fail_over;
use crate::site::Site;
use crate::socket::{Socket, send};

/// Broadcasts on three nodes at the same time.
pub fn rooms(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let (Heard { lost, double, all, .. }, counted) = talk(site, |_| Ok(()))?;
    let members = 3 * site.scale.members as usize;
    Ok(Row {
        name: format!(
            "3 x {} messages to a room with {members} members on 3 nodes",
            site.scale.messages
        ),
        wanted: format!("0 of {all} lost, 0 double; {members} members counted"),
        found: format!("{lost} of {all} lost, {double} double; {counted} counted"),
        holds: lost == 0 && double == 0 && counted == members,
    })
}

/// Broadcasts while all connections to the stores are closed repeatedly.
pub fn rooms_cut(site: &mut Site) -> Result<Row, String> {
    rooms_under(site, "CLIENT KILL of all connections, 6 times", |site| {
        for round in 0..6 {
            let kind = if round % 2 == 0 { "pubsub" } else { "normal" };
            for engine in &site.engines.engines {
                engine.ask(&["CLIENT", "KILL", "TYPE", kind])?;
            }
            thread::sleep(Duration::from_millis(150));
        }
        Ok(())
    })
}

/// Broadcasts while the store is stopped.
pub fn rooms_stopped(site: &mut Site) -> Result<Row, String> {
    rooms_under(site, "SIGSTOP of the engine, SIGCONT after 3 s", |site| {
        let engine = &site.engines.engines[0];
        engine.signal("-STOP")?;
        thread::sleep(Duration::from_secs(3));
        engine.signal("-CONT")
    })
}

/// Broadcasts while Sentinel promotes a replica. The old master is informed
/// after 10 s, which is too long for the short form. The tests of
/// `stockade-redis` cover this too.
pub fn rooms_failed_over(site: &mut Site) -> Result<Row, String> {
    if !site.scale.is_timed {
        return rooms_cut(site);
    }
    rooms_under(site, "SENTINEL FAILOVER", fail_over)
}

fn rooms_under(
    site: &mut Site,
    name: &str,
    fault: fn(&Site) -> Result<(), String>,
) -> Result<Row, String> {
    site.settle()?;
    let (Heard { lost, double, silent, all }, _) = talk(site, fault)?;
    site.settle()?;
    Ok(Row {
        name: format!("the same with {name}"),
        wanted: "0 lost silently, 0 double".to_owned(),
        found: format!("{lost} of {all} lost, {silent} silently, {double} double"),
        holds: silent == 0 && double == 0,
    })
}

/// The messages that all members together have received.
struct Heard {
    lost: usize,
    double: usize,
    /// The number of messages lost at nodes that did not report a gap.
    silent: usize,
    all: usize,
}

/// Sends messages on each node, at least while `fault` runs. Returns the
/// received messages, and the number of members that a node has counted.
fn talk(site: &Site, fault: fn(&Site) -> Result<(), String>) -> Result<(Heard, usize), String> {
    let (members, messages) = (site.scale.members, site.scale.messages);
    let gaps_before = gaps(site)?;
    let (mut readers, mut senders) = (Vec::new(), Vec::new());
    for (node, address) in site.addresses.iter().enumerate() {
        for member in 0..members {
            // Each member is a separate client, because connections per client
            // are limited.
            let client = 1_000 * u32::try_from(node).unwrap_or_default() + member;
            let (socket, _) = Socket::open(address, "/live", client)?;
            if member == 0 {
                senders.push(socket.sender()?);
            }
            readers.push((node, thread::spawn(move || listen(socket))));
        }
    }
    let counted = count(site, 3 * members)?;
    let sent = thread::scope(|scope| {
        let fault = scope.spawn(|| fault(site));
        let mut sent = 0;
        while sent < messages as usize || !fault.is_finished() {
            for (sender, stream) in senders.iter_mut().enumerate() {
                send(stream, &format!("m {sender} {sent}"))?;
            }
            sent += 1;
            thread::sleep(Duration::from_millis(10));
        }
        fault.join().map_err(|_| "a fault panicked")??;
        Ok::<_, String>(sent)
    })?;
    thread::sleep(Duration::from_millis(200));
    for (sender, stream) in senders.iter_mut().enumerate() {
        send(stream, &format!("end {sender}"))?;
    }
    let expected = 3 * sent;
    let (mut heard, mut lost_at) = (Heard { lost: 0, double: 0, silent: 0, all: 0 }, [0; 3]);
    for (node, reader) in readers {
        let times: HashMap<String, usize> = reader.join().map_err(|_| "a member panicked")?;
        lost_at[node] += expected.saturating_sub(times.len());
        heard.all += expected;
        heard.double += times.values().map(|times| times - 1).sum::<usize>();
    }
    heard.lost = lost_at.iter().sum();
    // Only the next comparison may find a gap.
    let begin = Instant::now();
    heard.silent = heard.lost;
    while heard.silent > 0 && begin.elapsed() < Duration::from_secs(15) {
        let gaps = gaps(site)?;
        let silent = lost_at.iter().zip(gaps.iter().zip(&gaps_before));
        let silent = silent.filter(|(_, (after, before))| after == before);
        heard.silent = silent.map(|(lost, _)| lost).sum();
        thread::sleep(Duration::from_millis(100));
    }
    Ok((heard, counted))
}

/// Receives until all three nodes have finished. Returns the number of
/// deliveries of each message.
fn listen(mut socket: Socket) -> HashMap<String, usize> {
    let (mut times, mut ended) = (HashMap::new(), 0);
    // Messages that do not arrive are lost.
    while ended < 3
        && let Ok(text) = socket.next()
    {
        if text.starts_with("m ") {
            *times.entry(text).or_default() += 1;
        } else if text.starts_with("end ") {
            ended += 1;
        }
    }
    times
}

/// Opens further members until one is greeted with the right number of members.
/// Returns the last number without the new member itself.
fn count(site: &Site, wanted: u32) -> Result<usize, String> {
    let begin = Instant::now();
    loop {
        let (probe, told) = Socket::open(&site.addresses[0], "/live", 9_999)?;
        drop(probe);
        let count = told.split_once('(').and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let count = count.unwrap_or(0_usize).saturating_sub(1);
        if count == wanted as usize || begin.elapsed() > Duration::from_secs(20) {
            return Ok(count);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Returns the number of gaps that each node has reported to its members.
fn gaps(site: &Site) -> Result<Vec<u64>, String> {
    numbers(&site.addresses, "/live/gaps")
}

/// Returns the number that each node returns at a path.
pub fn numbers(addresses: &[String], path: &str) -> Result<Vec<u64>, String> {
    let ask = |address: &String| {
        let response = Connection::open(address)?.send("GET", path, "")?;
        response.body.parse().map_err(|_| format!("{path}: {} {}", response.status, response.body))
    };
    addresses.iter().map(ask).collect()
}

/// Sends a request until it gets a response other than 503, which a busy
/// machine may cause.
fn response(
    connection: &mut Connection,
    method: &str,
    path: &str,
    lines: &str,
) -> Result<Response, String> {
    let begin = Instant::now();
    loop {
        let response = connection.send(method, path, lines)?;
        if response.status != 503 || begin.elapsed() > Duration::from_secs(30) {
            return Ok(response);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for all threads.
pub fn joined<T>(threads: Vec<JoinHandle<Result<T, String>>>) -> Result<Vec<T>, String> {
    threads.into_iter().map(|it| it.join().map_err(|_| "a client panicked")?).collect()
}

/// Changes sessions on three nodes at the same time, and then ends them on one
/// node.
pub fn sessions(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let mut found = [0; 3];
    for _ in 0..site.scale.sessions {
        let begun = response(&mut Connection::open(&site.addresses[0])?, "POST", "/session", "")?;
        let cookie = begun.cookie.ok_or(format!("no session: {} {}", begun.status, begun.body))?;
        let line = format!("Cookie: {cookie}\r\n");
        let change = |changes: u32| {
            let start = |address: &String| {
                let (address, line) = (address.clone(), line.clone());
                thread::spawn(move || count_pages(&address, &line, changes))
            };
            site.addresses.iter().map(start).collect::<Vec<_>>()
        };
        let changed = joined(change(CHANGES))?;
        let unknown: u64 = changed.iter().sum();
        let mut node = Connection::open(&site.addresses[1])?;
        let last = response(&mut node, "POST", "/session/pages", &line)?;
        let pages: u64 = last.body.parse().map_err(|_| format!("{} {}", last.status, last.body))?;
        let expected = u64::from(3 * CHANGES) + 1;
        // The outcome of a change without a timely response is unknown.
        found[0] += expected.saturating_sub(pages + unknown);
        found[1] += pages.saturating_sub(expected + unknown);
        // The logout happens during further changes.
        let racing = change(CHANGES);
        let ended =
            response(&mut Connection::open(&site.addresses[2])?, "DELETE", "/session", &line)?;
        joined(racing)?;
        for address in &site.addresses {
            let mut node = Connection::open(address)?;
            let response = response(&mut node, "POST", "/session/pages", &line)?;
            found[2] += u64::from(ended.status != 200 || response.status != 401);
        }
    }
    let [lost, double, back] = found;
    let sessions = site.scale.sessions;
    Ok(Row {
        name: format!(
            "{sessions} sessions with {} changes each on 3 nodes, a log-out on one of them",
            3 * CHANGES
        ),
        wanted: "0 changes lost, 0 double, 0 sessions back".to_owned(),
        found: format!("{lost} lost, {double} double, {back} back"),
        holds: found == [0; 3],
    })
}

/// The number of changes to a session on each node.
const CHANGES: u32 = 20;

/// Makes changes on a node until the session ends. Returns the number of
/// changes with an unknown outcome.
fn count_pages(address: &str, line: &str, changes: u32) -> Result<u64, String> {
    let mut node = Connection::open(address)?;
    let (mut done, mut unknown) = (0, 0);
    while done < changes {
        match node.send("POST", "/session/pages", line)?.status {
            200 => done += 1,
            // Other changes came first repeatedly; the client retries.
            409 => {}
            503 => {
                unknown += 1;
                done += 1;
            }
            401 => break,
            status => return Err(format!("a change has the response {status}")),
        }
    }
    Ok(unknown)
}

/// Sends each payment 20 times to three nodes.
pub fn idempotency(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let keys = site.scale.keys;
    let before: u64 = numbers(&site.addresses, "/payments/made")?.iter().sum();
    site.windows += 1;
    let run = site.windows;
    let clients = (0..20).map(|client: usize| {
        let addresses = site.addresses.clone();
        thread::spawn(move || {
            let nodes = addresses.iter().map(|address| Connection::open(address));
            let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
            let mut wrong = 0;
            for key in 0..keys {
                let node = &mut nodes[(client + key as usize) % 3];
                let line = format!("Idempotency-Key: \"{run}-{key}\"\r\n");
                let response = response(node, "POST", "/payments", &line)?;
                wrong += u64::from(response.status != 200);
            }
            Ok(wrong)
        })
    });
    let wrong: u64 = joined(clients.collect())?.iter().sum();
    let made = numbers(&site.addresses, "/payments/made")?.iter().sum::<u64>() - before;
    Ok(Row {
        name: format!("{keys} idempotency keys with 20 requests each, over 3 nodes"),
        wanted: format!("the handler runs {keys} times, 0 different responses"),
        found: format!("{made} times, {wrong} different responses"),
        holds: made == u64::from(keys) && wrong == 0,
    })
}

/// Revokes tokens on each node in turn and checks the other nodes.
pub fn revocations(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let nodes = site.addresses.iter().map(|address| Connection::open(address));
    let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let mut times = Vec::new();
    for round in 0..site.scale.sessions as usize {
        let token = response(&mut nodes[round % 3], "POST", "/token", "")?.body;
        let line = format!("Authorization: Bearer {token}\r\n");
        for node in &mut nodes {
            let before = response(node, "GET", "/me", &line)?;
            if before.status != 200 {
                return Err(format!("a token is {}: {}", before.status, before.body));
            }
        }
        let begin = Instant::now();
        response(&mut nodes[round % 3], "DELETE", "/me", &line)?;
        for node in &mut nodes {
            while node.send("GET", "/me", &line)?.status != 401 {
                if begin.elapsed() > Duration::from_secs(20) {
                    return Err("a token is not revoked within 20 s".to_owned());
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
        times.push(begin.elapsed().as_millis());
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let most = site.scale.most_revoked;
    Ok(Row {
        name: format!("{} tokens revoked on one node, rejected on all", times.len()),
        wanted: format!("99 % within {most} ms"),
        found: format!("half within {} ms, 99 % within {} ms", at(50), at(99)),
        holds: at(99) <= most,
    })
}
