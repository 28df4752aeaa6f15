//! [`Headers`], [`ClientIp`] and extractors for other parts of the head.

use std::net::IpAddr;
use std::ops::Deref;

use http::{HeaderMap, Method, Uri, Version};
use stockade_errors::ApiError;

use super::OptionalFromRequest;
use crate::{FromRequest, PeerAddr, PeerCredentials, Request, RouteDescription};

/// A copy of the headers. It dereferences to `http::HeaderMap`.
#[derive(Clone, Debug, Default)]
pub struct Headers(pub HeaderMap);

impl Deref for Headers {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        &self.0
    }
}

impl FromRequest for Headers {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self(req.headers().clone()))
    }

    fn describe(_doc: &mut RouteDescription) {}
}

/// The id of the last event that a reconnecting client of
/// [`Sse`](crate::reply::Sse) received. `None` for a first connection, and for
/// an id that is not UTF-8.
///
/// Source: WHATWG HTML, section 9.2.4 (the `Last-Event-ID` header).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LastEventId(pub Option<String>);

impl FromRequest for LastEventId {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let id = req.headers().get("last-event-id").map(http::HeaderValue::as_bytes);
        let id = id.and_then(|id| std::str::from_utf8(id).ok()).filter(|id| !id.is_empty());
        Ok(Self(id.map(str::to_owned)))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("Last-Event-ID", false);
    }
}

/// The client's address. Take an `Option<ClientIp>` if it may be unknown, such
/// as for an in-process request.
// Spec: Request object › ip.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ClientIp(pub IpAddr);

impl FromRequest for ClientIp {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        req.client_ip().map(Self).ok_or_else(|| unknown("client"))
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl OptionalFromRequest for ClientIp {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Ok(req.client_ip().map(Self))
    }

    fn describe_optional(_doc: &mut RouteDescription) {}
}

impl FromRequest for PeerAddr {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        req.peer().ok_or_else(|| unknown("peer"))
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl OptionalFromRequest for PeerAddr {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Ok(req.peer())
    }

    fn describe_optional(_doc: &mut RouteDescription) {}
}

impl FromRequest for PeerCredentials {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let unknown = || ApiError::new(500, "the host does not provide the process of the peer");
        req.extensions().get().copied().ok_or_else(unknown)
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl OptionalFromRequest for PeerCredentials {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Ok(req.extensions().get().copied())
    }

    fn describe_optional(_doc: &mut RouteDescription) {}
}

/// Returns the 500 for a host that does not provide the address of `party`.
#[cold]
fn unknown(party: &str) -> ApiError {
    ApiError::new(500, format!("the host does not provide the {party}'s address"))
}

impl FromRequest for Method {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.method().clone())
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl FromRequest for Uri {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.uri().clone())
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl FromRequest for Version {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.version())
    }

    fn describe(_doc: &mut RouteDescription) {}
}
