//! Rows for extractors: every response that an argument can cause.

use stockade::auth::webhooks::{GitHub, WebhookKeys};
use stockade::extract::headers::UserAgent;
use stockade::extract::{
    ClientIp, Extension, Headers, LastEventId, Multipart, TypedHeader, UserLifetime,
};
use stockade::http::{Uri, Version};
use stockade::mcp::Progress;
use stockade::middleware::{
    Cookies, CurrentSession, DeserializeHelpers, ETag, IdempotencyKey, IfMatch, Outcome,
    Preconditions, RequestId, SerializeHelpers, SessionCookie, Signed, TraceContext, Validators,
    with_request_id,
};
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use stockade::rpc::Notifier;
use stockade::{BodyError, HttpBody, PeerAddr, PeerCredentials};

use super::impls::{Case, case, impls};
use super::{row, with_state};

#[derive(serde::Deserialize, Schema)]
struct Named {
    #[schema(min_length = 2)]
    name: String,
}

const JSON: &str = "POST /x/7\ncontent-type: application/json\n\n";
const GET: &str = "GET /x/7";

async fn body(Body(named): Body<Named>) -> String {
    named.name
}

async fn bytes(_: Bytes) -> &'static str {
    "x"
}

async fn stream(body: HttpBody) -> Result<&'static str, BodyError> {
    body.collect(200).await.map_err(|error| BodyError::of(&error))?;
    Ok("x")
}

async fn form(mut form: Multipart) -> Result<String, ApiError> {
    let mut names = String::new();
    while let Some(part) = form.next().await? {
        names += part.name().unwrap_or_default();
    }
    Ok(names)
}

async fn typed_form(Multipart(named): Multipart<Named>) -> String {
    named.name
}

async fn read(conditions: Preconditions) -> StatusCode {
    match conditions.evaluate(&Validators::etag(ETag::new("1").unwrap())) {
        Outcome::NotModified => StatusCode::NOT_MODIFIED,
        _ => StatusCode::OK,
    }
}

async fn change(conditions: Preconditions) -> Result<&'static str, PreconditionFailed> {
    conditions.check(&Validators::etag(ETag::new("1").unwrap())).map_err(|_| PreconditionFailed)?;
    Ok("changed")
}

#[derive(Debug, ApiError)]
#[status(412, "It was changed")]
struct PreconditionFailed;

async fn with_version(version: IfMatch) -> Result<&'static str, PreconditionFailed> {
    version.check(1).map_err(|_| PreconditionFailed)?;
    Ok("changed")
}

async fn with_any_version(version: Option<IfMatch>) -> Result<&'static str, PreconditionFailed> {
    version.map_or(Ok(()), |version| version.check(1)).map_err(|_| PreconditionFailed)?;
    Ok("changed")
}

async fn query(Query(named): Query<Named>) -> String {
    named.name
}

