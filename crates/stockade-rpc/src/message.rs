//! Parses the message of a client: one call or a batch of calls.
//!
//! Hot: a message is scanned once, even if it is a batch, and only the names of
//! its outermost members are parsed. Ids and parameters are slices of its text.
//! serde_json would parse a batch and then each of its calls. That took 2,706
//! instructions for a call, and 4,345 for a call in a batch.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter};
use serde_json::Value;
use stockade_json::{MAX_RAW_DEPTH, Reader, Refused};

use crate::error_object::ErrorObject;

/// A message of a client.
#[derive(Debug)]
pub(crate) enum Message<'t> {
    One(Entry<'t>),
    Batch(Vec<Entry<'t>>),
}

/// One call of a message.
#[derive(Debug)]
pub(crate) struct Entry<'t> {
    /// The id as received; `None` for a notification, which gets no response.
    pub(crate) id: Option<&'t str>,
    pub(crate) call: Result<Call<'t>, ErrorObject>,
    /// True for a call without the member `jsonrpc`.
    pub(crate) is_plain: bool,
}

/// A method with its parameters.
#[derive(Debug)]
pub(crate) struct Call<'t> {
    pub(crate) method: Cow<'t, str>,
    /// An array or an object; `None` if the call has no parameters.
    pub(crate) params: Option<&'t str>,
}

/// The parsing options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) max_batch: usize,
    /// True if calls without `jsonrpc` are accepted.
    pub(crate) takes_plain: bool,
}

/// Parses a message.
///
/// # Errors
/// Fails if no individual call can get a response: for invalid JSON, an empty
/// batch, or an oversized batch. The id of the response is null.
pub(crate) fn read(bytes: &[u8], rules: Rules) -> Result<Message<'_>, ErrorObject> {
    let text = std::str::from_utf8(bytes).map_err(|_| ErrorObject::PARSE)?;
    read_text(text, rules).map_err(|error| match is_too_deep(bytes) {
        // Excessive nesting takes precedence over other errors in the message.
        true => ErrorObject::request("it is nested too deeply"),
        false => error,
    })
}

fn read_text(text: &str, rules: Rules) -> Result<Message<'_>, ErrorObject> {
    let mut reader = Reader::of_raw(text);
    if reader.peek() == Some(b'[') {
        return read_batch(&mut reader, text.len(), rules).map(Message::Batch);
    }
    let members = Members::read(&mut reader)?;
    reader.end()?;
    Ok(Message::One(Entry::of(members, rules)))
}

/// Parses a batch in a text of this length.
fn read_batch<'t>(
    reader: &mut Reader<'t>,
    length: usize,
    rules: Rules,
) -> Result<Vec<Entry<'t>>, ErrorObject> {
    let most = rules.max_batch;
    // The form without `jsonrpc` does not support batches.
    let rules = Rules { takes_plain: false, ..rules };
    let mut entries = Vec::with_capacity(most.min(length / SHORTEST));
    reader.open()?;
    while reader.next_or_close(b']', entries.is_empty())? {
        if entries.len() == most {
            reader.raw_value()?;
            return Err(ErrorObject::request(&format!("a batch must have at most {most} calls")));
        }
        entries.push(Entry::of(Members::read(reader)?, rules));
    }
    reader.end()?;
    if entries.is_empty() {
        return Err(ErrorObject::request("a batch must have at least one call"));
    }
    Ok(entries)
}

impl From<Refused> for ErrorObject {
    fn from(_: Refused) -> Self {
        Self::PARSE
    }
}

/// The members of a call, as received.
#[derive(Default)]
struct Members<'t> {
    jsonrpc: Option<&'t str>,
    method: Option<&'t str>,
    params: Option<&'t str>,
    id: Option<&'t str>,
    /// True if one of these members is a duplicate.
    has_double: bool,
}

impl<'t> Members<'t> {
    /// Scans a value and returns its members; `None` if it is not an object.
    fn read(reader: &mut Reader<'t>) -> Result<Option<Self>, Refused> {
        if reader.peek() != Some(b'{') {
            reader.raw_value()?;
            return Ok(None);
        }
        let mut members = Self::default();
        reader.open()?;
        let mut is_first = true;
        while reader.next_or_close(b'}', is_first)? {
            is_first = false;
            let name = reader.raw_name()?;
            let place = match members.place(name) {
                Some(place) => Some(place),
                // A name may contain escapes.
                None if name.contains('\\') => {
                    let name = text_of(name).ok_or(Refused::Syntax)?;
                    members.place(&Value::from(name).to_string())
                }
                None => None,
            };
            let value = reader.raw_value()?;
            if let Some(place) = place {
                members.has_double |= place.replace(value).is_some();
            }
        }
        Ok(Some(members))
    }

