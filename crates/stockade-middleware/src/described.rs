//! Descriptions that several helpers share.

use http::Method;
use stockade_core::RouteDescription;
use stockade_core::description::{BodyDoc, ResponseDoc};
#[cfg(feature = "conditional")]
pub(crate) use stockade_stages::__internal::is_any;
pub(crate) use stockade_stages::__internal::unseen;

/// Notes that the middleware `name` reads the parsed body, and the responses to
/// an unreadable body. Bodies of GET and HEAD are not read.
pub(crate) fn reads_parsed_body(doc: &mut RouteDescription, name: &str) {
    doc.middleware_reads_body(name);
    if may_change(doc.method()) {
        doc.may_respond(400, "The body cannot be read");
        doc.may_respond(413, "The body is too large");
    }
}

/// Notes the 415 of middleware that needs a readable body.
pub(crate) fn needs_readable_body(doc: &mut RouteDescription) {
    if may_change(doc.method()) {
        doc.may_respond(415, "The body is not JSON, a form or text");
    }
}

/// Notes the response to a failed validation, with the status of the route.
pub(crate) fn fails_validation(doc: &mut RouteDescription, meaning: &'static str) {
    let mut answer = ResponseDoc::error(doc.validation_status()).meaning(meaning);
    answer.body = BodyDoc::ValidationError;
    doc.responds(answer);
}

/// Returns true if a route with this method accepts GET or HEAD.
#[cfg(feature = "conditional")]
pub(crate) fn may_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD) || is_any(method)
}

/// Returns true if a route with this method accepts methods with a body: any
/// method other than GET and HEAD.
pub(crate) fn may_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// The meaning of a 400 for a query that no extractor reads.
pub(crate) const TOO_MANY_PAIRS: &str = "The query cannot be read";
