//! Rows for every type that describes itself. The types come from the public
//! API, so a type without a row is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use futures_util::stream;
use stockade::BodyError;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestResponse};

use super::{Row, answers, extractors, headers, method_of, parts, replies, sessions, web_sockets};
use crate::support::block_on;

/// A row for a type that describes itself.
pub(super) struct Case {
    /// The implementation as in the public API, without paths.
    pub(super) name: &'static str,
    pub(super) row: Row,
    pub(super) status: u16,
    /// The error that ends the request body.
    pub(super) fault: Option<BodyError>,
}

pub(super) fn case(name: &'static str, row: Row, status: u16) -> Case {
    Case { name, row, status, fault: None }
}

/// Creates cases from lines: the implementation, middleware, a handler, a
/// request, and the status of the response.
macro_rules! impls {
    ($($name:expr, [$($middleware:expr),*], $handler:expr, $request:expr => $status:expr;)*) => {
        vec![$(
            $crate::openapi::described::impls::case(
                $name,
                $crate::openapi::described::row!([$($middleware),*], $handler, $request),
                $status,
            )
        ),*]
    };
}
pub(super) use impls;

impl Case {
    fn send(&self) -> TestResponse {
        let Some(fault) = self.fault else { return self.row.send() };
        let client = TestClient::new(self.row.app.clone()).with_contract();
        let mut lines = self.row.request.lines().take_while(|line| !line.is_empty());
        let target = lines.next().unwrap().split_once(' ').unwrap().1;
        let mut request = client.request(method_of(&self.row.request), target);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let pieces = stream::iter([Err::<Bytes, _>(fault)]);
        block_on(async { request.body_stream(pieces).await })
    }

    /// Returns the matching status in the map, and the statuses of the other
    /// responses in the map.
    fn listed(&self, status: u16) -> (Option<String>, BTreeSet<String>) {
        let map = self.row.app.route_map();
        let answers = map.routes[0].answers_by_status();
        let keys = [status.to_string(), format!("{}XX", status / 100), "default".to_owned()];
        let found = keys.into_iter().find(|key| answers.contains_key(key));
        (found, answers.into_keys().collect())
    }
}

fn cases() -> Vec<Case> {
    [extractors::cases(), replies::cases(), sessions::cases()].into_iter().flatten().collect()
}

