//! [`Body`]: the body as a typed value; its raw bytes; its stream.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

use super::typed::{self, Judge};
use crate::media::Media;
use crate::read::{Payload, text_of, unsupported};
use crate::route_description::BodyKind;
use crate::text::from_nothing;
use crate::validation::Source;
use crate::{BodyError, FromRequest, HttpBody, Request, RouteDoc};

/// The body, parsed by its content type into a typed value.
///
/// JSON (`application/json`, `…+json`) goes from the bytes to the value
/// directly; a form is read like a query string; `text/*` is one text. An absent
/// body is a 400, unless `T` is an `Option`. Anything else is 415. The schema of
/// `T` judges the value; what fails is a 400 that names the fields.
///
/// Values of JSON that are kept whatever their type count against
/// `max_json_values` of the route, 413 beyond: those that `T` has as a `Value`
/// or takes for an untagged enum, and all values where the schema of `T` has
/// functions, unions or unique items, or is not fulfilled.
///
/// ```
/// use stockade_core::extract::Body;
///
/// # use stockade_validation::Schema;
/// #[derive(serde::Deserialize, Schema)]
/// struct NewUser { name: String }
///
/// async fn create(Body(user): Body<NewUser>) -> String { user.name }
/// async fn touch(Body(user): Body<Option<NewUser>>) -> &'static str {
///     if user.is_some() { "with a body" } else { "without" }
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Body<T>(pub T);

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Body<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        if req.has_no_body() {
            return absent().map(Self);
        }
        if matches!(req.inner.payload, Payload::Unread(_) | Payload::Failed(_)) {
            req.bytes().await?;
        }
        let judge = Judge::of::<T>(req, Source::Body)?;
        let media = Media::of(req.headers());
        match &req.inner.payload {
            // Nothing was sent, and no default was put in its place.
            Payload::Parsed { value: Value::Object(object), bytes }
                if bytes.is_empty() && object.is_empty() =>
            {
                absent()
            }
            Payload::Parsed { value: Value::Object(form), bytes }
                if media == Media::Form && !bytes.is_empty() =>
            {
                judge.read_object(form.clone())
            }
            Payload::Parsed { value: Value::String(text), bytes }
                if media == Media::Text && !bytes.is_empty() =>
            {
                judge.read_text(text)
            }
            Payload::Parsed { value, .. } | Payload::Replaced(value) => judge.read_value(value),
            Payload::Bytes(bytes) if bytes.is_empty() => absent(),
            Payload::Bytes(bytes) => match media {
                Media::Json => judge.read_json(req, bytes),
                Media::Form => judge.read_object(crate::query::object(text_of(bytes)?)?),
                Media::Text => judge.read_text(text_of(bytes)?),
                Media::Other | Media::ForeignCharset => Err(unsupported()),
            },
            // It was read above; said without a panic.
            Payload::Unread(_) | Payload::Failed(_) => Err(BodyError::Broken.into()),
        }
        .map(Self)
    }

    fn describe(doc: &mut RouteDoc) {
        let optional = from_nothing::<T>().is_some();
        doc.reads_body(if optional { BodyKind::Optional } else { BodyKind::Typed });
        // Of all sources the body is judged last, so nobody asks for it.
        typed::describe::<T>(doc, Source::Body, |_| Ok(()));
    }
}

impl FromRequest for Bytes {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        req.bytes().await
    }

    fn describe(doc: &mut RouteDoc) {
        doc.reads_body(BodyKind::Raw);
    }
}

impl FromRequest for HttpBody {
    /// A stream cannot be given twice, so it is taken last.
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.take_stream())
    }

    fn describe(doc: &mut RouteDoc) {
        doc.reads_body(BodyKind::Raw);
    }
}

fn absent<T: DeserializeOwned>() -> Result<T, ApiError> {
    from_nothing().ok_or_else(|| ApiError::new(400, "Request body is required"))
}
