//! The kinds of requests, with the required responses.

use crate::{Mode, header, token};

/// A request and the required response.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name in tables and on the command line.
    pub name: &'static str,
    /// True if the workload requires a server in full mode.
    pub full: bool,
    /// The bytes of the request.
    pub request: Vec<u8>,
    /// The status of the response.
    pub status: u16,
    /// The body of the response.
    pub body: &'static str,
    /// True if requests are sent at fixed times, regardless of the responses.
    /// Otherwise each connection sends its next request after each response.
    pub paced: bool,
}

impl Workload {
    /// Returns true if servers in this mode run the workload.
    #[must_use]
    pub fn runs_in(&self, mode: Mode) -> bool {
        match mode {
            Mode::Bare | Mode::Defaults => !self.full,
            Mode::Full => self.full || matches!(self.name, "post" | "bad"),
        }
    }

    /// Returns true if the response requires an HMAC-SHA256 for the bearer
    /// token.
    #[must_use]
    pub fn hashes(&self) -> bool {
        matches!(self.name, "secure" | "refused")
    }
}

/// Returns the workloads without a pace, in the order of the tables.
#[must_use]
pub fn all() -> Vec<Workload> {
    let origin = format!("Origin: {}\r\n", header::ORIGINS[0]);
    let bearer = |token| format!("{origin}Authorization: Bearer {token}\r\n");
    let get = |name, path: &str| workload(name, request("GET", path, "", ""), 200, MESSAGE);
    let post = |name, body: &str, status, answer| {
        workload(name, request("POST", "/people", JSON_TYPE, body), status, answer)
    };
    let full = |name, path: &str, headers: &str, status, answer| Workload {
        full: true,
        ..workload(name, request("GET", path, headers, ""), status, answer)
    };
    vec![
        get("json", "/json"),
        workload("param", request("GET", POST_PATH, "", ""), 200, POST),
        get("deep", DEEP_PATH),
        post("post", USER, 200, USER),
        post("bad", &bad_user(), 400, REFUSAL),
        full("full", "/json", &origin, 200, MESSAGE),
        full("secure", POST_PATH, &bearer(token::GOOD), 200, POST),
        full("refused", POST_PATH, &bearer(token::FORGED), 401, UNAUTHORIZED),
    ]
}

/// Returns a workload between an idle and a saturated server: `json`, at a pace
/// that keeps hyper busy for four fifths of the time. Instructions and
/// allocations are not counted for it.
#[must_use]
pub fn paced() -> Workload {
    let request = request("GET", "/json", "", "");
    Workload { paced: true, ..workload("p99", request, 200, MESSAGE) }
}

fn workload(name: &'static str, request: Vec<u8>, status: u16, body: &'static str) -> Workload {
    Workload { name, full: false, request, status, body, paced: false }
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = match body {
        "" => String::new(),
        body => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}{length}\r\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Returns [`USER`] with an invalid email address and age.
#[must_use]
pub fn bad_user() -> String {
    USER.replace("ada@example.com", "ada-example.com").replace("\"age\":36", "\"age\":360")
}

const JSON_TYPE: &str = "Content-Type: application/json\r\n";

/// The response of `json` and `deep`.
pub const MESSAGE: &str = r#"{"message":"Hello, World!"}"#;

/// The path of `deep`, which is the 351st route.
pub const DEEP_PATH: &str = "/repos/octocat/hello-world/pulls/1347/requested_reviewers";

/// The path of `param`, `secure` and `refused`.
pub const POST_PATH: &str = "/users/42/posts/1337";

/// The response of `param` and `secure`.
pub const POST: &str = r#"{"user":42,"post":1337}"#;

/// The body of `post` and of its response: about 1 KB. As in ordinary data,
/// half of it is one longer text.
pub const USER: &str = concat!(
    r#"{"id":"2eb8aa08-aa98-11ea-b4aa-73b441d16380","#,
    r#""name":"Augusta Ada King, Countess of Lovelace","email":"ada@example.com","#,
    r#""site":"https://www.example.com/people/ada","bio":"The Analytical Engine has no "#,
    "pretensions whatever to originate anything. It can do whatever we know how to order ",
    "it to perform. It can follow analysis; but it has no power of anticipating any ",
    "analytical relations or truths. Its province is to assist us in making available what ",
    "we are already acquainted with. This it is calculated to effect primarily and chiefly ",
    "of course, through its executive faculties; but it is likely to exert an indirect and ",
    "reciprocal influence on science itself in another manner.",
    r#"","age":36,"score":99.5,"role":"editor","#,
    r#""tags":["mathematics","engines","poetical science","bernoulli","notes"],"#,
    r#""address":{"street":"12 St James's Square, second floor, the door on the left","#,
    r#""city":"London","zip":"SW1Y 4JH","country":"GB"},"active":true,"born":"1815-12-10"}"#,
);

/// The response of `bad`.
pub const REFUSAL: &str = concat!(
    r#"{"error":"Validation failed","details":{"errors":["#,
    r#"{"field":"email","message":"Invalid email format","rule":"format"},"#,
    r#"{"field":"age","message":"Number must be at most 150","rule":"maximum"}]}}"#,
);

/// The response to a request without a valid token.
pub const UNAUTHORIZED: &str = r#"{"error":"Unauthorized"}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_post_body_is_about_a_kilobyte() {
        assert!((950..=1_100).contains(&USER.len()), "{}", USER.len());
        assert_ne!(bad_user(), USER);
    }
}
