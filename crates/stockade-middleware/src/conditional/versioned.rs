//! [`WithETag`] and [`IfMatch`]: resource versions in handlers.
//!
//! Source: RFC 9110, sections 8.8.3 (ETag), 13.1.1 (If-Match) and 13.1.2
//! (If-None-Match); RFC 6585, section 3 (428).

use http::{HeaderMap, HeaderValue, header};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::extract::OptionalFromRequest;
use stockade_core::{ApiError, FromRequest, Reply, Request, Response, RouteDescription};

use super::preconditions::{Tags, failed};
use super::with_etag::evaluating;
use super::{ETag, Validators};
use crate::described::may_read;

/// A response with the version of the resource in `ETag`: the version and the
/// response.
///
/// On GET routes, the router compares the version with the conditions of the
/// request. A client that has the version in `If-None-Match` gets 304 without a
/// body, and an `If-Match` that does not name it gets 412. Routes with other
/// methods do not evaluate these conditions.
///
/// The version is a number, a text, or an [`ETag`]. A number or a text becomes
/// a strong tag, so it must change with each change of the response. Use
/// [`ETag::weak`] if equal versions may have different bytes, for example in
/// two languages.
///
/// ```
/// use stockade::middleware::{IfMatch, WithETag};
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// async fn show() -> WithETag<u64, &'static str> {
///     WithETag(7, "the seventh version")
/// }
///
/// async fn update(version: IfMatch) -> Result<WithETag<u64, &'static str>, ApiError> {
///     version.check(7)?;
///     Ok(WithETag(8, "the eighth version"))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let api = routes! { "page": { GET: show, PUT: update } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/page").await.assert_header("etag", "\"7\"");
/// client.get("/page").header("if-none-match", "\"7\"").await.assert_status(304);
///
/// client.put("/page").await.assert_status(428);
/// client.put("/page").header("if-match", "\"6\"").await.assert_status(412);
/// client.put("/page").header("if-match", "\"7\"").await.assert_header("etag", "\"8\"");
/// # }
/// ```
///
/// # Beyond the spec
/// The specification does not define conditional requests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[doc(alias = "versioning")]
pub struct WithETag<V, T>(pub V, pub T);

impl<V: IntoETag, T: Reply> Reply for WithETag<V, T> {
    fn into_response(self) -> Result<Response, ApiError> {
        let tag = self.0.into_etag()?;
        let mut response = self.1.into_response()?;
        response.headers_mut().insert(header::ETAG, header_value(&tag)?);
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        let etag = || HeaderDoc::new("ETag", "The version of the resource");
        doc.responses_changed(T::describe, |answer| answer.headers.push(etag()));
        if may_read(doc.method()) {
            for name in ["If-Match", "If-None-Match"] {
                doc.reads_header(name, false);
            }
            let meaning = "The client has this version";
            doc.responds(ResponseDoc::new(304).meaning(meaning).header(etag()));
            doc.responds(ResponseDoc::error(412).meaning(OTHER_VERSION).header(etag()));
            doc.ends_with(evaluating());
        }
    }
}

/// The versions in `If-Match` that a client expects, to prevent lost updates; a
/// handler argument.
///
/// A request without the header gets 428, and a malformed header gets 400. Use
/// `Option<IfMatch>` if the header is optional. See [`WithETag`] for an
/// example.
#[derive(Clone, Debug)]
#[doc(alias = "optimistic locking")]
#[must_use = "it does nothing until `check`"]
pub struct IfMatch(Tags);

impl IfMatch {
    /// Compares the current version of the resource with the header, with the
    /// strong comparison: a weak tag never matches. `*` matches any version. If
    /// the resource does not exist, return your 404 instead, or
    /// [`missing`](Self::missing).
    ///
    /// # Errors
    /// Fails with 412 and the current version in `ETag` if the header does not
    /// name it, and with 500 for a text that cannot be a version.
    pub fn check(&self, current: impl IntoETag) -> Result<(), ApiError> {
        let tag = current.into_etag()?;
        let text = tag.to_string();
        match self.0.has(&Validators::etag(tag), ETag::matches_strongly) {
            true => Ok(()),
            false => Err(failed().with_header("etag", text)),
        }
    }

    /// Returns the error for a resource that does not exist and therefore
    /// matches no version.
    #[must_use]
    pub fn missing(&self) -> ApiError {
        failed()
    }

    /// Reads the header. Returns `None` if it is missing.
    fn of(headers: &HeaderMap) -> Option<Result<Self, ApiError>> {
        let mut lines = headers.get_all(header::IF_MATCH).into_iter().peekable();
        lines.peek()?;
        let tags = Tags::strict(lines.map(HeaderValue::as_bytes));
        Some(tags.map(Self).ok_or_else(|| ApiError::new(400, MALFORMED)))
    }
}

impl FromRequest for IfMatch {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Self::of(req.headers()).unwrap_or_else(|| Err(ApiError::new(428, REQUIRED)))
    }

    fn describe(doc: &mut RouteDescription) {
        describe_if_match(doc, true);
        doc.may_respond(428, "The header If-Match with the expected version is missing");
    }
}

impl OptionalFromRequest for IfMatch {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Self::of(req.headers()).transpose()
    }

    fn describe_optional(doc: &mut RouteDescription) {
        describe_if_match(doc, false);
    }
}

fn describe_if_match(doc: &mut RouteDescription, is_required: bool) {
    doc.reads_header("If-Match", is_required);
    doc.may_respond(400, "The header If-Match is malformed");
    let etag = HeaderDoc::new("ETag", "The version of the resource").sometimes();
    doc.responds(ResponseDoc::error(412).meaning(OTHER_VERSION).header(etag));
}

/// A version of a resource: an integer, a text, or an [`ETag`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a version for an entity tag",
    label = "expected an integer, a string or an `ETag`"
)]
pub trait IntoETag {
    /// Returns the entity tag.
    ///
    /// # Errors
    /// Fails with 500 for a text with a quote or a character other than visible
    /// ASCII.
    fn into_etag(self) -> Result<ETag, ApiError>;
}

impl IntoETag for ETag {
    fn into_etag(self) -> Result<ETag, ApiError> {
        Ok(self)
    }
}

impl IntoETag for &ETag {
    fn into_etag(self) -> Result<ETag, ApiError> {
        Ok(self.clone())
    }
}

impl IntoETag for &str {
    fn into_etag(self) -> Result<ETag, ApiError> {
        let message = || ApiError::new(500, format!("{self:?} cannot be an entity tag"));
        ETag::new(self).ok_or_else(message)
    }
}

impl IntoETag for String {
    fn into_etag(self) -> Result<ETag, ApiError> {
        self.as_str().into_etag()
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl IntoETag for $integer {
            fn into_etag(self) -> Result<ETag, ApiError> {
                self.to_string().into_etag()
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

fn header_value(tag: &ETag) -> Result<HeaderValue, ApiError> {
    HeaderValue::try_from(tag.to_string()).map_err(ApiError::internal)
}

const REQUIRED: &str = "Precondition Required: send the version to change in If-Match";
const MALFORMED: &str = "If-Match is malformed";
const OTHER_VERSION: &str = "The resource has a different version";
