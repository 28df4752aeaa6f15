//! [`Record`]: the result of a request, as bytes for a store.
//!
//! The format is private to this crate. Its first byte is the version; records
//! of other versions are invalid.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use stockade_core::{HttpBody, Response};

/// The result of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Record {
    /// The response.
    Answer { status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>, body: Bytes },
    /// The status of a response that was not stored because it was too large or
    /// a stream.
    NotKept(StatusCode),
    /// The handler was dropped before it finished.
    Unknown,
}

impl Record {
    /// Creates a record from the status, the listed headers and the body of a
    /// response. A stream and a body longer than `max_body` are not stored.
    pub(super) fn of(response: &Response, listed: &[HeaderName], max_body: usize) -> Self {
        let status = response.status();
        match response.body().as_bytes() {
            Some(body) if body.len() <= max_body => {
                let headers = listed.iter().flat_map(|name| {
                    let values = response.headers().get_all(name).iter();
                    values.map(move |value| (name.clone(), value.clone()))
                });
                Self::Answer {
                    status,
                    headers: headers.collect(),
                    body: Bytes::copy_from_slice(body),
                }
            }
            _ => Self::NotKept(status),
        }
    }

    /// Returns true if the record contains the response.
    pub(super) fn has_answer(&self) -> bool {
        matches!(self, Self::Answer { .. })
    }

    pub(super) fn to_bytes(&self) -> Bytes {
        let mut bytes = BytesMut::new();
        bytes.put_u8(VERSION);
        match self {
            Self::Answer { status, headers, body } => {
                bytes.put_u8(ANSWER);
                bytes.put_u16(status.as_u16());
                // The number and the lengths of headers always fit into a
                // `u32`.
                bytes.put_u32(count(headers.len()));
                for (name, value) in headers {
                    put(&mut bytes, name.as_str().as_bytes());
                    put(&mut bytes, value.as_bytes());
                }
                bytes.put_slice(body);
            }
            Self::NotKept(status) => {
                bytes.put_u8(NOT_KEPT);
                bytes.put_u16(status.as_u16());
            }
            Self::Unknown => bytes.put_u8(UNKNOWN),
        }
        bytes.freeze()
    }

    /// Parses a record, or returns `None` for other bytes.
    pub(super) fn from_bytes(mut bytes: Bytes) -> Option<Self> {
        if bytes.try_get_u8().ok()? != VERSION {
            return None;
        }
        match bytes.try_get_u8().ok()? {
            ANSWER => {
                let status = status(&mut bytes)?;
                let count = bytes.try_get_u32().ok()?;
                let headers: Option<Vec<_>> = (0..count).map(|_| header(&mut bytes)).collect();
                Some(Self::Answer { status, headers: headers?, body: bytes })
            }
            NOT_KEPT => Some(Self::NotKept(status(&mut bytes)?)),
            UNKNOWN => Some(Self::Unknown),
            _ => None,
        }
    }
}

/// Creates the response from a stored response.
pub(super) fn response_of(
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
) -> Response {
    let mut response = Response::new(HttpBody::from(body));
    *response.status_mut() = status;
    let mut map = HeaderMap::with_capacity(headers.len() + 1);
    for (name, value) in headers {
        map.append(name, value);
    }
    *response.headers_mut() = map;
    response
}

fn put(bytes: &mut BytesMut, part: &[u8]) {
    bytes.put_u32(count(part.len()));
    bytes.put_slice(part);
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn status(bytes: &mut Bytes) -> Option<StatusCode> {
    StatusCode::from_u16(bytes.try_get_u16().ok()?).ok()
}

fn header(bytes: &mut Bytes) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(&part(bytes)?).ok()?;
    Some((name, HeaderValue::from_maybe_shared(part(bytes)?).ok()?))
}

fn part(bytes: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    (length <= bytes.len()).then(|| bytes.split_to(length))
}

const VERSION: u8 = 1;
const ANSWER: u8 = 1;
const NOT_KEPT: u8 = 2;
const UNKNOWN: u8 = 3;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::store::SHORT_RECORD_BYTES;
    use super::*;

    fn records() -> impl Strategy<Value = Record> {
        let header = ("[a-z][a-z0-9-]{0,20}", "[ -~]{0,40}").prop_map(|(name, value)| {
            let name = HeaderName::try_from(name).unwrap();
            (name, HeaderValue::try_from(value).unwrap())
        });
        let status = || (200..=599_u16).prop_map(|status| StatusCode::from_u16(status).unwrap());
        let body = proptest::collection::vec(any::<u8>(), 0..200);
        let answer = (status(), proptest::collection::vec(header, 0..6), body).prop_map(
            |(status, headers, body)| Record::Answer { status, headers, body: body.into() },
        );
        prop_oneof![answer, status().prop_map(Record::NotKept), Just(Record::Unknown)]
    }

    proptest! {
        #[test]
        fn records_round_trip(record in records()) {
            prop_assert_eq!(Record::from_bytes(record.to_bytes()), Some(record));
        }

        #[test]
        fn other_bytes_are_rejected_and_do_not_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            record in records(),
            cut in 0..200_usize,
        ) {
            drop(Record::from_bytes(bytes.into()));
            let whole = record.to_bytes();
            drop(Record::from_bytes(whole.slice(..cut.min(whole.len()))));
        }
    }

    #[test]
    fn a_record_without_a_response_is_short() {
        for record in [Record::NotKept(StatusCode::CREATED), Record::Unknown] {
            assert!(record.to_bytes().len() <= SHORT_RECORD_BYTES);
            assert!(!record.has_answer());
        }
        assert_eq!(Record::from_bytes(Bytes::from_static(&[9, 1])), None);
    }
}
