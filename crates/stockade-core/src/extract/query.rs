//! [`Query`]: the query string as a typed value.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

use super::typed;
use crate::description::InputFrom;
use crate::{FromRequest, Request, RouteDescription};

/// The query string, deserialized into a struct or a map.
///
/// A repeated key fills a `Vec`. The schema of `T` validates the value; an
/// invalid value gets a 400 that names the field.
///
/// `#[schema(separator = ",")]` splits one text into a list, and
/// `#[schema(style = "deepObject")]` reads an object from pairs such as
/// `filter[state]=open`. Other objects and nested lists are configuration
/// errors, because a query string cannot represent them. The options
/// [`empty_as_absent`](stockade_validation::ValidationOptions::empty_as_absent),
/// [`checkboxes`](stockade_validation::ValidationOptions::checkboxes) and
/// [`strict_numbers`](stockade_validation::ValidationOptions::strict_numbers)
/// change how texts are read.
///
/// ```
/// use stockade::extract::Query;
/// use stockade::validation::Schema;
///
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
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/search", search);
/// let client = TestClient::new(router);
/// let found = client.get("/search?q=tea&page=2&tag=green&tag=black").await;
/// found.assert_text("tea on page 2 with 2 tags");
/// client.get("/search?q=tea&page=two").await.assert_field_error("page", "type");
/// # }
/// ```
///
/// Lists and objects:
///
/// ```
/// use stockade::extract::Query;
/// use stockade::validation::Schema;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Filter {
///     state: Option<String>,
/// }
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Search {
///     #[schema(separator = ",")]
///     ids: Vec<u32>,
///     #[schema(style = "deepObject")]
///     filter: Option<Filter>,
/// }
///
/// async fn search(Query(search): Query<Search>) -> String {
///     let state = search.filter.and_then(|filter| filter.state);
///     format!("{:?} {}", search.ids, state.unwrap_or_default())
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/search", search);
/// let client = TestClient::new(router);
/// client.get("/search?ids=1,2&filter[state]=open").await.assert_text("[1, 2] open");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Query<T>(pub T);

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Query<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        match typed::read(req, typed::query) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(error),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        typed::describe::<T>(doc, InputFrom::Query, |req| typed::probe::<T>(req, typed::query));
    }
}
