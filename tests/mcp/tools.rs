//! Configuration errors of tools: each names the place and the remedy.

use stockade::auth::{KeyRing, SessionId, TokenVerifier};
use stockade::extract::Multipart;
use stockade::mcp::{Mcp, Tool};
use stockade::middleware::SessionCookie;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};

use crate::support::{create_issues, public_mcp, user_by_token};

/// Asserts that a tree has exactly these configuration errors.
#[track_caller]
fn check(api: RouteTree, expected: &[&str]) {
    assert_eq!(create_issues(api), expected);
}

#[test]
fn names_are_checked() {
    let list = async || "orders";
    check(
        routes! {
            "mcp": { ..public_mcp() },
            "a": { GET: { list, tool: "Lists orders." } },
            "b": { GET: { list, tool: Tool::new("Lists orders.").name("orders.list") } },
            "c": { GET: { list, name: "c".repeat(49), tool: "Lists orders." } },
        },
        &[
            "GET /a: tool: the tool does not have a name: add `name` to the route, or use \
             `Tool::name`",
            "GET /b: tool: the name \"orders.list\" of the tool must be a letter, then letters, \
             digits, `_` and `-`",
            "GET /c: tool: the name \"ccccccccccccccccccccccccccccccccccccccccccccccccc\" of the \
             tool has 49 characters, but clients accept 48: set a shorter one with `Tool::name`",
        ],
    );
    let line = line!() + 5;
    let issues = create_issues(routes! {
        "mcp": { ..public_mcp() },
        "a": {
            GET: {
                handler: list, name: "orders", tool: "Lists orders.",
            },
            POST: { handler: list, tool: Tool::new("Creates an order.").name("orders") },
        },
    });
    assert_eq!(
        issues,
        [format!(
            "POST /a: tool: duplicate name \"orders\" of a tool, already used at {}:{line}",
            file!()
        )]
    );
}

#[test]
fn an_error_has_the_place_of_the_tool() {
    let line = line!() + 5;
    let api = routes! {
        "mcp": { ..public_mcp() },
        "a": {
            GET: { async || "a",
                tool: "Lists orders." },
        },
    };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let place = error.issues()[0].location().unwrap();
    assert_eq!((place.file(), place.line()), (file!(), line));
}

#[test]
fn texts_are_checked() {
    let list = async || "orders";
    check(
        routes! {
            "mcp": { ..public_mcp() },
            "a": { GET: { list, name: "a", tool: "" } },
            "b": { GET: { list, name: "b", tool: "x".repeat(1_025) } },
            "c": { GET: { list, name: "c", tool: "Lists\u{202E} orders." } },
            "d": { GET: { list, name: "d", tool: Tool::new("Lists.").title("Or\u{200B}ders") } },
            "e": { GET: { list, name: "e", tool: "Lists\norders." } },
        },
        &[
            "GET /a: tool: the description of the tool is empty",
            "GET /b: tool: the description of the tool has 1025 characters, but at most 1024 are \
             allowed",
            "GET /c: tool: the description of the tool contains the character U+202E, which \
             readers cannot see: remove it",
            "GET /d: tool: the title of the tool contains the character U+200B, which readers \
             cannot see: remove it",
            "GET /e: tool: the description of the tool contains the character U+000A, which \
             readers cannot see: remove it",
        ],
    );
}

#[derive(serde::Deserialize, Schema)]
struct Hidden {
    /// The city\u{2066} of the customer.
    #[schema(description = "The city\u{2066} of the customer")]
    city: String,
}

#[test]
fn descriptions_of_arguments_are_checked() {
    check(
        routes! {
            "mcp": { ..public_mcp() },
            "a": { POST: { async |Body(it): Body<Hidden>| it.city, name: "a", tool: "Tests." } },
        },
        &["POST /a: tool: a description in the schema of the arguments contains the character \
           U+2066, which readers cannot see: remove it"],
    );
}

