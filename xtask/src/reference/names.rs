//! Keys of `routes!`, options, environment variables and error responses.

use std::collections::BTreeSet;

use super::page::{Page, Row, codes};
use super::source::{Library, between, literals};

type Names = BTreeSet<String>;

/// Compares the keys of `routes!` with the lists of the macro.
pub fn keys(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let tree = library.file("stockade-macros/src/routes/tree.rs")?;
    let list = |start: &str| between(tree, start, ";\n").map(|text| values(literals(text)));
    let settings = settings(library)?;

    let mut of_node = list("const METHODS: [&str; 8] =")?;
    for name in ["ANY", "WEB_SOCKET", "MOUNT", "HOST"] {
        of_node.extend(list(&format!("const {name}: &str ="))?);
    }
    // A node also has them, but they are not names.
    of_node.extend(["middleware", ".."].map(str::to_owned));
    let nodes = page.section("## Keys of a node")?;
    let is_name = |code: &String| !code.starts_with('"');
    let listed: Names = nodes.first_codes().into_iter().filter(is_name).collect();
    let mut faults = nodes.differences("key of a node", &listed, &of_node);

    let mut of_route = list("const OWN_KEYS: [&str; 8] =")?;
    of_route.extend(values(literals(between(tree, "is_web_socket() { &[", "] }")?)));
    let routes = page.section("## Keys of route options")?;
    let listed = routes.first_codes().iter().map(|key| key.replace(':', "")).collect();
    faults.extend(routes.differences("key of a route", &listed, &of_route));

    let section = page.section("## Settings")?;
    faults.extend(section.differences("setting", &section.first_codes(), &settings));
    Ok(faults)
}

/// Returns the names of the settings in the table of the macro.
fn settings(library: &Library) -> Result<Names, String> {
    let table = library.file("stockade-path/src/route_settings.rs")?;
    let before_type = table.lines().filter_map(|line| {
        let line = line.strip_prefix("                ")?;
        let end = line.find(['(', '<'])?;
        let name = line.get(..end)?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        is_name.then(|| name.to_owned())
    });
    Ok(before_type.collect())
}

/// Compares the options with the public methods of their types.
pub fn options(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for (heading, path, other) in [
        ("## RouterOptions", "stockade_routing::RouterOptions", &["new"][..]),
        ("## ServerOptions", "stockade_server::ServerOptions", &["new"]),
    ] {
        let section = page.section(heading)?;
        let mut methods = library.methods(path);
        methods.retain(|name| !other.contains(&name.as_str()));
        let rows = section.rows();
        let is_option = |row: &&Row| row.cells.len() >= 3;
        let listed = rows.iter().filter(is_option).flat_map(|row| codes(row.cell(0)));
        // The tables of keys have the same form, with keys in camel case.
        let listed = listed.filter(|name| !name.bytes().any(|byte| byte.is_ascii_uppercase()));
        faults.extend(section.differences("option", &values(listed), &methods));
    }
    let mut methods = library.methods("stockade_routing::HostOptions");
    methods.retain(|name| !["new", "issue", "max_body_size"].contains(&name.as_str()));
    let listed = page.codes_of_line("`HostOptions` override the router")?;
    faults.extend(page.differences("option of a host", &listed, &methods));
    faults.extend(methods_of_router(&page.section("## Methods of Router")?, library)?);
    Ok(faults)
}

/// Compares the methods of a router. Settings have their own table, and traits
/// of other crates add methods.
fn methods_of_router(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let settings = settings(library)?;
    let mut methods = library.methods("stockade_routing::Router");
    methods.retain(|name| !settings.contains(name));
    let listed: Names = page
        .first_codes()
        .iter()
        .map(|code| code.split('(').next().unwrap_or_default().replace("Router::", ""))
        .collect();
    let of_traits = listed.difference(&methods).filter(|name| library.has_item(name));
    methods.extend(of_traits.cloned().collect::<Vec<_>>());
    // A function that makes a router.
    methods.insert("create_router".to_owned());
    Ok(page.differences("method", &listed, &methods))
}

