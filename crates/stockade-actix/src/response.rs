//! Converts a stockade response to an actix-web response.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, StatusCode};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http_body::Body as _;
use stockade_core::{HttpBody, Response, error_of};

/// Creates an actix-web response with the same status, headers and body. Its
/// extensions contain the error, if any.
pub(crate) fn translate(response: Response, is_head: bool) -> HttpResponse {
    let theirs = head(&response);
    let length = response.headers().get(CONTENT_LENGTH).filter(|_| is_head);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let body = ResponseBody { body: response.into_body(), unsent: length };
    theirs.set_body(BoxBody::new(body))
}

/// Creates an actix-web response with everything except the body.
pub(crate) fn head(response: &Response) -> HttpResponse {
    let status = StatusCode::from_u16(response.status().as_u16());
    let mut theirs = HttpResponse::new(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in response.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            theirs.headers_mut().append(name, value);
        }
    }
    // actix-web writes this header itself.
    if response.headers().get(CONNECTION).is_some_and(|value| value == "close") {
        theirs.head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(error) = error_of(response) {
        theirs.extensions_mut().insert(error.clone());
    }
    theirs
}

/// A stockade body as an actix-web body.
struct ResponseBody {
    body: HttpBody,
    /// The length of the body, which a response to HEAD does not send.
    unsent: Option<u64>,
}

impl MessageBody for ResponseBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        let length = self.unsent.or_else(|| self.body.size_hint().exact());
        length.map_or(BodySize::Stream, BodySize::Sized)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Box<dyn Error>>>> {
        loop {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => frame,
            };
            // actix-web cannot send trailers.
            if let Ok(data) = frame.into_data() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }
}