    /// Returns the field for the member with this quoted name.
    #[inline]
    fn place(&mut self, name: &str) -> Option<&mut Option<&'t str>> {
        Some(match name {
            r#""jsonrpc""# => &mut self.jsonrpc,
            r#""method""# => &mut self.method,
            r#""params""# => &mut self.params,
            r#""id""# => &mut self.id,
            _ => return None,
        })
    }

    /// Returns the call, or the reason why it is invalid.
    fn call(&self, is_plain: bool) -> Result<Call<'t>, &'static str> {
        if !is_plain && self.jsonrpc != Some("\"2.0\"") {
            return Err("`jsonrpc` is not \"2.0\"");
        }
        let method = self.method.ok_or("`method` is missing")?;
        let method = text_of(method).ok_or("`method` is not a string")?;
        let params = self.params.filter(|params| *params != "null");
        if params.is_some_and(|params| !params.starts_with(['[', '{'])) {
            return Err("`params` is neither an array nor an object");
        }
        Ok(Call { method, params })
    }
}

impl<'t> Entry<'t> {
    /// Creates the entry of a value. If it is not a call, the entry is an
    /// error.
    fn of(members: Option<Members<'t>>, rules: Rules) -> Self {
        let Some(members) = members else { return Self::refused("it is not an object") };
        if members.has_double {
            return Self::refused("duplicate member name");
        }
        let id = members.id;
        if id.is_some_and(|id| !is_id(id)) {
            return Self::refused("the id must be a string, a number or null");
        }
        let is_plain = rules.takes_plain && members.jsonrpc.is_none();
        match members.call(is_plain) {
            Ok(call) => Self { id, call: Ok(call), is_plain },
            // An invalid call without an id also gets a response, because it is
            // not a notification.
            Err(reason) => Self::failed(id.unwrap_or("null"), ErrorObject::request(reason)),
        }
    }

    /// Creates the entry of a value without a usable id.
    fn refused(reason: &str) -> Self {
        Self::failed("null", ErrorObject::request(reason))
    }

    fn failed(id: &'t str, error: ErrorObject) -> Self {
        Self { id: Some(id), call: Err(error), is_plain: false }
    }
}