#[derive(serde::Deserialize, Schema)]
struct Form {
    name: String,
}

async fn save_form(Multipart(form): Multipart<Form>) -> String {
    form.name
}

#[test]
fn some_routes_are_never_tools() {
    let events = async || Sse::new(futures_util::stream::empty::<Result<Event, ApiError>>());
    let socket = async |_: WebSocket| {};
    let tool = || Tool::new("A tool.").name("a");
    check(
        routes! {
            "mcp": { ..public_mcp() },
            "any": { ANY: { async || "", tool: tool().name("any") } },
            "events": { GET: { events, tool: tool().name("events") } },
            "head": { HEAD: { async || (), tool: tool().name("head") } },
            "form": { POST: { save_form, tool: tool().name("form") } },
            "raw": { POST: { async |body: Bytes| body.len().to_string(), tool: tool().name("raw") } },
            "socket": { ws: { socket, tool: tool().name("socket") } },
        },
        &[
            "ANY /any: tool: a route for any method cannot be a tool",
            "GET /events: tool: an event stream does not end, so it cannot be a tool",
            "HEAD /head: tool: the responses to this method do not have a result for agents",
            "POST /form: tool: the route reads a form with files, which agents cannot send",
            "POST /raw: tool: the route reads a raw body, so its arguments are unknown: a tool \
             needs a typed body",
            "WS /socket: tool: a WebSocket cannot be a tool",
        ],
    );
}

#[test]
fn a_router_has_one_endpoint_and_at_most_its_tools() {
    let issues = create_issues(routes! {
        "mcp": { ..public_mcp() },
        "more": { ..public_mcp() },
    });
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert!(
        issues[0].starts_with("POST /more: a router can have only one endpoint for tools, and "),
        "{issues:?}"
    );
    check(
        routes! {
            "mcp": { public: "a test", ..Mcp::new("Test", "1.0.0").max_tools(1).routes() },
            "a": {
                GET: { async || "a", name: "a", tool: "A tool." },
                POST: { async || "a", name: "b", tool: "A tool." },
            },
        },
        &[
            "POST /mcp: the router has 2 tools, but clients accept 1: remove the key `tool` of some \
           routes, or raise `Mcp::max_tools`",
        ],
    );
}

#[test]
fn the_endpoint_must_authenticate_the_users_of_its_tools() {
    let api = |endpoint: RouteTree| {
        routes! {
            "mcp": { ..endpoint },
            "me": { auth: user_by_token(), GET: { async || "me", name: "me", tool: "Shows the user." } },
        }
    };
    check(
        api(public_mcp()),
        &["GET /me: tool: the tool requires a user, but its endpoint /mcp does not authenticate \
           users: add `with_auth` to the endpoint"],
    );
    check(api(routes! { auth: user_by_token(), ..Mcp::new("Test", "1.0.0").routes() }), &[]);
}

#[test]
fn agents_do_not_send_cookies() {
    let keys = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let cookie = SessionCookie::new(KeyRing::new(keys));
    let session = Auth::session(cookie, |_: SessionId| None::<String>);
    check(
        routes! {
            "mcp": { auth: user_by_token(), ..Mcp::new("Test", "1.0.0").routes() },
            "me": { auth: session, GET: { async || "me", name: "me", tool: "Shows the user." } },
        },
        &["GET /me: tool: the route authenticates only by cookies, which agents do not send: add \
           a method with a header, such as `Auth::secret`"],
    );
}

