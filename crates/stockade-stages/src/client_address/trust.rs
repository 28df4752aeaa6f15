//! [`TrustProxy`]: the trusted proxies and the header that they write.
// Spec: Router options › `trustProxy`.

use ipnet::{IpNet, Ipv4Net};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::net::IpAddr;

use stockade_errors::{ConfigError, ConfigIssue};

/// The trusted proxies between the clients and the application.
///
/// By default no proxy is trusted: the client is the other end of the
/// connection.
///
/// In code, use `trust_proxy(2)`, `trust_proxy(true)`,
/// `trust_proxy(["10.0.0.0/8"])` or `trust_proxy(false)`. In a configuration
/// file it is a number, `true`, a list of networks, or `false`.
///
/// ```
/// use stockade::middleware::TrustProxy;
///
/// assert_eq!(TrustProxy::from(true), TrustProxy::hops(1));
/// assert_eq!(TrustProxy::from(false), TrustProxy::none());
/// assert_eq!(Ok(TrustProxy::from(["::1"])), TrustProxy::networks(["::1"]));
/// assert!(TrustProxy::networks(["10.0.0.0/8", "here"]).is_err());
/// ```
// Spec: Router options › `trustProxy`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[doc(alias = "trustProxy")]
pub struct TrustProxy {
    pub(super) trusted: Trusted,
    pub(super) header: Header,
    /// The invalid networks, which the router or the server reports.
    malformed: Vec<String>,
}

/// The rule for trusted proxies.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) enum Trusted {
    #[default]
    Nobody,
    /// This many proxies. Invariant: not 0.
    Hops(u8),
    /// Every proxy in these networks.
    Networks(Networks),
}

/// The networks of trusted proxies.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Networks {
    pub(super) list: Vec<IpNet>,
    /// True if peers without an address, as on a Unix socket, are trusted.
    pub(super) local: bool,
}

impl Networks {
    /// Returns true if an address is in one of the networks.
    pub(super) fn contains(&self, address: &IpAddr) -> bool {
        self.list.iter().any(|network| network.contains(address))
    }
}

/// The header that the proxies write.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Header {
    #[default]
    XForwardedFor,
    Forwarded,
}

impl TrustProxy {
    /// Trusts no proxy: the client is the peer of the connection.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Trusts exactly this number of proxies; every request must pass through
    /// all of them. 0 is the same as [`none`](Self::none).
    #[must_use]
    pub fn hops(count: u8) -> Self {
        let trusted = if count == 0 { Trusted::Nobody } else { Trusted::Hops(count) };
        Self { trusted, ..Self::default() }
    }

    /// Trusts every proxy in these networks, for requests that pass through a
    /// varying number of proxies. A single address is a network of one, and
    /// `unix:` means every peer without an address, as on a Unix socket.
    ///
    /// An empty list trusts no proxy.
    ///
    /// # Errors
    /// Fails for any other text that is neither an address nor
    /// `<address>/<prefix length>`, and for a network that is only partly
    /// IPv4-mapped.
    pub fn networks<N: AsRef<str>>(
        networks: impl IntoIterator<Item = N>,
    ) -> Result<Self, ConfigError> {
        let read = Self::read(networks);
        read.check()?;
        Ok(read)
    }

    fn read<N: AsRef<str>>(networks: impl IntoIterator<Item = N>) -> Self {
        let (mut read, mut malformed) = (Networks::default(), Vec::new());
        for text in networks {
            let text = text.as_ref();
            match network(text) {
                Some(network) => read.list.push(network),
                None if text == UNIX => read.local = true,
                None => malformed.push(text.to_owned()),
            }
        }
        let is_empty = read == Networks::default();
        let trusted = if is_empty { Trusted::Nobody } else { Trusted::Networks(read) };
        Self { trusted, malformed, ..Self::default() }
    }

