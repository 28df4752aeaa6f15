//! The client's address behind trusted proxies.
//!
//! A proxy appends the address that it saw to `X-Forwarded-For`, so the list is
//! read from the right, and only as far as proxies are trusted: what stands
//! further left was written by the client.
//!
//! ```
//! use http::HeaderMap;
//! use stockade_middleware::TrustProxy;
//! use stockade_middleware::__internal::client_address;
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("x-forwarded-for", "1.1.1.1, 203.0.113.7".parse()?);
//! let proxy = Some("10.0.0.1".parse()?);
//! assert_eq!(client_address(proxy, &headers, &TrustProxy::none()), proxy);
//! let client = client_address(proxy, &headers, &TrustProxy::hops(1));
//! assert_eq!(client, Some("203.0.113.7".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! - `trust`: [`TrustProxy`], the trusted proxies and the header that they
//!   write.
//! - `client`: [`client_address`], and [`warn_untrusted`].
//! - `list`: lists that are read from the right, with quotes respected.
//! - `address`: one entry of a list (a node of RFC 7239).
//!
//! Spec: Router options › `trustProxy`; Limits › Client identity.

mod address;
mod client;
mod list;
mod trust;

pub use client::{client_address, warn_untrusted};
pub use trust::TrustProxy;
