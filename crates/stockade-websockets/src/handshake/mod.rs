//! The WebSocket handshake: validation of the request.
//!
//! `validate` is a pure function of the request head and the rules of the
//! route. `Rules::guard` runs it before all middleware.
//!
//! Source: RFC 6455, section 4.2; RFC 8441, section 5 (HTTP/2).
// Spec: WebSocket routes.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::Scheme;
use http::{HeaderMap, HeaderName, Method, Uri, Version};
use ring::digest;
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::headers::{has_token, list_items, only};
use stockade_core::upgrade::{TlsConnection, Upgrade};
use stockade_core::{Middleware, Request, RouteDescription, Setting};
use stockade_errors::{ApiError, ConfigError};
use stockade_validation::Schema;

use crate::close::may_be_sent;
#[cfg(feature = "ws-compression")]
use crate::deflate::{Agreed, Deflate, negotiate};
use crate::limits::Connections;
use crate::options::WebSocketOptions;
use crate::origin;

/// The WebSocket rules of a router.
#[derive(Clone, Debug)]
pub struct RouterRules {
    /// The default for [`WebSocketOptions::allowed_origins`].
    pub allowed_origins: Setting<Vec<String>>,
    /// The default for [`WebSocketOptions::max_payload`], in bytes.
    pub max_payload: u64,
    /// The default for [`WebSocketOptions::compression`].
    #[cfg(feature = "ws-compression")]
    pub compression: Setting<Deflate>,
    /// The open connections of the router.
    pub connections: Arc<Connections>,
}

/// The rules of one route, combined with its router's rules.
#[derive(Debug)]
pub struct Rules {
    pub(crate) options: Arc<WebSocketOptions>,
    pub(crate) allowed_origins: Option<Vec<String>>,
    pub(crate) max_payload: u64,
    pub(crate) connections: Arc<Connections>,
    /// `None` if messages are never compressed.
    #[cfg(feature = "ws-compression")]
    compression: Option<Deflate>,
    /// The schema of the type that a [`TypedWebSocket`](crate::TypedWebSocket)
    /// receives, compiled when the router is built.
    message: OnceLock<Schema>,
}

impl Rules {
    /// Creates the rules of a route.
    #[must_use]
    pub fn new(options: WebSocketOptions, router: &RouterRules) -> Arc<Self> {
        let allowed_origins = options.allowed_origins.clone().or(&router.allowed_origins);
        Arc::new(Self {
            allowed_origins: allowed_origins.into_value(),
            max_payload: options.max_payload.unwrap_or(router.max_payload),
            connections: Arc::clone(&router.connections),
            #[cfg(feature = "ws-compression")]
            compression: options.compression.or(&router.compression).enabled(),
            options: Arc::new(options),
            message: OnceLock::new(),
        })
    }

    /// Returns the schema for messages that are read as JSON: from the options,
    /// or else from the message type.
    ///
    /// # Errors
    /// If the schema of the type is invalid.
    pub(crate) fn schema(
        &self,
        of_type: fn() -> Result<Schema, ConfigError>,
    ) -> Result<Schema, ConfigError> {
        if let Some(schema) = self.options.validation.as_ref().or_else(|| self.message.get()) {
            return Ok(schema.clone());
        }
        let schema = of_type()?;
        Ok(self.message.get_or_init(|| schema).clone())
    }

    /// Returns the configuration errors in the options, as lowercase texts
    /// without a full stop.
    #[must_use]
    pub fn issues(&self) -> Vec<String> {
        let mut mistakes: Vec<String> =
            self.allowed_origins.iter().flatten().filter_map(|item| origin::issue(item)).collect();
        let zero = [
            ("ping_interval", self.options.ping_interval),
            ("idle_timeout", self.options.idle_timeout),
            ("ping_timeout", Some(self.options.ping_timeout)),
            ("write_timeout", Some(self.options.write_timeout)),
        ];
        let zero = zero.into_iter().filter(|(_, time)| time.is_some_and(|time| time.is_zero()));
        mistakes.extend(zero.map(|(name, _)| format!("{name} must not be 0")));
        if self.options.max_rate == Some(0) {
            mistakes.push("max_rate must not be 0".to_owned());
        }
        #[cfg(feature = "ws-compression")]
        mistakes.extend(self.compression.and_then(Deflate::issue));
        let code = self.options.logged_out_code;
        if !may_be_sent(code) {
            mistakes.push(format!("logged_out_code is {code}, which a close frame cannot have"));
        }
        let tokens = self.options.protocols.iter().filter(|protocol| !is_token(protocol));
        mistakes.extend(tokens.map(|protocol| format!("{protocol:?} cannot be a subprotocol")));
        mistakes
    }

