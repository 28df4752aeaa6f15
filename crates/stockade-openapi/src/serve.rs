//! [`with_open_api`]: serves the document of a router, and
//! [`create_api_router`], which makes a router that has one.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, VARY,
};
use stockade_core::extract::{Headers, Path};
use stockade_core::{ApiError, Reply as _, Response, RouteDocs};
use stockade_map::policy::Policy;
use stockade_middleware::__internal::refuses_gzip;
use stockade_middleware::with_etag;
use stockade_routing::{RouteRef, RouteTree, Router, RouterOptions, create_router};

use crate::document::document;
use crate::options::{Access, ApiInfo, OpenApiOptions};
use crate::page::{File, Pages, ReadyTag};

/// Makes the OpenAPI document of a router when it is built, and serves it if
/// the options say to whom, with a page for people.
///
/// With [`public`](OpenApiOptions::public) or
/// [`guarded`](OpenApiOptions::guarded) there are routes for the document, for
/// the page at [`docs_path`](OpenApiOptions#structfield.docs_path), and for the
/// files below the page. They are routes of the router, with its limits and its
/// headers, and are not in the document itself. With neither nothing is served,
/// and a mistake of the document is still found by the build.
///
/// The page is HTML that reads without its script and loads nothing of other
/// hosts. It says what the document says, and which part of a route gives an
/// answer; limits and the names of middleware only with
/// [`internals`](OpenApiOptions#structfield.internals). From 61 operations on
/// each group has a page of its own. A browser sends no bearer token when it
/// opens a page, so a guarded page needs a session or Basic credentials.
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
    let made: Arc<OnceLock<Made>> = Arc::new(OnceLock::new());
    let is_served = options.access.is_some();
    if let Some(access) = &options.access {
        let document = Arc::clone(&made);
        let handler = async move || document_reply(&document);
        restrict(router.get(&options.path, handler), access, "The OpenAPI document");
        let pages = Arc::clone(&made);
        let handler = async move |headers: Headers| {
            page_reply(pages.get().map(|made| made.pages.index()), &headers)
        };
        restrict(router.get(&options.docs_path, handler), access, "The page of the API");
        router.set_documents_page(&options.docs_path);
        let pages = Arc::clone(&made);
        let handler = async move |Path(name): Path<String>, headers: Headers| {
            page_reply(pages.get().and_then(|made| made.pages.file(&name)), &headers)
        };
        let path = format!("{}/:file", options.docs_path.trim_end_matches('/'));
        restrict(router.get(&path, handler), access, "The files of the page");
    }
    router.inspect(move |map| {
        let document = document(map, &options)?;
        if is_served {
            let pages = Pages::of(map, &document, &options);
            // A router is built once, so that nothing is there yet.
            let document = document.to_string().into();
            let _ = made.set(Made { document, etag: ReadyTag::default(), pages });
        }
        Ok(())
    });
    router
}

/// The document and the page, as they are sent.
struct Made {
    document: Bytes,
    etag: ReadyTag,
    pages: Pages,
}

/// Gives a route to those who may read the document.
fn restrict(route: RouteRef<'_>, access: &Access, summary: &str) {
    let docs = RouteDocs::new(summary).hidden("it is about the API, and no part of it");
    let route = route.middleware(with_etag()).docs(docs);
    match access {
        Access::Public(reason) => drop(route.public(reason)),
        Access::Guarded(middleware) => drop(route.middleware(middleware.clone())),
    }
}

/// Makes the answer with the document.
fn document_reply(made: &OnceLock<Made>) -> Result<Response, ApiError> {
    let made = made.get().ok_or_else(|| ApiError::new(500, "the document was never made"))?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-cache"),
        (ETAG, made.etag.of(&made.document)),
    ];
    (headers, made.document.clone()).into_response()
}

/// Makes the answer with a page, or with one of its files.
fn page_reply(file: Option<&File>, request: &HeaderMap) -> Result<Response, ApiError> {
    let file = file.ok_or_else(|| ApiError::new(404, "Not Found"))?;
    let mut headers = vec![
        (CONTENT_TYPE, file.media_type),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, file.policy),
        (ETAG, file.etag.of(&file.content)),
    ];
    if file.is_gzip {
        if refuses_gzip(request) {
            return Err(ApiError::new(406, "this file is served with gzip alone"));
        }
        headers.extend([(CONTENT_ENCODING, "gzip"), (VARY, "Accept-Encoding")]);
    }
    (headers, file.content.clone()).into_response()
}

/// Makes a router for an API that others call: that of [`create_router`], with
/// [`Policy::recommended`] and with its document made when it is built. A route
/// that neither asks for a user nor says why it is open does not build; an
/// application that builds behaves as with [`create_router`].
///
/// [`Router::policy`] puts another policy in the place of that one, such as the
/// same with rules and allowances of the application. The document is not served
/// until the router has [`with_open_api`].
///
/// ```
/// use stockade::openapi::create_api_router;
/// use stockade::prelude::*;
///
/// let open = routes! { "users": { GET: async || "all users" } };
/// let router = create_api_router(("Shop", "1.4.0"), open, RouterOptions::new());
/// assert!(router.build().unwrap_err().to_string().contains("[access-declared]"));
///
/// let api = routes! {
///     "users": { GET: { handler: async || "all users", public: "the list is on the site" } },
/// };
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
    let mut router = create_router(routes, options);
    router.policy(Policy::recommended());
    with_open_api(router, OpenApiOptions::of(info))
}
