//! [`Query`]: the query string as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use crate::text::from_pairs;
use crate::{FromRequest, Request};

/// The query string, read into a struct or a map.
///
/// A key that comes several times fills a `Vec`. What does not fit is a 400
/// that names the field.
///
/// ```
/// use stockade_core::extract::Query;
///
/// #[derive(serde::Deserialize)]
/// struct Search {
///     q: String,
///     #[serde(default)]
///     page: u32,
///     #[serde(default)]
///     tag: Vec<String>,
/// }
///
/// async fn search(Query(search): Query<Search>) -> String {
///     format!("{} on page {} with {} tags", search.q, search.page, search.tag.len())
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequest for Query<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        from_pairs(crate::query::pairs(req.uri().query().unwrap_or_default())?).map(Self)
    }
}
