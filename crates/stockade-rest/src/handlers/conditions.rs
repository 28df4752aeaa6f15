//! The conditions of a request: `If-Match` and `If-None-Match`.
//!
//! Source: RFC 9110, section 13.

use http::{HeaderMap, header};
use stockade_core::Request;
use stockade_core::headers::only;
use stockade_errors::ApiError;
use stockade_middleware::{ETag, Outcome, Preconditions, Validators};

use super::Route;
use crate::access::Operation;
use crate::failure::precondition_failed;
use crate::store::{Version, VersionCheck};

/// The conditions of a request that writes an item.
pub(super) struct Conditions {
    /// The single expected version, which is the common case.
    exact: Option<Version>,
    /// Any other conditions, evaluated against the current version.
    others: Option<Preconditions>,
}

impl Conditions {
    /// Reads the conditions of a request.
    ///
    /// # Errors
    /// Returns a 428 if a required condition is missing.
    pub(super) fn of(route: &Route, req: &Request) -> Result<Self, ApiError> {
        let headers = req.headers();
        let settings = route.core.settings;
        let has_match = headers.contains_key(header::IF_MATCH);
        let creates = settings.put_creates
            && route.operation == Operation::Replace
            && headers.get(header::IF_NONE_MATCH).is_some_and(|value| value == "*");
        if settings.requires_if_match && !has_match && !creates {
            let message = "Precondition Required: send the version to change in If-Match";
            return Err(ApiError::new(428, message));
        }
        let exact = exact(headers);
        let is_validated = has_match || headers.contains_key(header::IF_NONE_MATCH);
        let others = is_validated && exact.is_none();
        Ok(Self { exact, others: others.then(|| Preconditions::of(req.method(), headers)) })
    }

    /// Returns true if the client sent a condition.
    pub(super) fn are_given(&self) -> bool {
        self.exact.is_some() || self.others.is_some()
    }

    /// Returns the version check for a write that need not load the item, or
    /// `None` if the item must be loaded first.
    pub(super) fn expected(&self) -> Option<VersionCheck> {
        match (self.exact, &self.others) {
            (Some(version), _) => Some(VersionCheck::Version(version)),
            (None, None) => Some(VersionCheck::Any),
            (None, Some(_)) => None,
        }
    }

    /// Evaluates the conditions against the current version, or `None` for a
    /// missing item.
    ///
    /// # Errors
    /// Returns a 412 with the current entity tag.
    pub(super) fn validate(&self, present: Option<Version>) -> Result<(), ApiError> {
        let holds = match (self.exact, &self.others) {
            (Some(exact), _) => present == Some(exact),
            (None, Some(others)) => others.evaluate(&validators(present)) != Outcome::Failed,
            (None, None) => true,
        };
        if holds { Ok(()) } else { Err(precondition_failed(present)) }
    }
}

/// Returns true if the client already has the current version.
pub(super) fn is_known(req: &Request, present: Version) -> Result<bool, ApiError> {
    let headers = req.headers();
    if !headers.contains_key(header::IF_NONE_MATCH) && !headers.contains_key(header::IF_MATCH) {
        return Ok(false);
    }
    match Preconditions::of(req.method(), headers).evaluate(&validators(Some(present))) {
        Outcome::Failed => Err(precondition_failed(Some(present))),
        outcome => Ok(outcome == Outcome::NotModified),
    }
}

/// Returns the version of an `If-Match` header with exactly one of our tags.
fn exact(headers: &HeaderMap) -> Option<Version> {
    if headers.contains_key(header::IF_NONE_MATCH) {
        return None;
    }
    let number =
        only(headers, &header::IF_MATCH)?.to_str().ok()?.strip_prefix("\"v")?.strip_suffix('"')?;
    let is_ours = number == "0" || !number.starts_with(['0', '+']);
    is_ours.then(|| number.parse().ok().map(Version))?
}

fn validators(present: Option<Version>) -> Validators {
    // The tag of a version contains only visible ASCII characters.
    let tag = present.and_then(|version| ETag::new(&version.to_string()));
    tag.map_or_else(Validators::absent, Validators::etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(if_match: &[&str], expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        for line in if_match {
            headers.append("if-match", line.parse().unwrap());
        }
        assert_eq!(exact(&headers), expected.map(Version), "{if_match:?}");
    }

    #[test]
    fn one_generated_tag_is_a_version() {
        check(&["\"v17\""], Some(17));
        check(&["\"v0\""], Some(0));
        for other in
            ["\"v017\"", "\"v+1\"", "\"v\"", "\"17\"", "W/\"v17\"", "*", "v17", "\"v1\", \"v2\""]
        {
            check(&[other], None);
        }
        check(&["\"v18446744073709551616\""], None);
        check(&["\"v1\"", "\"v1\""], None);
        check(&[], None);
    }
}
