//! [`Path`]: the path parameters as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

use super::typed;
use crate::description::InputFrom;
use crate::{FromRequest, Request, RouteDescription};

/// The path parameters: a single one as a value, several as a tuple in the
/// order of the path, or a struct by name. The parameters of the host come first.
///
/// The schema of `T` judges the value; a value that fails is a 400 that names
/// the parameter. Names and counts that do not fit the path are found when the
/// router is built.
///
/// # Names of files
/// A value is decoded after the path was matched, so that a text may hold `/`,
/// `\` and `..`: `/files/..%2F..%2Fetc%2Fpasswd` matches `/files/:name`, and
/// `/files/..` does too. Never make a path of such a text: take a
/// [`FileName`](super::FileName). The value of `**` (`splat`) has slashes
/// anyway. A handler that serves files by it must refuse the segments `.` and
/// `..`, empty segments and backslashes, and check where the path leads after
/// links are followed.
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
///
/// Spec: Path syntax; Request object.
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
