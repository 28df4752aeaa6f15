//! Descriptions of replies, errors and extractors.

use std::borrow::Cow;
use std::convert::Infallible;

use stockade::bytes::Bytes;
use stockade::description::{ResponseDoc, SecurityScheme};
use stockade::extract::headers::UserAgent;
use stockade::extract::{Headers, LastEventId, TypedHeader};
use stockade::http::{HeaderMap, Method, header};
use stockade::middleware::{SetCookie, with_permission, with_role};
use stockade::prelude::*;
use stockade::reply::Redirect;
use stockade::reply::{
    Accepted, Created, IntoError, JsonText, ResponseWriter, Sse, Status, Streamed,
};
use stockade::routing::map::{BodyDoc, FieldInfo, Need, ResponseInfo, RouteInfo};
use stockade::validation::Unchecked;
use stockade::websockets::WebSocketUpgrade;
use stockade::{RouteDescription, RouteDocs, RouteEntry};

use crate::support::{block_on, request};

/// Builds a router with one route and returns its facts. A second call must
/// return the same facts.
#[track_caller]
fn described(entry: RouteEntry) -> RouteInfo {
    // As far as the router can see, the function may set a user.
    let tree = RouteTree::new().middleware(|_: &mut Request| ()).method(Method::GET, entry);
    // Other tests cover the headers of the stages.
    let options = RouterOptions::new().expose_errors(false).rate_limit(false);
    let app = create_router(tree, options.cors(false)).build().unwrap();
    let mut map = app.route_map();
    assert_eq!(map, app.route_map());
    map.routes.remove(0)
}

/// Formats a response as `status body +Header (meaning)`. A question mark marks
/// an optional header.
fn line(answer: &ResponseInfo) -> String {
    let mut line = answer.status.to_string();
    match &answer.body {
        BodyDoc::None => {}
        BodyDoc::Error => line += " error",
        BodyDoc::Unknown => line += " ?",
        BodyDoc::Content(contents) => {
            for content in contents {
                let schema = match content.schema.to_string() {
                    any if any == "true" || any == "{}" => "any".to_owned(),
                    text if text == r#"{"type":"string"}"# => "text".to_owned(),
                    _ => "typed".to_owned(),
                };
                line += &format!(" {}: {schema}", content.media_type);
            }
        }
        other => line += &format!(" {other:?}"),
    }
    for header in &answer.headers {
        line += &format!(" +{}{}", header.name, if header.always { "" } else { "?" });
    }
    if !answer.meaning.is_empty() {
        line += &format!(" ({})", answer.meaning);
    }
    line
}

/// Returns the responses of a part of a route.
fn answers(route: &RouteInfo, part: &str) -> Vec<String> {
    route.answers.iter().filter(|answer| answer.by == part).map(line).collect()
}

/// Checks the responses of a handler.
#[track_caller]
fn check(entry: RouteEntry, expected: &[&str]) {
    assert_eq!(answers(&described(entry), "handler"), expected);
}

/// Checks the responses of a handler that returns this type.
#[track_caller]
fn replies<R: Reply + 'static>(expected: &[&str]) {
    check(RouteEntry::new(async || -> R { unreachable!() }), expected);
}

#[derive(serde::Serialize, Schema)]
struct Account {
    name: String,
}

#[derive(serde::Serialize, Schema)]
struct Page<T> {
    items: Vec<T>,
}

const TEXT: &str = "200 text/plain: text";
const JSON: &str = "200 application/json: any";
const TYPED: &str = "200 application/json: typed";
const ANY_ERROR: &str = "default error";

