//! The access rules of operations ([`Access`]), and [`Operation`].

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
    /// Lists items: `GET /products`.
    List,
    /// Returns one item: `GET /products/7`.
    Get,
    /// Creates an item: `POST /products`.
    Create,
    /// Replaces an item: `PUT /products/7`.
    Replace,
    /// Changes parts of an item: `PATCH /products/7`.
    Patch,
    /// Deletes an item: `DELETE /products/7`.
    Delete,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 6] =
        [Self::List, Self::Get, Self::Create, Self::Replace, Self::Patch, Self::Delete];
    pub(crate) const READS: [Self; 2] = [Self::List, Self::Get];
    pub(crate) const WRITES: [Self; 4] = [Self::Create, Self::Replace, Self::Patch, Self::Delete];

    /// Returns true if the operation acts on one existing item.
    pub(crate) fn has_item(self) -> bool {
        !matches!(self, Self::List | Self::Create)
    }

    /// Returns true if the operation has a draft.
    pub(crate) fn has_draft(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Patch)
    }
}

/// Formats the name: `List`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A function that checks a user's access to an item.
pub(crate) type Check = Arc<dyn Fn(&Value, &dyn Any) -> bool + Send + Sync>;

/// The access rule of an operation.
///
/// Each operation of a resource needs a rule; without one, the router fails to
/// build.
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
    /// Allows all requests. The reason is for people who review unprotected
    /// routes.
    #[must_use]
    pub fn public(reason: impl Into<String>) -> Self {
        Self { public: Some(reason.into()), ..Self::behind(Vec::new()) }
    }

    /// Allows each user that this middleware authenticates, such as
    /// [`with_auth`](stockade_middleware::with_auth). Requests without a user
    /// get a 401, even if the middleware does not require a user.
    #[must_use]
    pub fn user(signed_in: &Middleware) -> Self {
        Self::behind(vec![signed_in.clone(), user_required()])
    }

    /// Allows users with one of these roles; see [`with_role`].
    #[must_use]
    pub fn role(signed_in: &Middleware, roles: impl IntoRoles) -> Self {
        Self::behind(vec![signed_in.clone(), with_role(roles)])
    }

    /// Allows users for whom `check` returns true for the item; other users get
    /// a 403. The item is loaded first. A write applies only to the version
    /// that was checked.
    ///
    /// Use this for operations on one item. To hide items from users, use a
    /// [scope](crate::Resource::scope), which also applies to lists.
    #[must_use]
    pub fn check(
        signed_in: &Middleware,
        check: impl Fn(&Value, &T) -> bool + Send + Sync + 'static,
    ) -> Self {
        let check: Check = Arc::new(move |user, item| {
            // The item of a resource is always a `T`. Deny access otherwise.
            item.downcast_ref::<T>().is_some_and(|item| check(user, item))
        });
        Self { check: Some(check), ..Self::user(signed_in) }
    }

    fn behind(middleware: Vec<Middleware>) -> Self {
        Self { middleware, public: None, check: None, of: std::marker::PhantomData }
    }
}

/// Creates middleware that rejects requests without a user.
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
