//! [`Path`]: the path parameters as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

use super::typed;
use crate::description::InputFrom;
use crate::{FromRequest, Request, RouteDescription};

/// The path parameters: one as a value, several as a tuple in path order, or by
/// name as a struct. Parameters of the host come first.
///
/// The schema of `T` validates the value; an invalid value gets a 400 that
/// names the parameter. Names or counts that do not match the path are
/// configuration errors.
///
/// # File names
/// Values are decoded after the path is matched, so a text may contain `/`, `\`
/// and `..`. Both `/files/..%2F..%2Fetc%2Fpasswd` and `/files/..` match
/// `/files/:name`. Never use such a text as a path; take a
/// [`FileName`](super::FileName). The value of `**` (`splat`) always contains
/// slashes. A handler that serves files from it must reject the segments `.`
/// and `..`, empty segments and backslashes, and must check the target after
/// symbolic links are resolved.
///
/// ```
/// use stockade::extract::Path;
/// use stockade::validation::Schema;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Flight { from: String, to: String }
///
/// async fn by_id(Path(id): Path<u64>) -> String { format!("user {id}") }
/// async fn flight(Path(flight): Path<Flight>) -> String { flight.from + " to " + &flight.to }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/users/:id", by_id);
/// router.get("/flights/:from-:to", flight);
/// let client = TestClient::new(router);
/// client.get("/users/7").await.assert_text("user 7");
/// client.get("/users/me").await.assert_field_error("id", "type");
/// client.get("/flights/oslo-rome").await.assert_text("oslo to rome");
/// # }
/// ```
// Spec: Path syntax; Request object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Path<T>(pub T);

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Path<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        if let Some(value) = typed::plain_params(req) {
            return Ok(Self(value));
        }
        match typed::read(req, typed::params) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(error),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_params::<T>();
        typed::describe::<T>(doc, InputFrom::Params, |req| typed::probe::<T>(req, typed::params));
    }
}