#[test]
fn responses_describe_themselves() {
    replies::<()>(&["204"]);
    replies::<StatusCode>(&["2XX"]);
    replies::<Infallible>(&[]);
    replies::<Response>(&["2XX ?"]);
    replies::<&'static str>(&[TEXT]);
    replies::<String>(&[TEXT]);
    replies::<Cow<'static, str>>(&[TEXT]);
    replies::<Html<String>>(&["200 text/html: text"]);
    replies::<Bytes>(&["200 application/octet-stream: any"]);
    replies::<Vec<u8>>(&["200 application/octet-stream: any"]);
    replies::<Value>(&[JSON]);
    replies::<JsonText<String>>(&[JSON]);
    replies::<Json<Vec<u8>>>(&[TYPED]);
    replies::<Json<Unchecked<Foreign>>>(&[JSON]);
    replies::<Account>(&[TYPED]);
    replies::<Page<Account>>(&[TYPED]);
    replies::<Sse>(&["200 text/event-stream: text +Cache-Control"]);
    replies::<Streamed>(&["200 */*: any"]);
    replies::<Redirect>(&["303 +Location", "307 +Location", "308 +Location"]);
}

#[test]
fn a_typed_response_has_its_schema() {
    let route = described(RouteEntry::new(async || -> Json<Vec<Account>> { unreachable!() }));
    let answer = route.answers.iter().find(|answer| answer.status == "200").unwrap();
    let BodyDoc::Content(contents) = &answer.body else { unreachable!() };
    let schema = &contents[0].schema;
    assert_eq!(schema["type"], "array");
    assert_eq!(schema["items"]["$ref"], "#/schemas/Account");
}

