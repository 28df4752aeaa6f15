//! [`parse`]: the header parser, a pure function.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The client of a connection, according to its header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    /// The load balancer forwards a connection from this address. An
    /// IPv4-mapped address becomes an IPv4 address, because address rules are
    /// written in that form.
    Address(SocketAddr),
    /// The header does not contain a usable address, so the peer of the
    /// connection counts. This applies to `LOCAL`, such as a health check by
    /// the load balancer itself, and to `UNKNOWN`. It also applies to clients
    /// that reach the load balancer through a Unix socket, or through a
    /// transport other than TCP (sections 2.1 and 2.2).
    Peer,
}

/// The result of parsing the first bytes of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Parsed {
    /// The bytes are a complete header.
    Complete(Source),
    /// The bytes begin a header that has at least this many more bytes; never
    /// 0.
    Incomplete { missing: usize },
}

/// Parses the first bytes of a connection. They must not extend beyond the
/// header: see [`Parsed::Incomplete`].
///
/// # Errors
/// Returns the reason if no header begins with these bytes. Section 2.1
/// recommends to "abort the connection as soon as possible", so most errors are
/// detected before the end of the header.
pub(crate) fn parse(seen: &[u8]) -> Result<Parsed, &'static str> {
    match seen.first() {
        None => Ok(Parsed::Incomplete { missing: SHORTEST.len() }),
        Some(b'P') => parse_text(seen),
        Some(_) => parse_binary(seen),
    }
}

/// Parses a header of version 1, a line of text.
///
/// Source: section 2.1.
fn parse_text(seen: &[u8]) -> Result<Parsed, &'static str> {
    if !agree(seen, TEXT) {
        return Err(NO_HEADER);
    }
    let protocol = seen.get(TEXT.len()..).unwrap_or_default();
    if ![TCP4, TCP6, UNKNOWN].iter().any(|known| agree(protocol, known)) {
        return Err("the protocol is not TCP4, TCP6 or UNKNOWN");
    }
    let Some(line) = seen.strip_suffix(b"\n") else {
        if seen.contains(&b'\n') {
            return Err("the line ends before the header");
        }
        let most = MAX_TEXT - seen.len().min(MAX_TEXT);
        // "If the CRLF sequence is not found in the first 107 characters, the receiver
        // should declare the line invalid."
        return match missing_text(seen, protocol).min(most) {
            0 => Err("the line is longer than 107 bytes"),
            missing => Ok(Parsed::Incomplete { missing }),
        };
    };
    // "The receiver must not tolerate a single CR or LF character to end the line."
    let line = line.strip_suffix(b"\r").ok_or("the line does not end with CRLF")?;
    let fields = line.get(TEXT.len()..).unwrap_or_default();
    // "The receiver must ignore anything presented before the CRLF is found."
    if fields == UNKNOWN || fields.starts_with(b"UNKNOWN ") {
        return Ok(Parsed::Complete(Source::Peer));
    }
    let address = if let Some(fields) = fields.strip_prefix(TCP4) {
        source::<Ipv4Addr>(fields)
    } else if let Some(fields) = fields.strip_prefix(TCP6) {
        source::<Ipv6Addr>(fields)
    } else {
        None
    };
    let address = address.ok_or("the addresses or ports of the line are malformed")?;
    Ok(Parsed::Complete(Source::Address(address)))
}

/// Returns the smallest number of bytes that can complete a line. The line does
/// not contain an LF yet, and `protocol` is the part of it that starts with the
/// protocol.
fn missing_text(seen: &[u8], protocol: &[u8]) -> usize {
    if seen.len() < SHORTEST.len() {
        return SHORTEST.len() - seen.len();
    }
    if seen.ends_with(b"\r") {
        return 1;
    }
    let least_address = if protocol.starts_with(TCP4) {
        "0.0.0.0".len()
    } else if protocol.starts_with(TCP6) {
        "::".len()
    } else {
        return CRLF;
    };
    // Two addresses and two ports, separated by spaces.
    let least = [least_address, least_address, 1, 1];
    let begun = protocol[TCP4.len()..].iter().filter(|byte| **byte == b' ').count();
    let current = if seen.ends_with(b" ") { least.get(begun).copied() } else { None };
    let later: usize = least.iter().skip(begun + 1).map(|field| 1 + field).sum();
    current.unwrap_or(0) + later + CRLF
}

/// Parses two addresses and two ports, and returns the source.
fn source<A: FromStr + Into<IpAddr>>(fields: &[u8]) -> Option<SocketAddr> {
    let mut fields = str::from_utf8(fields).ok()?.split(' ');
    let address = fields.next()?.parse::<A>().ok()?;
    let _destination = fields.next()?.parse::<A>().ok()?;
    let port = port(fields.next()?)?;
    let _destination = self::port(fields.next()?)?;
    fields.next().is_none().then(|| SocketAddr::new(address.into().to_canonical(), port))
}

