//! [`Path`]: the path parameters as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use crate::text::from_params;
use crate::{FromRequest, Request, RouteDoc};

/// The path parameters: a single one as a value, several as a tuple in the
/// order of the path, or a struct by name.
///
/// A value that does not fit its type is a 400 that names the parameter. Names
/// and counts that do not fit the path are found when the router is built.
///
/// ```
/// use stockade_core::extract::Path;
///
/// #[derive(serde::Deserialize)]
/// struct Flight { from: String, to: String }
///
/// async fn by_id(Path(id): Path<u64>) -> String { format!("user {id}") }
/// async fn flight(Path(flight): Path<Flight>) -> String { flight.from + " to " + &flight.to }
/// ```
///
/// Spec: Path syntax; Request object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequest for Path<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let params = req.params().map(|(name, value)| (name.into(), value)).collect();
        from_params(params).map(Self)
    }

    fn describe(doc: &mut RouteDoc) {
        doc.reads_params::<T>();
    }
}
