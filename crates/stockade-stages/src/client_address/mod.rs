//! The client's address behind trusted proxies.
//!
//! A proxy appends the address that it saw to `X-Forwarded-For`, so the list is
//! read from the right, and only as far as proxies are trusted. The entries
//! further left were written by the client.
//!
//! Spec: Router options › `trustProxy`; Limits › Client identity.

// Where things are:
// - `trust`: `TrustProxy`, the trusted proxies and the header that they
//   write.
// - `client`: `client_address`, `client_behind_local_peer` and
//   `warn_untrusted`.
// - `list`: lists that are read from the right, with quotes respected.
// - `address`: one entry of a list (a node of RFC 7239).

mod address;
mod client;
mod list;
mod trust;

use std::net::IpAddr;

pub use client::{client_address, client_behind_local_peer, forwarded_host, warn_untrusted};
pub use trust::TrustProxy;

/// Returns the proxies that are trusted, as they were configured: `1`, or
/// `10.0.0.0/8` and others; none where nobody is believed.
#[must_use]
pub fn trusted_proxies(trust: &TrustProxy) -> Vec<String> {
    trust.texts()
}

/// Returns true if a peer is one of the trusted proxies. A peer without an address is
/// `None`.
#[must_use]
pub fn is_trusted(trust: &TrustProxy, peer: Option<IpAddr>) -> bool {
    trust.trusts(peer)
}
