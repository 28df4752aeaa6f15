//! [`Query`]: the query string as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

use super::typed::{self, Judge};
use crate::text::{from_pairs, judged_pairs};
use crate::validation::Source;
use crate::{FromRequest, Request, RouteDoc};

/// The query string, read into a struct or a map.
///
/// A key that comes several times fills a `Vec`. The schema of `T` judges the
/// value; what fails is a 400 that names the field.
///
/// ```
/// use stockade_core::extract::Query;
///
/// # use stockade_validation::Schema;
/// #[derive(serde::Deserialize, Schema)]
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

impl<T: HasSchema + DeserializeOwned + Send> Query<T> {
    fn read(req: &Request) -> Result<Self, ApiError> {
        let judge = Judge::of::<T>(req, Source::Query)?;
        if req.replaced_query().is_none() {
            // Without a query there are no pairs.
            let pairs = crate::query::pairs(req.uri().query().unwrap_or_default())?;
            if judge.schema.is_any() {
                return from_pairs(pairs).map(Self);
            }
            if let Some(value) = judged_pairs(pairs, &judge.schema, &judge.options) {
                return Ok(Self(value));
            }
        }
        judge.read_object(req.query()?).map(Self)
    }
}

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Query<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Self::read(req)
    }

    fn describe(doc: &mut RouteDoc) {
        typed::describe::<T>(doc, Source::Query, |req| Self::read(req).map(drop));
    }
}
