//! Compares the codec and the handshake with tungstenite.
//!
//! docs/decisions/045-websocket-codec.md lists the reasons for a
//! separate codec. If an update of tungstenite breaks a test here, check
//! whether a reason no longer applies.

use std::collections::BTreeSet;
use std::io::Cursor;

use proptest::prelude::*;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::close::may_be_sent;
use crate::frame::{Head, OpCode, head_length, read_head, write_head};
use crate::handshake::accept_key;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Payload lengths at the boundaries of their encodings.
const LENGTHS: [u64; 9] =
    [0, 1, 125, 126, 65_535, 65_536, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX];

/// Returns all headers that begin with these two bytes.
fn headers(first: u8, second: u8) -> Vec<Vec<u8>> {
    let mask: &[u8] = if second & 0x80 == 0 { &[] } else { &MASK };
    let with = |length: &[u8]| [&[first, second], length, mask].concat();
    match second & 0x7f {
        126 => [0, 125, 126, u16::MAX].map(|length| with(&length.to_be_bytes())).to_vec(),
        127 => LENGTHS.map(|length| with(&length.to_be_bytes())).to_vec(),
        _ => vec![with(&[])],
    }
}

fn ours(bytes: &[u8]) -> Result<Head, &'static str> {
    let length = head_length(bytes[0], bytes[1], 0)?;
    assert_eq!(length, bytes.len(), "{bytes:?}");
    read_head(bytes)
}

/// Returns the fields of a header as parsed by tungstenite.
fn theirs(bytes: &[u8]) -> Option<(bool, u8, u64, Option<[u8; 4]>)> {
    let (header, length) = FrameHeader::parse(&mut Cursor::new(bytes)).ok()??;
    Some((header.is_final, header.opcode.into(), length, header.mask))
}

#[test]
fn accepts_no_header_that_tungstenite_rejects() {
    let mut stricter = BTreeSet::new();
    for (first, second) in (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second)))
    {
        for bytes in headers(first, second) {
            match (ours(&bytes), theirs(&bytes)) {
                (Ok(head), theirs) => {
                    let ours = (head.fin, head.opcode as u8, head.length, Some(head.mask));
                    assert_eq!(Some(ours), theirs, "{bytes:?}");
                }
                (Err(reason), Some(_)) => {
                    stricter.insert(reason);
                }
                (Err(_), None) => {}
            }
        }
    }
    // tungstenite checks the first four only after the payload has arrived.
    let expected = [
        "a control frame is fragmented",
        "a control frame is longer than 125 bytes",
        "a frame is not masked",
        "a reserved bit is set",
        "the length of a frame is malformed",
    ];
    assert_eq!(stricter, BTreeSet::from(expected));
}

/// RFC 6455 requires the shortest form only from senders.
#[test]
fn accepts_lengths_in_a_longer_form_like_tungstenite() {
    for bytes in
        [&[0x81, 0xfe, 0, 5, 1, 2, 3, 4][..], &[0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4]]
    {
        let length = ours(bytes).map(|head| head.length);
        assert_eq!((length, theirs(bytes).unwrap().2), (Ok(5), 5));
    }
}

#[test]
fn rejects_an_unknown_opcode_at_the_second_byte() {
    let bytes = [0x83, 0xfe];
    assert_eq!(head_length(bytes[0], bytes[1], 0), Err("unknown opcode"));
    // tungstenite waits for the length and the mask.
    assert!(matches!(FrameHeader::parse(&mut Cursor::new(bytes)), Ok(None)));
}

#[test]
fn writes_headers_like_tungstenite() {
    let opcodes = [OpCode::Text, OpCode::Binary, OpCode::Close, OpCode::Ping, OpCode::Pong];
    for (opcode, length) in
        opcodes.into_iter().flat_map(|opcode| LENGTHS.map(|length| (opcode, length)))
    {
        let Ok(size) = usize::try_from(length) else { continue };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        write_head(&mut ours, opcode, size);
        let header = FrameHeader { opcode: (opcode as u8).into(), ..FrameHeader::default() };
        header.format(length, &mut theirs).unwrap();
        assert_eq!(ours, theirs, "{opcode:?}, {length}");
    }
}

/// 1014 was registered after RFC 6455 and is unknown to tungstenite
/// (snapview/tungstenite-rs#502).
#[test]
fn allows_the_close_codes_of_tungstenite_and_1014() {
    for code in 0..=u16::MAX {
        let theirs = CloseCode::from(code).is_allowed();
        assert_eq!(may_be_sent(code), theirs || code == 1014, "{code}");
    }
}

proptest! {
    #[test]
    fn derives_the_accept_key_of_tungstenite(key in "[A-Za-z0-9+/]{22}==") {
        prop_assert_eq!(accept_key(&key), derive_accept_key(key.as_bytes()));
    }
}
