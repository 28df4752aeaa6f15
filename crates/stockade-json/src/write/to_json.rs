//! [`to_json`], and the thread-local buffer.

use std::cell::Cell;

use serde::Serialize;
use serde::ser::Error as _;

use crate::write::buffer::Buffer;
use crate::write::value::JsonWriter;

/// Writes a value as compact JSON. The output is identical to
/// `serde_json::to_vec`, except that a float that is not finite is an error
/// instead of `null`.
///
/// The JSON is written to a thread-local buffer that retains at most 64 KiB
/// between calls. The result is a single allocation with a capacity equal to
/// its length, so `bytes::Bytes` does not copy it. Above 16 KiB, the buffer
/// itself is the result; its capacity is at most 64 KiB or twice its length,
/// whichever is greater.
///
/// Unlike `serialize_for_json`, this function writes dates and map keys as
/// their `Serialize` implementation does. Only the stack limits nesting.
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
/// Fails if a `Serialize` implementation fails, or if a map key is not a
/// string, `char`, `bool`, finite number or unit variant. The error is the same
/// as from `serde_json::to_vec`. A NaN or infinite float also fails: its schema
/// promises a number, and `null` would hide the bug that produced it.
///
/// # Beyond the spec
/// The output differs from serde_json if a type breaks a contract. If an array
/// or object is announced as empty but has items, it is written in full;
/// serde_json writes invalid JSON. A failing `Display` implementation is an
/// error; serde_json panics. Structs with serde_json's names
/// `$serde_json::private::…` are recognized even if serde_json's features are
/// off.
// Spec: Serialization helpers.
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

/// Writes a value as compact JSON, like [`to_json`], into a `String`.
///
/// # Errors
/// Fails under the same conditions as [`to_json`].
pub fn to_json_string<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    String::from_utf8(to_json(value)?).map_err(serde_json::Error::custom)
}

/// Takes the buffer of the thread. A nested call to [`to_json`] from a
/// `Serialize` implementation gets a new buffer. A panic loses only this
/// buffer.
pub(super) fn take() -> Buffer {
    // The buffer is not available while the thread ends.
    Buffer::new(SCRATCH.try_with(Cell::take).unwrap_or_default())
}

/// Returns the content of a buffer from [`take`].
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
        // The buffer is dropped if the thread is ending.
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

    /// Returns the capacity of the thread's buffer.
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

    /// Writes a long text, followed by another value.
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
    fn an_error_returns_the_buffer_unless_it_has_grown() {
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
    fn a_panic_loses_only_the_buffer() {
        to_json(&1).unwrap();
        std::panic::catch_unwind(|| to_json(&LongAnd(9, Panics))).unwrap_err();
        assert_eq!(kept(), 0);
        assert_eq!(to_json(&[1, 2]).unwrap(), b"[1,2]");
    }

    /// A string that contains its own JSON.
    struct Nested(usize);

    impl Serialize for Nested {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let inner = if self.0 == 0 { Vec::new() } else { to_json(&Self(self.0 - 1)).unwrap() };
            serializer.serialize_str(&String::from_utf8(inner).unwrap())
        }
    }

    #[test]
    fn calls_can_be_nested() {
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
        // Thread-local values are dropped in creation order or in reverse. Test
        // the drop both before and after the buffer.
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
