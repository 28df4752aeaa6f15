//! [`client_address`]: the trusted hop of a chain of proxies.
//!
//! Hot: nothing is allocated, and without a trusted proxy no header is read.
//!
//! Spec: Limits › Client identity; Without `trustProxy` behind a proxy.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName, HeaderValue};
use ipnet::IpNet;

use super::address::parse_address;
use super::list::{from_right, from_right_quoted};
use super::trust::{Header, TrustProxy, Trusted};

/// The address of the client; `peer` is the other end of the connection, if the
/// host knows it.
///
/// - Nobody trusted: the peer.
/// - A number of proxies: the lines of the header are joined, empty items are
///   left out, and the client is the entry that many places left of the peer.
///   If the list is shorter, the peer: a short chain must not let a client
///   choose its address.
/// - Networks: from the peer to the left, the first address that is not in one
///   of them; the leftmost one if all are. Without a peer there is nobody to
///   trust.
///
/// Without a peer no header is believed, and there is no address.
///
/// What is not an address is the peer. An IPv4-mapped address is an IPv4
/// address. In `Forwarded` an element without `for` is an entry that is not an
/// address.
///
/// Spec: Limits › Client identity.
#[must_use]
pub fn client_address(
    peer: Option<IpAddr>,
    headers: &HeaderMap,
    trust: &TrustProxy,
) -> Option<IpAddr> {
    let peer = peer.map(|peer| peer.to_canonical());
    let found = match (&trust.trusted, trust.header) {
        // Nobody is at the other end whom a header could be believed from.
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

/// Warns when `X-Forwarded-For` or `Forwarded` arrives and no proxy is trusted:
/// then all clients behind a proxy share one address.
///
/// It warns once for each `warned`, which is one flag for a process. Gives
/// whether it did.
///
/// Spec: Limits › Without `trustProxy` behind a proxy.
pub fn warn_untrusted(headers: &HeaderMap, trust: &TrustProxy, warned: &AtomicBool) -> bool {
    if trust.is_set() || warned.load(Ordering::Relaxed) {
        return false;
    }
    // A look at each name costs less than the hashes of two.
    if !headers.keys().any(|name| *name == X_FORWARDED_FOR || *name == FORWARDED) {
        return false;
    }
    if warned.swap(true, Ordering::Relaxed) {
        return false;
    }
    log::warn!(
        target: "stockade",
        "a request came through a proxy, and trust_proxy is not set: all clients behind it count \
         as one",
    );
    true
}

/// The entry `count` places left of the peer.
fn hop<'h>(count: u8, mut entries: impl Iterator<Item = &'h [u8]>) -> Option<IpAddr> {
    let places = usize::from(count).checked_sub(1)?;
    parse_address(entries.nth(places)?)
}

/// The first address, from the peer to the left, that is not in a network.
fn first_untrusted<'h>(
    networks: &[IpNet],
    peer: Option<IpAddr>,
    entries: impl Iterator<Item = &'h [u8]>,
) -> Option<IpAddr> {
    let is_trusted = |ip: &IpAddr| networks.iter().any(|network| network.contains(ip));
    let mut last = peer.filter(is_trusted)?;
    for entry in entries {
        last = parse_address(entry)?;
        if !is_trusted(&last) {
            break;
        }
    }
    Some(last)
}

/// The entries of `X-Forwarded-For`, last one first.
fn x_forwarded_for(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(X_FORWARDED_FOR).into_iter().rev().map(HeaderValue::as_bytes);
    lines.flat_map(|line| from_right(line, b',')).filter(|entry| !entry.is_empty())
}

/// The values of `for` in `Forwarded`, last one first; empty without a `for`.
fn forwarded(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(FORWARDED).into_iter().rev().map(HeaderValue::as_bytes);
    let elements = lines.flat_map(|line| from_right_quoted(line, b','));
    elements
        .filter(|element| !element.is_empty())
        .map(|element| from_right_quoted(element, b';').find_map(value_of_for).unwrap_or_default())
}

/// The value of a `for=value` or `for="value"`.
fn value_of_for(pair: &[u8]) -> Option<&[u8]> {
    let (name, value) = pair.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case(b"for=") {
        return None;
    }
    let inside = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    Some(inside.unwrap_or(value))
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests;