/// The client checks the contract too, so schemas and headers are compared with
/// the map.
#[test]
fn each_type_responds_as_described() {
    let mut differences = Vec::new();
    for case in cases() {
        let response = case.send();
        let place = format!("{}: {}", case.name, case.row.request);
        assert_eq!(response.status().as_u16(), case.status, "{place}");
        let faults = case.row.document_faults(&response);
        differences.extend(faults.into_iter().map(|fault| format!("{}: {fault}", case.name)));
        let map = case.row.app.route_map();
        assert!(map.routes[0].opaque_arguments.is_empty(), "{place}");
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Every response that a type describes is sent in one of its rows.
#[test]
fn each_response_of_a_type_is_sent() {
    let mut by_name: BTreeMap<&str, [BTreeSet<String>; 2]> = BTreeMap::new();
    for case in cases() {
        let (found, listed) = case.listed(case.status);
        let [sent, told] = by_name.entry(case.name).or_default();
        sent.extend(found);
        told.extend(listed);
    }
    for (name, [sent, mut told]) in by_name {
        // Any handler may panic.
        told.remove("500");
        let unsent: Vec<_> = told.difference(&sent).collect();
        assert!(unsent.is_empty(), "{name} describes {unsent:?}, which no row sends");
    }
}

/// Implementations without a value, which cannot be sent.
const NEVER: [&str; 2] = ["IntoError for Infallible", "Reply for Infallible"];

/// Traits of types that describe themselves to a route.
const TRAITS: [&str; 5] = ["FromRequest", "OptionalFromRequest", "Reply", "ReplyPart", "IntoError"];

/// Returns the lines of the public API of all crates.
fn public_api() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let files = fs::read_dir(crates).unwrap().map(|folder| folder.unwrap().path());
    let texts = files.filter_map(|folder| fs::read_to_string(folder.join("public-api.txt")).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns `TRAIT for TYPE` for a line `impl<…> path::TRAIT for path::TYPE
/// where …`, without the paths. Returns `None` for any other line.
fn implementation(line: &str) -> Option<String> {
    let line = line.strip_prefix("impl")?;
    let (head, subject) = line.split_once(" for ").filter(|(head, _)| !head.contains("for<"))?;
    let name = head.rsplit("::").next()?;
    let subject = subject.split(" where ").next()?;
    let name = TRAITS.into_iter().find(|known| *known == name)?;
    let is_path = |symbol: char| symbol.is_alphanumeric() || symbol == '_' || symbol == ':';
    let mut short = String::new();
    for piece in subject.split_inclusive(|symbol| !is_path(symbol)) {
        let path = piece.trim_end_matches(|symbol| !is_path(symbol));
        let last = path.rsplit("::").next().unwrap_or_default();
        // Several crates have a type called `Error`.
        if let ("Error", Some((first, _))) = (last, path.split_once("::")) {
            short += first;
            short += "::";
        }
        short += last;
        short += &piece[path.len()..];
    }
    Some(format!("{name} for {short}"))
}

#[test]
fn implementations_are_read() {
    let check = |line: &str, expected: Option<&str>| {
        assert_eq!(implementation(line).as_deref(), expected, "{line}");
    };
    check("impl a::reply::Reply for b::c::Redirect", Some("Reply for Redirect"));
    check("impl<T: a::Reply> a::Reply for (b::StatusCode, T)", Some("Reply for (StatusCode, T)"));
    check(
        "impl<N, V, const C: usize> a::ReplyPart for [(N, V); C] where N: a::IntoName",
        Some("ReplyPart for [(N, V); C]"),
    );
    check("impl a::IntoError for std::io::error::Error", Some("IntoError for std::Error"));
    check(
        "impl a::Reply for alloc::borrow::Cow<'static, str>",
        Some("Reply for Cow<'static, str>"),
    );
    check("impl core::fmt::Debug for a::Reply", None);
    check("pub fn a::Reply::describe(&mut a::RouteDescription)", None);
}

#[test]
fn each_self_describing_type_has_a_row() {
    let api = public_api();
    let types: BTreeSet<String> = api.iter().filter_map(|line| implementation(line)).collect();
    assert!(types.len() > 80, "{types:?}");
    let rows = cases().into_iter().map(|case| case.name);
    let rows = rows.chain(NEVER).chain(web_sockets::IMPLEMENTATIONS);
    // The tests of WebSocket methods cover this type.
    let rows = rows.chain(["FromRequest for Notifier"]);
    let rows: BTreeSet<String> = rows.map(str::to_owned).collect();
    let missing: Vec<_> = types.difference(&rows).collect();
    assert!(missing.is_empty(), "no row of {missing:#?}");
    let gone: Vec<_> = rows.difference(&types).collect();
    assert!(gone.is_empty(), "rows of {gone:#?}, which nothing implements");
}

/// Checks the names of helpers and of router stages.
#[test]
fn each_self_describing_part_has_a_row() {
    let api = public_api();
    let helpers = api.iter().filter_map(|line| {
        let name = line.strip_prefix("pub fn stockade_middleware::with_")?;
        Some(format!("with_{}", &name[..name.find(['(', '<'])?]))
    });
    let parts: BTreeSet<String> = helpers.chain(named_in_sources()).collect();
    assert!(parts.len() > 25, "{parts:?}");
    let rows = answers::parts().into_iter().chain(headers::parts()).chain(parts::names());
    let rows = rows.chain([WEB_SOCKET, ON_INIT, MARKS, WITH_ETAG].map(str::to_owned));
    let rows: BTreeSet<String> = rows.collect();
    let missing: Vec<_> = parts.difference(&rows).collect();
    assert!(missing.is_empty(), "no row of {missing:#?}");
}

/// The part that the WebSocket tests cover.
const WEB_SOCKET: &str = "web_socket_handshake";

/// The part of GraphQL WebSockets without responses: its errors are close
/// frames, which the subscription tests receive.
const ON_INIT: &str = "on_init";

/// The part of methods with marked types. It removes values and does not add
/// responses; the tests of these methods compare the results with the
/// documents.
const MARKS: &str = "read_only and write_only";

/// The part of the `WithETag` reply, which has its own rows.
const WITH_ETAG: &str = "WithETag";

/// Returns the part names in the sources: `.stage("NAME"` and `.named("NAME"`.
fn named_in_sources() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(crates).unwrap().map(|it| it.unwrap().path().join("src")).collect();
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(entry).unwrap();
                names.extend(text.lines().filter_map(name_of).map(str::to_owned));
            }
        }
    }
    names
}

/// Returns the part name in a line of source, or `None` in a comment.
fn name_of(line: &str) -> Option<&str> {
    let code = (!line.trim_start().starts_with("//")).then_some(line)?;
    let (_, name) = code.split_once(".stage(\"").or_else(|| code.split_once(".named(\""))?;
    name.split('"').next()
}
