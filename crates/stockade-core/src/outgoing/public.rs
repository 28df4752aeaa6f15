//! [`is_public`]: the addresses that anybody on the internet can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns true if an address belongs to the public internet. Returns false for
/// private, shared, local, multicast, documentation and reserved addresses, and
/// for every address in a range of protocol assignments.
///
/// An IPv4 address inside an IPv6 address is checked too: IPv4-mapped
/// (`::ffff:127.0.0.1`) and NAT64 (`64:ff9b::127.0.0.1`). Deprecated forms such
/// as 6to4 and Teredo are never public. A network with its own NAT64 prefix must
/// reject that prefix by
/// [`OutgoingGuard::deny`](super::OutgoingGuard::deny).
///
/// ```
/// use stockade::outgoing::is_public;
///
/// let check = |address: &str| is_public(address.parse().unwrap());
/// assert!(check("93.184.215.14") && check("2606:2800:21f:cb07:6820:80da:af6b:8b2c"));
/// assert!(!check("10.0.0.1") && !check("169.254.169.254") && !check("::ffff:10.0.0.1"));
/// ```
///
/// Source: the IANA registries of IPv4 and IPv6 special-purpose addresses (RFC
/// 6890); RFC 6052 (NAT64); RFC 4291, section 2.5.5 (IPv4-mapped).
#[doc(alias = "ssrf")]
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !SPECIAL_V4
        .iter()
        .any(|(network, length)| bits >> (32 - length) == network.to_bits() >> (32 - length))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let bits = address.to_bits();
    let is_in = |(network, length): &(Ipv6Addr, u32)| {
        bits >> (128 - length) == network.to_bits() >> (128 - length)
    };
    // All other ranges are special or unassigned.
    is_in(&GLOBAL_UNICAST) && !SPECIAL_V6.iter().any(is_in)
}

/// Returns the IPv4 address that an IPv6 address stands for.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let is_nat64 = [a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0];
    let inner = || Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    address.to_ipv4_mapped().or_else(|| is_nat64.then(inner))
}

/// The special ranges of IPv4, each with the length of its prefix.
///
/// Source: IANA IPv4 Special-Purpose Address Registry; IANA IPv4 Multicast
/// Address Space Registry.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    // This network (RFC 791); Linux connects to itself at 0.0.0.0.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private use (RFC 1918).
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared address space of carriers (RFC 6598).
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback (RFC 1122).
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link local (RFC 3927), and the metadata services of clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments (RFC 6890), also the two reachable anycast addresses.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation (RFC 5737).
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays of 6to4, deprecated (RFC 7526).
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks (RFC 2544).
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast (RFC 5771).
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved (RFC 1112), and the limited broadcast (RFC 919).
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    // The platform service of Azure, which only its machines reach.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// The range of global unicast addresses (RFC 4291, section 2.4). Loopback,
/// unique local, link local, multicast, discard and translated addresses are
/// outside.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The special ranges inside of [`GLOBAL_UNICAST`].
///
/// Source: IANA IPv6 Special-Purpose Address Registry.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments (RFC 2928), with Teredo, benchmarks and ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation (RFC 3849, RFC 9637).
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // 6to4, which contains an IPv4 address (RFC 3056), deprecated.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &str, expected: bool) {
        for address in addresses.split(' ') {
            let parsed: IpAddr = address.parse().unwrap();
            assert_eq!(is_public(parsed), expected, "{address}");
        }
    }

    /// The first and the last address of each range in the IANA registry of
    /// IPv4.
    #[test]
    fn special_ranges_of_ipv4_are_not_public() {
        check(
            "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 \
             127.0.0.0 127.255.255.255 169.254.0.0 169.254.169.254 169.254.255.255 \
             172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.255 \
             192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255 192.168.0.0 \
             192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 \
             203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 \
             255.255.255.255 168.63.129.16",
            false,
        );
    }

    /// The neighbors of the ranges.
    #[test]
    fn other_addresses_of_ipv4_are_public() {
        check(
            "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 \
             126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 \
             172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 \
             192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 \
             198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 \
             8.8.8.8 168.63.129.17",
            true,
        );
    }

    /// The ranges in the IANA registry of IPv6, and ranges outside of global
    /// unicast.
    #[test]
    fn special_ranges_of_ipv6_are_not_public() {
        check(
            ":: ::1 ::2 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b:1:: 64:ff9b:1::8.8.8.8 \
             100:: 100:0:0:1:: 2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 \
             2001:2:: 2001:10:: 2001:1ff:ffff:: 2001:db8:: 2001:db8:ffff::1 2002:: \
             2002:7f00:1:: 2002:808:808:: 3fff:: 3fff:fff::1 4000:: 5f00:: fc00:: \
             fd00::1 fe80::1 fec0::1 ff02::1 1fff::",
            false,
        );
    }

    #[test]
    fn global_unicast_addresses_are_public() {
        check(
            "2000::1 2001:200:: 2001:4860:4860::8888 2001:db7:: 2001:db9:: 2003::1 \
             2606:4700:4700::1111 2620:fe::fe 3ffe::1 3fff:1000::1",
            true,
        );
    }

    #[test]
    fn an_ipv4_address_in_an_ipv6_address_decides() {
        check("::ffff:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::808:808", true);
        check(
            "::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 64:ff9b::127.0.0.1 \
             64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe",
            false,
        );
    }
}
