//! [`with_etag`]: entity tags and conditional GET and HEAD requests.
//!
//! Source: RFC 9110, sections 13.2 and 15.4.5 (304).

use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use stockade_core::description::{HeaderDoc, ResponseDoc, StatusDoc};
use stockade_core::middleware::form;
use stockade_core::{
    ErrorContext, HttpBody, IntoMiddleware, Middleware, Next, Request, Response, RouteDescription,
};

use super::preconditions::{describe_conditions, failed};
use super::{ETag, Outcome, Preconditions, Validators};
use crate::described::may_read;

/// Adds an `ETag` to responses to GET and HEAD, and evaluates the conditions of
/// the request: 304 without a body if the client has the current state, 412 if
/// the state is not the expected one.
///
/// The tag is a hash of the bytes and the content type of a complete body with
/// the status 200. An `ETag` or `Last-Modified` set by the handler remains and
/// is used, even for a stream. A stream without either passes unchanged.
///
/// The tag is weak, because a compressed and an uncompressed response may share
/// it. With [`strong`](EntityTags::strong), clients can use it in `If-Match`
/// and for ranges.
///
/// A 412 keeps the headers of the replaced response that describe the exchange,
/// such as CORS and rate limit headers, cookies, `Vary` and the `ETag`. Headers
/// that describe the content are removed, and also headers that let a cache
/// store the response for requests without that condition.
///
/// Methods that change a resource must check the conditions before the handler
/// does its work, so their handlers take [`Preconditions`].
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_etag;
///
/// assert_eq!(Middleware::new(with_etag().strong()).name(), "with_etag");
/// ```
pub fn with_etag() -> EntityTags {
    EntityTags { are_strong: false }
}

/// The middleware of [`with_etag`].
#[derive(Clone, Copy, Debug)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct EntityTags {
    are_strong: bool,
}

impl EntityTags {
    /// Creates strong tags, which promise identical bytes.
    pub fn strong(mut self) -> Self {
        self.are_strong = true;
        self
    }

    fn apply(
        self,
        method: &Method,
        conditions: &Preconditions,
        mut response: Response,
        context: &ErrorContext,
    ) -> Response {
        let status = response.status();
        // Conditions only apply to responses that would be a success.
        if !status.is_success() || status == StatusCode::PARTIAL_CONTENT {
            return response;
        }
        if status == StatusCode::OK
            && !response.headers().contains_key(header::ETAG)
            && let Some(tag) = self.tag(method, &response)
        {
            response.headers_mut().insert(header::ETAG, tag);
        }
        match conditions.evaluate(&Validators::of(response.headers())) {
            Outcome::Proceed => response,
            Outcome::NotModified => not_modified(response),
            Outcome::Failed => refused(response, context.answer(failed())),
        }
    }

    /// Creates the tag of a complete body. An empty response to HEAD comes from
    /// a separate route, and the body of GET is then unknown.
    fn tag(self, method: &Method, response: &Response) -> Option<HeaderValue> {
        let bytes = response.body().as_bytes()?;
        if bytes.is_empty() && *method == Method::HEAD {
            return None;
        }
        let media = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        // A missing type and an empty type give the same tag.
        let tag = ETag::of_parts(&[media.unwrap_or_default(), b"\n", bytes]);
        let tag = if self.are_strong { tag } else { tag.weak() };
        HeaderValue::try_from(tag.to_string()).ok()
    }
}

/// Creates a 304 with the headers that a cache needs, without headers that
/// describe the bytes.
fn not_modified(response: Response) -> Response {
    let (mut head, _) = response.into_parts();
    head.status = StatusCode::NOT_MODIFIED;
    OF_THE_BYTES.iter().for_each(|name| drop(head.headers.remove(name)));
    if head.headers.contains_key(header::ETAG) {
        head.headers.remove(header::LAST_MODIFIED);
    }
    Response::from_parts(head, HttpBody::empty())
}

/// Adds the response headers that describe the exchange to the 412.
fn refused(response: Response, mut refusal: Response) -> Response {
    let (mut head, _) = response.into_parts();
    let of_the_content = OF_THE_BYTES.iter().chain(&OF_THE_CONTENT);
    of_the_content.for_each(|name| drop(head.headers.remove(name)));
    head.headers.extend(std::mem::take(refusal.headers_mut()));
    *refusal.headers_mut() = head.headers;
    head.extensions.extend(std::mem::take(refusal.extensions_mut()));
    *refusal.extensions_mut() = head.extensions;
    refusal
}

impl IntoMiddleware<form::Ready> for EntityTags {
    fn into_middleware(self) -> Middleware {
        let around = move |req: Request, next: Next| async move {
            let method = req.method().clone();
            if !matches!(method, Method::GET | Method::HEAD) {
                return next.run(req).await;
            }
            let context = ErrorContext::of(&req);
            let conditions = Preconditions::of(&method, req.headers());
            let response = next.run(req).await;
            self.apply(&method, &conditions, response, &context)
        };
        Middleware::new(around).named("with_etag").describing(describe)
    }
}

/// Creates the middleware that evaluates the conditions against the handler's
/// tag. The handler describes it.
pub(super) fn evaluating() -> Middleware {
    let around = |req: Request, next: Next| async move {
        let method = req.method().clone();
        let tags = [header::IF_MATCH, header::IF_NONE_MATCH];
        let has_conditions = tags.iter().any(|name| req.headers().contains_key(name));
        if !has_conditions || !matches!(method, Method::GET | Method::HEAD) {
            return next.try_run(req).await;
        }
        let context = ErrorContext::of(&req);
        let conditions = Preconditions::of(&method, req.headers());
        let response = next.try_run(req).await?;
        Ok(with_etag().strong().apply(&method, &conditions, response, &context))
    };
    Middleware::new(around).named("WithETag").describing(|_| {})
}

fn describe(doc: &mut RouteDescription) {
    if !may_read(doc.method()) {
        return;
    }
    describe_conditions(doc);
    // A stream has a tag only if its handler sets one; it may have a date
    // instead.
    let etag = || HeaderDoc::new("ETag", "The tag of the current state").sometimes();
    doc.responds(ResponseDoc::new(304).meaning("The client has the current state").header(etag()));
    let meaning = "The resource does not have the state that the client expects";
    doc.responds(ResponseDoc::error(412).meaning(meaning).header(etag()));
    doc.adds_header(etag(), Some(StatusDoc::Exact(200)));
}

const OF_THE_BYTES: [HeaderName; 6] = [
    header::ACCEPT_RANGES,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
];

/// Other headers that a 412 does not copy: they describe other content, or let
/// a cache store the response.
const OF_THE_CONTENT: [HeaderName; 7] = [
    header::AGE,
    header::CACHE_CONTROL,
    header::CONTENT_DISPOSITION,
    header::CONTENT_LOCATION,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::LINK,
];
