//! Describes the endpoint.

use stockade_core::description::ResponseDoc;
use stockade_core::{BodyKind, RouteDescription};

/// Describes the requests and the responses of the endpoint.
pub(crate) fn describe(doc: &mut RouteDescription) {
    doc.reads_body(BodyKind::Raw);
    let message = |status: u16, meaning| ResponseDoc::any_json(status).meaning(meaning);
    doc.responds(message(200, "The result of the call"));
    let events = ResponseDoc::text(200, "text/event-stream");
    doc.responds(events.meaning("The progress of the call, then its result"));
    doc.responds(ResponseDoc::new(202).meaning("The message is a notification"));
    doc.responds(message(400, "The message is invalid"));
    doc.may_respond(401, "The tool requires a user");
    doc.responds(message(404, "The method does not exist"));
    doc.may_respond(413, "The message has too many values");
    doc.may_respond(415, "The body is not JSON");
}