    /// Returns the middleware that runs before all other middleware. It rejects
    /// invalid handshakes and stores the negotiated values for the handler.
    #[must_use]
    pub fn guard(self: &Arc<Self>) -> Middleware {
        let rules = Arc::clone(self);
        let guard = move |req: &mut Request| -> Result<(), ApiError> {
            let negotiated = validate(req, &rules)?;
            let accepted = Accepted { rules: Arc::clone(&rules), negotiated };
            req.extensions_mut().insert(accepted);
            Ok(())
        };
        let rules = Arc::clone(self);
        Middleware::new(guard)
            .named("web_socket_handshake")
            .describing(move |doc: &mut RouteDescription| rules.describe(doc))
    }

    /// Documents the rules, the headers of a handshake, and the rejections.
    fn describe(self: &Arc<Self>, doc: &mut RouteDescription) {
        // For the handler argument that determines the message type.
        doc.common_mut().insert(Arc::clone(self));
        let options = &self.options;
        let fact = doc.web_socket();
        fact.same_origin = self.allowed_origins.is_none();
        fact.allowed_origins = self.allowed_origins.clone().unwrap_or_default();
        fact.max_payload = self.max_payload;
        fact.compression = self.compresses();
        fact.max_rate = options.max_rate.map(u64::from);
        fact.subprotocols.clone_from(&options.protocols);
        doc.receives(options.validation.clone());
        describe_handshake(doc, !options.protocols.is_empty());
        if self.compresses() {
            doc.reads_header("Sec-WebSocket-Extensions", false);
        }
    }

    /// Returns true if messages are compressed for clients that offer it.
    pub(crate) fn compresses(&self) -> bool {
        #[cfg(feature = "ws-compression")]
        let is_on = self.compression.is_some();
        #[cfg(not(feature = "ws-compression"))]
        let is_on = false;
        is_on
    }
}

/// Documents the headers of a handshake, and the rejections.
fn describe_handshake(doc: &mut RouteDescription, has_protocols: bool) {
    doc.reads_header("Sec-WebSocket-Version", true);
    doc.reads_header("Origin", false);
    if has_protocols {
        doc.reads_header("Sec-WebSocket-Protocol", false);
    }
    doc.may_respond(400, "The handshake is malformed");
    doc.may_respond(403, "This origin is not allowed to connect");
    // HTTP/2 does not have `Upgrade`.
    let protocol = HeaderDoc::new("Upgrade", "The supported protocol").sometimes();
    let version = HeaderDoc::new("Sec-WebSocket-Version", "The supported version");
    let other = ResponseDoc::error(426).meaning("Only WebSocket version 13 is supported");
    doc.responds(other.header(version).header(protocol));
    let full = [(429, "Too many connections from this client"), (503, "Too many connections")];
    for (status, meaning) in full {
        let later = HeaderDoc::new("Retry-After", "The number of seconds to wait");
        doc.responds(ResponseDoc::error(status).meaning(meaning).header(later));
    }
}

/// A valid handshake, passed on to the handler.
#[derive(Clone)]
pub(crate) struct Accepted {
    pub(crate) rules: Arc<Rules>,
    pub(crate) negotiated: Negotiated,
}

/// The values in the response to a handshake.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Negotiated {
    pub(crate) upgrade: Upgrade,
    /// The value of `Sec-WebSocket-Accept`; `None` on HTTP/2.
    pub(crate) accept: Option<String>,
    pub(crate) protocol: Option<String>,
    /// `None` if messages are not compressed.
    #[cfg(feature = "ws-compression")]
    pub(crate) compression: Option<Agreed>,
}

/// Returns true if a request asks for a WebSocket, even if its handshake is
/// invalid.
///
/// The router uses this to distinguish it from an ordinary request for the same
/// path.
#[must_use]
pub fn wants_web_socket(req: &Request) -> bool {
    let upgrade = req.extensions().get::<Upgrade>();
    upgrade.is_some_and(|upgrade| upgrade.is_extended_connect())
        || has_token(req.headers(), &UPGRADE, "websocket")
}

