//! [`Access`]: the rule that says who may carry out an operation, and
//! [`Operation`].

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_core::{Middleware, Request};
use stockade_errors::ApiError;
use stockade_middleware::__internal::no_user;
use stockade_middleware::{IntoRoles, with_role};

use crate::Entity;

/// An operation of a resource.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Operation {
    /// A page of items: `GET /products`.
    List,
    /// One item: `GET /products/7`.
    Get,
    /// A new item: `POST /products`.
    Create,
    /// The whole of an item: `PUT /products/7`.
    Replace,
    /// A part of an item: `PATCH /products/7`.
    Patch,
    /// The end of an item: `DELETE /products/7`.
    Delete,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 6] =
        [Self::List, Self::Get, Self::Create, Self::Replace, Self::Patch, Self::Delete];
    pub(crate) const READS: [Self; 2] = [Self::List, Self::Get];
    pub(crate) const WRITES: [Self; 4] = [Self::Create, Self::Replace, Self::Patch, Self::Delete];

    /// Returns true for an operation on one item that exists.
    pub(crate) fn has_item(self) -> bool {
        !matches!(self, Self::List | Self::Create)
    }

    /// Returns true for an operation with a draft.
    pub(crate) fn has_draft(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Patch)
    }
}

/// Shows its name: `List`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A function that judges a user and an item.
pub(crate) type Check = Arc<dyn Fn(&Value, &dyn Any) -> bool + Send + Sync>;

/// The rule that says who may carry out an operation.
///
/// Each operation of a resource has one, or the router is not built.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Access, Entity, MemoryStore, Resource};
/// # use stockade::testing::TestClient;
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct Post {
///     id: i64,
///     author: String,
///     text: String,
/// }
///
/// impl Entity for Post {
///     type Id = i64;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let posts = MemoryStore::new();
/// posts.insert([Post { id: 1, author: "ada".into(), text: "be kind".into() }])?;
/// let signed_in = with_auth(|token: String| (token == "b").then(|| json!({ "name": "bob" })));
/// let own = |user: &Value, post: &Post| user["name"] == post.author;
///
/// let api = routes! {
///     "posts": {
///         ..Resource::new("post", posts)
///             .read(Access::public("everybody may read"))
///             .write(Access::user(&signed_in))
///             .allow([stockade::rest::Operation::Delete], Access::check(&signed_in, own))
///             .routes()
///     },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/posts/1").await.assert_status(200);
/// client.delete("/posts/1").await.assert_status(401);
/// client.delete("/posts/1").bearer("b").await.assert_status(403);
/// # Ok(())
/// # }
/// ```
pub struct Access<T> {
    pub(crate) middleware: Vec<Middleware>,
    pub(crate) public: Option<String>,
    pub(crate) check: Option<Check>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Entity> Access<T> {
    /// Lets everybody in, for a reason that people read who look for unguarded
    /// routes.
    #[must_use]
    pub fn public(reason: impl Into<String>) -> Self {
        Self { public: Some(reason.into()), ..Self::behind(Vec::new()) }
    }

    /// Lets each user in whom this middleware finds, such as
    /// [`with_auth`](stockade_middleware::with_auth). Without a user the answer is 401,
    /// also where the middleware requires none.
    #[must_use]
    pub fn user(signed_in: &Middleware) -> Self {
        Self::behind(vec![signed_in.clone(), user_required()])
    }

    /// Lets users in who have one of these roles; see
    /// [`with_role`].
    #[must_use]
    pub fn role(signed_in: &Middleware, roles: impl IntoRoles) -> Self {
        Self::behind(vec![signed_in.clone(), with_role(roles)])
    }

    /// Lets users in for whom `check` holds with the item, which is loaded before: 403
    /// for others. The item is changed at the version that was judged and no other.
    ///
    /// It is for operations on one item. Items that a user must not know of are
    /// outside of a [scope](crate::Resource::scope), which holds for lists too.
    #[must_use]
    pub fn check(
        signed_in: &Middleware,
        check: impl Fn(&Value, &T) -> bool + Send + Sync + 'static,
    ) -> Self {
        let check: Check = Arc::new(move |user, item| {
            // The item of a resource is always a `T`; another one is nobody's.
            item.downcast_ref::<T>().is_some_and(|item| check(user, item))
        });
        Self { check: Some(check), ..Self::user(signed_in) }
    }

    fn behind(middleware: Vec<Middleware>) -> Self {
        Self { middleware, public: None, check: None, of: std::marker::PhantomData }
    }
}

/// Makes middleware that refuses requests without a user.
fn user_required() -> Middleware {
    let check = |req: &mut Request| -> Result<(), ApiError> {
        if req.user().is_some() { Ok(()) } else { Err(req.unauthorized()) }
    };
    Middleware::new(check).named("user_required").describing(|doc| {
        doc.takes_user();
        doc.responds(no_user());
    })
}

impl<T> Clone for Access<T> {
    fn clone(&self) -> Self {
        Self {
            middleware: self.middleware.clone(),
            public: self.public.clone(),
            check: self.check.clone(),
            of: std::marker::PhantomData,
        }
    }
}

impl<T> fmt::Debug for Access<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("middleware", &self.middleware)
            .field("public", &self.public)
            .field("checks", &self.check.is_some())
            .finish()
    }
}