    /// Returns an error with every text that is not a network.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), ConfigError> {
        let mistake = |text: &String| ConfigIssue::new(format!("{text:?} is not a network"));
        ConfigError::check(self.malformed.iter().map(mistake).collect())
    }

    /// Reads the header `Forwarded` (RFC 7239) instead of `X-Forwarded-For`.
    ///
    /// Only one of the two is ever read, because a proxy forwards the other one
    /// as the client wrote it.
    #[must_use]
    pub fn forwarded(mut self) -> Self {
        self.header = Header::Forwarded;
        self
    }

    /// Returns true if a peer without an address, as on a Unix socket, is trusted.
    #[must_use]
    pub fn trusts_local_peer(&self) -> bool {
        match &self.trusted {
            Trusted::Nobody => false,
            Trusted::Hops(_) => true,
            Trusted::Networks(networks) => networks.local,
        }
    }

    /// Returns true if a peer is trusted. `None` is a peer without an address.
    pub(super) fn trusts(&self, peer: Option<IpAddr>) -> bool {
        match (&self.trusted, peer) {
            (Trusted::Nobody, _) => false,
            (Trusted::Hops(_), _) => true,
            (Trusted::Networks(networks), None) => networks.local,
            (Trusted::Networks(networks), Some(peer)) => networks.contains(&peer.to_canonical()),
        }
    }

    /// Returns the trusted proxies as text: a number, or networks.
    pub(super) fn texts(&self) -> Vec<String> {
        match &self.trusted {
            Trusted::Nobody => Vec::new(),
            Trusted::Hops(count) => vec![count.to_string()],
            Trusted::Networks(networks) => {
                let local = networks.local.then(|| UNIX.to_owned());
                networks.list.iter().map(ToString::to_string).chain(local).collect()
            }
        }
    }

    /// Returns true if any proxy is trusted.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.trusted != Trusted::Nobody
    }
}

/// A number of proxies.
impl From<u8> for TrustProxy {
    fn from(count: u8) -> Self {
        Self::hops(count)
    }
}

/// `true` is one proxy.
impl From<bool> for TrustProxy {
    fn from(one: bool) -> Self {
        Self::hops(u8::from(one))
    }
}

/// The addresses and networks of proxies. An invalid one is a configuration
/// error of the router or the server.
impl<T: AsRef<str>, const N: usize> From<[T; N]> for TrustProxy {
    fn from(networks: [T; N]) -> Self {
        Self::read(networks)
    }
}

/// The addresses and networks of proxies. An invalid one is a configuration
/// error of the router or the server.
impl<T: AsRef<str>> From<Vec<T>> for TrustProxy {
    fn from(networks: Vec<T>) -> Self {
        Self::read(networks)
    }
}

impl<'de> Deserialize<'de> for TrustProxy {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        match TrustProxyNotation::deserialize(source)? {
            TrustProxyNotation::One(one) => Ok(one.into()),
            TrustProxyNotation::Hops(count) => Ok(count.into()),
            TrustProxyNotation::Networks(list) => Self::networks(list).map_err(D::Error::custom),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number of proxies from 0 to 255, true, false, or networks")]
enum TrustProxyNotation {
    One(bool),
    Hops(u8),
    Networks(Vec<String>),
}

fn network(text: &str) -> Option<IpNet> {
    match text.parse::<IpAddr>() {
        Ok(address) => Some(address.to_canonical().into()),
        Err(_) => canonical(text.parse().ok()?),
    }
}

/// Converts a network of IPv4-mapped addresses to IPv4, because addresses are
/// compared in their shortest form. Returns `None` if the network is only
/// partly IPv4-mapped.
fn canonical(network: IpNet) -> Option<IpNet> {
    let IpAddr::V4(address) = network.addr().to_canonical() else {
        return Some(network);
    };
    let beyond = network.max_prefix_len().checked_sub(IPV4_BITS)?;
    let length = network.prefix_len().checked_sub(beyond)?;
    Ipv4Net::new(address, length).ok().map(IpNet::from)
}

/// The text for peers without an address, as in nginx (`set_real_ip_from`).
const UNIX: &str = "unix:";

const IPV4_BITS: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<&TrustProxy>) {
        let read = serde_json::from_str::<TrustProxy>(json).ok();
        assert_eq!(read.as_ref(), expected, "{json}");
    }

