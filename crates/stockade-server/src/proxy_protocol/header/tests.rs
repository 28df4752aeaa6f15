//! Tests valid and invalid headers, and partial headers.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// Builds a header of version 2 by section 2.2.
fn binary(command: u8, family: u8, length: u16, rest: &[u8]) -> Vec<u8> {
    let fixed = [SIGNATURE, &[command, family], &length.to_be_bytes()].concat();
    [&fixed[..], rest].concat()
}

/// Builds a header with a correct length.
fn whole(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    binary(command, family, rest.len().try_into().unwrap(), rest)
}

/// From 192.0.2.7:49320 to 198.51.100.1:443.
const IPV4: &[u8] = &[192, 0, 2, 7, 198, 51, 100, 1, 0xc0, 0xa8, 0x01, 0xbb];

/// From `[2001:db8::7]:49320` to `[2001:db8::1]:443`.
const IPV6: &[u8] = &[
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, //
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, //
    0xc0, 0xa8, 0x01, 0xbb,
];

/// A `PP2_TYPE_CRC32C` with a wrong checksum, and a `PP2_TYPE_NOOP`.
const TLVS: &[u8] = &[0x03, 0, 4, 0xde, 0xad, 0xbe, 0xef, 0x04, 0, 1, 0];

/// Returns valid headers with their sources.
pub(in super::super) fn valid() -> Vec<(Vec<u8>, Source)> {
    let from = |address: &str| Source::Address(address.parse().unwrap());
    let mapped = [&[0; 10][..], &[0xff; 2], &[192, 0, 2, 7], &IPV6[16..]].concat();
    let longest_ipv6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let longest = format!("{longest_ipv6} {longest_ipv6} 65535 65535\r\n");
    let text = |line: &str| line.as_bytes().to_vec();
    vec![
        // Section 2.1: the example, then the longest lines, then the shortest
        // lines.
        (text("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"), from("192.168.0.1:56324")),
        (
            text("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
            from("255.255.255.255:65535"),
        ),
        (text(&format!("PROXY TCP6 {longest}")), from(&format!("[{longest_ipv6}]:65535"))),
        (text(&format!("PROXY UNKNOWN {longest}")), Source::Peer),
        (text("PROXY UNKNOWN\r\n"), Source::Peer),
        (text("PROXY UNKNOWN \r\n"), Source::Peer),
        (text("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n"), from("0.0.0.0:0")),
        (text("PROXY TCP6 :: :: 0 0\r\n"), from("[::]:0")),
        (text("PROXY TCP6 2001:DB8::7 2001:db8::1 49320 443\r\n"), from("[2001:db8::7]:49320")),
        (text("PROXY TCP6 ::ffff:192.0.2.7 ::1 49320 443\r\n"), from("192.0.2.7:49320")),
        (b"PROXY UNKNOWN \xff\r\0\r\n".to_vec(), Source::Peer),
        // Section 2.2.
        (whole(PROXY, TCP_IPV4, IPV4), from("192.0.2.7:49320")),
        (whole(PROXY, TCP_IPV6, IPV6), from("[2001:db8::7]:49320")),
        (whole(PROXY, TCP_IPV6, &mapped), from("192.0.2.7:49320")),
        (whole(PROXY, TCP_IPV4, &[IPV4, TLVS].concat()), from("192.0.2.7:49320")),
        (whole(PROXY, TCP_IPV6, &[IPV6, TLVS].concat()), from("[2001:db8::7]:49320")),
        (whole(PROXY, TCP_IPV4, &[IPV4, &[0; 508]].concat()), from("192.0.2.7:49320")),
        (whole(LOCAL, 0, &[]), Source::Peer),
        (whole(LOCAL, TCP_IPV4, IPV4), Source::Peer),
        (whole(LOCAL, 0xff, &[1, 2, 3]), Source::Peer),
        (whole(PROXY, 0, &[]), Source::Peer),
        (whole(PROXY, 0, TLVS), Source::Peer),
        (whole(PROXY, 0x10, IPV4), Source::Peer),
        (whole(PROXY, UDP_IPV4, IPV4), Source::Peer),
        (whole(PROXY, UDP_IPV6, IPV6), Source::Peer),
        (whole(PROXY, UNIX_STREAM, &[b'/'; 216]), Source::Peer),
        (whole(PROXY, UNIX_DATAGRAM, &[0; 216]), Source::Peer),
    ]
}

#[test]
fn parses_valid_headers() {
    for (header, expected) in valid() {
        assert_eq!(parse(&header), Ok(Parsed::Complete(expected)), "{header:?}");
    }
}

#[test]
fn every_part_of_a_header_is_incomplete() {
    for (header, _) in valid() {
        for length in 0..header.len() {
            let found = parse(&header[..length]);
            let Ok(Parsed::Incomplete { missing }) = found else {
                panic!("{header:?} to {length}: {found:?}");
            };
            let rest = header.len() - length;
            assert!((1..=rest).contains(&missing), "{header:?} to {length}: {missing}");
        }
    }
}

#[test]
fn lines_need_few_reads() {
    let longest = "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".as_bytes();
    let (mut length, mut reads) = (0, 0);
    while let Ok(Parsed::Incomplete { missing }) = parse(&longest[..length]) {
        length += missing;
        reads += 1;
    }
    assert!(reads <= 10, "{reads}");
}

/// Checks that a header is rejected as soon as it has `least` bytes.
#[track_caller]
fn check_rejected(header: &[u8], least: usize, reason: &str) {
    for length in 0..=header.len() {
        let found = parse(&header[..length]);
        if length < least {
            assert!(matches!(found, Ok(Parsed::Incomplete { .. })), "{header:?} to {length}");
        } else {
            assert_eq!(found, Err(reason), "{header:?} to {length}");
        }
    }
}

#[test]
fn rejects_other_protocols_at_their_first_wrong_byte() {
    check_rejected(b"GET / HTTP/1.1\r\n", 1, NO_HEADER);
    check_rejected(b"POST / HTTP/1.1\r\n", 2, NO_HEADER);
    check_rejected(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 3, NO_HEADER);
    check_rejected(b"PROXY\t", 6, NO_HEADER);
    check_rejected(b"proxy TCP4", 1, NO_HEADER);
    // The start of a TLS handshake.
    check_rejected(&[0x16, 3, 1], 1, NO_HEADER);
    check_rejected(b"\r\n\r\n\0\r\nQUIT\r", 12, NO_HEADER);
    check_rejected(b"\r\n\r\nGET /", 5, NO_HEADER);
}

#[test]
fn rejects_malformed_lines() {
    let protocol = "the protocol is not TCP4, TCP6 or UNKNOWN";
    check_rejected(b"PROXY UDP4 1.1.1.1", 8, protocol);
    check_rejected(b"PROXY TCP5", 10, protocol);
    check_rejected(b"PROXY TCP4\t", 11, protocol);
    check_rejected(b"PROXY  TCP4", 7, protocol);
    check_rejected(b"PROXY UNKNOWN\n", 14, "the line does not end with CRLF");
    check_rejected(b"PROXY TCP4 1.1.1.1 1.1.1.1 1 1\n", 31, "the line does not end with CRLF");
    check_rejected(b"PROXY UNKNOWN a\n", 16, "the line does not end with CRLF");
    let long = [&b"PROXY UNKNOWN "[..], &[b'a'; 93]].concat();
    check_rejected(&long, 107, "the line is longer than 107 bytes");
    let malformed = "the addresses or ports of the line are malformed";
    for fields in [
        "TCP4 192.0.2.7 192.0.2.1 1",
        "TCP4 192.0.2.7 192.0.2.1 1 1 1",
        "TCP4 192.0.2.7 192.0.2.1 1 1 ",
        "TCP4  192.0.2.7 192.0.2.1 1 1",
        "TCP4 192.0.2.07 192.0.2.1 1 1",
        "TCP4 192.0.2 192.0.2.1 1 1",
        "TCP4 192.0.2.256 192.0.2.1 1 1",
        "TCP4 ::1 192.0.2.1 1 1",
        "TCP4 192.0.2.7 ::1 1 1",
        "TCP4 192.0.2.7 host 1 1",
        "TCP6 192.0.2.7 ::1 1 1",
        "TCP6 fe80::1%eth0 ::1 1 1",
        "TCP6 [::1] ::1 1 1",
        "TCP6 1:2:3:4:5:6:7:8:9 ::1 1 1",
        "TCP4 192.0.2.7 192.0.2.1 65536 1",
        "TCP4 192.0.2.7 192.0.2.1 1 65536",
        "TCP4 192.0.2.7 192.0.2.1 01 1",
        "TCP4 192.0.2.7 192.0.2.1 1 00",
        "TCP4 192.0.2.7 192.0.2.1 +1 1",
        "TCP4 192.0.2.7 192.0.2.1 -1 1",
        "TCP4 192.0.2.7 192.0.2.1 1 1\r",
        "TCP4 192.0.2.7\r192.0.2.1 1 1",
        "TCP4 192.0.2.7 192.0.2.1\0 1 1",
        "UNKNOWNS 1 1",
    ] {
        let line = format!("PROXY {fields}\r\n");
        assert_eq!(parse(line.as_bytes()), Err(malformed), "{line:?}");
    }
    assert_eq!(parse(b"PROXY TCP4 \xff 192.0.2.1 1 1\r\n"), Err(malformed));
    let twice = parse(b"PROXY UNKNOWN\r\nPROXY UNKNOWN\r\n PROXY");
    assert_eq!(twice, Err("the line ends before the header"));
}

#[test]
fn rejects_malformed_binary_headers() {
    let version = "the version is neither 1 nor 2";
    check_rejected(&whole(0x11, TCP_IPV4, IPV4), 13, version);
    check_rejected(&whole(0x31, TCP_IPV4, IPV4), 13, version);
    check_rejected(&whole(0x01, TCP_IPV4, IPV4), 13, version);
    let command = "the command is neither LOCAL nor PROXY";
    check_rejected(&whole(0x22, TCP_IPV4, IPV4), 13, command);
    check_rejected(&whole(0x2f, TCP_IPV4, IPV4), 13, command);
    let family = "the address family or the transport is unknown";
    check_rejected(&whole(PROXY, 0x41, IPV4), 14, family);
    check_rejected(&whole(PROXY, 0x13, IPV4), 14, family);
    let short = "the header is too short for its addresses";
    check_rejected(&whole(PROXY, TCP_IPV4, &IPV4[1..]), 16, short);
    check_rejected(&whole(PROXY, UDP_IPV4, &[]), 16, short);
    check_rejected(&whole(PROXY, TCP_IPV6, &IPV6[1..]), 16, short);
    check_rejected(&whole(PROXY, UNIX_STREAM, &[0; 215]), 16, short);
    let long = "the header is longer than 536 bytes";
    check_rejected(&binary(PROXY, TCP_IPV4, 521, IPV4), 16, long);
    check_rejected(&binary(LOCAL, 0, u16::MAX, &[]), 16, long);
    let beyond = [&whole(PROXY, TCP_IPV4, IPV4)[..], b"G"].concat();
    assert_eq!(parse(&beyond), Err("the bytes extend beyond the header"));
}

/// Reads a header like a connection, at most `step` bytes at a time. Returns
/// the source and the number of bytes read.
fn feed(bytes: &[u8], step: usize) -> Option<(Source, usize)> {
    let mut length = 0;
    loop {
        match parse(&bytes[..length]) {
            Ok(Parsed::Complete(source)) => return Some((source, length)),
            Ok(Parsed::Incomplete { missing }) => {
                assert!(missing > 0 && length + missing <= MAX_LENGTH, "{missing} at {length}");
                let count = missing.min(step).min(bytes.len() - length);
                if count == 0 {
                    return None;
                }
                length += count;
            }
            Err(_) => return None,
        }
    }
}

/// Generates bytes that often resemble a header.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let headers: Vec<_> = valid().into_iter().map(|(header, _)| header).collect();
    let changes = vec((any::<Index>(), select(&b"\r\n \0P1:.\xff\x20\x21\x11"[..])), 0..4);
    let changed = (select(headers), changes, vec(any::<u8>(), 0..40)).prop_map(
        |(mut header, changes, rest)| {
            for (at, byte) in changes {
                let at = at.index(header.len());
                header[at] = byte;
            }
            [header, rest].concat()
        },
    );
    prop_oneof![changed, vec(any::<u8>(), 0..600)]
}

proptest! {
    #[test]
    fn segments_do_not_change_the_result(bytes in hostile(), step in 1..40_usize) {
        let one_by_one = feed(&bytes, 1);
        prop_assert_eq!(feed(&bytes, usize::MAX), one_by_one);
        prop_assert_eq!(feed(&bytes, step), one_by_one);
        for length in 0..bytes.len() {
            // No prefix makes the parser panic.
            let _ = parse(&bytes[..length]);
        }
    }
}