#[test]
fn wrapper_types_change_the_described_responses() {
    replies::<Option<String>>(&[TEXT, "204"]);
    replies::<Created<Account>>(&["201 application/json: typed +Location?"]);
    replies::<Created<()>>(&["201 +Location?"]);
    replies::<Accepted<()>>(&["202"]);
    replies::<Status<418, &'static str>>(&["418 text/plain: text"]);
    // These statuses do not have a body.
    replies::<Status<204, Account>>(&["204"]);
    replies::<(StatusCode, Account)>(&["2XX application/json: typed"]);
    replies::<(HeaderMap, Account)>(&[TYPED]);
    // A header may declare the text as CSV.
    replies::<(HeaderMap, String)>(&["200 */*: text"]);
    replies::<([(&'static str, String); 1], Vec<u8>)>(&["200 */*: any"]);
    replies::<(StatusCode, Vec<(header::HeaderName, String)>, String)>(&["2XX */*: text"]);
    replies::<(SetCookie, String)>(&["200 text/plain: text +Set-Cookie"]);
    replies::<(Vec<SetCookie>, ())>(&["204 +Set-Cookie?"]);
    // An error keeps its own status and does not get the reply's headers.
    let created = ["201 application/json: typed +Location?", ANY_ERROR];
    replies::<Created<Result<Account, ApiError>>>(&created);
    replies::<(SetCookie, Result<(), ApiError>)>(&["204 +Set-Cookie", ANY_ERROR]);
}

#[test]
fn a_writer_can_send_any_response() {
    check(RouteEntry::new(async |_: ResponseWriter| ()), &["2XX ?", "204"]);
}

#[test]
fn a_handwritten_reply_is_unknown_unless_described() {
    struct Silent;
    impl Reply for Silent {
        fn into_response(self) -> Result<Response, ApiError> {
            ().into_response()
        }
    }
    replies::<Silent>(&["2XX ?"]);

    struct Loud;
    impl Reply for Loud {
        fn into_response(self) -> Result<Response, ApiError> {
            ().into_response()
        }
        fn describe(doc: &mut RouteDescription) {
            doc.responds(ResponseDoc::text(200, "text/csv").meaning("A table"));
        }
    }
    replies::<Loud>(&["200 text/csv: text (A table)"]);
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value is created")]
enum ShopError {
    #[status(404, "no product {id}")]
    NoProduct { id: u64 },
    #[status(404, "no customer {0:?}")]
    NoCustomer(String),
    #[status(409, "{{sold}} out")]
    SoldOut,
    #[status(503, "the database {name} is gone")]
    Gone { name: &'static str },
    #[status(503, "the queue is full")]
    Full,
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value is created")]
enum OrderError {
    #[status(402, "no credit")]
    NoCredit,
    #[status(transparent)]
    Shop(ShopError),
    #[status(transparent)]
    Io(std::io::Error),
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value is created")]
enum Anything {
    #[status(transparent)]
    Foreign(Foreign),
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value is created")]
enum Either<T: Into<ApiError> + std::error::Error + 'static> {
    #[status(418, "no coffee")]
    Teapot,
    #[status(transparent)]
    Inner(T),
}

/// An error that does not implement [`IntoError`].
#[derive(Debug, serde::Serialize)]
struct Foreign;

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("foreign")
    }
}

impl std::error::Error for Foreign {}

impl From<Foreign> for ApiError {
    fn from(error: Foreign) -> Self {
        Self::internal(error)
    }
}

#[derive(Debug)]
struct Plain;

impl std::fmt::Display for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("plain")
    }
}

impl std::error::Error for Plain {}

/// A struct without its own message.
#[derive(Debug, ApiError)]
#[status(410)]
struct Old(#[source] Plain);

impl std::fmt::Display for Old {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("old")
    }
}

impl std::error::Error for Old {}

/// Checks the responses of a handler that fails with this type.
#[track_caller]
fn fails<E: IntoError + 'static>(expected: &[&str]) {
    let expected: Vec<&str> = ["204"].iter().chain(expected).copied().collect();
    replies::<Result<(), E>>(&expected);
}

#[test]
fn errors_describe_themselves() {
    fails::<ApiError>(&[ANY_ERROR]);
    fails::<BoxError>(&[ANY_ERROR]);
    fails::<Infallible>(&[]);
    let other = ["4XX error", "5XX error", "default (A response that is not an error)"];
    fails::<StatusCode>(&other);
    let text = "default text/plain: text (A response that is not an error)";
    fails::<(StatusCode, String)>(&["4XX error", "5XX error", text]);
    fails::<(StatusCode, &'static str)>(&["4XX error", "5XX error", text]);
    fails::<std::io::Error>(&["500 error"]);
    fails::<Response>(&["default ?"]);
    fails::<Redirect>(&["303 +Location", "307 +Location", "308 +Location"]);
    fails::<(StatusCode, Value)>(&["default application/json: any"]);
    fails::<(StatusCode, Json<Vec<u8>>)>(&["default application/json: typed"]);
    fails::<(StatusCode, Html<String>)>(&["default text/html: text"]);
}

#[test]
fn derived_errors_list_their_statuses() {
    let shop = [
        "404 error (no product {id})",
        "404 error (no customer …)",
        "409 error ({sold} out)",
        // Clients never receive the message of a 5xx error.
        "503 error",
    ];
    fails::<ShopError>(&shop);
    let order: Vec<&str> = ["402 error (no credit)"].into_iter().chain(shop).collect();
    fails::<OrderError>(&[order.as_slice(), &["500 error"]].concat());
    fails::<Old>(&["410 error"]);
}

#[test]
fn responses_of_a_transparent_field_can_be_unknown() {
    fails::<Anything>(&[ANY_ERROR]);
    fails::<Either<ShopError>>(&["418 error (no coffee)", ANY_ERROR]);
}

#[test]
fn a_handwritten_error_is_any_error_unless_described() {
    struct Lost;
    impl IntoError for Lost {
        fn into_error_response(self) -> Result<Response, ApiError> {
            Err(ApiError::not_found())
        }
    }
    fails::<Lost>(&[ANY_ERROR]);

    struct Known;
    impl IntoError for Known {
        fn into_error_response(self) -> Result<Response, ApiError> {
            Err(ApiError::not_found())
        }
        fn describe(doc: &mut RouteDescription) {
            doc.may_respond(404, "There is none");
        }
    }
    fails::<Known>(&["404 error (There is none)"]);
}

#[test]
fn a_web_socket_describes_its_handshake() {
    async fn echo(_: WebSocket) -> Result<(), ApiError> {
        Ok(())
    }
    async fn decides(_: WebSocketUpgrade) -> Result<Response, ApiError> {
        Err(ApiError::not_found())
    }
    let options = RouterOptions::new().enable_web_sockets(true).rate_limit(false);
    let options = options.cors(false);
    let tree = routes! {
        "echo": { ws: { handler: echo } },
        "decides": { ws: { handler: decides } },
    };
    let app = create_router(tree, options).build().unwrap();
    let handshake = [
        "400 error (The handshake is malformed)",
        "403 error (This origin is not allowed to connect)",
        "426 error +Sec-WebSocket-Version +Upgrade? (Only WebSocket version 13 is supported)",
        "429 error +Retry-After (Too many connections from this client)",
        "503 error +Retry-After (Too many connections)",
    ];
    let accepted = "101 +Upgrade? +Connection? +Sec-WebSocket-Accept? (The connection is a WebSocket \
                    from here on; on HTTP/2 the status is 200)";
    let selected = accepted.replace(" (The", " +Sec-WebSocket-Protocol? (The");
    let map = app.route_map();
    let lines = |path: &str| {
        let route = map.routes.iter().find(|route| route.path == path).unwrap();
        [answers(route, "web_socket_handshake"), answers(route, "handler")].concat()
    };
    // If the handler already accepted the connection, its return value is not a
    // response.
    assert_eq!(lines("/echo"), [handshake.as_slice(), &[accepted]].concat());
    let decided = [handshake.as_slice(), &[selected.as_str(), "2XX ?", ANY_ERROR]].concat();
    assert_eq!(lines("/decides"), decided);
}

/// Checks the headers that an argument reads (`?` marks an optional header) and
/// its responses.
#[track_caller]
fn takes(entry: RouteEntry, headers: &[&str], own: &[&str]) {
    let route = described(entry);
    let line_of =
        |field: &FieldInfo| format!("{}{}", field.name, if field.required { "" } else { "?" });
    assert_eq!(route.headers.iter().map(line_of).collect::<Vec<_>>(), headers);
    let expected: Vec<&str> = own.iter().copied().chain(["204"]).collect();
    assert_eq!(answers(&route, "handler"), expected);
}

#[test]
fn extractors_describe_what_they_read() {
    const MISSING: &str = "400 error (The header user-agent is missing or malformed)";
    const MALFORMED: &str = "400 error (The header user-agent is malformed)";
    const NOBODY: &str = "401 error +WWW-Authenticate (The user does not exist)";
    takes(RouteEntry::new(async |_: Headers| ()), &[], &[]);
    takes(RouteEntry::new(async |_: LastEventId| ()), &["Last-Event-ID?"], &[]);
    takes(RouteEntry::new(async |_: TypedHeader<UserAgent>| ()), &["user-agent"], &[MISSING]);
    let optional = RouteEntry::new(async |_: Option<TypedHeader<UserAgent>>| ());
    takes(optional, &["user-agent?"], &[MALFORMED]);
    takes(RouteEntry::new(async |_: User<Value>| ()), &[], &[NOBODY]);
    takes(RouteEntry::new(async |_: Option<User<Value>>| ()), &[], &[NOBODY]);
    let taken = described(RouteEntry::new(async |_: User<Value>| ()));
    assert_eq!(taken.access.user, Need::Required);
    let optional = described(RouteEntry::new(async |_: Option<User<Value>>| ()));
    assert_eq!(optional.access.user, Need::None);
}

/// Checks the configuration errors of a router with one route, without their
/// locations.
#[track_caller]
fn mistakes(tree: RouteTree, expected: &[&str]) {
    let built = create_router(tree, RouterOptions::new()).build();
    let error = built.err();
    let found = error.iter().flat_map(|error| error.issues());
    let found: Vec<String> = found.map(|mistake| mistake.message().to_owned()).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found} is not {expected}");
    }
}

async fn own(_: User<Value>) -> &'static str {
    "own"
}

