//! The client's address behind trusted proxies.
//!
//! A proxy appends the address of its client to `X-Forwarded-For`. The list is
//! therefore read from the right, and only as far as proxies are trusted. The
//! client may have written the entries further left.
// Spec: Router options › `trustProxy`; Limits › Client identity.

// Files:
// - `trust`: `TrustProxy`, the trusted proxies and the header that they write.
// - `client`: `client_address`, `client_behind_local_peer` and
//   `warn_untrusted`.
// - `list`: lists that are read from the right, with support for quotes.
// - `address`: one entry of a list (a node of RFC 7239).

mod address;
mod client;
mod list;
mod trust;

use std::net::IpAddr;

pub use client::{client_address, client_behind_local_peer, forwarded_host, warn_untrusted};
pub use trust::TrustProxy;

/// Returns the configured trusted proxies: `1`, or networks such as
/// `10.0.0.0/8`. The list is empty if no proxy is trusted.
#[must_use]
pub fn trusted_proxies(trust: &TrustProxy) -> Vec<String> {
    trust.texts()
}

/// Returns true if a peer is a trusted proxy. `None` is a peer without an
/// address.
#[must_use]
pub fn is_trusted(trust: &TrustProxy, peer: Option<IpAddr>) -> bool {
    trust.trusts(peer)
}
