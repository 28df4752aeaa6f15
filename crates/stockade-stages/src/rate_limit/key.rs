//! [`RateKey`]: the client that is charged for a request.
// Spec: Limits › Client identity.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use stockade_core::client::client_network;

/// The client that is charged for a request.
///
/// Different kinds of keys have different texts, for stores with text keys.
///
/// ```
/// use std::net::IpAddr;
///
/// use stockade::middleware::rate_limit::RateKey;
///
/// let key = |ip: &str| RateKey::from(ip.parse::<IpAddr>().unwrap());
/// assert_eq!(key("2001:db8::1"), key("2001:db8::2"));
/// assert_ne!(key("2001:db8:0:1::1"), key("2001:db8::1"));
/// assert_eq!(key("::ffff:203.0.113.7"), key("203.0.113.7"));
/// assert_eq!(key("203.0.113.7").to_string(), "ip:203.0.113.7");
/// assert_eq!(key("2001:db8::1").to_string(), "ip:2001:db8::/64");
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RateKey(pub(super) Kind);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    Version4(u32),
    /// The upper half of an address, because a client controls the whole lower
    /// half.
    Version6(u64),
    Text(Box<str>),
    Shared,
}

impl RateKey {
    /// Creates an application key, such as the id of a user.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// Returns the shared key of all requests without a known client.
    #[must_use]
    pub fn shared() -> Self {
        Self(Kind::Shared)
    }
}

/// Creates a key from an address. An IPv6 address counts as its network of 64
/// bits, an IPv4-mapped address as IPv4.
impl From<IpAddr> for RateKey {
    fn from(address: IpAddr) -> Self {
        match client_network(address) {
            IpAddr::V4(address) => Self(Kind::Version4(address.to_bits())),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self(Kind::Version6(u64::from_be_bytes([a, b, c, d, e, f, g, h])))
            }
        }
    }
}

/// Creates a key from the client's address, or returns the shared key.
impl From<Option<IpAddr>> for RateKey {
    fn from(address: Option<IpAddr>) -> Self {
        address.map_or_else(Self::shared, Self::from)
    }
}

impl fmt::Display for RateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Version4(bits) => write!(f, "ip:{}", Ipv4Addr::from_bits(*bits)),
            Kind::Version6(network) => {
                write!(f, "ip:{}/64", Ipv6Addr::from_bits(u128::from(*network) << 64))
            }
            Kind::Text(text) => write!(f, "key:{text}"),
            Kind::Shared => f.write_str("shared"),
        }
    }
}
