//! The type-erased request handlers of a resource.

mod answer;
mod conditions;
mod describe;
mod item;
#[cfg(feature = "json-patch")]
mod json_patch;
mod list;
mod merge_patch;
mod patch;
mod query;
mod write;

use std::sync::Arc;

use serde_json::Value;
use stockade_core::{BoxFuture, Handler, Request, Response};
use stockade_errors::ApiError;

use crate::access::{Check, Operation};
use crate::core::Core;
use crate::erased::Item;

pub(crate) use self::query::MAX_SORTS;

/// A route of a resource.
struct Route {
    core: Arc<Core>,
    operation: Operation,
    check: Option<Check>,
    is_public: bool,
}

type Answering<'r> = BoxFuture<'r, Result<Response, ApiError>>;

/// Creates the request handler of an operation.
pub(crate) fn handler(
    core: &Arc<Core>,
    operation: Operation,
    check: Option<Check>,
    is_public: bool,
) -> Handler {
    let route = Arc::new(Route { core: Arc::clone(core), operation, check, is_public });
    let described = Arc::clone(&route);
    let call = move |req: Request| -> Answering<'static> {
        let route = Arc::clone(&route);
        match operation {
            Operation::List => Box::pin(async move { route.list(req).await }),
            Operation::Get => Box::pin(async move { route.get(req).await }),
            Operation::Create => Box::pin(async move { route.create(req).await }),
            Operation::Replace => Box::pin(async move { route.replace(req).await }),
            Operation::Patch => Box::pin(async move { route.patch(req).await }),
            Operation::Delete => Box::pin(async move { route.delete(req).await }),
        }
    };
    Handler::erased(call, move |doc| described.describe(doc))
}

/// Returns the accepted media types of an operation, or `None` if it does not
/// have a body.
pub(crate) fn accepted(operation: Operation) -> Option<&'static [&'static str]> {
    match operation {
        Operation::Create | Operation::Replace => Some(&[JSON]),
        Operation::Patch => Some(PATCHES),
        _ => None,
    }
}

const JSON: &str = "application/json";

/// Source: RFC 7396, section 4.
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Source: RFC 6902, section 6.
#[cfg(feature = "json-patch")]
const JSON_PATCH: &str = "application/json-patch+json";

#[cfg(not(feature = "json-patch"))]
const PATCHES: &[&str] = &[MERGE_PATCH, JSON];
#[cfg(feature = "json-patch")]
const PATCHES: &[&str] = &[MERGE_PATCH, JSON, JSON_PATCH];

impl Route {
    /// Rejects a user if the access rule does not allow the item.
    fn check(&self, user: Option<&Value>, item: &dyn Item) -> Result<(), ApiError> {
        let Some(check) = &self.check else { return Ok(()) };
        // Middleware has already rejected requests without a user.
        let allowed = user.is_some_and(|user| check(user, item.entity()));
        if allowed { Ok(()) } else { Err(ApiError::authorization()) }
    }
}
