//! [`Resource`]: the builder of the routes of an entity.

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

/// The routes of an entity over a store: a page of items, one item, and the writes.
///
/// | | |
/// |---|---|
/// | `GET /` | a page of items: `{"items": […], "next": …}` |
/// | `POST /` | a new item: 201 with `Location` |
/// | `GET /:id` | one item |
/// | `PUT /:id` | the whole of an item |
/// | `PATCH /:id` | a part of an item, by RFC 7396 |
/// | `DELETE /:id` | the end of an item: 204 |
///
/// It becomes a [`RouteTree`], which is spread into a tree of routes. The
/// [module](crate) says how each of them behaves. Every mistake in it is told when
/// the router is built, with the line of [`new`](Self::new).
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
#[must_use = "a resource does nothing until its routes stand in a tree"]
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
    /// Makes a resource over a store. `name` is that of one item, such as `product`,
    /// for documents.
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

    /// Adds fields that are never taken from a client: the store, a hook or the scope
    /// gives them their values. Those that a client sends have no effect, also where the
    /// type refuses unknown fields, and the schemas of bodies do not have them.
    ///
    /// A field that the type marks by `#[schema(read_only)]` is one of them without
    /// being named here, and documents show it as `readOnly`. The mark also holds inside a
    /// field, at every depth: a client cannot set such a value, and PUT and PATCH keep the
    /// stored one.
    ///
    /// Where the id is none of them, a client chooses that of a new item. The id of an
    /// item never changes.
    pub fn server_fields<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.server_fields.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds fields that no answer has, such as the hash of a password. No filter, sort
    /// or cursor has them either, and no error of the store names them. A client may
    /// write them, unless they are [server fields](Self::server_fields), and a value
    /// that breaks the schema is a 400 that names its field.
    ///
    /// A field that the type marks by `#[schema(write_only)]` is one of them without
    /// being named here, and documents show it as `writeOnly`. The mark also holds inside a
    /// field, at every depth: no response has such a value, and PATCH keeps the stored one.
    pub fn hidden<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hidden.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets clients filter by a field: `category=tea`, and `category[null]=true` if it
    /// is optional.
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

    /// Lets clients sort by fields, up to three at a time: `sort=-price,name`. The id
    /// is always the last key, and may be the only one. A field is required, and a text
    /// has 200 characters at most.
    pub fn sort<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.sorts.extend(fields.into_iter().map(Into::into));
        self
    }

    /// Sets the rule of access of some operations, instead of an earlier one.
    #[expect(clippy::needless_pass_by_value, reason = "a rule is made in its place")]
    pub fn allow(
        mut self,
        operations: impl IntoIterator<Item = Operation>,
        access: Access<T>,
    ) -> Self {
        let rules = operations.into_iter().map(|operation| (operation, access.clone()));
        self.access.extend(rules);
        self
    }

    /// Sets the rule of access of [`List`](Operation::List) and
    /// [`Get`](Operation::Get).
    pub fn read(self, access: Access<T>) -> Self {
        self.allow(Operation::READS, access)
    }

    /// Sets the rule of access of all operations that write.
    pub fn write(self, access: Access<T>) -> Self {
        self.allow(Operation::WRITES, access)
    }

    /// Leaves all other operations out: 405. Default: all operations are there.
    pub fn only(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.only = Some(operations.into_iter().collect());
        self
    }

    /// Sets the function that finds the items which a user may see at all. Any other
    /// item is missing for that user: 404, and not in a list. A new item that would be
    /// outside is a 403. Fields of the scope that a draft has no value for get that of
    /// the scope.
    pub fn scope(
        mut self,
        scope: impl Fn(Option<&Value>) -> Result<RowFilter, ApiError> + Send + Sync + 'static,
    ) -> Self {
        self.scope = Some(Arc::new(scope));
        self
    }

    /// Adds a function that changes a draft before it is written, or refuses it by an
    /// error. It gets the user and the draft, which the schema has judged. Its changes
    /// are not judged. It may run again if the item has changed meanwhile: with PATCH, and
    /// with PUT if the type has read-only values inside a field.
    ///
    /// It is for the operations with a draft: [`Create`](Operation::Create),
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

    /// Adds a function that gets the user and each item of an answer, and may change it
    /// or answer an error. Behind a write the item is written already, whatever it
    /// returns. With DELETE there is no item, and so no such function.
    ///
    /// It is no rule of access. The cursor of a page holds the keys of an item as the
    /// store has it, so that a client reads there, and finds out by filters, what the
    /// function takes away; and a write that its conditions stop answers 412 with the
    /// present entity tag before the function runs. Fields that nobody may see are
    /// [hidden](Self::hidden), items that a user may not see are outside of the
    /// [scope](Self::scope).
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

    /// Refuses PUT, PATCH and DELETE without `If-Match`: 428. Default: false.
    pub fn require_if_match(mut self, required: bool) -> Self {
        self.settings.requires_if_match = required;
        self
    }

    /// Makes a new item where PUT has an id that no item has: 201. Default: false, it
    /// is a 404.
    pub fn put_creates(mut self, creates: bool) -> Self {
        self.settings.put_creates = creates;
        self
    }

    /// Lets clients ask for the number of all items, by `count=exact`: the answer has
    /// `X-Total-Count`, counted to 10,000 at most. Default: false, because it costs a
    /// look at each of them.
    pub fn count(mut self, allowed: bool) -> Self {
        self.settings.counts = allowed;
        self
    }

    /// Makes the routes.
    pub fn routes(self) -> RouteTree {
        build::routes(self)
    }
}

impl<T: Entity> std::fmt::Debug for Resource<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resource").field("name", &self.name).finish_non_exhaustive()
    }
}
