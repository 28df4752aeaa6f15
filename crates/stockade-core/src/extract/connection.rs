//! [`Headers`], [`ClientIp`] and the parts of the head.

use std::net::IpAddr;
use std::ops::Deref;

use http::{HeaderMap, Method, Uri};
use stockade_errors::ApiError;

use crate::{FromRequest, PeerAddr, Request};

/// A copy of the headers; it dereferences to `http::HeaderMap`.
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
}

/// The client's address. Take an `Option<ClientIp>` where it may be unknown,
/// as it is for a request that was made in process.
///
/// Spec: Request object › ip.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ClientIp(pub IpAddr);

impl FromRequest for ClientIp {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let unknown = || ApiError::new(500, "the host does not tell the client's address");
        req.client_ip().map(Self).ok_or_else(unknown)
    }
}

impl FromRequest for Option<ClientIp> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.client_ip().map(ClientIp))
    }
}

impl FromRequest for Option<PeerAddr> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.peer())
    }
}

impl FromRequest for Method {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.method().clone())
    }
}

impl FromRequest for Uri {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.uri().clone())
    }
}
