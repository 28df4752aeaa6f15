//! [`Preconditions`]: the conditions for the execution of a request.
//!
//! Source: RFC 9110, sections 13.1 and 13.2.2 (precedence).

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use stockade_core::description::ResponseDoc;
use stockade_core::headers::only;
use stockade_core::{ApiError, FromRequest, Request, RouteDescription};

use super::ETag;
use crate::described::may_read;

/// The conditions of a request; a handler argument.
///
/// See the [module docs](super) for a handler that checks them.
#[derive(Clone, Debug, Default)]
pub struct Preconditions {
    /// True for GET and HEAD.
    reads: bool,
    if_match: Option<Tags>,
    if_unmodified_since: Option<SystemTime>,
    if_none_match: Option<Tags>,
    if_modified_since: Option<SystemTime>,
}

/// The tags of a condition.
#[derive(Clone, Debug)]
pub(super) enum Tags {
    /// `*`, for any existing resource.
    Any,
    List(Vec<ETag>),
}

/// The current state of a resource, for comparison with the conditions.
#[derive(Clone, Debug, Default)]
pub struct Validators {
    exists: bool,
    etag: Option<ETag>,
    modified: Option<SystemTime>,
}

/// The result of the conditions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The request proceeds.
    Proceed,
    /// The client has the current state: 304. Only for GET and HEAD.
    NotModified,
    /// The resource does not have the state that the client expects: 412.
    Failed,
}

impl Validators {
    /// Describes a resource that does not exist yet.
    #[must_use]
    pub fn absent() -> Self {
        Self::default()
    }

    /// Describes an existing resource without validators.
    #[cfg(feature = "files")]
    pub(crate) fn present() -> Self {
        Self { exists: true, etag: None, modified: None }
    }

    /// Describes a resource with this tag.
    #[must_use]
    pub fn etag(etag: ETag) -> Self {
        Self { exists: true, etag: Some(etag), modified: None }
    }

    /// Describes a resource with this time of the last change, in whole
    /// seconds.
    #[must_use]
    pub fn modified(time: SystemTime) -> Self {
        Self { exists: true, etag: None, modified: Some(time) }
    }

    /// Adds the time of the last change.
    #[must_use]
    pub fn and_modified(mut self, time: SystemTime) -> Self {
        self.modified = Some(time);
        self
    }

    /// Reads the validators of a response.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let etag = headers.get(header::ETAG).and_then(|value| ETag::parse(value.to_str().ok()?));
        Self { exists: true, etag, modified: date(headers, &header::LAST_MODIFIED) }
    }
}

impl Preconditions {
    /// Reads the conditions from the method and the headers of a request.
    ///
    /// A malformed or duplicate date is ignored.
    #[must_use]
    pub fn of(method: &Method, headers: &HeaderMap) -> Self {
        Self {
            reads: matches!(*method, Method::GET | Method::HEAD),
            if_match: tags(headers, &header::IF_MATCH),
            if_unmodified_since: date(headers, &header::IF_UNMODIFIED_SINCE),
            if_none_match: tags(headers, &header::IF_NONE_MATCH),
            if_modified_since: date(headers, &header::IF_MODIFIED_SINCE),
        }
    }

    /// Evaluates the conditions against the current state of the resource.
    ///
    /// ```
    /// use stockade::http::{HeaderMap, HeaderValue, Method};
    /// use stockade::middleware::{ETag, Outcome, Preconditions, Validators};
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("if-none-match", HeaderValue::from_static("\"1\""));
    /// let current = Validators::etag(ETag::new("1").unwrap());
    /// let outcome = |method| Preconditions::of(&method, &headers).evaluate(&current);
    /// assert_eq!(outcome(Method::GET), Outcome::NotModified);
    /// assert_eq!(outcome(Method::PUT), Outcome::Failed);
    /// ```
    #[must_use]
    pub fn evaluate(&self, current: &Validators) -> Outcome {
        let lasts_until =
            |date: SystemTime| current.modified.map(|modified| whole_seconds(modified) <= date);
        let holds = match (&self.if_match, self.if_unmodified_since) {
            (Some(tags), _) => tags.has(current, ETag::matches_strongly),
            (None, Some(date)) => lasts_until(date).unwrap_or(true),
            (None, None) => true,
        };
        if !holds {
            return Outcome::Failed;
        }
        let is_known = match (&self.if_none_match, self.if_modified_since) {
            (Some(tags), _) => tags.has(current, ETag::matches_weakly),
            (None, Some(date)) if self.reads => lasts_until(date).unwrap_or(false),
            (None, _) => false,
        };
        match (is_known, self.reads) {
            (false, _) => Outcome::Proceed,
            (true, true) => Outcome::NotModified,
            (true, false) => Outcome::Failed,
        }
    }

