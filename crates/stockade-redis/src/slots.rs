//! Maps keys to the hash slots of a cluster.

use redis::Value;

/// The number of hash slots in every cluster.
const SLOTS: u16 = 16_384;

/// An inclusive range of slots, with the address of its master.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SlotRange {
    pub(crate) first: u16,
    pub(crate) last: u16,
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Returns the slot of a key. If the text between the first `{` and the next
/// `}` is not empty, only this text is hashed.
pub(crate) fn slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let hashed = tag.map(|(tag, _)| tag).filter(|tag| !tag.is_empty()).unwrap_or(key);
    crc16(hashed.as_bytes()) % SLOTS
}

/// Returns the CRC-16 of the cluster specification: polynomial 0x1021, initial
/// value 0.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    })
}

/// Parses the output of `CLUSTER SLOTS`. A node without a host uses the queried
/// host. Malformed ranges are skipped.
pub(crate) fn read(answer: &Value, asked: &str) -> Vec<SlotRange> {
    let Value::Array(ranges) = answer else { return Vec::new() };
    let mut ranges: Vec<_> = ranges.iter().filter_map(|range| read_range(range, asked)).collect();
    ranges.sort_unstable_by_key(|range| range.first);
    ranges
}

fn read_range(range: &Value, asked: &str) -> Option<SlotRange> {
    let Value::Array(parts) = range else { return None };
    let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = &parts[..] else {
        return None;
    };
    let [host, Value::Int(port), ..] = &master[..] else { return None };
    let host = match host {
        Value::BulkString(host) => std::str::from_utf8(host).ok()?,
        Value::SimpleString(host) => host,
        Value::Nil => "",
        _ => return None,
    };
    // The host is not known yet.
    if host == "?" {
        return None;
    }
    let host = if host.is_empty() { asked } else { host }.to_owned();
    let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
    Some(SlotRange { first, last, host, port: u16::try_from(*port).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_match_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot("foo"), 12_182);
        assert_eq!(slot("{user1000}.following"), slot("{user1000}.followers"));
        assert_eq!(slot("foo{bar}{zap}"), slot("bar"));
        assert_eq!(slot("foo{{bar}}zap"), slot("{bar"));
        assert_eq!(slot("foo{}{bar}"), crc16(b"foo{}{bar}") % SLOTS);
        assert_eq!(slot(""), 0);
    }

    #[test]
    fn reads_the_slot_map() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let node = |host: Value, port| Value::Array(vec![host, Value::Int(port), text("id")]);
        let range = |first, last, node| {
            Value::Array(vec![Value::Int(first), Value::Int(last), node, Value::Nil])
        };
        let answer = Value::Array(vec![
            range(8_192, 16_383, node(text("10.0.0.2"), 7_001)),
            range(0, 8_191, node(Value::Nil, 7_000)),
            range(0, 70_000, node(text("10.0.0.3"), 7_002)),
            range(5, 6, node(text("?"), 7_003)),
            Value::Int(1),
        ]);
        let expected = [(0, 8_191, "10.0.0.1", 7_000), (8_192, 16_383, "10.0.0.2", 7_001)];
        let found = read(&answer, "10.0.0.1");
        let found: Vec<_> =
            found.iter().map(|it| (it.first, it.last, &*it.host, it.port)).collect();
        assert_eq!(found, expected);
        assert_eq!(read(&Value::Okay, "10.0.0.1"), []);
    }
}
