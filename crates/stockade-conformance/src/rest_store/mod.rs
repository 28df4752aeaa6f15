//! [`rest_store`]: checks the guarantees of a resource store.

mod item;
mod lists;
mod model;
mod writes;

pub use item::RestItem;
pub use model::rest_store_operations;

use stockade_rest::{ListQuery, Op, Page, RowFilter, Store, StoreDoc, StoreError, Versioned};

use crate::fail::{fail, or_fail};

/// Checks the guarantees of a resource [`Store`]:
///
/// - Values are returned unchanged.
/// - Texts are always treated as data.
/// - Writes check the expected version.
/// - Rows outside a scope are not found.
/// - Pages cover all rows exactly once.
/// - No update is lost.
///
/// Then it runs 2,000 random operations, as [`rest_store_operations`] does.
///
/// `make` creates an empty store each time. The names of its items must be
/// unique, for example by a database index.
///
/// ```
/// use stockade::rest::MemoryStore;
/// use stockade::testing::conformance;
///
/// # #[tokio::main]
/// # async fn main() {
/// conformance::rest_store(async || MemoryStore::new().unique("name")).await;
/// # }
/// ```
///
/// # Panics
/// Panics if the store violates a guarantee or fails. Requires a tokio runtime.
pub async fn rest_store<S: Store<RestItem>>(make: impl AsyncFn() -> S) {
    a_resource_has_no_configuration_errors(&make().await);
    writes::values_are_returned_unchanged(make().await).await;
    writes::ids_and_names_are_unique(make().await).await;
    writes::writes_check_the_expected_version(make().await).await;
    writes::a_field_without_a_value_becomes_null_or_its_default(make().await).await;
    writes::a_reused_id_gets_a_new_version(make().await).await;
    writes::no_update_is_lost(make().await).await;
    lists::texts_are_data_in_every_position(make().await).await;
    lists::rows_outside_a_scope_are_missing(make().await).await;
    lists::pages_cover_all_rows_once(make().await).await;
    lists::pages_continue_after_any_float(make().await).await;
    rest_store_operations(make().await, 1, 2_000).await;
}

fn a_resource_has_no_configuration_errors(store: &impl Store<RestItem>) {
    let compared = vec![Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte, Op::Null];
    let numbers = ["id", "price", "rating", "open"].map(|field| (field, compared.clone()));
    let texts = ["name", "category", "owner"].map(|field| (field, Op::ALL.to_vec()));
    let sorts = ["id", "name", "price", "rating", "open", "owner"];
    let mut doc = StoreDoc::new(numbers.into_iter().chain(texts), sorts).with_scope();
    store.describe(&mut doc);
    if !doc.issues().is_empty() {
        fail(format!(
            "a resource of items on the store has configuration errors: {:?}",
            doc.issues()
        ));
    }
}

/// Returns the complete text of an error, which only tests show.
fn failure_of(error: &StoreError) -> String {
    match error {
        StoreError::Failed(source) | StoreError::Busy { source, .. } => {
            format!("{error}: {source}")
        }
        _ => error.to_string(),
    }
}

/// Returns the result of the store, or fails the test.
fn done<T>(promise: &str, outcome: Result<T, StoreError>) -> T {
    or_fail(outcome.map_err(|error| format!("{promise}: {}", failure_of(&error))))
}

/// Fails the test unless the outcome is this error.
fn fails_with<T>(promise: &str, outcome: Result<T, StoreError>, expected: &StoreError) {
    match outcome {
        Ok(_) => fail(format!("{promise}: found success, expected the error: {expected}")),
        Err(error) if error.to_string() == expected.to_string() => {}
        Err(error) => fail(format!("{promise}: expected {expected}, found {}", failure_of(&error))),
    }
}

async fn got(promise: &str, store: &impl Store<RestItem>, id: i64) -> Versioned<RestItem> {
    let found = done(promise, store.get(&id, &RowFilter::all()).await);
    or_fail(found.ok_or_else(|| format!("{promise}: the item is missing")))
}

async fn listed(promise: &str, store: &impl Store<RestItem>, query: &ListQuery) -> Page<RestItem> {
    done(promise, store.list(query).await)
}
