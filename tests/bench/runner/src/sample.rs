//! [`Sample`]: one measurement of one contestant with one workload.

use std::fs;
use std::process::Command;

use bench_common::client::Client;
use bench_common::workload::Workload;
use serde::{Deserialize, Serialize};

use crate::contestant::Contestant;
use crate::server::Server;
use crate::{Outcome, place};

/// The results of one measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Sample {
    /// Processor time per request in microseconds. The total is exact; its two
    /// parts are measured in steps of 10 ms over the whole time.
    pub(crate) cpu: f64,
    pub(crate) user: f64,
    pub(crate) system: f64,
    /// Requests per second.
    pub(crate) rate: f64,
    /// The intended requests per second, or `None` if each request follows a
    /// response.
    pub(crate) asked: Option<f64>,
    /// Latencies in microseconds, from the time when a request was sent or due.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    /// The 99th percentile of the sending delay, in microseconds.
    pub(crate) lag: f64,
    /// Due requests without a response at the end, per 1,000 requests.
    pub(crate) unanswered: f64,
    /// The peak memory of the server, in KiB.
    pub(crate) peak: u64,
    /// The processor loads of the server and of the load generator, as
    /// fractions of the time.
    pub(crate) busy: f64,
    pub(crate) load_busy: f64,
}

/// The output of `bench-load`.
#[derive(Deserialize)]
struct Report {
    requests: u64,
    errors: u64,
    seconds: f64,
    p50: f64,
    p99: f64,
    p999: f64,
    lag: f64,
    unanswered: u64,
    cpu: f64,
    user: f64,
    system: f64,
    own_cpu: f64,
}

/// The number of concurrent connections.
const CONNECTIONS: usize = 64;

/// The warm-up time before a measurement, in seconds.
const WARM_UP: f64 = 0.2;

impl Sample {
    /// Measures a new server after checking its response. With a rate, it sends
    /// that number of requests per second.
    pub(crate) fn take(
        contestant: Contestant,
        workload: &Workload,
        seconds: f64,
        rate: Option<f64>,
    ) -> Outcome<Self> {
        let server = Server::start_on(place::SERVER, contestant.command()?)?;
        check(&server, contestant, workload)?;
        let mut command = load(&server, workload, WARM_UP, seconds)?;
        command.args(rate.map(|rate| rate.to_string()));
        let text = place::on(place::LOAD, || place::output(&mut command))??;
        let report: Report = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if report.errors > 0 || report.requests == 0 {
            let Report { requests, errors, .. } = report;
            return Err(format!("{contestant} {}: {errors} of {requests} failed", workload.name));
        }
        let requests = report.requests as f64;
        Ok(Self {
            cpu: report.cpu / requests,
            user: report.user / requests,
            system: report.system / requests,
            rate: requests / report.seconds,
            asked: rate,
            p50: report.p50,
            p99: report.p99,
            p999: report.p999,
            lag: report.lag,
            unanswered: report.unanswered as f64 / (requests + report.unanswered as f64) * 1_000.0,
            peak: memory(server.id(), "VmHWM:")?,
            busy: report.cpu / report.seconds / 1_000_000.0,
            load_busy: report.own_cpu / report.seconds / 1_000_000.0,
        })
    }
}

/// Returns the command that loads a server.
pub(crate) fn load(
    server: &Server,
    workload: &Workload,
    warm_up: f64,
    seconds: f64,
) -> Outcome<Command> {
    let request = place::target()?.join(format!("{}.request", workload.name));
    fs::write(&request, &workload.request).map_err(|error| error.to_string())?;
    let mut command = Command::new(place::program("bench-load")?);
    command.args([server.address.to_string(), server.id().to_string()]).arg(request);
    command.args([workload.status.to_string(), CONNECTIONS.to_string()]);
    command.args([warm_up.to_string(), seconds.to_string()]);
    Ok(command)
}

/// Sends one request and compares the response.
pub(crate) fn check(server: &Server, contestant: Contestant, workload: &Workload) -> Outcome {
    let asked =
        Client::connect(server.address).and_then(|mut client| client.ask(&workload.request));
    let checked = asked.map_err(|error| error.to_string());
    let checked = checked.and_then(|answer| workload.check(contestant.mode, &answer));
    checked.map_err(|error| format!("{contestant} {}: {error}", workload.name))
}

/// Returns a line of the kernel's memory status for a process, in KiB.
pub(crate) fn memory(process: u32, line: &str) -> Outcome<u64> {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let value = status.lines().find_map(|own| own.strip_prefix(line)?.trim().strip_suffix(" kB"));
    value.and_then(|value| value.parse().ok()).ok_or(format!("{path} says nothing of {line}"))
}