async fn open() -> &'static str {
    "open"
}

fn sets_user(req: &mut Request) {
    req.set_user(Some(json!({ "id": 1 })));
}

async fn asks(_: User<Value>, _: &mut Request) {}

#[test]
fn a_user_without_authentication_is_a_configuration_error() {
    const HANDLER: &str =
        "the handler takes the user, but nothing before it authenticates the request";
    const ROLE: &str =
        "`with_role` needs the user, but nothing before it authenticates the request";
    let auth = || with_auth(|_: String| async { None::<Value> });
    mistakes(routes! { "x": { GET: own } }, &[HANDLER]);
    mistakes(routes! { "x": { GET: async |_: Option<User<Value>>| "x" } }, &[]);
    mistakes(routes! { "x": { middleware: auth(), GET: own } }, &[]);
    mistakes(routes! { "x": { middleware: with_role("admin"), GET: open } }, &[ROLE]);
    let permission = with_permission(|_: &Value, _: &Request| true);
    mistakes(routes! { "x": { middleware: permission, GET: open } }, &["`with_permission` needs"]);
    let late = [with_role("admin"), Middleware::new(auth())];
    mistakes(routes! { "x": { middleware: late, GET: own } }, &[ROLE]);
    // A function without a description may set the user.
    mistakes(routes! { "x": { middleware: sets_user, GET: own } }, &[]);
    let said = Middleware::new(sets_user)
        .describing(|doc| doc.finds_user([SecurityScheme::Other("a cookie".into())], false));
    mistakes(routes! { "x": { middleware: said, GET: own } }, &[]);
    let other = Middleware::new(sets_user).describing(|_| {});
    mistakes(routes! { "x": { middleware: other, GET: own } }, &[HANDLER]);
    // The function extracts the user, so it cannot be the one to set it.
    mistakes(routes! { "x": { middleware: asks, GET: open } }, &["needs the user, but"]);
}

