//! [`with_compression`]: compresses responses.
//!
//! Source: RFC 9110, sections 8.4 (Content-Encoding), 12.5.3 (Accept-Encoding)
//! and 12.5.5 (Vary).

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body::Body as _;
use stockade_core::description::HeaderDoc;
use stockade_core::middleware::form;
use stockade_core::{HttpBody, IntoMiddleware, Middleware, Next, Request, Response};
use stockade_errors::__internal::setters;

use super::Coding;
use super::coding::choose;
use super::encoder::{Compressed, compress};
use crate::conditional::{strengthen, weaken};
use crate::headers::{add_vary, has_token};

/// Compresses responses with zstd, brotli or gzip, as the client prefers.
///
/// These responses are not compressed: bodies below
/// [`min_size`](Compression::min_size), responses with a `Content-Encoding` or
/// with `Cache-Control: no-transform`, types that are already compressed or
/// unknown (images, video, archives, `application/octet-stream`), and the
/// statuses 204, 205 and 206. A body that would not become smaller is not
/// compressed either.
///
/// A response that depends on `Accept-Encoding` lists it in `Vary`, compressed
/// or not. A partial response (206) lists it if the complete response does, and
/// a 304 always lists it. A response to HEAD has the headers of the response to
/// GET, with the compressed length if GET has it. A length set by a separate
/// HEAD route is removed.
///
/// A strong `ETag` becomes weak, because the bytes change. If a client sends
/// such a tag in `If-Match`, it becomes strong again and
/// [`IfMatch`](crate::IfMatch) accepts it. A tag that was already weak remains
/// weak in the response, so it never matches.
///
/// A stream is compressed as it arrives. The encoder is flushed whenever the
/// stream pauses, and after each event of an event stream.
///
/// Do not compress a response that contains a secret next to text that an
/// attacker chooses: the length reveals the secret (BREACH).
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_compression;
///
/// assert_eq!(Middleware::new(with_compression()).name(), "with_compression");
/// ```
pub fn with_compression() -> Compression {
    Compression { codings: Coding::ALL.into(), min_size: DEFAULT_MIN_SIZE_BYTES }
}

/// The middleware of [`with_compression`].
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct Compression {
    codings: Arc<[Coding]>,
    /// The minimum length to compress, in bytes.
    min_size: u64,
}

impl Compression {
    /// Sets the codings to offer, the preferred one first. Default: all.
    pub fn codings(mut self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.codings = codings.into_iter().collect();
        self
    }

    setters! {
        /// Sets the minimum length of a compressed body, in bytes. Default:
        /// 1,024. A stream of unknown length is always compressed.
        min_size: u64;
    }

    /// Returns true if the response is compressed for clients that accept a
    /// coding.
    fn is_eligible(&self, is_head: bool, response: &Response) -> bool {
        length_of(response, is_head).is_none_or(|length| length >= self.min_size)
            && !NEVER.contains(&response.status())
            && !response.status().is_informational()
            && !response.headers().contains_key(header::CONTENT_RANGE)
            && may_change(response.headers())
            && media_type(response.headers()).is_some_and(is_compressible)
    }

    /// Returns true for a partial response if the complete response is
    /// compressed for clients that accept a coding.
    fn is_part_of_eligible(&self, response: &Response) -> bool {
        let headers = response.headers();
        response.status() == StatusCode::PARTIAL_CONTENT
            && whole_length(headers).is_none_or(|length| length >= self.min_size)
            && may_change(headers)
            // A multipart response names the type of the complete response only
            // inside its parts.
            && media_type(headers)
                .is_some_and(|media| media == PARTS || is_compressible(media))
    }

    fn apply(&self, coding: Option<Coding>, is_head: bool, response: Response) -> Response {
        if self.is_part_of_eligible(&response) {
            let mut response = response;
            add_vary(response.headers_mut(), "accept-encoding");
            return response;
        }
        if !self.is_eligible(is_head, &response) {
            return response;
        }
        let (mut head, body) = response.into_parts();
        add_vary(&mut head.headers, "accept-encoding");
        let Some(coding) = coding else {
            return Response::from_parts(head, body);
        };
        let is_events = media_type(&head.headers).is_some_and(|media| media == EVENTS);
        let body = match body.as_bytes() {
            // A small body is compressed at once, to know its length.
            Some(bytes) if (1..=MAX_AT_ONCE_BYTES).contains(&bytes.len()) => {
                match compress(coding, bytes) {
                    Ok(packed) if packed.len() < bytes.len() => packed.into(),
                    Ok(_) => return Response::from_parts(head, body),
                    Err(error) => {
                        log::error!(target: "stockade", "cannot compress a response: {error}");
                        return Response::from_parts(head, body);
                    }
                }
            }
            _ => HttpBody::new(Compressed::new(body, coding, is_events)),
        };
        mark(&mut head.headers, coding);
        Response::from_parts(head, body)
    }
}