#[test]
fn a_required_header_must_be_an_argument() {
    let needs = Middleware::new(|_: &mut Request| Ok::<(), ApiError>(()))
        .describing(|doc| doc.reads_header("If-Match", true));
    let api = |tool: Tool| {
        routes! {
            "mcp": { ..public_mcp() },
            "a": { PUT: { async || "a", middleware: [needs.clone()], name: "a", tool: tool } },
        }
    };
    let tool = || Tool::new("A tool.");
    check(
        api(tool()),
        &["PUT /a: tool: the route requires the header \"if-match\", which agents do not send: \
           add `Tool::header(\"if-match\")`"],
    );
    check(api(tool().header("If-Match")), &[]);
    let reserved = |name: &str| {
        format!(
            "PUT /a: tool: the header {name:?} cannot be an argument, because it describes the client \
         or its connection: remove it"
        )
    };
    for name in ["cookie", "authorization", "x-forwarded-for", "host", "mcp-name"] {
        check(api(tool().header("if-match").header(name)), &[&reserved(name)]);
    }
}

#[test]
fn renames_must_fit() {
    #[derive(serde::Deserialize, Schema)]
    struct Filter {
        #[serde(rename = "first-name")]
        first: String,
    }
    let list = async |Query(filter): Query<Filter>| filter.first;
    let api = |tool: Tool| {
        routes! {
            "mcp": { ..public_mcp() },
            "a": { ":id": { GET: { list, name: "a", tool: tool } } },
        }
    };
    let tool = || Tool::new("A tool.");
    check(
        api(tool()),
        &[
            "GET /a/:id: tool: clients do not accept \"first-name\" as the name of an argument: add \
           `Tool::rename(\"first-name\", …)` with letters, digits and `_`",
        ],
    );
    check(api(tool().rename("first-name", "first_name")), &[]);
    check(
        api(tool().rename("first-name", "id")),
        &[
            "GET /a/:id: tool: two arguments have the name \"id\": add `Tool::rename(\"first-name\", \
           …)`",
        ],
    );
    check(
        api(tool().rename("first-name", "first_name").rename("last", "last_name")),
        &["GET /a/:id: tool: `rename` names \"last\", but no argument has this name: remove it"],
    );
}

#[test]
fn tokens_for_the_endpoint_must_be_valid_for_its_tools() {
    let url = "https://api.example.com/mcp";
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let api = |endpoint: TokenVerifier, route: TokenVerifier| {
        routes! {
            "mcp": {
                auth: Auth::tokens(secret.clone(), endpoint),
                ..Mcp::new("Test", "1.0.0").url(url).routes()
            },
            "me": {
                auth: Auth::tokens(secret.clone(), route),
                GET: { async || "me", name: "me", tool: "Shows the user." },
            },
        }
    };
    let verifier = TokenVerifier::new;
    let agents = || verifier().audience(url);
    check(api(agents(), verifier().audience("shop").audience(url)), &[]);
    check(api(agents(), verifier()), &[]);
    check(
        api(agents(), verifier().audience("shop")),
        &["GET /me: tool: the route does not accept the tokens of its endpoint: add \
           `audience(\"https://api.example.com/mcp\")` to its `TokenVerifier`"],
    );
    check(
        api(verifier(), verifier()),
        &["POST /mcp: the tokens of the endpoint must be issued for its URL: add \
           `audience(\"https://api.example.com/mcp\")` to its `TokenVerifier`"],
    );
}

#[test]
fn hints_must_not_contradict_each_other() {
    check(
        routes! {
            "mcp": { ..public_mcp() },
            "a": { POST: {
                async || "a", name: "a", tool: Tool::new("A tool.").read_only(true).destructive(true),
            } },
        },
        &[
            "POST /a: tool: `read_only` and `destructive` are both true: a call that changes nothing \
           cannot destroy data",
        ],
    );
}

#[test]
fn an_output_schema_needs_one_object() {
    let api = |tool: Tool| {
        routes! {
            "mcp": { ..public_mcp() },
            "a": { GET: { async || Json(vec![1_u32]), name: "a", tool: tool } },
        }
    };
    check(
        api(Tool::new("A tool.").output_schema(true)),
        &["GET /a: tool: `output_schema` needs a JSON object in each response, but the response \
           200 is not described as one"],
    );
    check(api(Tool::new("A tool.")), &[]);
}
