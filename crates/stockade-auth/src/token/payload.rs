//! [`Payload`]: the signed text of a token, and its lazily parsed claims.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::TokenError;
use super::claims::Times;
use super::json;
use super::marks::Marks;

/// The payload of a token: the text of one JSON object. Its claims are parsed
/// on first use and then cached.
///
/// A request to a route that only needs a valid token costs 33,163 instructions
/// and 7 allocations. Parsing the claims of each token would cost 36,311 and 16
/// (`full secure-soft` and `full secure` of `tests/bench/counts.txt`). A
/// rejected token is never parsed: 29,906 and 29,895 instructions.
#[derive(Clone)]
pub(super) struct Payload {
    /// Invariant: [`json::object`] accepts it.
    text: String,
    /// The positions of the claims that identify a revocation.
    marks: Marks,
    claims: OnceLock<Map<String, Value>>,
}

impl Payload {
    /// Parses the times of the decoded payload.
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

    /// Returns the text, and all claims if they were already parsed.
    pub(super) fn into_parts(self) -> (String, Option<Map<String, Value>>) {
        (self.text, self.claims.into_inner())
    }
}

fn parse(text: &str) -> Map<String, Value> {
    // The invariant of `text` guarantees an object. A user without claims would
    // have no rights.
    json::object(text.as_bytes()).unwrap_or_default()
}
