//! [`WithOpenApi`] and [`with_open_api`]: serve the document of a router;
//! [`create_api_router`]: creates a router with a document.

use std::fs;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, VARY,
};
use stockade_core::extract::{Headers, Path};
use stockade_core::{ApiError, Reply as _, Response, RouteDocs};
use stockade_errors::BoxError;
use stockade_map::policy::Policy;
use stockade_middleware::__internal::refuses_gzip;
use stockade_middleware::with_etag;
use stockade_routing::__internal::{Command, pretty};
use stockade_routing::{App, RouteRef, RouteTree, Router, RouterOptions, create_router};

use crate::document::{document, open_api, ruleset};
use crate::options::{Access, OpenApiOptions};
use crate::page::{File, Pages, ReadyTag};
use crate::to_3_0::to_3_0;

/// An extension trait that adds an OpenAPI document to a router.
pub trait WithOpenApi: Sized {
    /// Creates the OpenAPI document when the router is built, and serves it if
    /// the options allow access. Also adds the commands `openapi` and `docs` to
    /// [`App::run_command`](stockade_routing::App::run_command). `docs --html
    /// FILE` writes the page to one file that needs no other files.
    ///
    /// `info` is a title and a version, an [`ApiInfo`](crate::ApiInfo), or
    /// [`OpenApiOptions`].
    ///
    /// - [`public`](OpenApiOptions::public) and
    ///   [`guarded`](OpenApiOptions::guarded) add routes for the document, for
    ///   the page at [`docs_path`](OpenApiOptions#structfield.docs_path), and
    ///   for the files of the page. They are routes of the router, with its
    ///   limits and headers, but the document does not list them.
    /// - Otherwise nothing is served. The build still reports errors of the
    ///   document.
    ///
    /// The page works without its script and loads nothing from other hosts. It
    /// shows everything in the document, and which part of a route sends a
    /// response. It shows limits and names of middleware only with
    /// [`internals`](OpenApiOptions#structfield.internals). If there are more
    /// than 60 operations, each group has its own page. A browser sends no
    /// bearer token when it opens a page, so a guarded page needs a session or
    /// Basic credentials.
    ///
    /// If a router has several documents, the command prints the first.
    ///
    /// ```
    /// use stockade::openapi::OpenApiOptions;
    /// use stockade::prelude::*;
    ///
    /// # fn main() -> Result<(), BoxError> {
    /// let api = routes! { "users": { GET: async || "all users" } };
    /// let options = OpenApiOptions::new("Shop", "1.4.0").public("the API is public");
    /// let app = create_router(api, RouterOptions::new()).open_api(options).build()?;
    /// assert!(app.routes().iter().any(|route| route.pattern() == "/openapi.json"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    #[doc(alias("swagger", "redoc", "openapi"))]
    fn open_api(self, info: impl Into<OpenApiOptions>) -> Self;
}

impl WithOpenApi for Router {
    #[track_caller]
    fn open_api(self, info: impl Into<OpenApiOptions>) -> Self {
        documented(self, info.into())
    }
}

/// Adds an OpenAPI document to a router. This is
/// [`open_api`](WithOpenApi::open_api) under the name in the specification.
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
#[doc(alias = "withOpenApi")]
#[track_caller]
pub fn with_open_api(router: Router, info: impl Into<OpenApiOptions>) -> Router {
    documented(router, info.into())
}

/// Adds a document to a router. Not generic, so programs do not compile it
/// again.
#[track_caller]
fn documented(mut router: Router, options: OpenApiOptions) -> Router {
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
        restrict(router.get(&options.docs_path, handler), access, "The API documentation page");
        router.set_documents_page(&options.docs_path);
        let pages = Arc::clone(&made);
        let handler = async move |Path(name): Path<String>, headers: Headers| {
            page_reply(pages.get().and_then(|made| made.pages.file(&name)), &headers)
        };
        let path = format!("{}/:file", options.docs_path.trim_end_matches('/'));
        restrict(router.get(&path, handler), access, "The files of the documentation page");
    }
    let of_command = options.clone();
    router.add_command(Command::new("openapi", USAGE, move |app, args| {
        printed(app, &of_command, args)
    }));
    let of_command = options.clone();
    router.add_command(Command::new("docs", EXPORT_USAGE, move |app, args| {
        exported(app, &of_command, args)
    }));
    router.inspect(move |map| {
        let document = document(map, &options)?;
        if is_served {
            let pages = Pages::of(map, &document, &options)?;
            // A router is built once, so the cell is still empty.
            let document = document.to_string().into();
            let _ = made.set(Made { document, etag: ReadyTag::default(), pages });
        }
        Ok(())
    });
    router
}

