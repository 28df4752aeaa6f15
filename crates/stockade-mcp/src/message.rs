//! Parses the message of a client.
//!
//! Hot: a message is scanned once. Ids and parameters stay text, so an id is
//! returned unchanged, and only a called tool parses its arguments.
//!
//! Duplicate names are errors: a proxy and this reader could otherwise see
//! different tools.

use std::borrow::Cow;

use stockade_json::{Reader, Refused};
use stockade_routing::subrequest::ToolClient;

/// A request or a notification.
#[derive(Debug)]
pub(crate) struct Message<'t> {
    /// The id as received; `None` for a notification.
    pub(crate) id: Option<&'t str>,
    pub(crate) method: Cow<'t, str>,
    /// The text of an object; `None` if it is missing.
    params: Option<&'t str>,
}

/// The reason why a text is not a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unreadable {
    /// It is not JSON.
    Syntax,
    /// It is JSON, but neither a request nor a notification.
    Request,
}

impl From<Refused> for Unreadable {
    fn from(_: Refused) -> Self {
        Self::Syntax
    }
}

impl<'t> Message<'t> {
    /// Parses a message.
    ///
    /// # Errors
    /// Fails for invalid JSON, for a batch, and for any other value that is not
    /// a request or a notification of JSON-RPC 2.0.
    pub(crate) fn read(bytes: &'t [u8]) -> Result<Self, Unreadable> {
        let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Syntax)?;
        let mut reader = Reader::of_raw(text);
        let found = members_in(&mut reader, ["jsonrpc", "method", "params", "id"])?;
        reader.end()?;
        let [version, method, params, id] = found.ok_or(Unreadable::Request)?;
        let method = method.and_then(text_of).ok_or(Unreadable::Request)?;
        let is_message = version == Some("\"2.0\"")
            && id.is_none_or(is_id)
            && params.is_none_or(|params| params.starts_with('{'));
        is_message.then_some(Self { id, method, params }).ok_or(Unreadable::Request)
    }

    /// Returns the parameters, or `None` if a name is a duplicate. Missing
    /// parameters are empty.
    pub(crate) fn params(&self) -> Option<Params<'t>> {
        let names = ["name", "arguments", "cursor", "protocolVersion", "_meta"];
        let params = self.params.unwrap_or("{}");
        let [name, arguments, cursor, protocol_version, meta] = members(params, names)?;
        let meta = match meta {
            Some(meta) => Meta::read(meta)?,
            None => Meta::default(),
        };
        let protocol_version = protocol_version.and_then(text_of);
        Some(Params { name: name.and_then(text_of), arguments, cursor, protocol_version, meta })
    }
}

/// The parameters of all methods.
#[derive(Debug)]
pub(crate) struct Params<'t> {
    /// The name of a tool; `None` if it is missing or not a text.
    pub(crate) name: Option<Cow<'t, str>>,
    /// The text of any value; `None` if it is missing.
    pub(crate) arguments: Option<&'t str>,
    /// The text of any value; `None` if it is missing.
    pub(crate) cursor: Option<&'t str>,
    /// The version that a client of the earlier protocol requests.
    pub(crate) protocol_version: Option<Cow<'t, str>>,
    pub(crate) meta: Meta<'t>,
}

/// The member `_meta` of the parameters.
#[derive(Debug, Default)]
pub(crate) struct Meta<'t> {
    /// The protocol version; `None` if it is missing or not a text.
    pub(crate) version: Option<Cow<'t, str>>,
    /// True if the capabilities of the client are an object.
    pub(crate) has_capabilities: bool,
    /// The text of a string or an integer; `None` for any other value.
    pub(crate) progress_token: Option<&'t str>,
    /// The text of the object that describes the client; `None` for any other
    /// value.
    client: Option<&'t str>,
}

impl<'t> Meta<'t> {
    fn read(meta: &'t str) -> Option<Self> {
        if !meta.starts_with('{') {
            return Some(Self::default());
        }
        let [version, capabilities, token, client] = members(meta, META)?;
        Some(Self {
            version: version.and_then(text_of),
            has_capabilities: capabilities.is_some_and(|it| it.starts_with('{')),
            progress_token: token.filter(|token| is_id(token)),
            client: client.filter(|client| client.starts_with('{')),
        })
    }

    /// Returns the client for the log; `None` if it is not known, or if the log
    /// does not need it.
    pub(crate) fn client(&self) -> Option<ToolClient> {
        let client = self.client.filter(|_| ToolClient::is_wanted())?;
        let [name, version] = members(client, ["name", "version"])?.map(|it| it.and_then(text_of));
        Some(ToolClient::new(&name?, &version.unwrap_or_default()))
    }
}

/// The members of `_meta`.
const META: [&str; 4] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "progressToken",
    "io.modelcontextprotocol/clientInfo",
];

