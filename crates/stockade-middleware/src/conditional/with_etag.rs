//! [`with_etag`]: answers that the client has already are not sent again.
//!
//! Source: RFC 9110, sections 13.2 and 15.4.5 (304).

use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use stockade_core::middleware::form;
use stockade_core::{ApiError, HttpBody, IntoMiddleware, Middleware, Next, Request, Response};

use super::preconditions::failed;
use super::{ETag, Outcome, Preconditions, Validators};

/// Gives answers to GET and HEAD an `ETag` and evaluates the conditions of the
/// request: 304 without a body for what the client has, 412 for what is not as
/// it must be.
///
/// The tag is made of the bytes and the content type of a whole body with the
/// status 200. An `ETag` or a `Last-Modified` of the handler is kept and
/// counts, also for a stream; a stream without them passes as it is.
///
/// The tag is weak, so that a compressed and a plain answer may share it. With
/// [`strong`](EntityTags::strong) clients can use it in `If-Match` and for
/// ranges.
///
/// For methods that change something the conditions have to be checked before
/// the handler does its work: it takes [`Preconditions`].
///
/// ```
/// use stockade_core::Middleware;
/// use stockade_middleware::with_etag;
///
/// assert_eq!(Middleware::new(with_etag().strong()).name(), "with_etag");
/// ```
pub fn with_etag() -> EntityTags {
    EntityTags { are_strong: false }
}

/// What [`with_etag`] makes.
#[derive(Clone, Copy, Debug)]
#[must_use = "it tags nothing until a route or a router has it"]
pub struct EntityTags {
    are_strong: bool,
}

impl EntityTags {
    /// Makes strong tags, which promise the same bytes.
    pub fn strong(mut self) -> Self {
        self.are_strong = true;
        self
    }

    fn apply(
        self,
        method: &Method,
        conditions: &Preconditions,
        mut response: Response,
    ) -> Result<Response, ApiError> {
        let status = response.status();
        // A condition counts only where the answer would be a success.
        if !status.is_success() || status == StatusCode::PARTIAL_CONTENT {
            return Ok(response);
        }
        if status == StatusCode::OK
            && !response.headers().contains_key(header::ETAG)
            && let Some(tag) = self.tag(method, &response)
        {
            response.headers_mut().insert(header::ETAG, tag);
        }
        match conditions.evaluate(&Validators::of(response.headers())) {
            Outcome::Proceed => Ok(response),
            Outcome::NotModified => Ok(not_modified(response)),
            Outcome::Failed => Err(failed()),
        }
    }

    /// The tag of a whole body. An empty answer to HEAD is that of a route of
    /// its own: what GET would give is not known.
    fn tag(self, method: &Method, response: &Response) -> Option<HeaderValue> {
        let bytes = response.body().as_bytes()?;
        if bytes.is_empty() && *method == Method::HEAD {
            return None;
        }
        let media = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        let tag = ETag::of_parts(&[media.unwrap_or_default(), b"\n", bytes]);
        let tag = if self.are_strong { tag } else { tag.weak() };
        HeaderValue::try_from(tag.to_string()).ok()
    }
}

/// 304 with the headers that a cache needs, without those of the bytes.
fn not_modified(response: Response) -> Response {
    let (mut head, _) = response.into_parts();
    head.status = StatusCode::NOT_MODIFIED;
    OF_THE_BYTES.iter().for_each(|name| drop(head.headers.remove(name)));
    if head.headers.contains_key(header::ETAG) {
        head.headers.remove(header::LAST_MODIFIED);
    }
    Response::from_parts(head, HttpBody::empty())
}

impl IntoMiddleware<form::Ready> for EntityTags {
    fn into_middleware(self) -> Middleware {
        let around = move |req: Request, next: Next| async move {
            let method = req.method().clone();
            if !matches!(method, Method::GET | Method::HEAD) {
                return Ok(next.run(req).await);
            }
            let conditions = Preconditions::of(&method, req.headers());
            let response = next.run(req).await;
            self.apply(&method, &conditions, response)
        };
        Middleware::new(around).named("with_etag")
    }
}

const OF_THE_BYTES: [HeaderName; 6] = [
    header::ACCEPT_RANGES,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
];
