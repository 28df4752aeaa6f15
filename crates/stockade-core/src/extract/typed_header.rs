//! [`TypedHeader`]: one header as a type from the crate `headers`.

use std::ops::Deref;

use headers::{Header, HeaderMapExt as _};
use stockade_errors::ApiError;

use super::OptionalFromRequest;
use crate::{FromRequest, Request, RouteDescription};

/// One request header, as a type from the crate
/// [`headers`](https://docs.rs/headers). That crate is exported as
/// `stockade::extract::headers`.
///
/// A missing or malformed header gets a 400 that names it. An
/// `Option<TypedHeader<H>>` is `None` only if the header is missing.
///
/// ```
/// use stockade::extract::TypedHeader;
/// use stockade::extract::headers::{ContentType, UserAgent};
///
/// async fn agent(TypedHeader(agent): TypedHeader<UserAgent>) -> String {
///     agent.to_string()
/// }
/// async fn kind(kind: Option<TypedHeader<ContentType>>) -> String {
///     kind.map_or("none".into(), |kind| kind.to_string())
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/agent", agent);
/// router.get("/kind", kind);
/// let client = TestClient::new(router);
/// client.get("/agent").header("user-agent", "curl/8").await.assert_text("curl/8");
/// client.get("/agent").await.assert_status(400);
/// client.get("/kind").await.assert_text("none");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TypedHeader<H>(pub H);

impl<H> Deref for TypedHeader<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.0
    }
}

impl<H: Header + Send> TypedHeader<H> {
    fn read(req: &Request) -> Result<Option<Self>, ApiError> {
        let malformed = |_| ApiError::new(400, format!("Header '{}' is malformed", H::name()));
        req.headers().typed_try_get().map(|header| header.map(Self)).map_err(malformed)
    }
}

impl<H: Header + Send> FromRequest for TypedHeader<H> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let missing = || ApiError::new(400, format!("Header '{}' is missing", H::name()));
        Self::read(req)?.ok_or_else(missing)
    }

    fn describe(doc: &mut RouteDescription) {
        let name = H::name().as_str();
        doc.reads_header(name, true);
        doc.may_respond(400, format!("The header {name} is missing or malformed"));
    }
}

impl<H: Header + Send> OptionalFromRequest for TypedHeader<H> {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        // Some types accept a missing header.
        if !req.headers().contains_key(H::name()) {
            return Ok(None);
        }
        Self::read(req)
    }

    fn describe_optional(doc: &mut RouteDescription) {
        let name = H::name().as_str();
        doc.reads_header(name, false);
        doc.may_respond(400, format!("The header {name} is malformed"));
    }
}
