//! [`with_decompression`]: decompresses request bodies.
//!
//! Source: RFC 9110, sections 8.4 (Content-Encoding), 12.5.3 (Accept-Encoding
//! in a response) and 15.5.16 (415).

use std::sync::Arc;

use http::{HeaderMap, header};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::middleware::form;
use stockade_core::{ApiError, HttpBody, IntoMiddleware, Middleware, Request, RouteDescription};

use super::Coding;
use super::decoder::Decompressed;
use crate::described::may_change;

/// Decompresses request bodies. Inner middleware and the handler see a plain
/// body, without `Content-Encoding` and `Content-Length`.
///
/// The limit of the route applies to the compressed and to the decompressed
/// bytes. A decompression bomb gets a 413 when it reaches the limit, and never
/// uses more memory than the limit. A body that cannot be decompressed is a
/// 400. An unsupported coding, or more than one coding, is a 415 with the
///      supported codings in `Accept-Encoding`.
///
/// This middleware must precede middleware that reads the body. The other order
/// is a configuration error.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::{Coding, with_decompression};
///
/// let only_gzip = with_decompression().codings([Coding::Gzip]);
/// assert_eq!(Middleware::new(only_gzip).name(), "with_decompression");
/// ```
pub fn with_decompression() -> Decompression {
    Decompression { codings: Coding::ALL.into() }
}

/// The middleware of [`with_decompression`].
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct Decompression {
    codings: Arc<[Coding]>,
}

impl Decompression {
    /// Sets the codings to accept. Default: all.
    pub fn codings(mut self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.codings = codings.into_iter().collect();
        self
    }

    /// Returns the coding of a body, or `None` if the body is not encoded.
    fn coding(&self, headers: &HeaderMap) -> Result<Option<Coding>, ApiError> {
        let mut found = None;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            let names = value.to_str().map_err(|_| self.unsupported())?;
            let names = names.split(',').map(str::trim);
            for name in names.filter(|name| !name.is_empty() && !is_identity(name)) {
                let coding = Coding::parse(name).filter(|coding| self.codings.contains(coding));
                // Nested codings would multiply the size of a decompression
                // bomb.
                if coding.is_none() || found.is_some() {
                    return Err(self.unsupported());
                }
                found = coding;
            }
        }
        Ok(found)
    }

    #[cold]
    fn unsupported(&self) -> ApiError {
        let names: Vec<&str> = self.codings.iter().map(|coding| coding.as_str()).collect();
        let names = if names.is_empty() { "identity".to_owned() } else { names.join(", ") };
        ApiError::new(415, "Unsupported Media Type").with_header("accept-encoding", names)
    }
}

fn is_identity(name: &str) -> bool {
    name.eq_ignore_ascii_case("identity")
}

impl IntoMiddleware<form::Ready> for Decompression {
    fn into_middleware(self) -> Middleware {
        let check = move |req: &mut Request| {
            let coding = self.coding(req.headers())?;
            req.headers_mut().remove(header::CONTENT_ENCODING);
            if let Some(coding) = coding {
                req.headers_mut().remove(header::CONTENT_LENGTH);
                req.map_body(|body| HttpBody::new(Decompressed::new(body, coding)));
            }
            Ok::<_, ApiError>(())
        };
        Middleware::new(check).named(HELPER).describing(describe)
    }
}

fn describe(doc: &mut RouteDescription) {
    doc.middleware_decodes_body(HELPER);
    doc.reads_header("Content-Encoding", false);
    let codings = HeaderDoc::new("Accept-Encoding", "The supported content codings");
    let meaning = "The content coding of the body is not supported";
    doc.responds(ResponseDoc::error(415).meaning(meaning).header(codings));
    if may_change(doc.method()) {
        doc.may_respond(400, "The body cannot be decompressed");
        doc.may_respond(413, "The decompressed body is too large");
    }
}

const HELPER: &str = "with_decompression";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&'static str], expected: Result<Option<Coding>, u16>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::CONTENT_ENCODING, line.parse().unwrap());
        }
        let found = with_decompression().coding(&headers).map_err(|error| error.status());
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn accepts_exactly_one_coding() {
        check(&[], Ok(None));
        check(&["identity"], Ok(None));
        check(&["GZip"], Ok(Some(Coding::Gzip)));
        check(&["identity, br"], Ok(Some(Coding::Brotli)));
        check(&["identity", "zstd"], Ok(Some(Coding::Zstd)));
    }

    #[test]
    fn rejects_other_codings() {
        check(&["deflate"], Err(415));
        check(&["gzip, gzip"], Err(415));
        check(&["gzip", "br"], Err(415));
        check(&["gzip;q=1"], Err(415));
        let error = with_decompression().codings([Coding::Gzip]).unsupported();
        assert_eq!(error.headers().collect::<Vec<_>>(), [("accept-encoding", "gzip")]);
    }
}
