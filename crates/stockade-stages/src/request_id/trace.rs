//! `TraceParent`: the position of a request in a distributed trace.
//!
//! Source: W3C Trace Context, sections 3.2 (traceparent) and 3.3 (tracestate).

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use stockade_core::{ApiError, FromRequest, Request, RouteDescription};

use super::id::random_bytes;
use stockade_core::headers::only;

/// A valid `traceparent`.
///
/// ```
/// use stockade::middleware::TraceParent;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let parent = TraceParent::parse(text).expect("a trace parent");
/// assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert!(parent.is_sampled());
/// assert_eq!(parent.to_string(), text);
///
/// // For a call to another service.
/// let child = parent.child()?;
/// assert_eq!(child.trace_id(), parent.trace_id());
/// assert_ne!(child.parent_id(), parent.parent_id());
/// # Ok::<(), stockade::ApiError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TraceParent {
    /// Invariant: not all zeroes.
    trace_id: [u8; 16],
    /// Invariant: not all zeroes.
    parent_id: [u8; 8],
    flags: u8,
}

impl TraceParent {
    /// Parses the value of `traceparent`. Only the fields of version 00 are
    /// read from later versions, and the output is version 00.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = text.get(..LENGTH_BYTES)?;
        let more = text.get(LENGTH_BYTES..)?;
        let mut parts = known.split('-');
        let [version] = part::<1>(parts.next()?)?;
        let trace_id = part(parts.next()?)?;
        let parent_id = part(parts.next()?)?;
        let [flags] = part::<1>(parts.next()?)?;
        let is_sound = parts.next().is_none()
            && trace_id != [0; 16]
            && parent_id != [0; 8]
            && match version {
                0 => more.is_empty(),
                0xFF => false,
                _ => more.is_empty() || more.starts_with('-'),
            };
        is_sound.then_some(Self { trace_id, parent_id, flags })
    }

    /// Begins a new trace, which is not sampled.
    ///
    /// # Errors
    /// Fails with 500 if the system cannot provide random bytes.
    pub fn random() -> Result<Self, ApiError> {
        let (mut trace_id, mut parent_id) = (random_bytes()?, random_bytes()?);
        keep_from_zero(&mut trace_id);
        keep_from_zero(&mut parent_id);
        Ok(Self { trace_id, parent_id, flags: 0 })
    }

    /// Returns the value for a request to the next service: the same trace with
    /// a new parent.
    ///
    /// # Errors
    /// Fails with 500 if the system cannot provide random bytes.
    pub fn child(&self) -> Result<Self, ApiError> {
        let mut parent_id = random_bytes()?;
        keep_from_zero(&mut parent_id);
        Ok(Self { parent_id, ..*self })
    }

    /// Returns the id of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        hex::encode(self.trace_id)
    }

    /// Returns the id of the caller's span: 16 hexadecimal digits.
    #[must_use]
    pub fn parent_id(&self) -> String {
        hex::encode(self.parent_id)
    }

    /// Returns true if the caller may have recorded its span.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }

    /// Returns the `traceparent` of these headers, if exactly one exists and it
    /// is valid.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(only(headers, &TRACEPARENT)?.to_str().ok()?)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id(), self.parent_id(), self.flags)
    }
}

/// The trace of a request, if it has one; a handler argument.
///
/// Only traces that begin here need
/// [`with_request_id`](super::with_request_id). The client's headers are always
/// validated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TraceContext {
    parent: Option<TraceParent>,
    state: Option<String>,
}

impl TraceContext {
    /// Returns the position of the request in the trace.
    #[must_use]
    pub fn parent(&self) -> Option<&TraceParent> {
        self.parent.as_ref()
    }

    /// Returns `tracestate`, opaque data of tracing systems to forward
    /// unchanged. Returns `None` without a valid `traceparent`.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl FromRequest for TraceContext {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let Some(parent) = TraceParent::of(req.headers()) else {
            return Ok(Self::default());
        };
        let lines = req.headers().get_all(TRACESTATE).iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        let state = (!lines.is_empty()).then(|| lines.join(","));
        Ok(Self { parent: Some(parent), state })
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("traceparent", false);
        doc.reads_header("tracestate", false);
    }
}