    /// Checks the conditions for methods that change a resource; return the
    /// error from the handler.
    ///
    /// # Errors
    /// Fails with 412 if a condition is false.
    pub fn check(&self, current: &Validators) -> Result<(), ApiError> {
        match self.evaluate(current) {
            Outcome::Failed => Err(failed()),
            Outcome::Proceed | Outcome::NotModified => Ok(()),
        }
    }
}

/// Creates a 412.
#[cold]
pub(super) fn failed() -> ApiError {
    ApiError::new(412, "Precondition Failed")
}

impl FromRequest for Preconditions {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self::of(req.method(), req.headers()))
    }

    fn describe(doc: &mut RouteDescription) {
        describe_conditions(doc);
        if may_read(doc.method()) {
            doc.responds(ResponseDoc::new(304).meaning("The client has the current state"));
        }
        doc.may_respond(412, "The resource does not have the state that the client expects");
    }
}

/// Notes the headers of the conditions.
pub(crate) fn describe_conditions(doc: &mut RouteDescription) {
    for name in ["If-Match", "If-None-Match", "If-Unmodified-Since"] {
        doc.reads_header(name, false);
    }
    if may_read(doc.method()) {
        doc.reads_header("If-Modified-Since", false);
    }
}

impl Tags {
    /// Parses the lines of a header, or returns `None` if they are malformed.
    pub(super) fn strict<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        // Several lines form one list (RFC 9110, section 5.3).
        let list = lines.collect::<Vec<_>>().join(&b',');
        match list.trim_ascii() {
            b"*" => Some(Self::Any),
            list => ETag::strict_list(list).map(Self::List),
        }
    }

    pub(super) fn has(&self, current: &Validators, same: impl Fn(&ETag, &ETag) -> bool) -> bool {
        match (self, &current.etag) {
            (Self::Any, _) => current.exists,
            (Self::List(tags), Some(etag)) => tags.iter().any(|tag| same(tag, etag)),
            (Self::List(_), None) => false,
        }
    }
}

/// Returns the tags on all lines of a header, if it exists. Parsing of a line
/// stops at a malformed element.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<Tags> {
    let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    match lines.as_slice() {
        [] => None,
        [line] if line.trim_ascii() == b"*" => Some(Tags::Any),
        lines => Some(Tags::List(lines.iter().flat_map(|line| ETag::list(line)).collect())),
    }
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(only(headers, name)?.to_str().ok()?.trim()).ok()
}