/// Compares the environment variables with the files that read them.
pub fn variables(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let section = page.section("## Environment variables")?;
    let is_variable = |text: &str| {
        text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let readers = library.files().iter().filter(|file| file.text.contains("env::var"));
    let found = readers.flat_map(|file| literals(&file.text));
    let found = found.filter(|text| is_variable(text)).collect();
    Ok(section.differences("environment variable", &section.first_codes(), &found))
}

/// Compares the error responses: statuses, messages, rules and close codes.
pub fn responses(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let section = page.section("## Statuses")?;
    let rows = section.rows();
    for code in rows.iter().flat_map(|row| codes(row.cell(1))).filter(|code| *code != "message") {
        let is_standard = STATUSES.iter().any(|(_, _, text)| *text == code);
        if !is_standard && !library.says(code) {
            faults.push(format!("{}: no error has the message `{code}`", page.name));
        }
    }
    faults.extend(statuses(&section, library));

    let section = page.section("## Validation rules")?;
    let texts = library.file("stockade-core/src/i18n/en.ftl")?;
    let texts = texts.split("# Files of typed forms").next().unwrap_or_default();
    let keys = texts.lines().filter(|line| !line.starts_with([' ', '#', '}']));
    let keys = keys.filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
    let mut rules: Names = values(keys.filter(|key| !VARIANTS.contains(key)));
    let listed = section.first_codes();
    // Failures of these keywords have the text of another rule.
    rules.extend(["min", "max", "contains"].map(str::to_owned));
    faults.extend(section.differences("rule", &listed, &rules));
    faults.extend(close_codes(page, library)?);
    Ok(faults)
}

/// Compares the statuses with the constants and numbers in the code.
fn statuses(section: &Page, library: &Library) -> Vec<String> {
    let senders = || library.files().iter().filter(|file| !TEST_CRATES.contains(&file.package()));
    let has = |text: &str| senders().any(|file| file.text.contains(text));
    let is_named = |(status, name, _): &&(u16, &str, &str)| {
        has(&format!("StatusCode::{name}")) || has(&format!("ApiError::new({status},"))
    };
    let named = STATUSES.iter().filter(is_named).map(|(status, ..)| status.to_string()).collect();
    let listed: Names = section.rows().iter().map(|row| row.cell(0).to_owned()).collect();
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.';
    let words: BTreeSet<&str> = senders().flat_map(|file| file.text.split(is_end)).collect();
    let mut existing: Names = named;
    existing.extend(listed.iter().filter(|status| words.contains(status.as_str())).cloned());
    section.differences("status", &listed, &existing)
}

/// Compares the close codes with the constants that other code uses.
fn close_codes(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let section = page.section("## WebSocket close codes")?;
    let text = library.file("stockade-websockets/src/close.rs")?;
    let constants = text.lines().filter_map(|line| {
        let (name, code) = line.trim().strip_prefix("pub const ")?.split_once(": u16 = ")?;
        Some((name, code.trim_end_matches(';')))
    });
    let is_used = |name: &str| library.contains(&format!("Close::{name}"));
    let used = constants.filter(|(name, _)| *name != "NONE" && is_used(name));
    let used = used.map(|(_, code)| code.to_owned()).collect();
    let listed = section.rows().iter().map(|row| row.cell(0).to_owned()).collect();
    Ok(section.differences("close code", &listed, &used))
}

/// Compares the settings and types that the page names with the code. The page
/// groups messages, so the code has more messages than the page has rows.
pub fn configuration(page: &Page, library: &Library) -> Vec<String> {
    let names = page.first_codes();
    let is_known = |name: &String| library.contains(name.trim_end_matches("<T>"));
    let unknown = names.iter().filter(|name| !FORMS.contains(&name.as_str()) && !is_known(name));
    unknown.map(|name| format!("{}: the code does not have `{name}`", page.name)).collect()
}

fn values(names: impl IntoIterator<Item = impl Into<String>>) -> Names {
    names.into_iter().map(Into::into).collect()
}

/// The statuses of errors: the number, the name in code, the standard text.
const STATUSES: [(u16, &str, &str); 26] = [
    (400, "BAD_REQUEST", "Bad Request"),
    (401, "UNAUTHORIZED", "Unauthorized"),
    (403, "FORBIDDEN", "Forbidden"),
    (404, "NOT_FOUND", "Not Found"),
    (405, "METHOD_NOT_ALLOWED", "Method Not Allowed"),
    (406, "NOT_ACCEPTABLE", "Not Acceptable"),
    (408, "REQUEST_TIMEOUT", "Request Timeout"),
    (409, "CONFLICT", "Conflict"),
    (410, "GONE", "Gone"),
    (411, "LENGTH_REQUIRED", "Length Required"),
    (412, "PRECONDITION_FAILED", "Precondition Failed"),
    (413, "PAYLOAD_TOO_LARGE", "Payload Too Large"),
    (414, "URI_TOO_LONG", "URI Too Long"),
    (415, "UNSUPPORTED_MEDIA_TYPE", "Unsupported Media Type"),
    (416, "RANGE_NOT_SATISFIABLE", "Range Not Satisfiable"),
    (417, "EXPECTATION_FAILED", "Expectation Failed"),
    (422, "UNPROCESSABLE_ENTITY", "Unprocessable Entity"),
    (426, "UPGRADE_REQUIRED", "Upgrade Required"),
    (428, "PRECONDITION_REQUIRED", "Precondition Required"),
    (429, "TOO_MANY_REQUESTS", "Too Many Requests"),
    (431, "REQUEST_HEADER_FIELDS_TOO_LARGE", "Request Header Fields Too Large"),
    (500, "INTERNAL_SERVER_ERROR", "Internal Server Error"),
    (501, "NOT_IMPLEMENTED", "Not Implemented"),
    (502, "BAD_GATEWAY", "Bad Gateway"),
    (503, "SERVICE_UNAVAILABLE", "Service Unavailable"),
    (504, "GATEWAY_TIMEOUT", "Gateway Timeout"),
];

/// The crates that send requests instead of responses.
const TEST_CRATES: [&str; 3] = ["stockade-conformance", "stockade-hardening", "stockade-testing"];

/// Texts of rules that have another name in responses.
const VARIANTS: [&str; 6] =
    ["required-value", "duplicate", "out-of-range", "false", "oneOf-keys", "oneOf-several"];

/// Forms of a path, and values in a sentence, that are not names.
const FORMS: [&str; 3] = ["**", "{…}", "*"];
