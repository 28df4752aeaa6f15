//! The complexity of a list, with protection against overflow.

/// Returns the complexity of a list: 1 plus the complexity of an item for each
/// requested item. Use it in the `complexity` attribute of a field.
///
/// An expression such as `first as usize * child_complexity` is not safe.
/// Nested lists with 65,536 items each overflow a `usize`. This panics in a
/// debug build. In a release build the result wraps to a small number, which
/// passes the limit. A negative `first` even offsets the cost of other fields.
/// This function treats negative numbers as 0. Its result is capped above every
/// useful limit of [`GraphQl::max_complexity`], so sums do not overflow either.
///
/// ```
/// use stockade::graphql::{GraphQl, async_graphql as gql, list_complexity};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// struct Node;
///
/// #[gql::Object(crate = "gql")]
/// impl Node {
///     #[graphql(complexity = "list_complexity(first, child_complexity)")]
///     async fn children(&self, first: i32) -> Vec<Node> {
///         (0..first).map(|_| Node).collect()
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let schema = gql::Schema::build(Node, gql::EmptyMutation, gql::EmptySubscription);
/// let api = routes! { "graphql": { ..GraphQl::new(schema).routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let query = "{ children(first: 65536) { children(first: 65536) { __typename } } }";
/// let answer = client.post("/graphql").json(&json!({ "query": query })).await;
/// answer.assert_json(&json!({ "errors": [{ "message": "Query is too complex." }] }));
/// # }
/// ```
///
/// [`GraphQl::max_complexity`]: crate::GraphQl::max_complexity
#[must_use]
pub fn list_complexity(first: impl TryInto<i64>, child_complexity: usize) -> usize {
    // A number that does not fit into an `i64` exceeds the cap anyway.
    let first = first.try_into().unwrap_or(i64::MAX).max(0);
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    first.saturating_mul(child_complexity).saturating_add(1).min(MOST)
}

/// The maximum complexity of a list. A document has at most 10,000 parts, so
/// the sum fits into a `usize`.
const MOST: usize = usize::MAX >> 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complexity_of_a_list_counts_every_item() {
        assert_eq!(list_complexity(10_u32, 3), 31);
        assert_eq!(list_complexity(10_usize, 0), 1);
        assert_eq!(list_complexity(0_i32, 7), 1);
    }

    #[test]
    fn complexity_saturates() {
        assert_eq!(list_complexity(-1_i32, usize::MAX), 1);
        assert_eq!(list_complexity(i64::MIN, 5), 1);
        assert_eq!(list_complexity(u64::MAX, 1), MOST);
        assert_eq!(list_complexity(u128::MAX, 1), MOST);
        let within = (0..4).fold(1, |inner, _| list_complexity(65_536_u32, inner));
        assert_eq!(within, MOST);
        assert!(MOST.checked_mul(10_000).is_some());
    }
}
