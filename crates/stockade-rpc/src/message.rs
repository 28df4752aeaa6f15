//! The message of a client, taken apart: one call or a batch of calls.
//!
//! Hot: nothing of a message is parsed here but its outermost members. Ids and
//! parameters are parts of its text.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2_iter;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::failure::Failure;

/// A message of a client.
#[derive(Debug)]
pub(crate) enum Message<'t> {
    One(Entry<'t>),
    Batch(Vec<Entry<'t>>),
}

/// One call of a message.
#[derive(Debug)]
pub(crate) struct Entry<'t> {
    /// The id as it came; `None` for a notification, which has no answer.
    pub(crate) id: Option<&'t str>,
    pub(crate) call: Result<Call<'t>, Failure>,
    /// True for a call in the form without `jsonrpc`.
    pub(crate) is_plain: bool,
}

/// A method with its parameters.
#[derive(Debug)]
pub(crate) struct Call<'t> {
    pub(crate) method: Cow<'t, str>,
    /// An array or an object; `None` where there are none.
    pub(crate) params: Option<&'t RawValue>,
}

/// The rules by which messages are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) max_batch: usize,
    /// True if a call may come without `jsonrpc`.
    pub(crate) takes_plain: bool,
}

/// Reads a message.
///
/// # Errors
/// Fails where there is nothing to answer one by one: no JSON, an empty batch, or
/// one that is too large. The id of that answer is null.
pub(crate) fn read(bytes: &[u8], rules: Rules) -> Result<Message<'_>, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|_| Failure::PARSE)?;
    if is_too_deep(bytes) {
        return Err(Failure::request("it is nested too deeply"));
    }
    if text.trim_ascii_start().starts_with('[') {
        return read_batch(text, rules).map(Message::Batch);
    }
    Ok(Message::One(Entry::read(text, rules)?))
}

fn read_batch(text: &str, rules: Rules) -> Result<Vec<Entry<'_>>, Failure> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let items = deserializer.deserialize_seq(Items { max: rules.max_batch });
    let items = match items.and_then(|items| deserializer.end().map(|()| items)) {
        Ok(items) => items,
        Err(error) if error.is_data() => {
            let most = rules.max_batch;
            return Err(Failure::request(&format!("a batch has {most} calls at most")));
        }
        Err(_) => return Err(Failure::PARSE),
    };
    if items.is_empty() {
        return Err(Failure::request("a batch has one call at least"));
    }
    // The form without `jsonrpc` knows no batches.
    let rules = Rules { takes_plain: false, ..rules };
    items.into_iter().map(|item| Entry::read(item.get(), rules)).collect()
}

/// Collects the items of an array, and stops at the first one that is too many.
struct Items {
    max: usize,
}

