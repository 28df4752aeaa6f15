//! [`to_json`], and the buffer of a thread.

use std::cell::Cell;

use serde::Serialize;
use serde::ser::Error as _;

use crate::write::buffer::Buffer;
use crate::write::value::JsonWriter;

/// Writes a value as compact JSON, byte for byte as `serde_json::to_vec`, which
/// however writes `null` for a float that is not finite.
///
/// The JSON is written into a buffer of the thread, which keeps at most 64 KiB
/// between two calls. The result is one allocation whose capacity is its
/// length, so that `bytes::Bytes` takes it as it is. Above 16 KiB the buffer
/// itself is the result, with a capacity of at most the greater of 64 KiB and
/// twice its length.
///
/// Unlike `serialize_for_json`, dates and the keys
/// of maps are written as their `Serialize` writes them, and only the stack
/// limits nesting.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use stockade::serialization::to_json;
///
/// let json = to_json(&BTreeMap::from([(7, "a \"b\"\n")]))?;
/// assert_eq!(json, br#"{"7":"a \"b\"\n"}"#);
/// assert_eq!(json.capacity(), json.len());
/// # Ok::<(), stockade::serde_json::Error>(())
/// ```
///
/// # Errors
/// When the `Serialize` of a type fails, or the key of a map is no text,
/// `char`, `bool`, finite number or unit variant. The error is the one of
/// `serde_json::to_vec`. Also for a float that is NaN or infinite: its schema
/// promises a number, and `null` would hide the mistake that made it.
///
/// # Beyond the spec
/// The output differs from serde_json where a type breaks a promise. An array
/// or object that is announced as empty and is not is written whole, where
/// serde_json writes invalid JSON. A `Display` that fails is an error, where
/// serde_json panics. The structs that serde_json names
/// `$serde_json::private::…` are known, whether its features are on or not.
///
/// Spec: Serialization helpers.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut buffer = take();
    let result = value.serialize(JsonWriter::new(&mut buffer));
    match result {
        Ok(()) => Ok(finish(buffer)),
        Err(error) => {
            give_back(buffer.into_scratch());
            Err(error)
        }
    }
}

/// Writes a value as compact JSON, as [`to_json`] does, as a text.
///
/// # Errors
/// Those of [`to_json`].
pub fn to_json_string<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    String::from_utf8(to_json(value)?).map_err(serde_json::Error::custom)
}

/// Takes the buffer of the thread. A `Serialize` that calls [`to_json`] itself
/// gets a new one, and a panic loses no more than this one.
pub(super) fn take() -> Buffer {
    // A thread that ends has no buffer any more.
    Buffer::new(SCRATCH.try_with(Cell::take).unwrap_or_default())
}

/// Returns what a buffer of [`take`] holds.
pub(super) fn finish(buffer: Buffer) -> Vec<u8> {
    if buffer.written().len() > MAX_COPIED {
        return buffer.into_written();
    }
    let json = buffer.written().to_vec();
    give_back(buffer.into_scratch());
    json
}

fn give_back(scratch: Vec<u8>) {
    if scratch.capacity() <= MAX_KEPT {
        // A thread that ends drops the buffer.
        let _ended = SCRATCH.try_with(|kept| kept.set(scratch));
    }
}

const MAX_COPIED: usize = 16 * 1_024;
const MAX_KEPT: usize = 64 * 1_024;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use serde::{Serializer, ser};

    use super::*;

    /// Returns the capacity of the buffer that the thread keeps.
    fn kept() -> usize {
        let scratch = SCRATCH.take();
        let capacity = scratch.capacity();
        SCRATCH.set(scratch);
        capacity
    }

    #[test]
    fn a_small_result_is_a_copy_and_the_buffer_stays() {
        assert_eq!(kept(), 0);
        assert_eq!(to_json(&1).unwrap().capacity(), 1);
        assert!((1..MAX_COPIED).contains(&kept()));
        let largest = "a".repeat(MAX_COPIED - 2);
        let json = to_json(&largest).unwrap();
        assert_eq!((json.len(), json.capacity()), (MAX_COPIED, MAX_COPIED));
        assert!(kept() >= MAX_COPIED);
    }

    #[test]
    fn a_large_result_is_the_buffer_itself() {
        assert_eq!(to_json(&"a".repeat(MAX_COPIED - 1)).unwrap().len(), MAX_COPIED + 1);
        assert_eq!(kept(), 0);
    }

    /// Writes a long text, and then something else.
    struct LongAnd<T>(usize, T);

    impl<T: Serialize> Serialize for LongAnd<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            ("a".repeat(self.0), &self.1).serialize(serializer)
        }
    }

    struct Fails;

    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            Err(ser::Error::custom("no"))
        }
    }

    #[test]
    fn an_error_gives_the_buffer_back_unless_it_has_grown() {
        assert_eq!(to_json(&LongAnd(9, Fails)).unwrap_err().to_string(), "no");
        assert!((1..MAX_COPIED).contains(&kept()));
        to_json(&LongAnd(MAX_KEPT + 1, Fails)).unwrap_err();
        assert_eq!(kept(), 0);
    }

    struct Panics;

    impl Serialize for Panics {
        fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            panic!("on purpose")
        }
    }

    #[test]
    fn a_panic_loses_the_buffer_and_nothing_else() {
        to_json(&1).unwrap();
        std::panic::catch_unwind(|| to_json(&LongAnd(9, Panics))).unwrap_err();
        assert_eq!(kept(), 0);
        assert_eq!(to_json(&[1, 2]).unwrap(), b"[1,2]");
    }

    /// Its own JSON, as a text in JSON.
    struct Nested(usize);

    impl Serialize for Nested {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let inner = if self.0 == 0 { Vec::new() } else { to_json(&Self(self.0 - 1)).unwrap() };
            serializer.serialize_str(&String::from_utf8(inner).unwrap())
        }
    }

    #[test]
    fn a_type_may_call_it_while_it_is_written() {
        assert_eq!(to_json(&("a", Nested(2))).unwrap(), br#"["a","\"\\\"\\\"\""]"#);
    }

    #[test]
    fn a_thread_that_ends_can_still_write() {
        struct AtTheEnd(std::sync::mpsc::Sender<Vec<u8>>);
        impl Drop for AtTheEnd {
            fn drop(&mut self) {
                self.0.send(to_json(&[1, 2]).unwrap()).unwrap();
            }
        }
        thread_local! {
            static LAST: Cell<Option<AtTheEnd>> = const { Cell::new(None) };
        }
        // Values of a thread are dropped in the order in which they were made,
        // or in the opposite one: so once before the buffer, and once after.
        for buffer_first in [false, true] {
            let (sender, receiver) = std::sync::mpsc::channel();
            let write = || assert_eq!(to_json(&1).unwrap(), b"1");
            let ends = move || {
                if buffer_first {
                    write();
                }
                LAST.set(Some(AtTheEnd(sender)));
                write();
            };
            std::thread::spawn(ends).join().unwrap();
            assert_eq!(receiver.recv().unwrap(), b"[1,2]");
        }
    }
}
