//! [`Json`]: any serializable value as a JSON response.

use http::HeaderValue;
use serde::Serialize;
use serde_json::Value;
use stockade_errors::ApiError;
use stockade_json::to_json;
use stockade_validation::HasSchema;

use crate::description::{ResponseDoc, SchemaOf};
use crate::{HttpBody, Reply, Response, RouteDescription, header_map_pool};

/// A JSON response with status 200.
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::Json;
///
/// let response = Json(vec![1, 2, 3]).into_response()?;
/// assert_eq!(response.headers()["content-type"], "application/json");
/// assert_eq!(response.body().as_bytes(), Some("[1,2,3]".as_bytes()));
/// # Ok::<(), stockade::ApiError>(())
/// ```
///
/// Generated documents show the schema of `T`. Wrap a type that does not have
/// one:
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::Json;
/// use stockade::validation::Unchecked;
///
/// #[derive(serde::Serialize)]
/// struct Foreign {
///     id: u64,
/// }
///
/// let response = Json(Unchecked(Foreign { id: 7 })).into_response()?;
/// assert_eq!(response.body().as_bytes(), Some(br#"{"id":7}"#.as_slice()));
/// # Ok::<(), stockade::ApiError>(())
/// ```
// Spec: Handler contract, rule 1.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Json<T>(pub T);

impl<T: Serialize + HasSchema> Reply for Json<T> {
    fn into_response(self) -> Result<Response, ApiError> {
        json_response(&self.0)
    }

    fn describe(doc: &mut RouteDescription) {
        describe_json::<T>(doc);
    }
}

impl Reply for Value {
    fn into_response(self) -> Result<Response, ApiError> {
        json_response(&self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::any_json(200));
    }
}

/// Creates a JSON response from a value. `#[derive(Schema)]` calls this.
///
/// # Errors
/// 500 if the value cannot be serialized.
pub fn json_response<T: Serialize + ?Sized>(value: &T) -> Result<Response, ApiError> {
    let content_type = const { HeaderValue::from_static("application/json") };
    Ok(header_map_pool::response(HttpBody::from(to_json(value)?), content_type))
}

/// Describes a JSON response with status 200. `#[derive(Schema)]` calls this.
pub fn describe_json<T: HasSchema>(doc: &mut RouteDescription) {
    describe_json_of(doc, SchemaOf::reply::<T>());
}

/// Describes the response for any schema. It is compiled only once rather than
/// for each type.
fn describe_json_of(doc: &mut RouteDescription, schema: SchemaOf) {
    doc.responds(ResponseDoc::json_of(200.into(), schema));
}
