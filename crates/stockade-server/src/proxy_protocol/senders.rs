//! [`Senders`]: the peers that must send a header.

use std::net::IpAddr;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use stockade_core::Setting;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_stages::TrustProxy;
use stockade_stages::client_address_internals::is_trusted;

/// The load balancers that must send a header. Empty by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Senders {
    networks: TrustProxy,
    /// The errors in the list, which [`ServerOptions`](crate::ServerOptions) reports.
    error: Option<ConfigError>,
}

impl Senders {
    /// Parses a list of networks. An invalid list is an [issue](Self::issues).
    pub(crate) fn new<N: AsRef<str>>(networks: impl IntoIterator<Item = N>) -> Self {
        match TrustProxy::networks(networks) {
            Ok(networks) => Self { networks, error: None },
            Err(error) => Self { networks: TrustProxy::none(), error: Some(error) },
        }
    }

    /// Returns the load balancers from an option. `true` is an
    /// [issue](Self::issues), because it would trust every client.
    pub(crate) fn of(option: Setting<Vec<String>>) -> Self {
        match option {
            Setting::Value(networks) => Self::new(networks),
            Setting::Off | Setting::Inherit => Self::default(),
            Setting::On => {
                let error = ConfigIssue::new("true would trust every client: list the networks");
                Self { error: Some(error.into()), ..Self::default() }
            }
        }
    }

    /// Returns true if a peer must send a header. A peer without an address is `None`.
    pub(crate) fn contains(&self, peer: Option<IpAddr>) -> bool {
        is_trusted(&self.networks, peer)
    }

    /// Returns all errors in the list.
    pub(crate) fn issues(&self) -> impl Iterator<Item = ConfigIssue> {
        let issues = self.error.iter().flat_map(ConfigError::issues);
        issues.map(|issue| {
            ConfigIssue::new(format!("the server's proxy_protocol: {}", issue.message()))
        })
    }
}

/// Accepts a list of networks, or `false`.
impl<'de> Deserialize<'de> for Senders {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let networks = match Notation::deserialize(source)? {
            Notation::Switch(false) => return Ok(Self::default()),
            Notation::Switch(true) => {
                return Err(D::Error::invalid_value(Unexpected::Bool(true), &EXPECTED));
            }
            Notation::Networks(networks) => networks,
        };
        let networks = TrustProxy::networks(networks).map_err(D::Error::custom)?;
        Ok(Self { networks, error: None })
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "the networks of the load balancers, or false")]
enum Notation {
    Switch(bool),
    Networks(Vec<String>),
}

/// The message does not suggest `true`, which would trust every client.
const EXPECTED: &str = "the networks of the load balancers, or false";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, peer: Option<&str>, expected: Result<bool, &str>) {
        let peer = peer.map(|peer| peer.parse().unwrap());
        let read = serde_json::from_str::<Senders>(json);
        let found = read.map(|senders| senders.contains(peer)).map_err(|error| error.to_string());
        match (&found, expected) {
            (Err(error), Err(expected)) => assert!(error.starts_with(expected), "{json}: {error}"),
            (found, expected) => assert_eq!(found.clone().ok(), expected.ok(), "{json}: {found:?}"),
        }
    }

    #[test]
    fn reads_networks_or_false_from_a_file() {
        check(r#"["10.0.0.0/8"]"#, Some("10.1.2.3"), Ok(true));
        check(r#"["10.0.0.0/8"]"#, Some("::ffff:10.1.2.3"), Ok(true));
        check(r#"["10.0.0.0/8"]"#, Some("192.0.2.1"), Ok(false));
        check(r#"["10.0.0.0/8"]"#, None, Ok(false));
        check(r#"["unix:"]"#, None, Ok(true));
        check(r#"["::1"]"#, Some("::1"), Ok(true));
        check("[]", Some("10.1.2.3"), Ok(false));
        check("false", Some("10.1.2.3"), Ok(false));
        let expected = "the networks of the load balancers, or false";
        check("true", None, Err("invalid value: boolean `true`, expected the networks"));
        check("1", None, Err(expected));
        check(r#""10.0.0.0/8""#, None, Err(expected));
        check(r#"["private"]"#, None, Err(r#""private" is not a network"#));
    }
}
