//! Entries of address lists (nodes in RFC 7239, section 6): an address with or
//! without port, brackets and zone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the address of an entry, or `None` if the text is not an address.
///
/// Accepts `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:4711`, and removes a zone (`fe80::1%eth0`). An IPv4-mapped
/// address becomes an IPv4 address.
pub(super) fn parse_address(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?;
    if let Some(rest) = entry.strip_prefix('[') {
        let (inside, port) = rest.split_once(']')?;
        let port_is_fine = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return if port_is_fine { version_6(inside) } else { None };
    }
    match entry.split_once(':') {
        None => version_4(entry),
        Some((host, port)) if is_port(port) && host.contains('.') => version_4(host),
        Some(_) => version_6(entry),
    }
}

fn version_4(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

fn version_6(text: &str) -> Option<IpAddr> {
    let address = match text.split_once('%') {
        Some((_, "")) => return None,
        Some((address, _)) => address,
        None => text,
    };
    address.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical())
}

fn is_port(text: &str) -> bool {
    // `str::parse::<u16>` accepts a leading `+`; a port does not.
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entry: &str, expected: &str) {
        let actual =
            parse_address(entry.as_bytes()).map_or_else(|| "-".into(), |ip| ip.to_string());
        assert_eq!(actual, expected, "{entry:?}");
    }

    #[test]
    fn ports_brackets_and_zones_are_removed() {
        check("203.0.113.7", "203.0.113.7");
        check("203.0.113.7:0", "203.0.113.7");
        check("203.0.113.7:65535", "203.0.113.7");
        check("2001:db8::1", "2001:db8::1");
        check("[2001:db8::1]", "2001:db8::1");
        check("[2001:db8::1]:4711", "2001:db8::1");
        check("fe80::1%eth0", "fe80::1");
        check("[fe80::1%25eth0]:80", "fe80::1");
    }

    #[test]
    fn a_mapped_address_is_ipv4() {
        check("::ffff:203.0.113.7", "203.0.113.7");
        check("[::ffff:cb00:7107]:80", "203.0.113.7");
        check("::203.0.113.7", "::cb00:7107");
    }

    #[test]
    fn malformed_addresses_are_none() {
        for entry in [
            "",
            "unknown",
            "_hidden",
            "example.org",
            "203.0.113",
            "203.0.113.7.1",
            "0x7f.1",
            "203.0.113.07",
            "203.0.113.7:",
            "203.0.113.7:65536",
            "203.0.113.7:+80",
            "203.0.113.7:_x",
            "203.0.113.7%eth0",
            "[203.0.113.7]",
            "[2001:db8::1",
            "[::1]80",
            "[::1]:",
            "[::1]:x",
            "2001:db8::1::",
            "fe80::1%",
            "1.2.3.4 5.6.7.8",
            "203.0.113.7\0",
            "12345::",
        ] {
            check(entry, "-");
        }
        assert_eq!(parse_address(b"203.0.113.\xff"), None);
    }
}
