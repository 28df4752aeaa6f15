//! The policy rule about responses that contain a secret.

use stockade::RouteDescription;
use stockade::description::HeaderDoc;
use stockade::middleware::SecurityHeaders;
use stockade::prelude::*;

use super::*;

#[derive(serde::Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Session {
    access_token: String,
    user: Option<Account>,
}

#[derive(serde::Serialize, Schema)]
struct Account {
    name: String,
    password_hash: Option<String>,
}

#[derive(serde::Serialize, Schema)]
struct Usage {
    max_tokens: u32,
    has_password: bool,
    next_page_token: String,
}

fn tree() -> RouteTree {
    let account = async || Json(vec![Account { name: String::new(), password_hash: None }]);
    let log_in = async || Json(Session { access_token: String::new(), user: None });
    let usage =
        async || Json(Usage { max_tokens: 1, has_password: true, next_page_token: String::new() });
    let silent = |_: &mut Request| Ok::<_, ApiError>(());
    let told = |doc: &mut RouteDescription| {
        doc.adds_header(HeaderDoc::new("Cache-Control", "Nothing is kept"), None);
    };
    let sometimes = |doc: &mut RouteDescription| {
        doc.adds_header(HeaderDoc::new("Cache-Control", "Perhaps").sometimes(), None);
    };
    let behind = |describe: fn(&mut RouteDescription)| Middleware::new(silent).describing(describe);
    routes! {
        "login": { POST: log_in },
        "accounts": { GET: account },
        "usage": { GET: usage },
        "told": { POST: { handler: log_in, middleware: [behind(told)] } },
        "perhaps": { POST: { handler: log_in, middleware: [behind(sometimes)] } },
    }
}

#[test]
fn responses_with_secrets_must_not_be_cached() {
    let found = ["POST /login", "GET /accounts", "POST /perhaps"];
    check("secrets-uncached", tree(), &found);
    let told = texts("secrets-uncached", &map_of_tree(tree()));
    assert!(told[0].contains("body.accessToken") && told[0].contains("no_store"), "{told:?}");
    assert!(told[1].contains("body[].password_hash"), "{told:?}");

    let with = |headers: SecurityHeaders| {
        map_of(create_router(tree(), RouterOptions::new().security_headers(headers)))
    };
    check_map("secrets-uncached", &with(SecurityHeaders::new().no_store()), &[]);
    let cached = SecurityHeaders::new().set("Cache-Control", "private").unwrap();
    check_map("secrets-uncached", &with(cached), &found);
    // The host adds the headers.
    let mut hosted = map_of_tree(tree());
    hosted.router.is_hosted = true;
    check_map("secrets-uncached", &hosted, &[]);
}
