//! [`asked_host`]: the host of a request.

use http::header;
use stockade_core::{LocalPeer, Request};
use stockade_path::host::labels_of;
use stockade_stages::client_address_internals::forwarded_host;

use crate::app::Resolved;

/// The host of a request.
pub(crate) enum AskedHost {
    /// The labels of the name, as a path.
    Labels(String),
    /// The request does not have a host, or the host is malformed.
    Unknown,
    /// The request has two different hosts.
    Contradictory,
}

/// Returns the host of a request.
///
/// Source: RFC 9110, section 7.2; RFC 9112, section 3.2.2; RFC 9113, section 8.3.1.
pub(crate) fn asked_host(app: &Resolved, req: &Request) -> AskedHost {
    let mut hosts = req.headers().get_all(header::HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let first = first.map(http::HeaderValue::as_bytes);
    let authority = req.uri().authority().map(|authority| authority.as_str().as_bytes());
    let is_contradictory = first.zip(authority).is_some_and(|(host, authority)| {
        !host.eq_ignore_ascii_case(authority) && labels_of(host) != labels_of(authority)
    });
    if second.is_some() || is_contradictory {
        return AskedHost::Contradictory;
    }
    let host = forwarded(app, req).or(authority).or(first);
    host.and_then(labels_of).map_or(AskedHost::Unknown, AskedHost::Labels)
}

/// Returns the host as a trusted proxy received it.
fn forwarded<'r>(app: &Resolved, req: &'r Request) -> Option<&'r [u8]> {
    let peer = req.peer().map(|peer| peer.0.ip());
    // An unknown peer is not trusted.
    if peer.is_none() && req.extensions().get::<LocalPeer>().is_none() {
        return None;
    }
    forwarded_host(peer, req.headers(), &app.stages.trust)
}