impl<'t> Visitor<'t> for Items {
    type Value = Vec<&'t RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a batch of {} calls at most", self.max)
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            if items.len() == self.max {
                return Err(serde::de::Error::custom("too many"));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// The members of a call, each as it came.
#[derive(Deserialize)]
struct Members<'t> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'t RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'t RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'t RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'t RawValue>,
}

/// Reads a member that is there, also if it is null.
fn present<'t, D: Deserializer<'t>>(deserializer: D) -> Result<Option<&'t RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'t> Entry<'t> {
    /// Reads a call; a text that is JSON and no call is an entry that has failed.
    ///
    /// # Errors
    /// Fails if the text is no JSON.
    fn read(text: &'t str, rules: Rules) -> Result<Self, Failure> {
        // An array would be read by the order of its items.
        let is_object = text.trim_ascii_start().starts_with('{');
        let members = is_object.then(|| serde_json::from_str::<Members<'t>>(text));
        let members = match members {
            Some(Ok(members)) => members,
            Some(Err(error)) if error.is_data() => {
                return Ok(Self::failed("null", Failure::request(DOUBLE)));
            }
            Some(Err(_)) => return Err(Failure::PARSE),
            None => {
                let whole: Result<&RawValue, _> = serde_json::from_str(text);
                return match whole {
                    Ok(_) => Ok(Self::failed("null", Failure::request("it is no object"))),
                    Err(_) => Err(Failure::PARSE),
                };
            }
        };
        let id = members.id.map(RawValue::get);
        if id.is_some_and(|id| !is_id(id)) {
            let failure = Failure::request("the id is neither text nor a number nor null");
            return Ok(Self::failed("null", failure));
        }
        let is_plain = rules.takes_plain && members.jsonrpc.is_none();
        Ok(match members.call(is_plain) {
            Ok(call) => Self { id, call: Ok(call), is_plain },
            // That of a call without an id is answered too: it is no notification.
            Err(reason) => Self::failed(id.unwrap_or("null"), Failure::request(reason)),
        })
    }

    fn failed(id: &'t str, failure: Failure) -> Self {
        Self { id: Some(id), call: Err(failure), is_plain: false }
    }
}

impl<'t> Members<'t> {
    /// Returns the call, or the reason why it is none.
    fn call(&self, is_plain: bool) -> Result<Call<'t>, &'static str> {
        if !is_plain && self.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err("`jsonrpc` is not \"2.0\"");
        }
        let method = self.method.map(RawValue::get).ok_or("it names no method")?;
        let method = text_of(method).ok_or("`method` is no text")?;
        let params = self.params.filter(|params| params.get() != "null");
        if params.is_some_and(|params| !params.get().starts_with(['[', '{'])) {
            return Err("`params` is neither an array nor an object");
        }
        Ok(Call { method, params })
    }
}

/// Returns the text of a JSON text; `None` for any other value, and where it has
/// half of a surrogate pair.
fn text_of(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// Returns true for the id of a call: a text, a number or null.
fn is_id(json: &str) -> bool {
    json == "null" || json.starts_with(|c: char| matches!(c, '"' | '-' | '0'..='9'))
}

/// Returns true if values stand in each other more deeply than readers of JSON go.
fn is_too_deep(bytes: &[u8]) -> bool {
    // Most messages have not even that many brackets.
    memchr2_iter(b'[', b'{', bytes).nth(MAX_DEPTH).is_some() && depth(bytes) > MAX_DEPTH
}

/// Returns how deeply the values of a JSON text stand in each other.
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

/// The nesting that serde_json reads.
const MAX_DEPTH: usize = 128;

const DOUBLE: &str = "a member is there twice";

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { max_batch: 3, takes_plain: false };

    /// Returns a message in a short form.
    fn shown(text: &[u8], rules: Rules) -> String {
        let entry = |entry: &Entry<'_>| {
            let id = entry.id.unwrap_or("-");
            match &entry.call {
                Ok(call) => {
                    let params = call.params.map_or("-", RawValue::get);
                    format!(
                        "{} {params} {id}{}",
                        call.method,
                        if entry.is_plain { " plain" } else { "" }
                    )
                }
                Err(failure) => format!("{} {id}", code(failure)),
            }
        };
        match read(text, rules) {
            Ok(Message::One(one)) => entry(&one),
            Ok(Message::Batch(all)) => {
                format!("[{}]", all.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            Err(failure) => code(&failure),
        }
    }

    fn code(failure: &Failure) -> String {
        serde_json::to_value(failure).unwrap()["code"].to_string()
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
    fn an_id_stays_as_it_came() {
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
    fn what_is_no_call_is_told() {
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
        check(r#"{"jsonrpc":"2.0","method":"\ud800","id":7}"#, "-32600 7");
    }

    #[test]
    fn what_is_no_json_is_told() {
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
    }

    #[test]
    fn the_old_form_has_no_version() {
        let plain = Rules { takes_plain: true, ..RULES };
        assert_eq!(shown(br#"{"method":"a","params":{}}"#, plain), "a {} - plain");
        assert_eq!(shown(br#"{"method":"a","id":1,"jsonrpc":"2.0"}"#, plain), "a - 1");
        assert_eq!(shown(br#"[{"method":"a"}]"#, plain), "[-32600 null]");
    }

    #[test]
    fn nesting_ends() {
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
