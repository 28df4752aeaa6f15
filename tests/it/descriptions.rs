//! The words in which replies, errors and extractors describe themselves.

use std::borrow::Cow;
use std::convert::Infallible;

use stockade::__private::core::__internal::{EndpointExt as _, RouteDocExt as _};
use stockade::bytes::Bytes;
use stockade::description::{Answer, AnswerBody, ContentSchema};
use stockade::http::{HeaderMap, Method, header};
use stockade::middleware::SetCookie;
use stockade::prelude::*;
use stockade::reply::{
    Accepted, Created, Failure, JsonText, ResponseWriter, Sse, Status, Streamed,
};
use stockade::websockets::WebSocketUpgrade;
use stockade::{Handler, RouteDoc};

/// Lets a handler describe itself, twice with the same outcome.
#[track_caller]
fn described(method: &Method, handler: &Handler) -> RouteDoc {
    let describe = || {
        let mut doc = RouteDoc::new(method.clone(), Vec::new());
        handler.describe(&mut doc);
        doc
    };
    let doc = describe();
    assert_eq!(format!("{:?}", doc.facts()), format!("{:?}", describe().facts()));
    doc
}

/// Writes an answer as `status body +Header (meaning)`. A header that is not
/// always there has a question mark.
fn line(answer: &Answer) -> String {
    let mut line = answer.status.to_string();
    match &answer.body {
        AnswerBody::None => {}
        AnswerBody::Error => line += " error",
        AnswerBody::ValidationError => line += " validation error",
        AnswerBody::Unknown => line += " ?",
        AnswerBody::Content(contents) => {
            for content in contents {
                let schema = match &content.schema {
                    ContentSchema::Any => "any".to_owned(),
                    ContentSchema::Text => "text".to_owned(),
                    ContentSchema::Bytes => "bytes".to_owned(),
                    other => format!("{other:?}"),
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

/// Checks the answers of a handler, all of which are its own.
#[track_caller]
fn check(handler: Handler, expected: &[&str]) {
    let doc = described(&Method::GET, &handler);
    let answers = &doc.facts().answers;
    assert_eq!(answers.iter().map(line).collect::<Vec<_>>(), expected);
    assert!(answers.iter().all(|answer| answer.by == "handler"));
}

/// Checks the answers of a handler that returns this type.
#[track_caller]
fn replies<R: Reply + 'static>(expected: &[&str]) {
    check(Handler::new(async || -> R { unreachable!() }), expected);
}

#[derive(serde::Serialize, Reply)]
struct User {
    name: String,
}

#[derive(serde::Serialize, Reply)]
struct Page<T> {
    items: Vec<T>,
}

const TEXT: &str = "200 text/plain: text";
const JSON: &str = "200 application/json: any";
const ANY_ERROR: &str = "default error";

#[test]
fn replies_describe_themselves() {
    replies::<()>(&["204"]);
    replies::<StatusCode>(&["2XX"]);
    replies::<Infallible>(&[]);
    replies::<Response>(&["2XX ?"]);
    replies::<&'static str>(&[TEXT]);
    replies::<String>(&[TEXT]);
    replies::<Cow<'static, str>>(&[TEXT]);
    replies::<Html<String>>(&["200 text/html: text"]);
    replies::<Bytes>(&["200 application/octet-stream: bytes"]);
    replies::<Vec<u8>>(&["200 application/octet-stream: bytes"]);
    replies::<Value>(&[JSON]);
    replies::<JsonText<String>>(&[JSON]);
    replies::<Json<Vec<u8>>>(&[JSON]);
    replies::<User>(&[JSON]);
    replies::<Page<User>>(&[JSON]);
    replies::<Sse>(&["200 text/event-stream: text"]);
    replies::<Streamed>(&["200 */*: bytes"]);
    replies::<Redirect>(&["303 +Location", "307 +Location", "308 +Location"]);
}

#[test]
fn replies_around_others_change_their_answers() {
    replies::<Option<String>>(&[TEXT, "204"]);
    replies::<Created<User>>(&["201 application/json: any +Location?"]);
    replies::<Created<()>>(&["201 +Location?"]);
    replies::<Accepted<()>>(&["202"]);
    replies::<Status<418, &'static str>>(&["418 text/plain: text"]);
    // What has no body has none here either.
    replies::<Status<204, User>>(&["204"]);
    replies::<(StatusCode, User)>(&["2XX application/json: any"]);
    replies::<(HeaderMap, User)>(&[JSON]);
    // A header may say that the text is CSV.
    replies::<(HeaderMap, String)>(&["200 */*: text"]);
    replies::<([(&'static str, String); 1], Vec<u8>)>(&["200 */*: bytes"]);
    replies::<(StatusCode, Vec<(header::HeaderName, String)>, String)>(&["2XX */*: text"]);
    replies::<(SetCookie, String)>(&["200 text/plain: text +Set-Cookie"]);
    replies::<(Vec<SetCookie>, ())>(&["204 +Set-Cookie?"]);
    // An error keeps its status and has no headers of the reply.
    let created = ["201 application/json: any +Location?", ANY_ERROR];
    replies::<Created<Result<User, ApiError>>>(&created);
    replies::<(SetCookie, Result<(), ApiError>)>(&["204 +Set-Cookie", ANY_ERROR]);
}

#[test]
fn a_writer_may_answer_anything() {
    check(Handler::new(async |_: ResponseWriter| ()), &["2XX ?", "204"]);
}

#[test]
fn a_reply_by_hand_says_it_or_is_unknown() {
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
        fn describe(doc: &mut RouteDoc) {
            doc.answers(Answer::text(200, "text/csv").meaning("A table"));
        }
    }
    replies::<Loud>(&["200 text/csv: text (A table)"]);
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value of it is made")]
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
#[expect(dead_code, reason = "no value of it is made")]
enum OrderError {
    #[status(402, "no credit")]
    NoCredit,
    #[status(transparent)]
    Shop(ShopError),
    #[status(transparent)]
    Io(std::io::Error),
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value of it is made")]
enum Anything {
    #[status(transparent)]
    Foreign(Foreign),
}

#[derive(Debug, ApiError)]
#[expect(dead_code, reason = "no value of it is made")]
enum Either<T: Into<ApiError> + std::error::Error + 'static> {
    #[status(418, "no coffee")]
    Teapot,
    #[status(transparent)]
    Inner(T),
}

/// An error that is no [`Failure`].
#[derive(Debug)]
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

/// The struct has no message of its own.
#[derive(Debug, ApiError)]
#[status(410)]
struct Old(#[source] Plain);

impl std::fmt::Display for Old {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("old")
    }
}

impl std::error::Error for Old {}

/// Checks the answers of a handler that fails with this type.
#[track_caller]
fn fails<E: Failure + 'static>(expected: &[&str]) {
    let expected: Vec<&str> = ["204"].iter().chain(expected).copied().collect();
    replies::<Result<(), E>>(&expected);
}

#[test]
fn errors_describe_themselves() {
    fails::<ApiError>(&[ANY_ERROR]);
    fails::<BoxError>(&[ANY_ERROR]);
    fails::<Infallible>(&[]);
    fails::<StatusCode>(&[ANY_ERROR]);
    fails::<(StatusCode, String)>(&[ANY_ERROR]);
    fails::<(StatusCode, &'static str)>(&[ANY_ERROR]);
    fails::<std::io::Error>(&["500 error"]);
    fails::<Response>(&["default ?"]);
    fails::<Redirect>(&["303 +Location", "307 +Location", "308 +Location"]);
    fails::<(StatusCode, Value)>(&["default application/json: any"]);
    fails::<(StatusCode, Json<Vec<u8>>)>(&["default application/json: any"]);
    fails::<(StatusCode, Html<String>)>(&["default text/html: text"]);
}

#[test]
fn derived_errors_know_their_statuses() {
    let shop = [
        "404 error (no product {id})",
        "404 error (no customer …)",
        "409 error ({sold} out)",
        // A client never sees the message of a 5xx.
        "503 error",
    ];
    fails::<ShopError>(&shop);
    let order: Vec<&str> = ["402 error (no credit)"].into_iter().chain(shop).collect();
    fails::<OrderError>(&[order.as_slice(), &["500 error"]].concat());
    fails::<Old>(&["410 error"]);
}

#[test]
fn what_a_transparent_field_answers_may_be_unknown() {
    fails::<Anything>(&[ANY_ERROR]);
    fails::<Either<ShopError>>(&["418 error (no coffee)", ANY_ERROR]);
}

#[test]
fn a_failure_by_hand_is_any_error_unless_it_says_more() {
    struct Lost;
    impl Failure for Lost {
        fn into_answer(self) -> Result<Response, ApiError> {
            Err(ApiError::not_found())
        }
    }
    fails::<Lost>(&[ANY_ERROR]);

    struct Known;
    impl Failure for Known {
        fn into_answer(self) -> Result<Response, ApiError> {
            Err(ApiError::not_found())
        }
        fn describe(doc: &mut RouteDoc) {
            doc.may_answer(404, "There is none");
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
    let options = RouterOptions::new().enable_web_sockets(true);
    let tree = routes! {
        "echo": { ws: { handler: echo } },
        "decides": { ws: { handler: decides } },
    };
    let app = create_router(tree, options).build().unwrap();
    let handshake = [
        "400 error (The handshake is malformed)",
        "403 error (This origin may not connect)",
        "426 error +Sec-WebSocket-Version +Upgrade? (Only WebSockets of version 13 are spoken here)",
        "429 error +Retry-After (Too many connections of this client)",
        "503 error +Retry-After (Too many connections)",
        "101 (The connection is a WebSocket from here on)",
    ];
    let lines = |path: &str| {
        let route = app.routes().iter().find(|route| route.pattern() == path).unwrap();
        let mut doc = RouteDoc::new(route.method().clone(), Vec::new());
        route.describe(&mut doc);
        doc.facts().answers.iter().map(line).collect::<Vec<_>>()
    };
    // What the handler returns is no answer where the connection is accepted before.
    assert_eq!(lines("/echo"), handshake);
    assert_eq!(lines("/decides"), [handshake.as_slice(), &["2XX ?", ANY_ERROR]].concat());
}