/// Returns true if the body may still be encoded.
fn may_change(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::CONTENT_ENCODING)
        && !has_token(headers, &header::CACHE_CONTROL, "no-transform")
}

/// Returns the length of the complete body that a part belongs to, if known.
fn whole_length(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.rsplit_once('/')?.1.parse().ok()
}

/// Returns the length of the body before compression. For a stream, this is the
/// value of `Content-Length`, if any. A separate HEAD route has no body, but
/// its `Content-Length` may give the length for GET.
fn length_of(response: &Response, is_head: bool) -> Option<u64> {
    let length = response.body().size_hint().exact();
    let is_stated = length.is_none() || is_head && length == Some(0);
    let stated = response.headers().get(header::CONTENT_LENGTH).filter(|_| is_stated);
    stated.and_then(|stated| stated.to_str().ok()?.parse().ok()).or(length)
}

/// Updates the headers for the compressed body.
fn mark(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(header::CONTENT_ENCODING, coding.header_value());
    headers.remove(header::CONTENT_LENGTH);
    // A range would refer to the compressed bytes.
    headers.remove(header::ACCEPT_RANGES);
    if let Some(weak) = headers.get(header::ETAG).and_then(weaken) {
        headers.insert(header::ETAG, weak);
    }
}

/// Makes the tags in `If-Match` strong again if compression has made them weak.
/// `If-Match` never matches a weak tag, so otherwise a client could not change
/// a resource that it received in compressed form.
#[cold]
fn strengthen_expected(headers: &mut HeaderMap) {
    if let header::Entry::Occupied(mut expected) = headers.entry(header::IF_MATCH) {
        expected.iter_mut().for_each(|line| {
            if let Some(strong) = strengthen(line) {
                *line = strong;
            }
        });
    }
}

/// Adapts the headers of a 304 to the response that the client has: if that was
/// compressed, its tag is weak.
fn revalidated(mut response: Response, known: Option<&HeaderValue>) -> Response {
    let headers = response.headers_mut();
    add_vary(headers, "accept-encoding");
    // Our tags are text, so a non-text value cannot contain one.
    let known = known.and_then(|known| known.to_str().ok()).unwrap_or_default();
    if let Some(weak) = headers.get(header::ETAG).and_then(weaken)
        && weak.to_str().is_ok_and(|weak| known.contains(weak))
    {
        headers.insert(header::ETAG, weak);
    }
    response
}

/// Returns the media type without its parameters, in lower case.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str)?.ok()?;
    let essence = value.split_once(';').map_or(value, |(essence, _)| essence);
    Some(essence.trim().to_ascii_lowercase())
}

/// Returns true if bytes of this type become smaller.
fn is_compressible(media: impl AsRef<str>) -> bool {
    let media = media.as_ref();
    let Some((kind, subtype)) = media.split_once('/') else { return false };
    match kind {
        "text" | "model" => true,
        "image" => matches!(subtype, "svg+xml" | "bmp" | "x-icon" | "vnd.microsoft.icon"),
        "font" => matches!(subtype, "otf" | "ttf" | "collection"),
        "application" => {
            let suffix = subtype.rsplit_once('+').map(|(_, suffix)| suffix);
            COMPRESSIBLE.contains(&subtype)
                || suffix.is_some_and(|suffix| COMPRESSIBLE.contains(&suffix))
        }
        _ => false,
    }
}

impl IntoMiddleware<form::Ready> for Compression {
    fn into_middleware(self) -> Middleware {
        let around = move |mut req: Request, next: Next| {
            let compression = self.clone();
            if req.headers().contains_key(header::IF_MATCH) {
                strengthen_expected(req.headers_mut());
            }
            async move {
                let is_head = req.method() == Method::HEAD;
                let coding = choose(req.headers(), &compression.codings);
                let known = req.headers().get(header::IF_NONE_MATCH).cloned();
                let response = next.run(req).await;
                match response.status() {
                    StatusCode::NOT_MODIFIED => revalidated(response, known.as_ref()),
                    _ => compression.apply(coding, is_head, response),
                }
            }
        };
        Middleware::new(around).named("with_compression").describing(|doc| {
            doc.reads_header("Accept-Encoding", false);
            let coding = HeaderDoc::new("Content-Encoding", "The content coding of the body");
            doc.adds_header(coding.sometimes(), None);
            let vary = HeaderDoc::new("Vary", "The headers that the response depends on");
            doc.adds_header(vary.sometimes(), None);
        })
    }
}

