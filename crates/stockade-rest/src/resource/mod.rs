//! Builds the routes of an entity.

mod bounds;
mod build;
mod fields;
mod page;
mod query;

use std::any::Any;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use serde_json::Value;
use stockade_errors::ApiError;
use stockade_routing::RouteTree;

use crate::Entity;
use crate::access::{Access, Operation};
use crate::core::{After, Before, FindScope, Settings};
use crate::erased::{BoxItem, ErasedStore, Typed};
use crate::store::{NewRow, Op, RowFilter, Store, Versioned};

/// The routes for an entity in a store: lists, single items and writes.
///
/// | | |
/// |---|---|
/// | `GET /` | a page of items: `{"items": […], "next": …}` |
/// | `POST /` | creates an item: 201 with `Location` |
/// | `GET /:id` | returns one item |
/// | `PUT /:id` | replaces an item |
/// | `PATCH /:id` | changes parts of an item (RFC 7396) |
/// | `DELETE /:id` | deletes an item: 204 |
///
/// [`routes`](Self::routes) returns a [`RouteTree`], which you spread into a
/// tree of routes. See the [module](crate) for the behavior of each route. All
/// configuration errors are reported when the router is built, with the line of
/// [`new`](Self::new).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Access, Entity, MemoryStore, Op, Resource};
/// # use stockade::testing::TestClient;
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct Product {
///     id: i64,
///     #[schema(trim, min_length = 1, max_length = 200)]
///     name: String,
///     price_cents: u32,
///     category: Option<String>,
/// }
///
/// impl Entity for Product {
///     type Id = i64;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let signed_in = with_auth(|token: String| (token == "a").then(|| json!({ "role": "admin" })));
/// let api = routes! {
///     "products": {
///         ..Resource::new("product", MemoryStore::<Product>::new())
///             .server_fields(["id"])
///             .filter("category")
///             .filter_by("price_cents", [Op::Eq, Op::Lt, Op::Gte])
///             .sort(["price_cents", "name"])
///             .read(Access::public("the catalogue is open"))
///             .write(Access::role(&signed_in, "admin"))
///             .routes()
///     },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
///
/// let tea = json!({ "name": " Assam ", "price_cents": 420, "category": "tea" });
/// let made = client.post("/products").bearer("a").json(&tea).await;
/// made.assert_status(201).assert_header("location", "/products/1").assert_header("etag", "\"v1\"");
/// let page = client.get("/products?category=tea&price_cents[lt]=500&sort=-price_cents").await;
/// page.assert_json(json!({
///     "items": [{ "id": 1, "name": "Assam", "price_cents": 420, "category": "tea" }],
///     "next": null,
/// }));
/// # }
/// ```
#[must_use = "a resource does nothing until its routes are in a tree"]
pub struct Resource<T: Entity> {
    name: String,
    store: Box<dyn ErasedStore>,
    server_fields: Vec<String>,
    hidden: Vec<String>,
    filters: Vec<(String, Option<Vec<Op>>)>,
    sorts: Vec<String>,
    access: Vec<(Operation, Access<T>)>,
    only: Option<Vec<Operation>>,
    scope: Option<FindScope>,
    before: Vec<(Operation, Before)>,
    after: Vec<(Operation, After)>,
    settings: Settings,
    location: &'static Location<'static>,
}

impl<T: Entity> Resource<T> {
    /// Creates a resource for a store. `name` is the singular name of an item,
    /// such as `product`, for documentation.
    #[track_caller]
    pub fn new(name: impl Into<String>, store: impl Store<T>) -> Self {
        Self {
            name: name.into(),
            store: Box::new(Typed::new(store)),
            server_fields: Vec::new(),
            hidden: Vec::new(),
            filters: Vec::new(),
            sorts: Vec::new(),
            access: Vec::new(),
            only: None,
            scope: None,
            before: Vec::new(),
            after: Vec::new(),
            settings: Settings::default(),
            location: Location::caller(),
        }
    }

    /// Adds fields that clients cannot set: the store, a hook or the scope sets
    /// their values. Values from a client have no effect, even if the type
    /// rejects unknown fields, and the body schemas omit these fields.
    ///
    /// Fields marked with `#[schema(read_only)]` are included automatically,
    /// and documentation shows them as `readOnly`. The mark also applies inside
    /// a field, at every depth: a client cannot set such a value, and PUT and
    /// PATCH preserve the stored one.
    ///
    /// If the id is not a server field, clients choose the id of a new item.
    /// The id of an item never changes.
    pub fn server_fields<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.server_fields.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds fields that are never in a response, such as a password hash.
    /// Filters, sorts, cursors and store errors do not contain them either.
    /// Clients may write them, unless they are [server
    /// fields](Self::server_fields). A value that breaks the schema gets a 400
    /// that names the field.
    ///
    /// Fields marked with `#[schema(write_only)]` are included automatically,
    /// and documentation shows them as `writeOnly`. The mark also applies
    /// inside a field, at every depth: responses never contain such a value,
    /// and PATCH preserves the stored one.
    pub fn hidden<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hidden.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets clients filter by a field: `category=tea`, and
    /// `category[null]=true` if it is optional.
    pub fn filter(mut self, field: impl Into<String>) -> Self {
        self.filters.push((field.into(), None));
        self
    }

    /// Lets clients filter by a field with these comparisons.
    pub fn filter_by(
        mut self,
        field: impl Into<String>,
        ops: impl IntoIterator<Item = Op>,
    ) -> Self {
        self.filters.push((field.into(), Some(ops.into_iter().collect())));
        self
    }

    /// Lets clients sort by fields, up to three at a time: `sort=-price,name`.
    /// The id is always the last key, and may be the only one. A sortable field
    /// must be required, and a text must have at most 200 characters.
    pub fn sort<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.sorts.extend(fields.into_iter().map(Into::into));
        self
    }

    /// Sets the access rule of some operations. Replaces earlier rules.
    #[expect(clippy::needless_pass_by_value, reason = "a rule is created instead")]
    pub fn allow(
        mut self,
        operations: impl IntoIterator<Item = Operation>,
        access: Access<T>,
    ) -> Self {
        let rules = operations.into_iter().map(|operation| (operation, access.clone()));
        self.access.extend(rules);
        self
    }

    /// Sets the access rule of [`List`](Operation::List) and
    /// [`Get`](Operation::Get).
    pub fn read(self, access: Access<T>) -> Self {
        self.allow(Operation::READS, access)
    }

    /// Sets the access rule of all operations that write.
    pub fn write(self, access: Access<T>) -> Self {
        self.allow(Operation::WRITES, access)
    }

    /// Disables all other operations: they get a 405. Default: all operations
    /// are enabled.
    pub fn only(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.only = Some(operations.into_iter().collect());
        self
    }

    /// Sets the function that returns a user's visible items. For this user all
    /// other items are missing: they get a 404 and are not in lists. A new item
    /// outside the scope gets a 403. If a draft lacks a value for a field of
    /// the scope, the field gets the scope's value.
    pub fn scope(
        mut self,
        scope: impl Fn(Option<&Value>) -> Result<RowFilter, ApiError> + Send + Sync + 'static,
    ) -> Self {
        self.scope = Some(Arc::new(scope));
        self
    }

    /// Adds a function that changes a draft before it is written, or rejects it
    /// with an error. It receives the user and the validated draft. Its changes
    /// are not validated. It may run again if the item has changed meanwhile:
    /// with PATCH, and with PUT if the type has read-only values inside a
    /// field.
    ///
    /// It applies to operations with a draft: [`Create`](Operation::Create),
    /// [`Replace`](Operation::Replace) and [`Patch`](Operation::Patch).
    pub fn before<F, Fut>(mut self, operation: Operation, before: F) -> Self
    where
        F: Fn(Option<Value>, NewRow<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<NewRow<T>, ApiError>> + Send + 'static,
    {
        let before: Before = Arc::new(move |user, draft| {
            let changed = before(user, NewRow::of(draft));
            Box::pin(async move { changed.await.map(NewRow::into_raw) })
        });
        self.before.push((operation, before));
        self
    }

    /// Adds a function that receives the user and each item of a response. It
    /// may change the item or return an error. After a write, the item is
    /// already stored, whatever the function returns. DELETE does not support
    /// this function, because it does not return an item.
    ///
    /// Do not use it for access control. Clients can read removed values in
    /// cursors, which contain the stored keys, and can discover them with
    /// filters. A write with a failed condition responds with 412 and the
    /// current entity tag before the function runs. Use
    /// [`hidden`](Self::hidden) for fields that nobody may see, and a
    /// [scope](Self::scope) for items that a user may not see.
    pub fn after<F, Fut>(mut self, operation: Operation, after: F) -> Self
    where
        F: Fn(Option<Value>, Versioned<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Versioned<T>, ApiError>> + Send + 'static,
    {
        let after: After = Arc::new(move |user, item: BoxItem| {
            let item: Result<Box<Versioned<T>>, Box<dyn Any + Send>> = item.into_any().downcast();
            let changed = item.ok().map(|item| after(user, *item));
            Box::pin(async move {
                match changed {
                    Some(changed) => changed.await.map(|item| -> BoxItem { Box::new(item) }),
                    None => Err(ApiError::internal("an item is not of the type of its resource")),
                }
            })
        });
        self.after.push((operation, after));
        self
    }

    /// Rejects PUT, PATCH and DELETE without `If-Match` with a 428. Default:
    /// false.
    pub fn require_if_match(mut self, required: bool) -> Self {
        self.settings.requires_if_match = required;
        self
    }

    /// Lets PUT create an item if the id is unused: 201. Default: false, which
    /// responds with 404.
    pub fn put_creates(mut self, creates: bool) -> Self {
        self.settings.put_creates = creates;
        self
    }

    /// Lets clients request the total number of items with `count=exact`. The
    /// response then has `X-Total-Count`, counted up to 10,000. Default: false,
    /// because counting scans the items.
    pub fn count(mut self, allowed: bool) -> Self {
        self.settings.counts = allowed;
        self
    }

    /// Creates the routes.
    pub fn routes(self) -> RouteTree {
        build::routes(self)
    }
}

impl<T: Entity> std::fmt::Debug for Resource<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resource").field("name", &self.name).finish_non_exhaustive()
    }
}
