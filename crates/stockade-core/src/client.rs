//! Tables that count something for each client.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

/// Returns the address by which limits know a client: an IPv4 address, also of
/// one that is mapped to IPv6, or the network of an IPv6 address. One client has
/// a network of 64 bits to itself.
#[must_use]
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Gives the unused memory of a map back when less than a quarter is in use, and
/// returns true then. The map keeps room for twice its entries, so that this is
/// rare.
pub fn shrink_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>) -> bool {
    let is_roomy = map.capacity() > MIN_CAPACITY && map.len() * 4 < map.capacity();
    if is_roomy {
        map.shrink_to(map.len() * 2);
    }
    is_roomy
}

/// Maps with room for this many entries stay as they are.
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