/// Returns the last whole second up to `time`, because dates in headers do not
/// have fractions.
pub(crate) fn whole_seconds(time: SystemTime) -> SystemTime {
    let nanoseconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.subsec_nanos(),
        Err(before) => (1_000_000_000 - before.duration().subsec_nanos()) % 1_000_000_000,
    };
    // The earliest time that the system supports does not change.
    time.checked_sub(Duration::from_nanos(nanoseconds.into())).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the validators of a resource changed at 1994-11-06 08:49:37.5,
    /// with the strong tag `"1"`.
    fn current() -> Validators {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_500);
        Validators::etag(ETag::new("1").unwrap()).and_modified(changed)
    }

    fn evaluate(method: &Method, head: &str, current: &Validators) -> Outcome {
        let mut headers = HeaderMap::new();
        for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
            let name = HeaderName::try_from(name).unwrap();
            headers.append(name, value.parse().unwrap());
        }
        Preconditions::of(method, &headers).evaluate(current)
    }

    #[track_caller]
    fn check(head: &str, get: Outcome, put: Outcome) {
        assert_eq!(evaluate(&Method::GET, head, &current()), get, "GET {head}");
        assert_eq!(evaluate(&Method::HEAD, head, &current()), get, "HEAD {head}");
        assert_eq!(evaluate(&Method::PUT, head, &current()), put, "PUT {head}");
    }

    use Outcome::{Failed, NotModified, Proceed};

    #[test]
    fn if_match_requires_the_same_strong_tag() {
        check("if-match: \"1\"", Proceed, Proceed);
        check("if-match: \"0\", \"1\"", Proceed, Proceed);
        check("if-match: \"0\"\nif-match: \"1\"", Proceed, Proceed);
        check("if-match: *", Proceed, Proceed);
        check("if-match: \"2\"", Failed, Failed);
        check("if-match: W/\"1\"", Failed, Failed);
        check("if-match: nonsense", Failed, Failed);
    }

    #[test]
    fn if_none_match_requires_a_different_tag() {
        check("if-none-match: \"2\"", Proceed, Proceed);
        check("if-none-match: \"2\", W/\"1\"", NotModified, Failed);
        check("if-none-match: *", NotModified, Failed);
        check("if-none-match: nonsense", Proceed, Proceed);
        check("if-none-match: \"é\", \"1\"", NotModified, Failed);
    }

    #[test]
    fn seconds_are_rounded_down_before_and_after_1970() {
        let check = |seconds: i64, nanoseconds, expected: i64| {
            let at = |seconds: i64| match u64::try_from(seconds) {
                Ok(seconds) => SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
                Err(_) => SystemTime::UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()),
            };
            let time = at(seconds) + Duration::from_nanos(nanoseconds);
            assert_eq!(whole_seconds(time), at(expected), "{seconds} {nanoseconds}");
        };
        check(7, 0, 7);
        check(7, 999_999_999, 7);
        check(0, 1, 0);
        check(0, 0, 0);
        check(-1, 999_999_999, -1);
        check(-1, 1, -1);
        check(-1, 0, -1);
        check(-8, 500_000_000, -8);
    }

    #[test]
    fn dates_count_in_whole_seconds() {
        const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        const BEFORE: &str = "Sunday, 06-Nov-94 08:49:36 GMT";
        check(&format!("if-modified-since: {SAME}"), NotModified, Proceed);
        check(&format!("if-modified-since: {BEFORE}"), Proceed, Proceed);
        check(&format!("if-unmodified-since: {SAME}"), Proceed, Proceed);
        check(&format!("if-unmodified-since: {BEFORE}"), Failed, Failed);
        check("if-unmodified-since: yesterday", Proceed, Proceed);
        check(&format!("if-unmodified-since: {BEFORE}\nif-unmodified-since: x"), Proceed, Proceed);
    }

    #[test]
    fn tags_come_before_dates_and_if_match_before_if_none_match() {
        const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
        const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
        check(&format!("if-match: \"1\"\nif-unmodified-since: {BEFORE}"), Proceed, Proceed);
        check(&format!("if-none-match: \"2\"\nif-modified-since: {AFTER}"), Proceed, Proceed);
        check("if-match: \"2\"\nif-none-match: \"1\"", Failed, Failed);
        check("if-match: \"1\"\nif-none-match: \"1\"", NotModified, Failed);
    }

    #[test]
    fn missing_resource_matches_no_condition() {
        let put = |head| evaluate(&Method::PUT, head, &Validators::absent());
        assert_eq!(put("if-none-match: *"), Proceed);
        assert_eq!(put("if-match: *"), Failed);
        assert_eq!(put("if-match: \"1\""), Failed);
        assert_eq!(put("if-unmodified-since: Sun, 06 Nov 1994 08:49:36 GMT"), Proceed);
    }
}