#[derive(serde::Deserialize, Schema)]
struct NewUser {
    #[expect(dead_code, reason = "it is not read")]
    name: String,
}

#[test]
fn the_example_of_a_body_matches_its_schema() {
    async fn create(_: Body<NewUser>) {}
    let docs = |example| RouteDocs::new("x").example(example);
    let route = |docs: RouteDocs| routes! { "x": { POST: { handler: create, docs: docs } } };
    mistakes(route(docs(json!({ "name": "Ada" }))), &[]);
    mistakes(route(docs(json!({ "name": 7 }))), &["docs: the example is invalid: name"]);
    let get = routes! { "x": { GET: { handler: open, docs: docs(json!(1)) } } };
    mistakes(get, &["docs: `example` describes a body, but the route does not read one"]);
}

#[test]
fn a_deprecated_route_sends_its_dates() {
    let fails = async || Result::<(), _>::Err(StatusCode::NOT_FOUND);
    let docs = || RouteDocs::new("x").deprecated_since("2026-11-30").sunset("2027-06-30T12:00:00Z");
    let tree = routes! {
        "old": { GET: { handler: open, docs: docs() } },
        "gone": { GET: { handler: fails, docs: docs() } },
        "closed": { GET: { handler: open, docs: docs(), middleware: refuses } },
        "new": { GET: { handler: open, docs: RouteDocs::new("x").sunset("2027-06-30") } },
        "plain": { GET: open },
    };
    let options = RouterOptions::new().rate_limit(false).cors(false);
    let app = create_router(tree, options).build().unwrap();
    let sent = |path: &str| {
        let response = block_on(app.handle(request(&format!("GET {path}"))));
        let text = |name: &str| {
            let value = response.headers().get(name)?;
            Some(value.to_str().unwrap().to_owned())
        };
        (response.status().as_u16(), text("deprecation"), text("sunset"))
    };
    let since = || Some("@1795996800".to_owned());
    let end = || Some("Wed, 30 Jun 2027 12:00:00 GMT".to_owned());
    assert_eq!(sent("/old"), (200, since(), end()));
    // Errors have the headers too, including errors from middleware.
    assert_eq!(sent("/gone"), (404, since(), end()));
    assert_eq!(sent("/closed"), (418, since(), end()));
    let midnight = Some("Wed, 30 Jun 2027 00:00:00 GMT".to_owned());
    assert_eq!(sent("/new"), (200, None, midnight));
    assert_eq!(sent("/plain"), (200, None, None));
    let map = app.route_map();
    let old = map.routes.iter().find(|route| route.path == "/old").unwrap();
    assert_eq!(answers(old, "handler"), ["200 text/plain: text +Deprecation +Sunset"]);
}

fn refuses(_: &mut Request) -> Result<(), StatusCode> {
    Err(StatusCode::IM_A_TEAPOT)
}