/// Parses a port. "Heading zeroes are not permitted", and neither is a sign.
fn port(text: &str) -> Option<u16> {
    let is_canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| is_canonical)
}

/// Parses a header of version 2, which is binary.
///
/// Types, lengths and values after the addresses are skipped, as section 2.2
/// allows. They include the checksum, which protects against network faults, as
/// TCP also does, but not against attacks.
///
/// Source: section 2.2.
fn parse_binary(seen: &[u8]) -> Result<Parsed, &'static str> {
    if !agree(seen, SIGNATURE) {
        return Err(NO_HEADER);
    }
    let command = seen.get(12).copied().unwrap_or(PROXY);
    match command {
        LOCAL | PROXY => {}
        _ if command >> 4 != VERSION => return Err("the version is neither 1 nor 2"),
        _ => return Err("the command is neither LOCAL nor PROXY"),
    }
    let family = seen.get(13).copied().unwrap_or_default();
    // The family "is ignored" only for LOCAL.
    if command == PROXY && (family >> 4 > MAX_FAMILY || family & 0xf > MAX_TRANSPORT) {
        return Err("the address family or the transport is unknown");
    }
    let Some((start, rest)) = seen.split_first_chunk::<FIXED>() else {
        return Ok(Parsed::Incomplete { missing: FIXED - seen.len() });
    };
    let length = usize::from(u16::from_be_bytes([start[14], start[15]]));
    if FIXED + length > MAX_LENGTH {
        return Err("the header is longer than 536 bytes");
    }
    if command == PROXY && length < least_length(family) {
        return Err("the header is too short for its addresses");
    }
    if rest.len() < length {
        return Ok(Parsed::Incomplete { missing: length - rest.len() });
    }
    if rest.len() > length {
        return Err("the bytes extend beyond the header");
    }
    let address = match (command, family) {
        (PROXY, TCP_IPV4) => ipv4(rest),
        (PROXY, TCP_IPV6) => ipv6(rest),
        // Section 2.2: a receiver uses the peer for unsupported combinations,
        // and ignores the addresses of LOCAL.
        _ => None,
    };
    Ok(Parsed::Complete(address.map_or(Source::Peer, Source::Address)))
}

/// Reads an IPv4 source: two addresses, then two ports.
fn ipv4(addresses: &[u8]) -> Option<SocketAddr> {
    let address = Ipv4Addr::from(*addresses.first_chunk::<4>()?);
    let port = addresses.get(8..)?.first_chunk()?;
    Some(SocketAddr::new(address.into(), u16::from_be_bytes(*port)))
}

/// Reads an IPv6 source: two addresses, then two ports.
fn ipv6(addresses: &[u8]) -> Option<SocketAddr> {
    let address = Ipv6Addr::from(*addresses.first_chunk::<16>()?);
    let port = addresses.get(32..)?.first_chunk()?;
    Some(SocketAddr::new(address.to_canonical(), u16::from_be_bytes(*port)))
}

/// Returns the length of a family's addresses. Returns 0 for an unknown family
/// or transport, because its addresses are not read.
fn least_length(family: u8) -> usize {
    match family {
        TCP_IPV4 | UDP_IPV4 => 12,
        TCP_IPV6 | UDP_IPV6 => 36,
        UNIX_STREAM | UNIX_DATAGRAM => 216,
        _ => 0,
    }
}

/// Returns true if either text is a prefix of the other.
fn agree(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// The longest header that the server reads.
///
/// "Both formats are designed to fit in the smallest TCP segment that any
/// TCP/IP host is required to support (576 - 40 = 536 bytes)" (section 2).
pub(super) const MAX_LENGTH: usize = 536;

/// The longest line of version 1, with CRLF (section 2.1).
const MAX_TEXT: usize = 107;

/// The shortest header. The first read must not extend beyond it.
const SHORTEST: &[u8] = b"PROXY UNKNOWN\r\n";

const TEXT: &[u8] = b"PROXY ";
const TCP4: &[u8] = b"TCP4 ";
const TCP6: &[u8] = b"TCP6 ";
const UNKNOWN: &[u8] = b"UNKNOWN";
const CRLF: usize = 2;

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// The number of bytes before the addresses in version 2.
const FIXED: usize = 16;

const VERSION: u8 = 2;

/// The version and the command.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;

/// The family and the transport.
const TCP_IPV4: u8 = 0x11;
const UDP_IPV4: u8 = 0x12;
const TCP_IPV6: u8 = 0x21;
const UDP_IPV6: u8 = 0x22;
const UNIX_STREAM: u8 = 0x31;
const UNIX_DATAGRAM: u8 = 0x32;

/// `AF_UNIX`.
const MAX_FAMILY: u8 = 3;

/// `DGRAM`.
const MAX_TRANSPORT: u8 = 2;

const NO_HEADER: &str = "the connection does not begin with a PROXY header";

#[cfg(test)]
pub(super) mod tests;
