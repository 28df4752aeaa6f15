//! Sends requests to an in-process actix-web application, and formats the
//! responses.

use actix_http::Request;
use actix_web::body::MessageBody;
use actix_web::dev::{Service, ServiceResponse};
use actix_web::{Error, test};

/// Creates a request from lines: `METHOD target`, then `name: value` for each
/// header, then an empty line and the body. The client address is 192.0.2.7.
pub(crate) fn request(text: &str) -> test::TestRequest {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
    let mut request = test::TestRequest::with_uri(target)
        .method(method.parse().unwrap())
        .peer_addr("192.0.2.7:4711".parse().unwrap())
        .set_payload(body.to_owned());
    for line in lines {
        request = request.insert_header(line.split_once(": ").unwrap());
    }
    request
}

/// Returns `status body`, or only the status.
pub(crate) async fn show<B: MessageBody>(response: ServiceResponse<B>) -> String {
    let status = response.status().as_u16();
    let body = test::read_body(response).await;
    let body = String::from_utf8(body.to_vec()).unwrap();
    if body.is_empty() { status.to_string() } else { format!("{status} {body}") }
}

pub(crate) async fn check<S, B>(app: &S, text: &str, expected: &str)
where
    S: Service<Request, Response = ServiceResponse<B>, Error = Error>,
    B: MessageBody,
{
    let response = test::call_service(app, request(text).to_request()).await;
    assert_eq!(show(response).await, expected, "{text}");
}

/// Returns the value of a response header, or `-` if it is missing.
pub(crate) async fn header_of<S, B>(app: &S, text: &str, name: &str) -> String
where
    S: Service<Request, Response = ServiceResponse<B>, Error = Error>,
    B: MessageBody,
{
    let response = test::call_service(app, request(text).to_request()).await;
    let value = response.headers().get(name);
    value.map_or("-", |value| value.to_str().unwrap()).to_owned()
}