    #[test]
    fn is_read_from_a_number_a_boolean_or_networks() {
        check("0", Some(&TrustProxy::none()));
        check("2", Some(&TrustProxy::hops(2)));
        check("true", Some(&TrustProxy::hops(1)));
        check("false", Some(&TrustProxy::none()));
        check("[]", Some(&TrustProxy::none()));
        check(r#"["10.0.0.0/8"]"#, TrustProxy::networks(["10.0.0.0/8"]).ok().as_ref());
        check(r#"["unix:"]"#, TrustProxy::networks(["unix:"]).ok().as_ref());
        for json in ["-1", "256", "1.5", r#""1""#, r#"["10.0.0.0/33"]"#, "[1]", "{}"] {
            check(json, None);
        }
    }

    #[test]
    fn a_network_of_mapped_addresses_is_an_ipv4_network() {
        for (text, expected) in [
            ("::ffff:10.0.0.0/104", Some("10.0.0.0/8")),
            ("::ffff:a01:203/128", Some("10.1.2.3/32")),
            ("::ffff:0:0/96", Some("0.0.0.0/0")),
            ("::ffff:0:0/95", None),
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("::/0", Some("::/0")),
            ("fd00::/8", Some("fd00::/8")),
        ] {
            let actual = network(text).map(|network| network.to_string());
            assert_eq!(actual.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_peer_without_an_address_is_trusted_by_number_or_by_name() {
        let networks = |list: &[&str]| TrustProxy::networks(list).unwrap();
        for (trust, expected) in [
            (TrustProxy::none(), false),
            (TrustProxy::hops(1), true),
            (networks(&["0.0.0.0/0", "::/0"]), false),
            (networks(&["10.0.0.0/8", "unix:"]), true),
            (networks(&["unix:"]), true),
        ] {
            assert_eq!(trust.trusts_local_peer(), expected, "{trust:?}");
            assert_eq!(trust.is_set(), trust != TrustProxy::none());
        }
        assert!(TrustProxy::networks(["unix:/run/proxy.sock"]).is_err());
    }

    #[test]
    fn trusts_peers_by_network_in_either_notation_of_ipv4() {
        let trust = TrustProxy::networks(["10.0.0.0/8", "fd00::/8"]).unwrap();
        for (peer, expected) in [
            (Some("10.1.2.3"), true),
            (Some("::ffff:10.1.2.3"), true),
            (Some("fd00::1"), true),
            (Some("11.0.0.1"), false),
            (Some("::ffff:11.0.0.1"), false),
            (Some("::1"), false),
            (None, false),
        ] {
            let peer = peer.map(|peer| peer.parse().unwrap());
            assert_eq!(trust.trusts(peer), expected, "{peer:?}");
            assert!(!TrustProxy::none().trusts(peer));
            assert!(TrustProxy::hops(1).trusts(peer));
        }
        assert!(TrustProxy::networks(["unix:"]).unwrap().trusts(None));
    }

    #[test]
    fn texts_describe_the_trusted_proxies() {
        let networks = TrustProxy::networks(["unix:", "10.0.0.0/8", "::1"]).unwrap();
        assert_eq!(networks.texts(), ["10.0.0.0/8", "::1/128", "unix:"]);
        assert_eq!(TrustProxy::hops(2).forwarded().texts(), ["2"]);
        assert_eq!(TrustProxy::none().texts(), [""; 0]);
    }

    #[test]
    fn reports_all_malformed_networks_together() {
        let error = TrustProxy::networks(["10.0.0.0/8", "private", "::1/129"]).unwrap_err();
        let messages: Vec<_> = error.issues().iter().map(ConfigIssue::message).collect();
        assert_eq!(messages, [r#""private" is not a network"#, r#""::1/129" is not a network"#]);
    }
}
