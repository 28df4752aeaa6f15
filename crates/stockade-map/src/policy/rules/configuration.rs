//! The rules about values that often differ between development and production.

use super::super::finding::Finding;
use super::super::rule::{BuiltIn, all_routes};
use crate::{ConfigurationInfo, ConfiguredSecret, CorsInfo, Place, RouteMap};

pub(super) const CORS_DEVELOPMENT_ORIGIN: BuiltIn = BuiltIn {
    id: "cors-development-origin",
    text: "no origin of a developer's machine may send credentials in a release build, or under \
           a checked configuration",
    owasp: "API8",
    find: |map| {
        if cfg!(debug_assertions) && map.configuration.is_none() { Vec::new() } else { found(map) }
    },
};

/// Finds the development origins that may send credentials. The default origin
/// may not.
fn found(map: &RouteMap) -> Vec<Finding> {
    let message = |origin: &str| format!("{origin:?} may read responses with credentials");
    let mend = "remove it from the origins: a program on the machine of a user could read the \
                user's data";
    let of_router = map.router.cors.as_ref().and_then(development_origin);
    let of_router = of_router.map(|origin| Finding::on_router(message(origin)).mend(mend));
    let of_routes = all_routes(map).filter_map(|route| {
        let origin = route.cors.as_ref().and_then(development_origin)?;
        Some(Finding::on(route, message(origin)).mend(mend))
    });
    of_router.into_iter().chain(malformed(map)).chain(of_routes).collect()
}

/// Finds origins of a file that are malformed: the router then allows the
/// default origin, which is a development origin.
fn malformed(map: &RouteMap) -> Option<Finding> {
    let info = map.configuration.as_ref()?;
    info.place_of(&["cors_origin", "cors.origin"])?;
    let cors = map.router.cors.as_ref().filter(|cors| !cors.credentials)?;
    let origin = cors.origins.iter().find(|origin| is_development(origin))?;
    let message =
        format!("an origin of the file is malformed, so only {origin:?} may read responses");
    Some(Finding::on_router(message).mend(
        "write each origin as browsers send it: scheme, host and port, such as \
         \"https://app.example\"",
    ))
}

fn development_origin(cors: &CorsInfo) -> Option<&str> {
    let origins = cors.origins.iter().map(String::as_str);
    origins.filter(|_| cors.credentials).find(|origin| is_development(origin))
}

/// Returns true if the host of an origin is always the machine of the browser.
///
/// Source: RFC 6761, section 6.3; RFC 1122, section 3.2.1.3.
fn is_development(origin: &str) -> bool {
    let host = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let end = match host.starts_with('[') {
        true => host.find(']').map(|end| end + 1),
        false => host.find([':', '/']),
    };
    let host = host.get(..end.unwrap_or(host.len())).unwrap_or(host);
    matches!(host, "localhost" | "[::1]" | "0.0.0.0")
        || host.ends_with(".localhost")
        || (host.starts_with("127.") && host.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

pub(super) const PROXIES_KNOWN: BuiltIn = BuiltIn {
    id: "proxies-known",
    text: "the trusted proxies are a number or networks, and not every address",
    owasp: "API4",
    find: |map| {
        let everybody = map.router.trust_proxy.iter().find(|network| network.ends_with("/0"));
        let everybody = everybody.map(|network| {
            let message = format!(
                "the trusted network {network} contains every address, so each client can forge \
                 its address and has no rate limit"
            );
            Finding::on_router(message).mend("list the networks of your proxies, or their number")
        });
        let info = map.configuration.as_ref();
        let uncounted = info.and_then(|info| info.uncounted_proxies.as_ref()).map(|key| {
            let message = format!("`{key}` is true, which does not state the number of proxies");
            Finding::on_router(message).mend("set their number, such as 1, or their networks")
        });
        everybody.into_iter().chain(uncounted).collect()
    },
};

pub(super) const SECRETS_LONG: BuiltIn = BuiltIn {
    id: "secrets-long",
    text: "each secret in a checked configuration is as long as its algorithm needs",
    owasp: "API2",
    find: |map| {
        let info = map.configuration.iter();
        info.flat_map(|info| info.secrets.iter().filter_map(|it| short(info, it))).collect()
    },
};

/// The message does not contain the secret.
fn short(info: &ConfigurationInfo, secret: &ConfiguredSecret) -> Option<Finding> {
    let ConfiguredSecret { key, algorithm, needed, .. } = secret;
    let bytes = secret.bytes.filter(|bytes| bytes < needed)?;
    let message = format!("`{key}` has {bytes} bytes, but {algorithm} needs {needed}");
    let mut finding = Finding::on_router(message).mend(format!(
        "use the output of `openssl rand -base64 {needed}`, and read it from the environment"
    ));
    let line = info.lines.get(key);
    finding.location = line.map(|line| Place { file: info.name.clone(), line: *line });
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_origins_are_loopback_hosts() {
        let cases = [
            ("http://localhost:3000", true),
            ("https://localhost", true),
            ("http://app.localhost:8080", true),
            ("http://127.0.0.1:5173", true),
            ("http://[::1]:3000", true),
            ("http://0.0.0.0", true),
            ("https://localhost.example.com", false),
            ("https://127.example.com", false),
            ("https://app.example", false),
            ("*", false),
        ];
        for (origin, expected) in cases {
            assert_eq!(is_development(origin), expected, "{origin}");
        }
    }
}
