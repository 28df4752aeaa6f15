//! One table of requests and responses, checked with every host.
//!
//! [`api::router`] is the application, and [`table::rows`] contains the
//! requests with their responses. A [`Host`] carries them between client and
//! router. A host that runs the whole router (`handle`, a tower service)
//! behaves exactly like the built-in server. A host that receives individual
//! routes (`to_host_router`) has the differences that the specification
//! prescribes: it does not have our rate limit, CORS or security headers, and
//! it responds itself if no route matches. The column
//! [`Row::handed_over`](table::Row) lists all of these differences.
// Spec: Use inside a host framework; Router construction and members ›
// toHostRouter.

pub mod api;
pub mod table;

use std::collections::BTreeMap;

use stockade::http;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestRequest};

use self::table::{HandedOver, Row, rows};

/// The connection between a request and the router.
pub trait Host {
    /// The name of the host in messages.
    const NAME: &'static str;

    /// True if the host receives individual routes.
    const HANDED_OVER: bool = false;

    /// Sends a request and reads the whole response.
    async fn send(&self, request: http::Request<Bytes>) -> http::Response<Bytes>;
}

/// The in-process client without a port.
struct InProcess(TestClient);

impl Host for InProcess {
    const NAME: &'static str = "in process";

    async fn send(&self, request: http::Request<Bytes>) -> http::Response<Bytes> {
        ask(&self.0, request).await
    }
}

/// The built-in server.
struct OverASocket(TestClient);

impl Host for OverASocket {
    const NAME: &'static str = "own server over a socket";

    async fn send(&self, request: http::Request<Bytes>) -> http::Response<Bytes> {
        ask(&self.0, request).await
    }
}

/// Sends a request with a client. This works for anything that listens on a
/// port.
pub async fn ask(client: &TestClient, request: http::Request<Bytes>) -> http::Response<Bytes> {
    let (head, body) = request.into_parts();
    let asking = client.request(head.method, head.uri.to_string()).body(body);
    let asking = head.headers.iter().fold(asking, |asking: TestRequest, (name, value)| {
        asking.header(name, value.to_str().unwrap())
    });
    let answer = asking.await;
    let mut response = http::Response::new(answer.bytes().clone());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    response
}

/// Sends all requests and prints all differences.
pub async fn run(host: &impl Host) {
    let mut faults = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        faults.extend(differences(host, index, row).await);
    }
    assert!(faults.is_empty(), "{} faults\n\n{}", faults.len(), faults.join("\n\n"));
}

/// Returns the differences from the row.
async fn differences<H: Host>(host: &H, index: usize, row: &Row) -> Option<String> {
    let mut response = host.send(row.request(index)).await;
    for _ in 1..row.times {
        response = host.send(row.request(index)).await;
    }
    let mut faults = Vec::new();
    match (H::HANDED_OVER, &row.handed_over) {
        (false, _) => compare(row.answer, &response, &mut faults),
        (true, HandedOver::Same) => {
            let (status, lines) = row.answer.split_once('\n').unwrap_or((row.answer, ""));
            let lines = lines.lines().filter(|line| !table::is_of_a_stage(line));
            let answer = std::iter::once(status).chain(lines).collect::<Vec<_>>().join("\n");
            compare(&answer, &response, &mut faults);
            let theirs = response.headers().keys().map(|name| name.as_str());
            let extra = theirs.filter(|name| table::is_of_a_stage(name));
            faults.extend(extra.map(|name| format!("has {name}")));
        }
        (true, HandedOver::Other(answer)) => compare(answer, &response, &mut faults),
        (true, HandedOver::OfHost(statuses)) => {
            let status = response.status().as_u16();
            if !statuses.contains(&status) {
                faults.push(format!("status {status}, none of {statuses:?}"));
            }
        }
    }
    let head = format!("{}: {}\n{}", H::NAME, row.about, row.request);
    (!faults.is_empty()).then(|| format!("{head}\n  {}", faults.join("\n  ")))
}

/// Compares a response with `status body`, then `name: value`, `name: *` for
/// any value, and `name: -` for an absent header. The body `*` matches any
/// body.
fn compare(answer: &str, response: &http::Response<Bytes>, faults: &mut Vec<String>) {
    let mut lines = answer.lines();
    let (status, body) =
        lines.next().unwrap().split_once(' ').unwrap_or((answer.lines().next().unwrap(), ""));
    if response.status().as_str() != status {
        faults.push(format!("status {}, not {status}", response.status().as_str()));
    }
    let found = String::from_utf8_lossy(response.body());
    if body != "*" && found != body {
        faults.push(format!("body {found}\n   not {body}"));
    }
    for line in lines {
        let (name, expected) = line.trim().split_once(": ").unwrap();
        let values: Vec<&str> =
            response.headers().get_all(name).iter().map(|it| it.to_str().unwrap()).collect();
        let found = if values.is_empty() { "-".to_owned() } else { values.join(", ") };
        if found != expected && !(expected == "*" && found != "-") {
            faults.push(format!("{name}: {found}, not {expected}"));
        }
    }
}

#[test]
fn the_table_is_large_enough_and_names_each_row_once() {
    let rows = rows();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    let handed_over = rows.iter().filter(|row| !matches!(row.handed_over, HandedOver::Same));
    println!("{} rows, {} differ for handed-over routes", rows.len(), handed_over.count());
    let mut names = BTreeMap::new();
    for row in &rows {
        *names.entry(row.about).or_insert(0) += 1;
    }
    let twice: Vec<_> = names.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[tokio::test]
async fn the_table_is_correct_in_process() {
    run(&InProcess(TestClient::new(api::router()))).await;
}

#[tokio::test]
async fn the_table_is_correct_over_a_socket() {
    let server = api::router().create_server().unwrap().bind("127.0.0.1:0").await.unwrap();
    let client = TestClient::live(&format!("http://{}", server.local_addr()));
    tokio::spawn(server.serve());
    run(&OverASocket(client)).await;
}

/// A simulated host that receives individual routes. It omits the features that
/// such a host lacks according to the specification. This checks the column of
/// differences wherever the result does not depend on the host.
struct WithoutStages(TestClient);

impl Host for WithoutStages {
    const NAME: &'static str = "without stages";
    const HANDED_OVER: bool = true;

    async fn send(&self, request: http::Request<Bytes>) -> http::Response<Bytes> {
        ask(&self.0, request).await
    }
}

#[tokio::test]
async fn differences_are_correct_without_the_stages() {
    let router = api::router().map_options(|options| {
        options.rate_limit(false).cors(false).enable_security_headers(false)
    });
    run(&WithoutStages(TestClient::new(router))).await;
}
