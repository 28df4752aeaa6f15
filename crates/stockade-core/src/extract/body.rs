//! [`Body`]: the body as a typed value, and extractors for its bytes and its
//! stream.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;
use stockade_validation::read_internals::read_nothing;

use super::typed;
use crate::BodyKind;
use crate::description::InputFrom;
use crate::read::Payload;
use crate::{FromRequest, HttpBody, Request, RouteDescription};

/// The body, parsed by its content type into a typed value.
///
/// JSON (`application/json`, `…+json`) is deserialized directly from the bytes.
/// A form is read like a query string, and `text/*` is a single text. Any other
/// content type gets a 415. A missing body gets a 400, unless `T` is an
/// `Option`. The schema of `T` validates the value; an invalid value gets a 400
/// that names the fields.
///
/// Forms are read as browsers send them:
///
/// - A form without fields is an empty object; `Body<Option<T>>` is `None`.
/// - A missing `bool` is false, because browsers do not send an unchecked
///   checkbox. A `bool` with `#[serde(default)]` gets that default instead, and
///   an `Option<bool>` is `None`. `on`, the value of a checked checkbox, is
///   true.
/// - Empty text in an optional field becomes `None` or the field's default, if
///   the type does not accept empty text: a number, a date, an enum, or a text
///   with `min_length`. For an `Option<String>`, it stays empty text.
///
/// Some JSON values are stored untyped: the values of a `Value` field, and of
/// an untagged enum. They count against the route's `max_json_values`, and
/// exceeding it is a 413. All values count if the schema of `T` has functions,
/// unions or unique items, or if the body is invalid.
///
/// ```
/// use stockade::extract::Body;
/// use stockade::validation::Schema;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct NewUser { name: String }
///
/// async fn create(Body(user): Body<NewUser>) -> String { user.name }
/// async fn touch(Body(user): Body<Option<NewUser>>) -> &'static str {
///     if user.is_some() { "with a body" } else { "without" }
/// }
///
/// # use stockade::serde_json::json;
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.post("/users", create);
/// router.post("/touch", touch);
/// let client = TestClient::new(router);
/// client.post("/users").json(json!({ "name": "Ada" })).await.assert_text("Ada");
/// client.post("/users").json(json!({})).await.assert_field_error("name", "required");
/// client.post("/touch").await.assert_text("without");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Body<T>(pub T);

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Body<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        if is_unread(req) {
            req.check_unread()?;
            req.bytes().await?;
        }
        match typed::read(req, typed::body) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(error),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        let optional = read_nothing(&mut None::<T>);
        doc.reads_body(if optional { BodyKind::Optional } else { BodyKind::Typed });
        // The function reads a source again to find its failure. The body is
        // validated last, so its failure is already known.
        typed::describe::<T>(doc, InputFrom::Body, |_| Ok(()));
    }
}

fn is_unread(req: &Request) -> bool {
    let payload = &req.inner.payload;
    !req.has_no_body() && matches!(payload, Payload::Unread(_) | Payload::Failed(_))
}

impl FromRequest for Bytes {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        req.bytes().await
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_body(BodyKind::Raw);
    }
}

impl FromRequest for HttpBody {
    /// A stream can be extracted only once, so it is extracted last.
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.take_stream())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_body(BodyKind::Raw);
    }
}