/// 1 KiB.
const DEFAULT_MIN_SIZE_BYTES: u64 = 1_024;
/// A larger body is compressed while it is sent.
const MAX_AT_ONCE_BYTES: usize = 262_144;
const EVENTS: &str = "text/event-stream";
const PARTS: &str = "multipart/byteranges";
/// Statuses of responses with no body or only a part of one.
const NEVER: [StatusCode; 4] = [
    StatusCode::NO_CONTENT,
    StatusCode::RESET_CONTENT,
    StatusCode::PARTIAL_CONTENT,
    StatusCode::NOT_MODIFIED,
];
/// Subtypes of `application`, and suffixes after a `+`.
const COMPRESSIBLE: [&str; 14] = [
    "atom",
    "cbor",
    "graphql",
    "javascript",
    "json",
    "json-seq",
    "jsonl",
    "manifest",
    "ndjson",
    "wasm",
    "x-javascript",
    "x-ndjson",
    "xml",
    "yaml",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_compress_compressed_types() {
        let stays = "image/png image/jpeg image/webp video/mp4 audio/ogg application/zip \
             application/gzip application/zstd application/x-7z-compressed font/woff2 \
             application/pdf application/epub+zip application/octet-stream multipart/mixed json";
        for media in stays.split_whitespace() {
            assert!(!is_compressible(media), "{media}");
        }
        let shrinks = "text/html text/event-stream application/json application/problem+json \
             image/svg+xml application/xhtml+xml application/wasm font/ttf application/ld+json";
        for media in shrinks.split_whitespace() {
            assert!(is_compressible(media), "{media}");
        }
    }

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: bool) {
        let mut response = Response::new(HttpBody::from(vec![b'a'; 1_024]));
        for (name, value) in headers {
            response.headers_mut().append(*name, HeaderValue::from_static(value));
        }
        assert_eq!(with_compression().is_eligible(false, &response), expected, "{headers:?}");
    }

    #[test]
    fn partial_response_has_the_vary_header_of_the_full_one() {
        let check = |status: u16, headers: &[(&'static str, &'static str)], expected: bool| {
            for coding in [None, Some(Coding::Gzip)] {
                let mut response = Response::new(HttpBody::from(vec![b'a'; 10]));
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                for (name, value) in headers {
                    response.headers_mut().append(*name, HeaderValue::from_static(value));
                }
                let response = with_compression().apply(coding, false, response);
                let varies = has_token(response.headers(), &header::VARY, "accept-encoding");
                assert_eq!(varies, expected, "{status} {headers:?}");
            }
        };
        let (css, png) = (("content-type", "text/css"), ("content-type", "image/png"));
        let range = ("content-range", "bytes 0-9/4096");
        check(206, &[css, range], true);
        check(206, &[css, ("content-range", "bytes 0-9/*")], true);
        check(206, &[("content-type", "multipart/byteranges; boundary=x")], true);
        // The complete response is not compressed either.
        check(206, &[css, ("content-range", "bytes 0-9/1000")], false);
        check(206, &[png, range], false);
        check(206, &[css, range, ("content-encoding", "br")], false);
        check(206, &[css, range, ("cache-control", "no-transform")], false);
        check(416, &[css, ("content-range", "bytes */4096")], false);
        check(200, &[css], false);
    }

    #[test]
    fn response_headers_decide_about_compression() {
        const JSON: (&str, &str) = ("content-type", "Application/JSON; charset=utf-8");
        check(&[JSON], true);
        check(&[], false);
        check(&[JSON, ("content-encoding", "gzip")], false);
        check(&[JSON, ("content-encoding", "identity")], false);
        check(&[JSON, ("cache-control", "public"), ("cache-control", "No-Transform")], false);
        check(&[JSON, ("cache-control", "public, max-age=1,no-transform")], false);
        check(&[JSON, ("cache-control", "private=\"no-transform-not\"")], true);
        check(&[JSON, ("content-range", "bytes 0-1023/4096")], false);
    }
}