fn bodies() -> Vec<Case> {
    let text = |head: &str, body: &str| format!("{head}{body}");
    let long = "a".repeat(200);
    let part = "POST /x/7\ncontent-type: multipart/form-data; boundary=b\n\n";
    let whole = "--b\r\ncontent-disposition: form-data; name=\"n\"\r\n\r\n1\r\n--b--\r\n";
    let sent = |name, row, status, fault| Case { fault: Some(fault), ..case(name, row, status) };
    let broken = BodyError::Broken;
    let late = BodyError::TimedOut;
    let (typed, raw) = ("FromRequest for Body<T>", "FromRequest for Bytes");
    let (open, parts) = ("FromRequest for HttpBody", "FromRequest for Multipart");
    vec![
        case(typed, row!([], body, text(JSON, r#"{"name":"Ada"}"#)), 200),
        case(typed, row!([], body, text(JSON, r#"{"name":"A"}"#)), 400),
        case(typed, row!([], body, text(JSON, &long)), 413),
        case(typed, row!([], body, "POST /x/7\ncontent-type: a/b\n\nx"), 415),
        sent(typed, row!([], body, JSON), 408, late),
        case(raw, row!([], bytes, text("POST /x/7\n\n", "x")), 200),
        case(raw, row!([], bytes, text("POST /x/7\n\n", &long)), 413),
        sent(raw, row!([], bytes, "POST /x/7"), 400, broken),
        sent(raw, row!([], bytes, "POST /x/7"), 408, late),
        case(open, row!([], stream, text("POST /x/7\n\n", "x")), 200),
        case(open, row!([], stream, text("POST /x/7\n\n", &long)), 413),
        sent(open, row!([], stream, "POST /x/7"), 400, broken),
        sent(open, row!([], stream, "POST /x/7"), 408, late),
        case(parts, row!([], form, text(part, whole)), 200),
        case(parts, row!([], form, text(part, "x")), 400),
        case(parts, row!([], form, text(part, &long)), 413),
        case(parts, row!([], form, "POST /x/7\ncontent-type: a/b\n\nx"), 415),
        sent(parts, row!([], form, part), 408, late),
        // An error from the handler itself.
        case(
            parts,
            row!([], async |_: Multipart| Err::<String, _>(ApiError::conflict()), part),
            409,
        ),
    ]
}

fn typed_forms() -> Vec<Case> {
    let head = "POST /x/7\ncontent-type: multipart/form-data; boundary=b\n\n";
    let named = |name: &str| {
        let part = "--b\r\ncontent-disposition: form-data; name=\"name\"\r\n\r\n";
        format!("{head}{part}{name}\r\n--b--\r\n")
    };
    let row = "FromRequest for Multipart<T>";
    let late = case(row, row!([], typed_form, head), 408);
    vec![
        case(row, row!([], typed_form, named("Ada")), 200),
        case(row, row!([], typed_form, named("A")), 400),
        case(row, row!([], typed_form, format!("{head}x")), 400),
        case(row, row!([], typed_form, named(&"a".repeat(200))), 413),
        case(row, row!([], typed_form, "POST /x/7\ncontent-type: a/b\n\nx"), 415),
        Case { fault: Some(BodyError::TimedOut), ..late },
    ]
}

fn users() -> Vec<Case> {
    let known = || with_auth(Auth::verify(|_: &Request| Some(json!({ "name": "Ada" }))));
    let misfit = || with_auth(Auth::verify(|_: &Request| Some(json!([1]))));
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let cookie = SessionCookie::new(stockade::auth::KeyRing::new(secret));
    let id = stockade::auth::SessionId::generate().unwrap();
    let set = cookie.issue(&id).to_str().unwrap().to_owned();
    let session = with_auth(Auth::session(cookie, |_: stockade::auth::SessionId| Some("ada")));
    let request = format!("{GET}\ncookie: {}", set.split_once(';').unwrap().0);
    let own = "FromRequest for CurrentSession";
    let maybe = "OptionalFromRequest for User<T>";
    impls! {
        "FromRequest for User<T>", [known()], async |_: User<Named>| "x", GET => 200;
        "FromRequest for User<T>", [misfit()], async |_: User<Named>| "x", GET => 401;
        maybe, [known()], async |_: Option<User<Named>>| "x", GET => 200;
        maybe, [misfit()], async |_: Option<User<Named>>| "x", GET => 401;
        own, [session.clone()], async |_: CurrentSession| "x", request.clone() => 200;
        own, [session.clone()], async |_: CurrentSession| "x", GET => 401;
        "OptionalFromRequest for CurrentSession",
            [session.clone()], async |_: Option<CurrentSession>| "x", request.clone() => 200;
        "OptionalFromRequest for CurrentSession",
            [session], async |_: Option<CurrentSession>| "x", GET => 401;
        "FromRequest for CurrentSession", [known()], async |_: CurrentSession| "x", GET => 401;
        "OptionalFromRequest for CurrentSession",
            [known()], async |_: Option<CurrentSession>| "x", GET => 200;
    }
}

fn keys() -> Vec<Case> {
    let keyed = "POST /x/7\nidempotency-key: \"k\"";
    let bare = "POST /x/7\nidempotency-key: k";
    impls! {
        "FromRequest for IdempotencyKey", [], async |_: IdempotencyKey| "x", keyed => 200;
        "FromRequest for IdempotencyKey", [], async |_: IdempotencyKey| "x", bare => 400;
        "FromRequest for IdempotencyKey", [], async |_: IdempotencyKey| "x", "POST /x/7" => 400;
        "OptionalFromRequest for IdempotencyKey",
            [], async |_: Option<IdempotencyKey>| "x", "POST /x/7" => 200;
        "OptionalFromRequest for IdempotencyKey",
            [], async |_: Option<IdempotencyKey>| "x", bare => 400;
    }
}

fn heads() -> Vec<Case> {
    fn extend(req: &mut Request) {
        req.extensions_mut().insert(7_u8);
    }
    let extended = || Middleware::new(extend).describing(|_| {});
    fn connect(req: &mut Request) {
        req.extensions_mut().insert(PeerCredentials { uid: 1, gid: 1, pid: None });
    }
    let on_socket = || Middleware::new(connect).describing(|_| {});
    let agent = format!("{GET}\nuser-agent: curl");
    let foreign = format!("{GET}\nuser-agent: \u{e4}");
    let event = format!("{GET}\nlast-event-id: 7");
    let traced =
        format!("{GET}\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let header = "FromRequest for TypedHeader<H>";
    let maybe_header = "OptionalFromRequest for TypedHeader<H>";
    impls! {
        "FromRequest for Path<T>", [], async |_: Path<u8>| "x", GET => 200;
        "FromRequest for Path<T>", [], async |_: Path<u8>| "x", "GET /x/256" => 400;
        "FromRequest for Query<T>", [], query, "GET /x/7?name=Ada" => 200;
        "FromRequest for Query<T>", [], query, "GET /x/7?name=A" => 400;
        "FromRequest for Extension<T>", [extended()], async |_: Extension<u8>| "x", GET => 200;
        "OptionalFromRequest for Extension<T>", [], async |_: Option<Extension<u8>>| "x", GET => 200;
        "FromRequest for Option<T>", [], async |_: Option<Extension<u8>>| "x", GET => 200;
        "FromRequest for Headers", [], async |_: Headers| "x", GET => 200;
        "FromRequest for LastEventId", [], async |_: LastEventId| "x", event.clone() => 200;
        header, [], async |_: TypedHeader<UserAgent>| "x", agent.clone() => 200;
        header, [], async |_: TypedHeader<UserAgent>| "x", GET => 400;
        maybe_header, [], async |_: Option<TypedHeader<UserAgent>>| "x", GET => 200;
        maybe_header, [], async |_: Option<TypedHeader<UserAgent>>| "x", foreign => 400;
        "FromRequest for ClientIp", [], async |_: ClientIp| "x", GET => 200;
        "FromRequest for PeerAddr", [], async |_: PeerAddr| "x", GET => 200;
        // An in-process request does not have a socket.
        "FromRequest for PeerCredentials", [on_socket()], async |_: PeerCredentials| "x", GET => 200;
        "FromRequest for PeerCredentials", [], async |_: PeerCredentials| "x", GET => 500;
        "OptionalFromRequest for ClientIp", [], async |_: Option<ClientIp>| "x", GET => 200;
        "OptionalFromRequest for PeerAddr", [], async |_: Option<PeerAddr>| "x", GET => 200;
        "OptionalFromRequest for PeerCredentials",
            [], async |_: Option<PeerCredentials>| "x", GET => 200;
        "OptionalFromRequest for Notifier", [], async |_: Option<Notifier>| "x", GET => 200;
        "FromRequest for Method", [], async |_: Method| "x", GET => 200;
        "FromRequest for Uri", [], async |_: Uri| "x", GET => 200;
        "FromRequest for Version", [], async |_: Version| "x", GET => 200;
        "FromRequest for Progress", [], async |_: Progress| "x", GET => 200;
        "FromRequest for UserLifetime", [], async |_: UserLifetime| "x", GET => 200;
        "FromRequest for Request", [], async |_: Request| "x", GET => 200;
        "FromRequest for Cookies", [], async |_: Cookies| "x", format!("{GET}\ncookie: a=1") => 200;
        "FromRequest for TraceContext", [], async |_: TraceContext| "x", traced => 200;
        "FromRequest for RequestId", [with_request_id()], async |_: RequestId| "x", GET => 200;
        "FromRequest for RequestId", [], async |_: RequestId| "x", GET => 500;
        "FromRequest for SerializeHelpers", [], async |_: SerializeHelpers| "x", GET => 200;
        "FromRequest for DeserializeHelpers", [], async |_: DeserializeHelpers| "x", GET => 200;
        "FromRequest for Preconditions", [], read, GET => 200;
        "FromRequest for Preconditions", [], read, format!("{GET}\nif-none-match: \"1\"") => 304;
        "FromRequest for Preconditions", [], change, "PUT /x/7\nif-match: \"2\"" => 412;
        "FromRequest for Preconditions", [], change, "PUT /x/7\nif-match: \"1\"" => 200;
        "FromRequest for IfMatch", [], with_version, "PUT /x/7" => 428;
        "FromRequest for IfMatch", [], with_version, "PUT /x/7\nif-match: 1" => 400;
        "FromRequest for IfMatch", [], with_version, "PUT /x/7\nif-match: \"2\"" => 412;
        "FromRequest for IfMatch", [], with_version, "PUT /x/7\nif-match: \"1\"" => 200;
        "OptionalFromRequest for IfMatch", [], with_any_version, "PUT /x/7" => 200;
        "OptionalFromRequest for IfMatch", [], with_any_version, "PUT /x/7\nif-match: 1" => 400;
        "OptionalFromRequest for IfMatch",
            [], with_any_version, "PUT /x/7\nif-match: \"2\"" => 412;
        "FromRequest for ResponseWriter", [], write, GET => 200;
        "FromRequest for ResponseWriter", [], async |_: ResponseWriter| (), GET => 204;
        "FromRequest for ResponseWriter",
            [], async |_: ResponseWriter| Err::<(), _>(ApiError::conflict()), GET => 409;
    }
}

/// Bodies with the signature of GitHub.
fn signed() -> Vec<Case> {
    let keys = WebhookKeys::<GitHub>::new("a secret of thirty-two bytes or more").unwrap();
    let row = |content_type: &str, body: &str| {
        let (name, value) = keys.sign("", body.as_bytes()).remove(0);
        let head = format!("POST /x/7\n{name}: {value}\ncontent-type: {content_type}");
        let handler = async |Signed { body, .. }: Signed<Named, GitHub>| body.name;
        row!(with_state(keys.clone()), [], handler, format!("{head}\n\n{body}"))
    };
    let sent = |fault, status| {
        let request = row("application/json", "").request;
        let handler = async |Signed { body, .. }: Signed<Named, GitHub>| body.name;
        let row = row!(with_state(keys.clone()), [], handler, request);
        Case { fault: Some(fault), ..case(SIGNED, row, status) }
    };
    let mut unsigned = row("application/json", "{}");
    unsigned.request = format!("{JSON}{{}}");
    vec![
        case(SIGNED, row("application/json", r#"{"name":"Ada"}"#), 200),
        case(SIGNED, row("application/json", r#"{"name":"A"}"#), 400),
        case(SIGNED, unsigned, 401),
        case(SIGNED, row("application/json", &"a".repeat(200)), 413),
        case(SIGNED, row("a/b", "x"), 415),
        sent(BodyError::TimedOut, 408),
    ]
}

const SIGNED: &str = "FromRequest for Signed<T, S>";

pub(super) fn cases() -> Vec<Case> {
    let state = row!(with_state(7_u8), [], async |_: State<u8>| "x", GET);
    let state = case("FromRequest for State<T>", state, 200);
    let all = [bodies(), typed_forms(), users(), keys(), heads(), signed(), vec![state]];
    all.into_iter().flatten().collect()
}

async fn write(mut writer: ResponseWriter) -> Result<(), ApiError> {
    writer.write("x").await
}