/// Returns the texts of the members with these names in a valid value. Returns
/// `None` if the value is not an object, or if one of these names is a
/// duplicate.
fn members<'t, const N: usize>(value: &'t str, names: [&str; N]) -> Option<[Option<&'t str>; N]> {
    members_in(&mut Reader::of_raw(value), names).ok().flatten()
}

/// Reads a value, and returns the texts of the members with these names, like
/// [`members`].
fn members_in<'t, const N: usize>(
    reader: &mut Reader<'t>,
    names: [&str; N],
) -> Result<Option<[Option<&'t str>; N]>, Refused> {
    if reader.peek() != Some(b'{') {
        reader.raw_value()?;
        return Ok(None);
    }
    let mut found = [None; N];
    let (mut is_first, mut has_duplicate) = (true, false);
    reader.open()?;
    while reader.next_or_close(b'}', is_first)? {
        is_first = false;
        let name = text_of(reader.raw_name()?);
        let value = reader.raw_value()?;
        let place =
            names.iter().zip(&mut found).find(|(known, _)| name.as_deref() == Some(**known));
        if let Some((_, place)) = place {
            has_duplicate |= place.replace(value).is_some();
        }
    }
    Ok((!has_duplicate).then_some(found))
}

/// Returns the text of a JSON string; `None` for any other value, and for an
/// unpaired surrogate.
fn text_of(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// Returns true for a valid id: a string or an integer.
fn is_id(json: &str) -> bool {
    let digits = json.strip_prefix('-').unwrap_or(json);
    json.starts_with('"') || !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a message briefly.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match Message::read(text.as_bytes()) {
            Ok(Message { id, method, params }) => {
                format!("{method} {} {}", params.unwrap_or("-"), id.unwrap_or("-"))
            }
            Err(reason) => format!("{reason:?}"),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_message_has_a_method_and_perhaps_an_id() {
        check(r#"{"jsonrpc":"2.0","method":"ping","id":7}"#, "ping - 7");
        check(r#" {"jsonrpc":"2.0","method":"a\u0062","id":"x\n"} "#, r#"ab - "x\n""#);
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"b":[1]}}"#, r#"a {"b":[1]} -"#);
        check(r#"{"other":[{}],"id":-1,"method":"a","jsonrpc":"2.0"}"#, "a - -1");
    }

    #[test]
    fn other_values_are_not_messages() {
        for text in [
            "[]",
            "7",
            "{}",
            r#"[{"jsonrpc":"2.0","method":"a","id":1}]"#,
            r#"{"method":"a","id":1}"#,
            r#"{"jsonrpc":"1.0","method":"a","id":1}"#,
            r#"{"jsonrpc":"2.0","method":7,"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":null}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":1.0}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":1e3}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":true}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":1,"params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"a","id":1,"params":null}"#,
            r#"{"jsonrpc":"2.0","method":"a","method":"b","id":1}"#,
            r#"{"jsonrpc":"2.0","method":"a","m\u0065thod":"b","id":1}"#,
            r#"{"jsonrpc":"2.0","result":{},"id":1}"#,
        ] {
            check(text, "Request");
        }
    }

    #[test]
    fn invalid_json_is_distinguished() {
        check("", "Syntax");
        check("{", "Syntax");
        check("{} {}", "Syntax");
        check("{'a':1}", "Syntax");
        assert_eq!(Message::read(b"\"\xFF\"").unwrap_err(), Unreadable::Syntax);
        let deep = "[".repeat(200) + &"]".repeat(200);
        check(&deep, "Syntax");
    }

    #[test]
    fn parameters_are_texts() {
        let text = r#"{"jsonrpc":"2.0","method":"tools/call","id":1,"params":{"name":"x","arguments":{"a":1},
            "_meta":{"io.modelcontextprotocol/protocolVersion":"v","progressToken":7,
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let params = Message::read(text.as_bytes()).unwrap().params().unwrap();
        assert_eq!(params.name.as_deref(), Some("x"));
        assert_eq!(params.arguments, Some(r#"{"a":1}"#));
        assert_eq!(params.meta.version.as_deref(), Some("v"));
        assert_eq!(params.meta.progress_token, Some("7"));
        assert!(params.meta.has_capabilities && params.cursor.is_none());
    }

    #[test]
    fn duplicate_parameters_are_rejected() {
        let read = |params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"a","id":1,"params":{params}}}"#);
            Message::read(text.as_bytes()).unwrap().params().is_some()
        };
        assert!(read(r#"{"name":"a"}"#) && read(r#"{"_meta":7}"#));
        assert!(!read(r#"{"name":"a","name":"b"}"#));
        assert!(!read(r#"{"_meta":{"progressToken":1,"progressToken":2}}"#));
    }
}
