//! The requests and their responses, in the order of the specification.

use stockade::auth::generate_jwt;
use stockade::http;
use stockade::prelude::*;

use super::api::SECRET;
use HandedOver::{OfHost, Other, Same};

/// A request, and the response of every host.
pub struct Row {
    /// A description that is unique in the table.
    pub about: &'static str,
    /// The number of times to send the request; the last response counts.
    pub times: u32,
    /// `METHOD target`, then a line for each header, then the body after an
    /// empty line. `{ada}` and `{bob}` are tokens, `{big}` is 2,000 letters,
    /// and `{ws}` is the WebSocket headers.
    pub request: &'static str,
    /// `status body`, then `name: value` for headers: `*` matches any value,
    /// `-` means absent. The body `*` matches any body.
    pub answer: &'static str,
    /// The response if the host receives individual routes.
    pub handed_over: HandedOver,
}

/// The response of a host that receives individual routes.
pub enum HandedOver {
    /// The same response, without the headers of the stages.
    Same,
    /// A different response from our router, compared exactly.
    Other(&'static str),
    /// A response from the host itself, with one of these statuses: no route
    /// matches, or the specification leaves the response to the host.
    OfHost(&'static [u16]),
}

impl Row {
    /// Sets the number of times to send the request.
    fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// Returns the request to send. Each row counts as a separate client.
    pub fn request(&self, index: usize) -> http::Request<Bytes> {
        let text = self.request.replace("{ada}", &token("ada", "admin"));
        let text = text.replace("{bob}", &token("bob", "reader")).replace("{ws}", HANDSHAKE);
        let text = text.replace("{big}", &"x".repeat(2_000));
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = http::Request::builder().method(method).uri(target);
        for line in lines.clone() {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        if !lines.any(|line| line.starts_with("x-client: ")) {
            request = request.header("x-client", format!("row-{index}"));
        }
        request.body(Bytes::from(body.to_owned())).unwrap()
    }
}

/// Returns true for a header, or a line about a header, from a stage that hosts
/// with individual routes do not have.
pub fn is_of_a_stage(line: &str) -> bool {
    let name = line.trim().split(':').next().unwrap_or_default();
    STAGES.contains(&name) || name.starts_with("access-control-")
}

const STAGES: [&str; 11] = [
    "x-content-type-options",
    "x-frame-options",
    "x-xss-protection",
    "strict-transport-security",
    "content-security-policy",
    "referrer-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "ratelimit",
    "ratelimit-policy",
    "vary",
];

fn token(sub: &str, role: &str) -> String {
    let secret = Secret::new(SECRET).unwrap();
    generate_jwt(json!({ "sub": sub, "role": role }), "1h", &secret).unwrap()
}

const HANDSHAKE: &str = "connection: Upgrade\nupgrade: websocket\nsec-websocket-version: 13\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";

fn row(about: &'static str, request: &'static str, answer: &'static str, host: HandedOver) -> Row {
    Row { about, times: 1, request, answer, handed_over: host }
}

/// Returns the whole table.
pub fn rows() -> Vec<Row> {
    let areas = [
        paths(),
        methods(),
        results(),
        middleware(),
        bodies(),
        validation(),
        authentication(),
        errors(),
        response_headers(),
        cross_origin(),
        limits(),
        web_sockets(),
    ];
    areas.into_iter().flatten().collect()
}

/// Host statuses for an unknown path.
const UNKNOWN: HandedOver = OfHost(&[404]);

/// Host statuses for OPTIONS without an OPTIONS route. Some hosts respond to
/// OPTIONS for every known path, or for every path.
const OPTIONS_OF_HOST: HandedOver = OfHost(&[200, 204, 404, 405]);

/// Host statuses for an unsupported method.
const NO_METHOD: HandedOver = OfHost(&[404, 405]);

fn paths() -> Vec<Row> {
    let seen = |about, request, answer| row(about, request, answer, Same);
    vec![
        seen("a literal comes before a parameter", "GET /users/me", "200 me"),
        seen(
            "a parameter is decoded",
            "GET /users/a%20b%2Fc",
            r#"200 {"route":"/users/:id","params":{"id":"a b/c"},"query":{}}"#,
        ),
        seen(
            "a malformed escape stays as sent",
            "GET /users/100%25%zz",
            r#"200 {"route":"/users/:id","params":{"id":"100%25%zz"},"query":{}}"#,
        ),
        seen(
            "two parameters in one segment",
            "GET /flights/FRA-JFK",
            r#"200 {"route":"/flights/:from-:to","params":{"from":"FRA","to":"JFK"},"query":{}}"#,
        ),
        seen(
            "two parameters in one segment are greedy from the left",
            "GET /flights/a-b-c",
            r#"200 {"route":"/flights/:from-:to","params":{"from":"a-b","to":"c"},"query":{}}"#,
        ),
        seen(
            "a name and its extension",
            "GET /files/a.tar.gz",
            r#"200 {"route":"/files/:file.:ext","params":{"file":"a.tar","ext":"gz"},"query":{}}"#,
        ),
        seen(
            "an optional parameter that is there",
            "GET /opt/5",
            r#"200 {"route":"/opt/:id?","params":{"id":"5"},"query":{}}"#,
        ),
        seen(
            "an optional parameter that is absent",
            "GET /opt",
            r#"200 {"route":"/opt/:id?","params":{},"query":{}}"#,
        ),
        row(
            "an omitted optional parameter also omits its slash",
            "GET /opt/",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        seen(
            "two optional parameters, both there",
            "GET /search/cats/2",
            r#"200 {"route":"/search/:query?/:page(\\d+)?","params":{"query":"cats","page":"2"},"query":{}}"#,
        ),
        row(
            "a value does not match a constraint",
            "GET /search/cats/two",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        seen(
            "a constraint accepts",
            "GET /orders/12",
            r#"200 {"route":"/orders/:id(\\d+)","params":{"id":"12"},"query":{}}"#,
        ),
        seen(
            "one segment of any text",
            "GET /one/a.b",
            r#"200 {"route":"/one/*","params":{"splat":"a.b"},"query":{}}"#,
        ),
        row(
            "a wildcard does not match two segments",
            "GET /one/a/b",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        seen(
            "the rest of a path",
            "GET /rest/a/b%20c",
            r#"200 {"route":"/rest/**","params":{"splat":"a/b c"},"query":{}}"#,
        ),
        seen(
            "the rest of a path may be nothing",
            "GET /rest/",
            r#"200 {"route":"/rest/**","params":{"splat":""},"query":{}}"#,
        ),
        row(
            "a trailing slash makes a different path",
            "GET /text/",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        row("paths are case-sensitive", "GET /Text", r#"404 {"error":"Not Found"}"#, UNKNOWN),
        row(
            "paths are not decoded before matching",
            "GET /us%65rs/me",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        row("double slashes are not merged", "GET //text", r#"404 {"error":"Not Found"}"#, UNKNOWN),
        seen(
            "a query is texts, and arrays of repeated keys",
            "GET /users/7?a=1&b=x+y&b=%26&c",
            r#"200 {"route":"/users/:id","params":{"id":"7"},"query":{"a":"1","b":["x y","&"],"c":""}}"#,
        ),
    ]
}

fn methods() -> Vec<Row> {
    vec![
        row("GET", "GET /text", "200 text\ncontent-type: text/plain; charset=utf-8", Same),
        row("PUT", "PUT /text", "200 put", Same),
        row("PATCH", "PATCH /text", "200 patched", Same),
        row("DELETE", "DELETE /text", "200 gone", Same),
        row(
            "HEAD falls back to GET",
            "HEAD /text",
            "200\ncontent-type: text/plain; charset=utf-8\ncontent-length: 4",
            Same,
        ),
        row("a HEAD route of its own", "HEAD /own-head", "202", Same),
        row("any other method", "QUERY /any", "200 queried", Same),
        row(
            "an unknown path",
            "GET /nowhere",
            "404 {\"error\":\"Not Found\"}\ncontent-type: application/json",
            UNKNOWN,
        ),
        row(
            "a method that the path does not have",
            "POST /text",
            "405 {\"error\":\"Method Not Allowed\"}\nallow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
            NO_METHOD,
        ),
        row(
            "OPTIONS of a path",
            "OPTIONS /text",
            "204\nallow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS\ncontent-type: -",
            OPTIONS_OF_HOST,
        ),
        row(
            "OPTIONS of an unknown path",
            "OPTIONS /nowhere",
            r#"404 {"error":"Not Found"}"#,
            OPTIONS_OF_HOST,
        ),
        row("any method", "DELETE /every", "200 DELETE", Same),
        row("any method by an unusual name", "PURGE /every", "200 PURGE", Same),
        row("HEAD of any method", "HEAD /every", "200\ncontent-length: 4", Same),
        row("OPTIONS of any method", "OPTIONS /every", "200 OPTIONS", Same),
        row("a named method before any", "GET /every/named", "200 named", Same),
        row("any method at a named path", "POST /every/named", "200 POST of the rest", Same),
        row("any method of the rest", "GET /every/a/b", "200 GET of the rest", Same),
        row(
            "a preflight of any method",
            "OPTIONS /every\norigin: https://app.example\naccess-control-request-method: PUT",
            "204\naccess-control-allow-origin: https://app.example",
            Other("200 OPTIONS"),
        ),
        row("a mount", "GET /mounted/7", "200 GET /", Same),
        row("a mount with a slash", "PUT /mounted/7/", "200 PUT /", Same),
        row("below a mount", "PURGE /mounted/7/a%20b/c?x=1", "200 PURGE /a%20b/c?x=1", Same),
        row("a route within a mount", "GET /mounted/7/named", "200 named", Same),
        row("a mount at a named path", "POST /mounted/7/named", "200 POST /named", Same),
        row(
            "a path out of a mount",
            "GET /mounted/7/%2e%2e%2fx",
            "400 {\"error\":\"Bad Request\"}",
            Same,
        ),
        row("an OPTIONS route of its own", "OPTIONS /own-options", "200 own", Same),
        row(
            "the method is part of the match",
            "POST /orders/x",
            r#"200 {"route":"/orders/:id","params":{"id":"x"},"query":{}}"#,
            Same,
        ),
    ]
}

fn results() -> Vec<Row> {
    vec![
        row(
            "an object is JSON, in its order",
            "GET /object",
            "200 {\"b\":1,\"a\":[true,null]}\ncontent-type: application/json",
            Same,
        ),
        row("HTML", "GET /html", "200 <p>\ncontent-type: text/html; charset=utf-8", Same),
        row("nothing is 204", "GET /nothing", "204\ncontent-type: -", Same),
        row("nothing is 204 for DELETE", "DELETE /nothing", "204\ncontent-type: -", Same),
        row("none is 204", "GET /none", "204\ncontent-type: -", Same),
        row("a status and a value", "POST /created", r#"201 {"id":7}"#, Same),
        row("a redirect", "GET /moved", "308\nlocation: /text", Same),
        row("what a handler writes itself", "GET /written", "202 one two\nx-written: yes", Same),
        row(
            "dates and maps",
            "GET /dates",
            r#"200 {"date":"1970-01-01T00:00:01.500Z","map":{"1":"one"}}"#,
            Same,
        ),
    ]
}

fn middleware() -> Vec<Row> {
    vec![
        row("middleware that goes on", "GET /stop", "200 went on", Same),
        row("middleware that answers", "GET /stop\nx-stop: 1", r#"200 {"stopped":true}"#, Same),
        row("middleware around a handler", "GET /marked", "200 marked\nx-mark: 1", Same),
        row(
            "middleware around an error",
            "GET /marked/fails",
            "409 {\"error\":\"Resource conflict\"}\nx-mark: 1",
            Same,
        ),
        row(
            "middleware of later routes",
            "GET /later",
            r#"409 {"error":"later routes only"}"#,
            Same,
        ),
    ]
}

fn bodies() -> Vec<Row> {
    vec![
        row(
            "JSON",
            "POST /echo\ncontent-type: application/json; charset=utf-8\n\n{\"b\":1,\"a\":[1.5]}",
            r#"200 {"b":1,"a":[1.5]}"#,
            Same,
        ),
        row(
            "JSON of another type",
            "POST /echo\ncontent-type: application/problem+json\n\n[null]",
            "200 [null]",
            Same,
        ),
        row(
            "a form is an object",
            "POST /echo\ncontent-type: application/x-www-form-urlencoded\n\na=1+2&b=x&b=y",
            r#"200 {"a":"1 2","b":["x","y"]}"#,
            Same,
        ),
        row("a text", "POST /echo\ncontent-type: text/plain\n\nhello", r#"200 "hello""#, Same),
        row(
            "no body is an empty object",
            "POST /echo\ncontent-type: application/json",
            "200 {}",
            Same,
        ),
        row(
            "DELETE may have a body",
            "DELETE /echo\ncontent-type: application/json\n\n[1]",
            "200 [1]",
            Same,
        ),
        row(
            "JSON that cannot be read",
            "POST /echo\ncontent-type: application/json\n\n{\"a\":",
            r#"400 {"error":"Invalid JSON body"}"#,
            Same,
        ),
        row(
            "a type that nobody parses",
            "POST /echo\ncontent-type: image/png\n\nx",
            r#"415 {"error":"Unsupported Media Type"}"#,
            Same,
        ),
        row("bytes", "POST /bytes\ncontent-type: image/png\n\n12345", "200 5", Same),
        row(
            "a body above the limit of the router",
            "POST /bytes\n\n{big}",
            "413 {\"error\":\"Request body too large\"}\ncontent-type: application/json",
            Same,
        ),
        row("a body at the limit of its route", "POST /small\n\n12345678", "200 8", Same),
        row(
            "a body above the limit of its route",
            "POST /small\n\n123456789",
            r#"413 {"error":"Request body too large"}"#,
            Same,
        ),
        row(
            "sanitization",
            "POST /clean/x\ncontent-type: application/json\n\n{\"a\":\"<b>\",\"__proto__\":1}",
            r#"200 {"a":"&lt;b&gt;"}"#,
            Same,
        ),
    ]
}

fn validation() -> Vec<Row> {
    vec![
        row(
            "a valid body with a default",
            "POST /accounts\ncontent-type: application/json\n\n{\"email\":\"ada@example.org\",\"age\":18}",
            r#"201 {"email":"ada@example.org","age":18,"role":"reader"}"#,
            Same,
        ),
        row(
            "each failure of a body",
            "POST /accounts\ncontent-type: application/json\n\n{\"email\":\"ada\",\"age\":17}",
            r#"400 {"error":"Validation failed","details":{"errors":[{"field":"email","message":"Invalid email format","rule":"email"},{"field":"age","message":"Number must be at least 18","rule":"minimum"}]}}"#,
            Same,
        ),
        row(
            "a field that is required",
            "POST /accounts\ncontent-type: application/json\n\n{}",
            r#"400 {"error":"Validation failed","details":{"errors":[{"field":"email","message":"Required field 'email' is missing","rule":"required"}]}}"#,
            Same,
        ),
        row("a query is converted", "GET /pages?page=3", r#"200 {"page":3}"#, Same),
        row("a query has defaults", "GET /pages", r#"200 {"page":1}"#, Same),
        row(
            "a query that is refused",
            "GET /pages?page=0",
            r#"400 {"error":"Validation failed","details":{"errors":[{"field":"page","message":"Number must be at least 1","rule":"minimum"}]}}"#,
            Same,
        ),
        row("a parameter is converted", "GET /items/7", "200 7", Same),
        row(
            "a parameter that is refused",
            "GET /items/x",
            r#"400 {"error":"Validation failed","details":{"errors":[{"field":"n","message":"Expected integer, got string","rule":"type"}]}}"#,
            Same,
        ),
        row(
            "simple checks of a body",
            "POST /input\ncontent-type: application/json\n\n{\"name\":\"A\",\"zip\":\"12345x\"}",
            r#"400 {"error":"Validation failed","details":["name must be at least 2 characters","zip must be at most 5 characters","zip format is invalid"]}"#,
            Same,
        ),
        row(
            "simple checks of what is absent",
            "POST /input\ncontent-type: application/json\n\n{}",
            r#"400 {"error":"Validation failed","details":["name is required"]}"#,
            Same,
        ),
    ]
}

fn authentication() -> Vec<Row> {
    let unauthorized = "401 {\"error\":\"Unauthorized\"}\ncontent-type: application/json\nwww-authenticate: Bearer";
    vec![
        row("a token says who asks", "GET /me\nauthorization: Bearer {ada}", r#"200 "ada""#, Same),
        row("no token", "GET /me", unauthorized, Same),
        row(
            "a forged token",
            "GET /me\nauthorization: Bearer {ada}x",
            r#"401 {"error":"Unauthorized"}"#,
            Same,
        ),
        row(
            "a token where none is required",
            "GET /maybe\nauthorization: Bearer {ada}",
            "200 true",
            Same,
        ),
        row("no token where none is required", "GET /maybe", "200 false", Same),
        row("a role", "GET /me/admin\nauthorization: Bearer {ada}", "200 in", Same),
        row(
            "another role",
            "GET /me/admin\nauthorization: Bearer {bob}",
            r#"403 {"error":"Forbidden"}"#,
            Same,
        ),
        row("a role of nobody", "GET /maybe/role", r#"401 {"error":"Unauthorized"}"#, Same),
        row("a permission", "GET /me/bob\nauthorization: Bearer {bob}", "200 own", Same),
        row(
            "no permission",
            "GET /me/ada\nauthorization: Bearer {bob}",
            r#"403 {"error":"Forbidden","message":"Insufficient permissions"}"#,
            Same,
        ),
        row(
            "a permission of nobody",
            "GET /maybe/permission",
            r#"401 {"error":"Unauthorized","message":"User not authenticated"}"#,
            Same,
        ),
    ]
}

fn errors() -> Vec<Row> {
    let fails = |about, request, answer| row(about, request, answer, Same);
    let withheld = "500 {\"error\":\"Internal Server Error\"}\ncontent-type: application/json";
    vec![
        fails(
            "AuthenticationError",
            "GET /fails/authentication",
            r#"401 {"error":"Authentication required"}"#,
        ),
        fails("AuthorizationError", "GET /fails/authorization", r#"403 {"error":"Access denied"}"#),
        fails("NotFoundError", "GET /fails/not-found", r#"404 {"error":"Resource not found"}"#),
        fails("ConflictError", "GET /fails/conflict", r#"409 {"error":"Resource conflict"}"#),
        fails(
            "a 4xx keeps its message and details",
            "GET /fails/teapot",
            r#"418 {"error":"short and stout","details":{"tea":true}}"#,
        ),
        fails("a plain error is withheld", "GET /fails/plain", withheld),
        fails(
            "any 5xx is withheld, with its details",
            "GET /fails/unavailable",
            r#"503 {"error":"Service Unavailable"}"#,
        ),
        fails("a panic is a 500", "GET /fails/panic", withheld),
    ]
}

fn response_headers() -> Vec<Row> {
    const ALL: &str = "\nx-frame-options: DENY\nx-content-type-options: nosniff\nx-xss-protection: 0\n\
        strict-transport-security: max-age=31536000; includeSubDomains\n\
        content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\n\
        referrer-policy: no-referrer\ncross-origin-opener-policy: same-origin\n\
        cross-origin-resource-policy: same-origin";
    let secured = |about, request, answer: &'static str, host| Row {
        about,
        times: 1,
        request,
        answer: String::leak(format!("{answer}{ALL}")),
        handed_over: host,
    };
    vec![
        secured("security headers of an answer", "GET /text?headers", "200 text", Same),
        secured("security headers without a body", "GET /nothing?headers", "204", Same),
        secured("security headers of an error", "GET /fails/plain?headers", "500 *", Same),
        secured("security headers of a refusal", "GET /me?headers", "401 *", Same),
        secured("security headers of a 404", "GET /nowhere?headers", "404 *", UNKNOWN),
        secured("security headers of a 405", "POST /text?headers", "405 *", NO_METHOD),
    ]
}

fn cross_origin() -> Vec<Row> {
    vec![
        row(
            "an origin of the list",
            "GET /text\norigin: https://app.example",
            "200 text\naccess-control-allow-origin: https://app.example\n\
             access-control-allow-credentials: true\nvary: Origin",
            Same,
        ),
        row(
            "another origin",
            "GET /text\norigin: https://evil.example",
            "200 text\naccess-control-allow-origin: -\naccess-control-allow-credentials: -\nvary: Origin",
            Same,
        ),
        row(
            "no origin",
            "GET /object?cors",
            "200 *\naccess-control-allow-origin: -\nvary: Origin",
            Same,
        ),
        row(
            "an origin of the list, and an error",
            "GET /fails/plain\norigin: https://two.example",
            "500 *\naccess-control-allow-origin: https://two.example\nvary: Origin",
            Same,
        ),
        row(
            "a preflight",
            "OPTIONS /text\norigin: https://app.example\naccess-control-request-method: PUT",
            "204\naccess-control-allow-origin: https://app.example\n\
             access-control-allow-methods: GET, POST, PUT, DELETE, PATCH, OPTIONS\n\
             access-control-allow-headers: Content-Type, Authorization\n\
             access-control-max-age: 600\nratelimit: -",
            OPTIONS_OF_HOST,
        ),
        row(
            "a preflight of a resource",
            "OPTIONS /pages/7\norigin: https://app.example\naccess-control-request-method: DELETE",
            "204\naccess-control-allow-origin: https://app.example\n\
             access-control-allow-headers: Content-Type, Authorization, If-Match, If-None-Match",
            OPTIONS_OF_HOST,
        ),
        row(
            "a preflight of an unknown path",
            "OPTIONS /nowhere\norigin: https://app.example\naccess-control-request-method: PUT",
            "204\naccess-control-allow-origin: https://app.example",
            OPTIONS_OF_HOST,
        ),
        row(
            "a preflight from another origin",
            "OPTIONS /text\norigin: https://evil.example\naccess-control-request-method: PUT",
            "204\naccess-control-allow-origin: -\naccess-control-allow-methods: -",
            OPTIONS_OF_HOST,
        ),
    ]
}

fn limits() -> Vec<Row> {
    vec![
        row(
            "requests are counted",
            "GET /text\nx-client: counted",
            "200 text\nratelimit-policy: \"default\";q=3;w=60\nratelimit: \"default\";r=2;t=60",
            Same,
        ),
        row(
            "the rate limit of a client",
            "GET /text\nx-client: limited",
            "429 {\"error\":\"Too Many Requests\"}\nretry-after: *\ncontent-type: application/json",
            Other("200 text\nratelimit: -\nretry-after: -"),
        )
        .times(4),
        row(
            "unknown paths count toward the rate limit",
            "GET /nowhere\nx-client: lost",
            r#"429 {"error":"Too Many Requests"}"#,
            UNKNOWN,
        )
        .times(4),
        row(
            "preflights do not count toward the rate limit",
            "OPTIONS /text\nx-client: preflights\norigin: https://app.example\naccess-control-request-method: PUT",
            "204",
            OPTIONS_OF_HOST,
        )
        .times(5),
        row(
            "the rate limit of a route",
            "GET /limited",
            "429 {\"error\":\"Too Many Requests\"}\nretry-after: *",
            Other("429 {\"error\":\"Too Many Requests\"}\nretry-after: *\nratelimit-policy: \"route\";q=2;w=60"),
        )
        .times(3),
    ]
}

fn web_sockets() -> Vec<Row> {
    let unlikely = &[400, 404, 405, 426, 501];
    vec![
        row("a GET that is no handshake", "GET /chat", "426 *\nupgrade: websocket", Same),
        row(
            "a POST to a WebSocket",
            "POST /chat",
            r#"405 {"error":"Method Not Allowed"}"#,
            NO_METHOD,
        ),
        row(
            "a handshake for an unknown path",
            "GET /nowhere/chat\n{ws}",
            r#"404 {"error":"Not Found"}"#,
            UNKNOWN,
        ),
        row(
            "a handshake of another version",
            "GET /chat\nconnection: Upgrade\nupgrade: websocket\nsec-websocket-version: 8\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
            "426 *\nsec-websocket-version: 13",
            Same,
        ),
        row(
            "a handshake without a key",
            "GET /chat\nconnection: Upgrade\nupgrade: websocket\nsec-websocket-version: 13",
            r#"400 {"error":"Sec-WebSocket-Key is missing or malformed"}"#,
            Same,
        ),
        row(
            "a handshake of another origin",
            "GET /chat\n{ws}\norigin: https://evil.example",
            r#"403 {"error":"this origin is not allowed to connect"}"#,
            Same,
        ),
        row(
            "a handshake of an origin that the route does not list",
            "GET /open\n{ws}\norigin: https://two.example",
            r#"403 {"error":"this origin is not allowed to connect"}"#,
            Same,
        ),
        row(
            "a handshake that middleware refuses",
            "GET /guarded\n{ws}",
            r#"401 {"error":"Unauthorized"}"#,
            Same,
        ),
        row(
            "a handshake",
            "GET /chat\n{ws}",
            "101\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\nx-frame-options: -",
            Same,
        ),
        row("a handshake on a route that has none", "GET /text\n{ws}", "200 text", Same),
        row(
            "handshakes count toward the rate limit",
            "GET /chat\nx-client: sockets\nupgrade: websocket",
            r#"429 {"error":"Too Many Requests"}"#,
            OfHost(unlikely),
        )
        .times(4),
    ]
}