/// Returns the text of a JSON string; `None` for any other value, and for an
/// unpaired surrogate.
fn text_of(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inside.as_bytes()).is_some() {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// Returns true for a valid id: a text, a number or null.
fn is_id(json: &str) -> bool {
    json == "null" || json.starts_with(|c: char| matches!(c, '"' | '-' | '0'..='9'))
}

/// Returns true if values are nested deeper than JSON parsers allow.
fn is_too_deep(bytes: &[u8]) -> bool {
    // Most messages have fewer brackets in total.
    memchr2_iter(b'[', b'{', bytes).nth(MAX_RAW_DEPTH).is_some() && depth(bytes) > MAX_RAW_DEPTH
}

/// Returns the nesting depth of a JSON text.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// The length of `{"jsonrpc":"2.0","method":""}`, to estimate the capacity of a
/// batch.
const SHORTEST: usize = 29;

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { max_batch: 3, takes_plain: false };

    /// Formats a message briefly.
    fn shown(text: &[u8], rules: Rules) -> String {
        let entry = |entry: &Entry<'_>| {
            let id = entry.id.unwrap_or("-");
            match &entry.call {
                Ok(call) => {
                    let params = call.params.unwrap_or("-");
                    format!(
                        "{} {params} {id}{}",
                        call.method,
                        if entry.is_plain { " plain" } else { "" }
                    )
                }
                Err(error) => format!("{} {id}", code(error)),
            }
        };
        match read(text, rules) {
            Ok(Message::One(one)) => entry(&one),
            Ok(Message::Batch(all)) => {
                format!("[{}]", all.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            Err(error) => code(&error),
        }
    }

    fn code(error: &ErrorObject) -> String {
        serde_json::to_value(error).unwrap()["code"].to_string()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(shown(text.as_bytes(), RULES), expected, "{text}");
    }

    #[test]
    fn a_call_has_a_version_a_method_and_perhaps_an_id() {
        check(r#"{"jsonrpc":"2.0","method":"a","params":[1, 2],"id":1}"#, "a [1, 2] 1");
        check(r#" {"id":"x","method":"a","jsonrpc":"2.0"} "#, "a - \"x\"");
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"b":1}}"#, r#"a {"b":1} -"#);
        check(r#"{"jsonrpc":"2.0","method":"a","id":null}"#, "a - null");
        check(r#"{"jsonrpc":"2.0","method":"\u0061\"","id":1}"#, "a\" - 1");
        check(r#"{"jsonrpc":"2.0","method":"a","params":null,"id":1}"#, "a - 1");
        check(r#"{"jsonrpc":"2.0","method":"a","meta":{},"id":1}"#, "a - 1");
    }

    #[test]
    fn preserves_ids() {
        for id in [
            "9223372036854775808",
            "1.0",
            "-0",
            "1e400",
            r#""\u00e9\ud800""#,
            "\"\"",
            "123456789012345678901234567890",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"a","id":{id}}}"#);
            check(&text, &format!("a - {id}"));
        }
    }

    #[test]
    fn reports_invalid_calls() {
        for text in ["1", "null", "\"a\"", "{}", r#"{"foo":"boo"}"#, r#"{"jsonrpc":"2.0"}"#] {
            check(text, "-32600 null");
        }
        check(r#"{"jsonrpc":"2.0","method":1,"id":7}"#, "-32600 7");
        check(r#"{"jsonrpc":"1.0","method":"a","id":7}"#, "-32600 7");
        check(r#"{"jsonrpc":2.0,"method":"a","id":7}"#, "-32600 7");
        check(r#"{"method":"a","id":7}"#, "-32600 7");
        check(r#"{"jsonrpc":"2.0","method":"a","params":"x","id":7}"#, "-32600 7");
        for id in ["true", "[]", "{}"] {
            check(&format!(r#"{{"jsonrpc":"2.0","method":"a","id":{id}}}"#), "-32600 null");
        }
        check(r#"{"jsonrpc":"2.0","method":"a","method":"b","id":7}"#, "-32600 null");
        check(r#"{"jsonrpc":"2.0","method":"a","id":1,"id":2}"#, "-32600 null");
        check(r#"{"id":1,"\u0069d":2}"#, "-32600 null");
        check(r#"{"jsonrpc":"2.0","method":"a","meta":1,"meta":2,"id":7}"#, "a - 7");
        check(r#"{"jsonrpc":"2.0","method":"\ud800","id":7}"#, "-32600 7");
    }

    #[test]
    fn reports_malformed_json() {
        for text in ["", " ", "{", "[", "[1", "[{]", "{\"jsonrpc\"", "nul", "[1] x", "{} {}"] {
            check(text, "-32700");
        }
        assert_eq!(shown(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", RULES), "-32700");
        check(r#"[{"jsonrpc":"2.0","method":"a","id":1},{"jsonrpc"]"#, "-32700");
    }

    #[test]
    fn a_batch_is_a_list_of_calls() {
        check("[]", "-32600");
        check("[1,[],null]", "[-32600 null, -32600 null, -32600 null]");
        check("[1,1,1,1]", "-32600");
        let call = r#"{"jsonrpc":"2.0","method":"a","id":1}"#;
        check(&format!("[{call}, 1]"), "[a - 1, -32600 null]");
        check(&format!(r#"[{{"id":1,"id":2}}, {call}]"#), "[-32600 null, a - 1]");
        check(&format!(r#"[{{"id":1,"id":2]}}, {call}]"#), "-32700");
        check(r#"{"id":1,"id":2]"#, "-32700");
    }

    #[test]
    fn plain_calls_have_no_version() {
        let plain = Rules { takes_plain: true, ..RULES };
        assert_eq!(shown(br#"{"method":"a","params":{}}"#, plain), "a {} - plain");
        assert_eq!(shown(br#"{"method":"a","id":1,"jsonrpc":"2.0"}"#, plain), "a - 1");
        assert_eq!(shown(br#"[{"method":"a"}]"#, plain), "[-32600 null]");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(r#"{{"jsonrpc":"2.0","method":"a","params":{open}{close},"id":1}}"#)
        };
        assert_eq!(
            shown(nested(127).as_bytes(), RULES),
            format!("a {}{} 1", "[".repeat(127), "]".repeat(127))
        );
        assert_eq!(shown(nested(128).as_bytes(), RULES), "-32600");
        assert_eq!(shown(nested(100_000).as_bytes(), RULES), "-32600");
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":["\"{}"],"id":1}}"#,
            "[".repeat(500)
        );
        assert!(shown(text.as_bytes(), RULES).starts_with("a ["));
    }
}
