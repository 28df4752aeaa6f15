//! [`Body`]: the body as a typed value; its raw bytes; its stream.

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
/// JSON (`application/json`, `…+json`) goes from the bytes to the value
/// directly; a form is read like a query string; `text/*` is one text. An
/// absent body is a 400, unless `T` is an `Option`. Anything else is 415. The
/// schema of `T` judges the value; a value that fails is a 400 that names the
/// fields.
///
/// A form is read as browsers send it:
///
/// - A form without fields is an empty object; `Body<Option<T>>` gives `None`.
/// - A `bool` that is absent is false, because an unchecked checkbox is not sent.
///   A `bool` with `#[serde(default)]` gets that default instead, and an
///   `Option<bool>` is `None`. `on`, the value of a checked checkbox, is true.
/// - Empty text for an optional field is `None`, or the default of the field, if the
///   type does not accept empty text: a number, a date, an enum, a text with
///   `min_length`. For an `Option<String>` it stays empty text.
///
/// Some values of JSON are kept whatever their type is. They count against
/// `max_json_values` of the route, and more of them are a 413. These are the
/// values that `T` has as a `Value` or takes for an untagged enum. All values
/// count where the schema of `T` has functions, unions or unique items, or is
/// not fulfilled.
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
        // The body is judged last of all sources, so no other source asks for
        // its failure.
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
    /// A stream cannot be given twice, so it is taken last.
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.take_stream())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_body(BodyKind::Raw);
    }
}