/// Removes an invalid trace from the headers, and begins a trace if `begins` is
/// true. Returns the resulting trace.
pub(super) fn tidy(headers: &mut HeaderMap, begins: bool) -> Result<Option<HeaderValue>, ApiError> {
    if let Some(sent) = sent(headers) {
        return Ok(Some(sent.clone()));
    }
    headers.remove(TRACEPARENT);
    // `tracestate` is meaningless without `traceparent`.
    headers.remove(TRACESTATE);
    if !begins {
        return Ok(None);
    }
    let text = TraceParent::random()?.to_string();
    let value = HeaderValue::try_from(text).map_err(ApiError::internal)?;
    headers.insert(TRACEPARENT, value.clone());
    Ok(Some(value))
}

/// Returns the client's trace, if it is valid.
pub(super) fn sent(headers: &HeaderMap) -> Option<&HeaderValue> {
    only(headers, &TRACEPARENT)
        .filter(|value| value.to_str().is_ok_and(|it| TraceParent::parse(it).is_some()))
}

/// Parses only lowercase digits, as the standard requires.
fn part<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let mut bytes = [0; N];
    let is_sound = text.bytes().all(is_digit) && hex::decode_to_slice(text, &mut bytes).is_ok();
    is_sound.then_some(bytes)
}

/// Makes sure that random bytes are not all zero, which would be invalid.
fn keep_from_zero(id: &mut [u8]) {
    if id.iter().all(|byte| *byte == 0)
        && let Some(last) = id.last_mut()
    {
        *last = 1;
    }
}

/// The trace that contains the request.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// The length of version 00.
const LENGTH_BYTES: usize = 55;

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[track_caller]
    fn check(text: &str, is_valid: bool) {
        assert_eq!(TraceParent::parse(text).is_some(), is_valid, "{text:?}");
    }

    #[test]
    fn only_the_format_of_the_standard_is_valid() {
        check(SOUND, true);
        check(&SOUND.replace("-01", "-ff"), true);
        check(&SOUND.to_uppercase(), false);
        check(&SOUND.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)), false);
        check(&SOUND.replace("00f067aa0ba902b7", &"0".repeat(16)), false);
        check(&SOUND.replace('4', "g"), false);
        check(&SOUND[..54], false);
        check(&format!("{SOUND}-"), false);
        check(&format!(" {SOUND}"), false);
        check("", false);
        check(&"é".repeat(40), false);
        check(&"-".repeat(55), false);
    }

    #[test]
    fn later_versions_may_have_more_fields() {
        let later = SOUND.replacen("00", "cc", 1);
        check(&later, true);
        check(&format!("{later}-what-the-future-will-be-like"), true);
        check(&format!("{later}.what"), false);
        check(&SOUND.replacen("00", "ff", 1), false);
        assert_eq!(TraceParent::parse(&later).unwrap().to_string(), SOUND);
    }

    #[test]
    fn drops_an_invalid_trace_with_its_state() {
        let headers_of = |parents: &[&str]| {
            let mut headers = HeaderMap::new();
            for parent in parents {
                headers.append(TRACEPARENT, parent.parse().unwrap());
            }
            headers.append(TRACESTATE, HeaderValue::from_static("a=1"));
            headers
        };
        for (parents, left) in [(&[SOUND][..], 2), (&["x"], 0), (&[SOUND, SOUND], 0), (&[], 0)] {
            let mut headers = headers_of(parents);
            tidy(&mut headers, false).unwrap();
            assert_eq!(headers.len(), left, "{parents:?}");
        }
        let mut headers = headers_of(&["x"]);
        tidy(&mut headers, true).unwrap();
        assert!(TraceParent::of(&headers).is_some_and(|parent| !parent.is_sampled()));
    }
}
