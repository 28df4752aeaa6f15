//! Describes the endpoint.

use serde_json::{Value, json};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::{BodyKind, RouteDescription};
use stockade_map::RouteInfo;

/// Describes the requests and the responses of the endpoint.
pub(crate) fn describe(doc: &mut RouteDescription) {
    doc.reads_body(BodyKind::Raw);
    let message = |status: u16, meaning| ResponseDoc::any_json(status).meaning(meaning);
    doc.responds(message(200, "The result of the call"));
    doc.responds(
        ResponseDoc::text(200, "text/event-stream")
            .meaning("The progress of the call, then its result")
            .header(
                HeaderDoc::new("Cache-Control", "Caches must revalidate the response").sometimes(),
            )
            .header(HeaderDoc::new("X-Accel-Buffering", "Always no, for proxies").sometimes()),
    );
    doc.responds(ResponseDoc::new(202).meaning("The message is a notification"));
    doc.responds(message(400, "The message is invalid"));
    let challenge = HeaderDoc::new("WWW-Authenticate", "The supported authentication methods");
    doc.responds(ResponseDoc::error(401).meaning("The tool requires a user").header(challenge));
    doc.responds(message(404, "The method does not exist"));
    doc.may_respond(413, "The message has too many values");
    let accept = HeaderDoc::new("Accept", "The accepted media type");
    doc.responds(ResponseDoc::error(415).meaning("The body is not JSON").header(accept));
}

/// Describes the body of the endpoint in a map.
pub(crate) fn describe_body(route: &mut RouteInfo) {
    let Some(body) = &mut route.body else { return };
    let Some(content) = body.content.first_mut() else { return };
    content.media_type = "application/json".into();
    content.schema = message_schema();
    body.required = true;
}

fn message_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": { "type": ["string", "integer"] },
            "method": { "type": "string" },
            "params": { "type": "object" },
        },
        "required": ["jsonrpc", "method"],
    })
}
