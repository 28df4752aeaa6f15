//! Tests the codec against its rules and against tungstenite as the peer.

use proptest::prelude::*;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{
    Control, Data, OpCode as TheirOpCode,
};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame as TheirFrame, FrameHeader};

use super::*;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Returns a client's frame, written by tungstenite.
fn frame(fin: bool, opcode: TheirOpCode, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader { is_final: fin, opcode, mask: Some(MASK), ..FrameHeader::default() };
    let mut bytes = Vec::new();
    TheirFrame::from_payload(header, payload.to_vec().into()).format(&mut bytes).unwrap();
    bytes
}

fn text(fin: bool, payload: &[u8]) -> Vec<u8> {
    frame(fin, TheirOpCode::Data(Data::Text), payload)
}

fn more(fin: bool, payload: &[u8]) -> Vec<u8> {
    frame(fin, TheirOpCode::Data(Data::Continue), payload)
}

fn ping(payload: &[u8]) -> Vec<u8> {
    frame(true, TheirOpCode::Control(Control::Ping), payload)
}

/// Decodes `bytes` in pieces of at most `cut` bytes.
fn decode(decoder: &mut Decoder, bytes: &[u8], cut: usize) -> Result<Vec<Event>, Violation> {
    let mut events = Vec::new();
    for mut piece in bytes.chunks(cut) {
        while let Some(event) = decoder.next(&mut piece)? {
            events.push(event);
        }
        assert!(piece.is_empty(), "everything is consumed");
    }
    Ok(events)
}

fn hello() -> Event {
    Event::Text("Hello".to_owned())
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "the cases read better")]
fn check(frames: &[Vec<u8>], expected: Result<Vec<Event>, Violation>) {
    for cut in [1, 2, 3, 7, 4096] {
        let decoded = decode(&mut Decoder::new(100, true), &frames.concat(), cut);
        assert_eq!(decoded, expected, "in pieces of {cut}");
    }
}

#[test]
fn joins_fragments_around_control_frames() {
    check(&[text(true, b"Hello")], Ok(vec![hello()]));
    check(&[text(true, b"")], Ok(vec![Event::Text(String::new())]));
    check(&[text(false, b"Hel"), more(false, b""), more(true, b"lo")], Ok(vec![hello()]));
    check(
        &[text(false, b"Hel"), ping(b"x"), more(true, b"lo")],
        Ok(vec![Event::Ping(b"x".to_vec()), hello()]),
    );
    check(&[ping(b""), text(true, b"Hello")], Ok(vec![Event::Ping(Vec::new()), hello()]));
}

#[test]
fn rejects_fragments_in_the_wrong_order() {
    check(&[more(true, b"x")], Err(Violation::Protocol("a continuation frame without a message")));
    let inside = Err(Violation::Protocol("a message begins inside another one"));
    check(&[text(false, b"x"), text(true, b"y")], inside);
}

#[test]
fn binary_messages_are_kept_or_dropped() {
    let bytes = [
        frame(false, TheirOpCode::Data(Data::Binary), &[0xff; 50]),
        more(true, &[0xff; 50]),
        text(true, b"Hello"),
    ]
    .concat();
    let forgetful = decode(&mut Decoder::new(100, false), &bytes, 9);
    assert_eq!(forgetful, Ok(vec![hello()]));
    let keeping = decode(&mut Decoder::new(100, true), &bytes, 9);
    assert_eq!(keeping, Ok(vec![Event::Binary(vec![0xff; 100]), hello()]));
    // The limit also applies to discarded messages.
    let small = decode(&mut Decoder::new(99, false), &bytes, 9);
    assert_eq!(small, Err(Violation::TooLarge));
}

#[test]
fn the_limit_counts_announced_bytes_of_all_fragments() {
    check(&[text(true, &[b'x'; 100])], Ok(vec![Event::Text("x".repeat(100))]));
    let head_only = text(true, &[b'x'; 101])[..8].to_vec();
    check(&[head_only], Err(Violation::TooLarge));
    let fragments: Vec<Vec<u8>> =
        (0..101).map(|at| if at == 0 { text(false, b"x") } else { more(false, b"x") }).collect();
    check(&fragments, Err(Violation::TooLarge));
    let terabyte = vec![0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    check(&[terabyte], Err(Violation::TooLarge));
}

/// Autobahn 6.4.3 and 6.4.4: the error is reported before the frame is
/// complete.
#[test]
fn rejects_invalid_utf8_immediately() {
    let whole = text(true, b"\xce\xba\xe1\xbd\xb9\xf4\x90\x80\x80edited");
    // Six header bytes, five valid bytes of text, and the invalid byte.
    let mut decoder = Decoder::new(100, false);
    assert_eq!(decode(&mut decoder, &whole[..6 + 6], 4096), Ok(Vec::new()));
    assert_eq!(decode(&mut decoder, &whole[6 + 6..6 + 7], 4096), Err(Violation::Text));

    let mut decoder = Decoder::new(100, false);
    assert_eq!(decode(&mut decoder, &text(false, b"\xce\xba\xe1"), 1), Ok(Vec::new()));
    assert_eq!(decode(&mut decoder, &more(false, b"\xf4")[..7], 1), Err(Violation::Text));
    // An incomplete character at the end of a message.
    check(&[text(false, b"\xce"), more(true, b"")], Err(Violation::Text));
    check(&[text(true, b"\xce")], Err(Violation::Text));
    check(&[text(true, b"\xed\xa0\x80")], Err(Violation::Text));
}

#[test]
fn an_announced_length_reserves_nothing() {
    let mut decoder = Decoder::new(1 << 30, false);
    let head = [0x81, 0xff, 0, 0, 0, 0, 0x3f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert_eq!(decode(&mut decoder, &head, 4096), Ok(Vec::new()));
    assert_eq!(decode(&mut decoder, &[b'x'; 1000], 4096), Ok(Vec::new()));
    let capacity = decoder.message.map(|message| message.payload.capacity());
    assert!(capacity.unwrap() <= 2_000, "{capacity:?}");
}

proptest! {
    #[test]
    fn reads_all_messages_of_tungstenite(
        messages in prop::collection::vec("\\PC{0,200}", 0..6),
        fragment in 1_usize..64, cut in 1_usize..500,
    ) {
        let mut bytes = Vec::new();
        for message in &messages {
            let pieces: Vec<&[u8]> = message.as_bytes().chunks(fragment).collect();
            match pieces.as_slice() {
                [] => bytes.extend(text(true, b"")),
                pieces => for (at, piece) in pieces.iter().enumerate() {
                    let fin = at + 1 == pieces.len();
                    bytes.extend(if at == 0 { text(fin, piece) } else { more(fin, piece) });
                },
            }
        }
        let events = decode(&mut Decoder::new(10_000, false), &bytes, cut);
        prop_assert_eq!(events, Ok(messages.into_iter().map(Event::Text).collect()));
    }

    #[test]
    fn no_bytes_panic_and_segmentation_does_not_matter(
        bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 1_usize..50,
    ) {
        let whole = decode(&mut Decoder::new(1_000, true), &bytes, usize::MAX);
        let pieces = decode(&mut Decoder::new(1_000, true), &bytes, cut);
        prop_assert_eq!(whole, pieces);
    }
}