/// Validates a handshake, in the order of the specification's rules.
fn validate(req: &Request, rules: &Rules) -> Result<Negotiated, ApiError> {
    let headers = req.headers();
    let upgrade = req.extensions().get::<Upgrade>().copied();
    let extended = upgrade.is_some_and(Upgrade::is_extended_connect);
    if !extended {
        check_upgrade(req)?;
    }
    if single_value(headers, &SEC_WEBSOCKET_VERSION) != Some("13") {
        return Err(upgrade_required("only WebSocket version 13 is supported", extended));
    }
    let accept = if extended {
        None
    } else {
        let key = single_value(headers, &SEC_WEBSOCKET_KEY).filter(|key| is_key(key));
        let key =
            key.ok_or_else(|| ApiError::new(400, "Sec-WebSocket-Key is missing or malformed"))?;
        Some(accept_key(key))
    };
    if headers.contains_key(ORIGIN) {
        let origin = single_value(headers, &ORIGIN).unwrap_or("null");
        // No origin matches if the host is unknown.
        let host = host(headers, req.uri()).unwrap_or_default();
        if !origin::is_allowed(origin, host, is_tls(req), rules.allowed_origins.as_deref()) {
            return Err(ApiError::new(403, "this origin is not allowed to connect"));
        }
    }
    // Not 501: every client could then write error-level log lines.
    let upgrade =
        upgrade.ok_or_else(|| ApiError::new(400, "this host does not support upgrades"))?;
    let protocol = protocol(headers, &rules.options.protocols);
    Ok(Negotiated {
        upgrade,
        accept,
        protocol,
        #[cfg(feature = "ws-compression")]
        compression: rules.compression.and_then(|ours| negotiate(headers, ours)),
    })
}

/// Checks the parts specific to HTTP/1.1: `Upgrade`, the method, `Connection`,
/// the version, and the absence of a body.
fn check_upgrade(req: &Request) -> Result<(), ApiError> {
    let headers = req.headers();
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err(upgrade_required("only WebSocket requests are supported here", false));
    }
    // HEAD requests also get here. A proxy would not expect a connection after
    // one.
    if *req.method() != Method::GET {
        return Err(ApiError::new(400, "a WebSocket request must use GET"));
    }
    if !has_token(headers, &CONNECTION, "upgrade") {
        return Err(ApiError::new(400, "the Connection header must contain upgrade"));
    }
    if req.version() != Version::HTTP_11 {
        return Err(ApiError::new(400, "a WebSocket request must use HTTP/1.1"));
    }
    // Programs could disagree on the boundary between a body and the first
    // frame.
    let length = headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0");
    if length || headers.contains_key(TRANSFER_ENCODING) {
        return Err(ApiError::new(400, "a WebSocket request must not have a body"));
    }
    Ok(())
}

/// Creates a 426 with the supported version and protocol. HTTP/2 does not have
/// `Upgrade`.
///
/// Source: RFC 9110, section 15.5.22; RFC 6455, section 4.4.
#[cold]
fn upgrade_required(message: &'static str, extended: bool) -> ApiError {
    let error = ApiError::new(426, message).with_header("Sec-WebSocket-Version", "13");
    if extended {
        return error;
    }
    error.with_header("Upgrade", "websocket").with_header("Connection", "Upgrade")
}

/// Returns the value of a header that appears exactly once.
fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    Some(only(headers, name)?.to_str().ok()?.trim())
}

/// Returns the `Sec-WebSocket-Accept` value for this key.
///
/// Source: RFC 6455, section 4.2.2, step 5.4.
pub(crate) fn accept_key(key: &str) -> String {
    let mut hash = digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(key.as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(hash.finish())
}

/// Returns true if the key is the base64 encoding of 16 bytes.
fn is_key(key: &str) -> bool {
    // A key without the padding is malformed: it yields no digits.
    let digits = key.strip_suffix("==").unwrap_or_default();
    digits.len() == 22
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Returns the first supported subprotocol that the client requests.
fn protocol(headers: &HeaderMap, ours: &[String]) -> Option<String> {
    let known =
        |ours: &&String| list_items(headers, &SEC_WEBSOCKET_PROTOCOL).any(|item| item == **ours);
    ours.iter().find(known).cloned()
}

/// Returns true if the request arrived over TLS, according to the host or to
/// the target's scheme, which HTTP/2 clients send. A client that sends a false
/// scheme gets the stricter rule.
fn is_tls(req: &Request) -> bool {
    req.extensions().get::<TlsConnection>().is_some() || req.uri().scheme() == Some(&Scheme::HTTPS)
}

/// Returns the host and port from the request.
fn host<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Option<&'r str> {
    uri.authority().map(http::uri::Authority::as_str).or_else(|| single_value(headers, &HOST))
}

/// Returns true for a token. Header names are tokens too.
///
/// Source: RFC 9110, sections 5.1 and 5.6.2.
fn is_token(text: &str) -> bool {
    HeaderName::try_from(text).is_ok()
}

#[cfg(test)]
mod tests;
