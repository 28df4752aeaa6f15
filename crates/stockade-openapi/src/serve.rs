//! [`with_open_api`]: serves the document of a router, and
//! [`create_api_router`], which makes a router that has one.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use stockade_core::{ApiError, Docs, Reply as _, Response};
use stockade_middleware::with_etag;
use stockade_routing::{RouteTree, Router, RouterOptions, create_router};

use crate::document::document;
use crate::options::{Access, ApiInfo, OpenApiOptions};

/// Makes the OpenAPI document of a router when it is built, and serves it if
/// the options say to whom.
///
/// With [`public`](OpenApiOptions::public) or
/// [`guarded`](OpenApiOptions::guarded) there is a route for the document; it is
/// a route of the router, with its limits and its headers, and is not in the
/// document itself. With neither nothing is served, and a mistake of the
/// document is still found by the build.
///
/// ```
/// use stockade::openapi::{OpenApiOptions, with_open_api};
/// use stockade::prelude::*;
///
/// # fn main() -> Result<(), BoxError> {
/// let api = routes! { "users": { GET: async || "all users" } };
/// let options = OpenApiOptions::new("Shop", "1.4.0").public("the API is public");
/// let app = with_open_api(create_router(api, RouterOptions::new()), options).build()?;
/// assert!(app.routes().iter().any(|route| route.pattern() == "/openapi.json"));
/// # Ok(())
/// # }
/// ```
///
/// Spec: What the service does › `withOpenApi` (a name without behaviour).
#[doc(alias = "withOpenApi")]
#[track_caller]
pub fn with_open_api(mut router: Router, options: OpenApiOptions) -> Router {
    let text: Arc<OnceLock<Bytes>> = Arc::new(OnceLock::new());
    if let Some(access) = &options.access {
        let served = Arc::clone(&text);
        let handler = move || async move { document_reply(&served) };
        let route = router.get(&options.path, handler).middleware(with_etag());
        let route =
            route.docs(Docs::new("The OpenAPI document").hidden("it is the document itself"));
        match access {
            Access::Public(reason) => drop(route.public(reason)),
            Access::Guarded(middleware) => drop(route.middleware(middleware.clone())),
        }
    }
    router.inspect(move |map| {
        let document = document(map, &options)?;
        // A router is built once, so that nothing is there yet.
        let _ = text.set(document.to_string().into());
        Ok(())
    });
    router
}

/// Makes the answer with the document.
fn document_reply(text: &OnceLock<Bytes>) -> Result<Response, ApiError> {
    let text = text.get().ok_or_else(|| ApiError::new(500, "the document was never made"))?;
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
    (headers, text.clone()).into_response()
}

/// Makes a router for an API that others call: that of [`create_router`], with
/// its document made when it is built.
///
/// The document is not served until the router has [`with_open_api`].
///
/// ```
/// use stockade::openapi::create_api_router;
/// use stockade::prelude::*;
///
/// let api = routes! { "users": { GET: async || "all users" } };
/// let app = create_api_router(("Shop", "1.4.0"), api, RouterOptions::new()).build()?;
/// assert_eq!(app.routes().len(), 1);
/// # Ok::<(), ConfigError>(())
/// ```
///
/// Spec: What the service does › `createApiRouter` (a name without behaviour).
#[doc(alias = "createApiRouter")]
#[track_caller]
pub fn create_api_router(
    info: impl Into<ApiInfo>,
    routes: RouteTree,
    options: RouterOptions,
) -> Router {
    with_open_api(create_router(routes, options), OpenApiOptions::of(info))
}
