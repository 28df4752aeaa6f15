//! [`Era`]: the protocol version of a message.
//!
//! A modern request names its version in a header and in `_meta`. All other
//! requests belong to the earlier protocol, which begins with `initialize`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName};

use crate::message::{Message, Params};
use crate::protocol_error::ProtocolError;

/// The current protocol version.
pub(crate) const MODERN: &str = "2026-07-28";

/// The earlier protocol versions, the newest first.
pub(crate) const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// The headers of a modern request.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The method that calls a tool.
pub(crate) const TOOLS_CALL: &str = "tools/call";

/// The protocol of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Era {
    /// Stateless, since 2026-07-28.
    Modern,
    /// Begins with `initialize`, until 2025-11-25.
    Legacy,
}

impl Era {
    /// Returns the protocol of a request, and checks what this protocol
    /// requires of each request. Lines of standard input do not have `headers`.
    ///
    /// # Errors
    /// Fails if the version is unknown, if `_meta` lacks a member, or if a
    /// header is missing or differs from the message.
    pub(crate) fn of(
        message: &Message<'_>,
        params: &Params<'_>,
        headers: Option<&HeaderMap>,
        has_legacy: bool,
    ) -> Result<Self, ProtocolError> {
        let version = match headers {
            Some(headers) => value_of(headers, &VERSION)?,
            None => params.meta.version.as_deref(),
        };
        if let Some(version) = version
            && version != MODERN
        {
            let is_legacy = has_legacy && LEGACY.contains(&version);
            if !is_legacy {
                return Err(ProtocolError::unsupported_version(version));
            }
            if params.meta.version.is_none() {
                return Ok(Self::Legacy);
            }
        }
        if version.is_none() && params.meta.version.is_none() && has_legacy {
            return Ok(Self::Legacy);
        }
        if params.meta.version.is_none() {
            // The first message of a client that knows only earlier versions.
            if version.is_none()
                && let Some(requested) = &params.protocol_version
            {
                return Err(ProtocolError::unsupported_version(requested));
            }
            return Err(ProtocolError::params("`_meta` lacks the protocol version"));
        }
        if !params.meta.has_capabilities {
            return Err(ProtocolError::params("`_meta` lacks the capabilities of the client"));
        }
        match headers {
            Some(headers) => check_headers(message, params, headers)?,
            None if params.meta.version.as_deref() != Some(MODERN) => {
                // A legacy version never appears in `_meta`.
                let version = params.meta.version.as_deref().unwrap_or_default();
                return Err(ProtocolError::unsupported_version(version));
            }
            None => {}
        }
        Ok(Self::Modern)
    }
}

/// Compares the headers of a modern request with its message.
fn check_headers(
    message: &Message<'_>,
    params: &Params<'_>,
    headers: &HeaderMap,
) -> Result<(), ProtocolError> {
    check(headers, &VERSION, params.meta.version.as_deref())?;
    check(headers, &METHOD, Some(&message.method))?;
    if message.method == TOOLS_CALL {
        check(headers, &NAME, params.name.as_deref())?;
    }
    Ok(())
}

fn check(
    headers: &HeaderMap,
    name: &HeaderName,
    expected: Option<&str>,
) -> Result<(), ProtocolError> {
    let Some(value) = value_of(headers, name)? else {
        return Err(mismatch(name, "is missing"));
    };
    let value = if *name == NAME { decoded(value) } else { Some(Cow::Borrowed(value)) };
    match value {
        Some(value) if Some(&*value) == expected => Ok(()),
        _ => Err(mismatch(name, "differs from the message")),
    }
}

/// Returns the value of a header, or `None` if it is missing.
///
/// # Errors
/// Fails for several values, because a proxy could compare another one, and for
/// a value that is not visible ASCII.
fn value_of<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, ProtocolError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(name, "appears several times"));
    }
    let value = value.to_str().map_err(|_| mismatch(name, "is not ASCII"))?;
    // RFC 9110, section 5.5: whitespace around a value is not a part of it.
    Ok(Some(value.trim_matches([' ', '\t'])))
}

/// Returns the error for a header.
#[cold]
fn mismatch(name: &HeaderName, fault: &str) -> ProtocolError {
    ProtocolError::header(&format!("`{}` {fault}", shown(name)))
}

/// Returns the usual spelling of a header of the protocol.
pub(crate) fn shown(name: &HeaderName) -> &'static str {
    match name.as_str() {
        "mcp-method" => "Mcp-Method",
        "mcp-name" => "Mcp-Name",
        _ => "MCP-Protocol-Version",
    }
}

/// Decodes a value in the form `=?base64?…?=`. Returns `None` if this form
/// contains invalid Base64, or bytes that are not UTF-8.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let encoded = value.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?="));
    let Some(encoded) = encoded else { return Some(Cow::Borrowed(value)) };
    let bytes = BASE64_STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn era(params: &str, headers: &[(&str, &str)], has_legacy: bool) -> String {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"é"{params}}}}}"#
        );
        let message = Message::read(text.as_bytes()).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, value.parse().unwrap());
        }
        match Era::of(&message, &message.params().unwrap(), Some(&map), has_legacy) {
            Ok(era) => format!("{era:?}"),
            Err(error) => String::from_utf8(error.write(message.id)).unwrap(),
        }
    }

    #[track_caller]
    fn check(params: &str, headers: &[(&str, &str)], expected: &str) {
        let found = era(params, headers, true);
        assert!(found.contains(expected), "{params} {headers:?}\n{found}");
    }

    #[test]
    fn a_request_without_a_version_is_legacy() {
        check("", &[], "Legacy");
        check("", &[("mcp-protocol-version", "2025-11-25")], "Legacy");
        check("", &[("mcp-protocol-version", "2025-06-18"), ("mcp-method", "x")], "Legacy");
    }

    #[test]
    fn the_headers_of_a_modern_request_equal_its_message() {
        let meta = &format!(",{META}");
        let version = ("mcp-protocol-version", "2026-07-28");
        let method = ("mcp-method", "tools/call");
        check(meta, &[version, method, ("mcp-name", " =?base64?w6k=?= ")], "Modern");
        check(meta, &[version, method], "`Mcp-Name` is missing");
        check(meta, &[version, method, ("mcp-name", "e")], "`Mcp-Name` differs");
        check(meta, &[version, method, ("mcp-name", "=?base64?w6k?=")], "`Mcp-Name` differs");
        check(meta, &[version, method, ("mcp-name", "=?base64?!?=")], "`Mcp-Name` differs");
        check(meta, &[version, ("mcp-method", "TOOLS/CALL")], "`Mcp-Method` differs");
        check(meta, &[version, method, method], "appears several times");
        check(meta, &[method], "`MCP-Protocol-Version` is missing");
        check(meta, &[("mcp-protocol-version", "2025-11-25")], "`MCP-Protocol-Version` differs");
    }

    #[test]
    fn a_modern_request_has_meta() {
        let version = ("mcp-protocol-version", "2026-07-28");
        check("", &[version], "-32602");
        let partly = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        check(partly, &[version], "-32602");
        check("", &[("mcp-protocol-version", "2024-11-05")], "-32022");
    }

    #[test]
    fn legacy_versions_are_unknown_if_they_are_off() {
        assert!(era("", &[("mcp-protocol-version", "2025-11-25")], false).contains("-32022"));
        assert!(era("", &[], false).contains("-32602"));
    }
}
