//! Extractors of the connection and of middleware; arguments that may be absent.
//!
//! Spec: Handler contract.

use stockade::PeerAddr;
use stockade::extract::{Extension, OptionalFromRequest};
use stockade::http::{Method, Uri, Version};
use stockade::prelude::*;

use crate::support::{app_of, block_on, check, request, show};

/// The tenant of a request, found by middleware or by a header.
#[derive(Clone, Debug, PartialEq)]
struct Tenant(String);

impl OptionalFromRequest for Tenant {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        let Some(value) = req.headers().get("x-tenant") else {
            return Ok(None);
        };
        let wrong = |_| ApiError::new(400, "x-tenant is no text");
        Ok(Some(Self(value.to_str().map_err(wrong)?.to_owned())))
    }
}

async fn tenant(Extension(Tenant(name)): Extension<Tenant>) -> String {
    name
}

fn find_tenant(req: &mut Request) {
    req.extensions_mut().insert(Tenant("acme".to_owned()));
}

#[test]
fn an_extension_is_what_middleware_put_on_the_request() {
    crate::support::log::watch();
    async fn perhaps(tenant: Option<Extension<Tenant>>) -> String {
        tenant.map_or("nobody".to_owned(), |tenant| tenant.0.0)
    }
    let app = app_of(routes! {
        "with": { middleware: find_tenant, GET: tenant, "perhaps": { GET: perhaps } },
        "without": { GET: tenant, "perhaps": { GET: perhaps } },
    });
    check(&app, "GET /with", "200 acme");
    check(&app, "GET /with/perhaps", "200 acme");
    check(&app, "GET /without/perhaps", "200 nobody");
    check(
        &app,
        "GET /without",
        r#"500 {"error":"Internal Server Error"}"#,
    );
    let lines = crate::support::log::lines_with("no middleware has put a");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("extractors::Tenant` on")),
        "{lines:?}"
    );
}

#[test]
fn an_argument_of_the_application_may_be_absent() {
    let app = app_of(routes! {
        GET: async |tenant: Option<Tenant>| format!("{tenant:?}"),
    });
    check(&app, "GET /", "200 None");
    check(&app, "GET /\nx-tenant: acme", r#"200 Some(Tenant("acme"))"#);
    check(
        &app,
        "GET /\nx-tenant: é",
        r#"400 {"error":"x-tenant is no text"}"#,
    );
}

#[test]
fn the_parts_of_the_head_and_the_peer_are_arguments() {
    let app = app_of(routes! {
        "head": {
            GET: async |method: Method, uri: Uri, version: Version| format!("{method} {uri} {version:?}"),
        },
        "peer": { GET: async |PeerAddr(peer): PeerAddr| peer.to_string() },
        "perhaps": { GET: async |peer: Option<PeerAddr>| peer.is_some().to_string() },
    });
    check(&app, "GET /head?a=1", "200 GET /head?a=1 HTTP/1.1");
    check(&app, "GET /peer", "200 192.0.2.7:4711");
    check(&app, "GET /perhaps", "200 true");
    let unknown = |path: &str| {
        let request = stockade::http::Request::get(path).body(()).unwrap();
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(unknown("/peer"), r#"500 {"error":"Internal Server Error"}"#);
    assert_eq!(unknown("/perhaps"), "200 false");
}