/// The forms of the command `openapi`.
const USAGE: &str = "openapi [--3.0 | --ruleset]";

/// Returns the output of the command `openapi`; `None` for unknown arguments.
fn printed(app: &App, options: &OpenApiOptions, args: &[&str]) -> Result<Option<String>, BoxError> {
    let document = match args {
        [] => open_api(app, options)?,
        ["--3.0"] => {
            let (mut document, lost) = to_3_0(&open_api(app, options)?);
            if !lost.is_empty() {
                document["x-lost"] = lost.into();
            }
            document
        }
        ["--ruleset"] => ruleset(&app.route_map(), options)?,
        _ => return Ok(None),
    };
    pretty(&document).map(Some)
}

/// The form of the command `docs`.
const EXPORT_USAGE: &str = "docs --html FILE";

/// Writes the page to a file, and returns the output of the command `docs`;
/// `None` for unknown arguments.
fn exported(
    app: &App,
    options: &OpenApiOptions,
    args: &[&str],
) -> Result<Option<String>, BoxError> {
    let ["--html", path] = args else { return Ok(None) };
    let map = app.route_map();
    let page = Pages::single(&map, &document(&map, options)?, options)?;
    fs::write(path, page).map_err(|error| format!("{path} cannot be written: {error}"))?;
    Ok(Some(format!("the page is in {path}\n")))
}

/// The document and the page, ready to send.
struct Made {
    document: Bytes,
    etag: ReadyTag,
    pages: Pages,
}

/// Applies the access of the document to a route.
fn restrict(route: RouteRef<'_>, access: &Access, summary: &str) {
    let docs = RouteDocs::new(summary).hidden("it documents the API and is not part of it");
    let route = route.middleware(with_etag()).docs(docs);
    match access {
        Access::Public(reason) => drop(route.public(reason)),
        Access::Guarded(middleware) => drop(route.own_access().middleware(middleware.clone())),
    }
}

/// Creates the response with the document.
fn document_reply(made: &OnceLock<Made>) -> Result<Response, ApiError> {
    let made = made.get().ok_or_else(|| ApiError::new(500, "the document was not created"))?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-cache"),
        (ETAG, made.etag.of(&made.document)),
    ];
    (headers, made.document.clone()).into_response()
}

/// Creates the response with a page or one of its files.
fn page_reply(file: Option<&File>, request: &HeaderMap) -> Result<Response, ApiError> {
    let file = file.ok_or_else(|| ApiError::new(404, "Not Found"))?;
    let mut headers = vec![
        (CONTENT_TYPE, file.media_type),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, &*file.policy),
        (ETAG, file.etag.of(&file.content)),
    ];
    if file.is_gzip {
        if refuses_gzip(request) {
            return Err(ApiError::new(406, "this file is only available with gzip"));
        }
        headers.extend([(CONTENT_ENCODING, "gzip"), (VARY, "Accept-Encoding")]);
    }
    (headers, file.content.clone()).into_response()
}

/// Creates a router for a public API: [`create_router`] with
/// [`Policy::recommended`] and [`open_api`](WithOpenApi::open_api). The build
/// fails if a route neither authenticates users nor declares why it is public.
/// An application that builds behaves as with [`create_router`].
///
/// [`Router::policy`] replaces the policy, for example to add your own rules
/// and exceptions. `info` can be [`OpenApiOptions`], which serve the document.
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
///     "users": { GET: { async || "all users", public: "the list is on the site" } },
/// };
/// let app = create_api_router(("Shop", "1.4.0"), api, RouterOptions::new()).build()?;
/// assert_eq!(app.routes().len(), 1);
/// # Ok::<(), ConfigError>(())
/// ```
// Spec: What the service does › `createApiRouter` (a name without behaviour).
#[doc(alias = "createApiRouter")]
#[track_caller]
pub fn create_api_router(
    info: impl Into<OpenApiOptions>,
    routes: RouteTree,
    options: RouterOptions,
) -> Router {
    create_router(routes, options).policy(Policy::recommended()).open_api(info)
}
