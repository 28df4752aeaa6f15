//! Keys and tables for counters of individual clients.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

/// Returns the address that identifies a client for limits: an IPv4 address,
/// even if it is mapped to IPv6, or an IPv6 network. A single client usually
/// has a whole 64-bit network.
#[must_use]
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Shrinks a map if less than a quarter of it is in use, and returns true if it
/// did. The map keeps room for twice its entries, so it rarely shrinks.
pub fn shrink_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>) -> bool {
    let is_roomy = map.capacity() > MIN_CAPACITY && map.len() * 4 < map.capacity();
    if is_roomy {
        map.shrink_to(map.len() * 2);
    }
    is_roomy
}

/// Maps with room for this many entries do not shrink.
const MIN_CAPACITY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &str) {
        let network = client_network(address.parse().unwrap());
        assert_eq!(network, expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn a_client_is_an_address_or_a_network_of_64_bits() {
        check("203.0.113.7", "203.0.113.7");
        check("::ffff:203.0.113.7", "203.0.113.7");
        check("2001:db8::1", "2001:db8::");
        check("2001:db8:0:1:ffff::1", "2001:db8:0:1::");
    }
}
