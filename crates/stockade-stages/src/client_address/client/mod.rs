//! [`client_address`]: finds the client behind a chain of trusted proxies.
//!
//! Hot: it does not allocate, and without a trusted proxy it does not read
//! headers.
// Spec: Limits › Client identity, without `trustProxy` behind a proxy.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName, HeaderValue};

use super::address::parse_address;
use super::list::{from_right, from_right_quoted};
use super::trust::{Header, Networks, TrustProxy, Trusted};

/// Returns the client's address. `peer` is the other end of the connection, if
/// the host knows it.
///
/// - If no proxy is trusted, it is the peer.
/// - If a number of proxies is trusted, it is the entry that many places left
///   of the peer, in the joined lines of the header without empty items. If the
///   list is shorter, it is the peer, because a short chain must not let a
///   client choose its address.
/// - If networks are trusted, it is the first address outside of them, from the
///   peer to the left. If all are trusted, it is the leftmost address.
///
/// If the peer is unknown, headers are ignored and the result is `None`.
///
/// An invalid address counts as the peer, and so does an element of `Forwarded`
/// without `for`. An IPv4-mapped address becomes an IPv4 address.
// Spec: Limits › Client identity.
#[must_use]
pub fn client_address(
    peer: Option<IpAddr>,
    headers: &HeaderMap,
    trust: &TrustProxy,
) -> Option<IpAddr> {
    let peer = peer.map(|peer| peer.to_canonical());
    let found = match (&trust.trusted, trust.header) {
        // An unknown peer is not a trusted proxy.
        (Trusted::Hops(_), _) if peer.is_none() => None,
        (Trusted::Nobody, _) => None,
        (Trusted::Hops(count), Header::XForwardedFor) => hop(*count, x_forwarded_for(headers)),
        (Trusted::Hops(count), Header::Forwarded) => hop(*count, forwarded(headers)),
        (Trusted::Networks(list), Header::XForwardedFor) => {
            first_untrusted(list, peer, x_forwarded_for(headers))
        }
        (Trusted::Networks(list), Header::Forwarded) => {
            first_untrusted(list, peer, forwarded(headers))
        }
    };
    found.or(peer)
}

/// Returns the address of the client behind a peer without an address, such as
/// a proxy on a Unix socket.
///
/// If such a peer is trusted ([`TrustProxy::trusts_local_peer`]), it counts as
/// one proxy, and the headers are read as in [`client_address`]. Returns `None`
/// if the peer is untrusted, if the header is too short, or if the entry is not
/// an address.
#[must_use]
pub fn client_behind_local_peer(headers: &HeaderMap, trust: &TrustProxy) -> Option<IpAddr> {
    if !trust.trusts_local_peer() {
        return None;
    }
    match (&trust.trusted, trust.header) {
        (Trusted::Nobody, _) => None,
        (Trusted::Hops(count), Header::XForwardedFor) => hop(*count, x_forwarded_for(headers)),
        (Trusted::Hops(count), Header::Forwarded) => hop(*count, forwarded(headers)),
        (Trusted::Networks(networks), Header::XForwardedFor) => {
            walk(networks, None, x_forwarded_for(headers))
        }
        (Trusted::Networks(networks), Header::Forwarded) => {
            walk(networks, None, forwarded(headers))
        }
    }
}

/// Warns if `X-Forwarded-For` or `Forwarded` arrives and no proxy is trusted.
/// All clients behind a proxy then share one address.
///
/// Warns once for each `warned`, a flag for the whole process. Returns true if
/// it has warned.
// Spec: Limits › Without `trustProxy` behind a proxy.
pub fn warn_untrusted(headers: &HeaderMap, trust: &TrustProxy, warned: &AtomicBool) -> bool {
    if trust.is_set() || warned.load(Ordering::Relaxed) {
        return false;
    }
    // Comparing each name costs less than hashing two names.
    if !headers.keys().any(|name| *name == X_FORWARDED_FOR || *name == FORWARDED) {
        return false;
    }
    if warned.swap(true, Ordering::Relaxed) {
        return false;
    }
    log::warn!(
        target: "stockade",
        "a request arrived through a proxy, but trust_proxy is not set: all clients of the proxy \
         count as one",
    );
    true
}

/// Returns the host that a trusted proxy has received: the last value of
/// `X-Forwarded-Host`, or of `host` in `Forwarded` if this header is read.
/// `peer` is `None` for a peer without an address, as on a Unix socket.
///
/// The client may have written the values further left.
#[must_use]
pub fn forwarded_host<'h>(
    peer: Option<IpAddr>,
    headers: &'h HeaderMap,
    trust: &TrustProxy,
) -> Option<&'h [u8]> {
    if !trust.trusts(peer) {
        return None;
    }
    let name = match trust.header {
        Header::XForwardedFor => X_FORWARDED_HOST,
        Header::Forwarded => FORWARDED,
    };
    let line = headers.get_all(name).into_iter().next_back()?.as_bytes();
    match trust.header {
        Header::XForwardedFor => from_right(line, b',').next(),
        Header::Forwarded => {
            let element = from_right_quoted(line, b',').next()?;
            from_right_quoted(element, b';').find_map(|pair| value_of(pair, b"host="))
        }
    }
}

/// Returns the entry `count` places left of the peer.
fn hop<'h>(count: u8, mut entries: impl Iterator<Item = &'h [u8]>) -> Option<IpAddr> {
    let places = usize::from(count).checked_sub(1)?;
    parse_address(entries.nth(places)?)
}

/// Returns the first address outside of the networks, from the peer to the
/// left.
fn first_untrusted<'h>(
    networks: &Networks,
    peer: Option<IpAddr>,
    entries: impl Iterator<Item = &'h [u8]>,
) -> Option<IpAddr> {
    let peer = peer.filter(|peer| networks.contains(peer))?;
    walk(networks, Some(peer), entries)
}

/// Returns the first entry outside of the networks. If all are inside, returns
/// the last one, or `peer` if there are no entries.
fn walk<'h>(
    networks: &Networks,
    peer: Option<IpAddr>,
    entries: impl Iterator<Item = &'h [u8]>,
) -> Option<IpAddr> {
    let mut last = peer;
    for entry in entries {
        let address = parse_address(entry)?;
        last = Some(address);
        if !networks.contains(&address) {
            break;
        }
    }
    last
}

/// Returns the entries of `X-Forwarded-For` in reverse order.
fn x_forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(X_FORWARDED_FOR).into_iter().rev().map(HeaderValue::as_bytes);
    lines.flat_map(|line| from_right(line, b',')).filter(|entry| !entry.is_empty())
}

/// Returns the values of `for` in `Forwarded` in reverse order; empty for an
/// element without `for`.
fn forwarded(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(FORWARDED).into_iter().rev().map(HeaderValue::as_bytes);
    let elements = lines.flat_map(|line| from_right_quoted(line, b','));
    elements
        .filter(|element| !element.is_empty())
        .map(|element| value_of_for(element).unwrap_or_default())
}

/// Returns the value of `for` in an element.
fn value_of_for(element: &[u8]) -> Option<&[u8]> {
    from_right_quoted(element, b';').find_map(|pair| value_of(pair, b"for="))
}

/// Returns the value of a `name=value` or `name="value"`.
fn value_of<'h>(pair: &'h [u8], start: &[u8]) -> Option<&'h [u8]> {
    let (name, value) = pair.split_at_checked(start.len())?;
    if !name.eq_ignore_ascii_case(start) {
        return None;
    }
    let inside = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    Some(inside.unwrap_or(value))
}

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests;
