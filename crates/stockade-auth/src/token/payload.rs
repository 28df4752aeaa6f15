//! [`Payload`]: the signed text of a token, and its claims once they are needed.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::TokenError;
use super::claims::Times;
use super::json;
use super::marks::Marks;

/// The payload of a token: text of one JSON object, whose claims are parsed when
/// the first of them is asked for, and then kept.
///
/// Parsing them with each token would cost a request on a route that only wants
/// a valid one 36,311 instructions and 16 allocations; this way it costs 33,163
/// and 7 (`full secure-soft` and `full secure` of `tests/bench/counts.txt`). A
/// refused token is parsed in neither way: 29,906 and 29,895 instructions.
#[derive(Clone)]
pub(super) struct Payload {
    /// Invariant: [`json::object`] reads it.
    text: String,
    /// The places of the claims by which a token is revoked.
    marks: Marks,
    claims: OnceLock<Map<String, Value>>,
}

impl Payload {
    /// Takes the decoded payload of a token, and reads the times out of it.
    pub(super) fn read(payload: Vec<u8>) -> Result<(Self, Times), TokenError> {
        let text = String::from_utf8(payload).map_err(|_| TokenError::Malformed)?;
        let (times, marks) = json::skim(&text).ok_or(TokenError::Malformed)?;
        Ok((Self { text, marks, claims: OnceLock::new() }, times))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn marks(&self) -> Marks {
        self.marks
    }

    /// Returns all claims, in the order of the text.
    pub(super) fn claims(&self) -> &Map<String, Value> {
        self.claims.get_or_init(|| parse(&self.text))
    }

    pub(super) fn into_claims(self) -> Map<String, Value> {
        let Self { text, claims, .. } = self;
        claims.into_inner().unwrap_or_else(|| parse(&text))
    }

    /// Returns the text, and all claims if they were parsed already.
    pub(super) fn into_parts(self) -> (String, Option<Map<String, Value>>) {
        (self.text, self.claims.into_inner())
    }
}

fn parse(text: &str) -> Map<String, Value> {
    // By the invariant of `text` there is one; a user without claims may nothing.
    json::object(text.as_bytes()).unwrap_or_default()
}
