//! Tower services as a part of the tree: static files, proxies, another
//! framework, another application.

use http::Uri;
use http::uri::PathAndQuery;
use stockade_core::description::{ResponseDoc, StatusDoc};
use stockade_core::lent_request::{LentRequest, start_of_rest};
use stockade_core::login_end::end_with;
use stockade_core::{Handler, Request, Response, RouteDescription};
use stockade_errors::ApiError;
use stockade_path::spelling::Spelling;
use stockade_stages::TowerService;

use crate::any_method::any_method;
use crate::entry::{RouteEntry, RouteRef};
use crate::mount_slash::MountTarget;
use crate::router::Router;
use crate::tree::RouteTree;

impl Router {
    /// Passes every request at and below a path to a tower service: static
    /// files by `tower_http::services::ServeDir`, a proxy, an axum router,
    /// another [`App`](crate::App).
    ///
    /// It is a route of [any method](Self::any) for `path` and `path/**`, so
    /// every more specific path has precedence, and so does a route with a
    /// specific method at the same path. The stages of the router and the
    /// middleware of the route run before it, as for every handler.
    ///
    /// ```
    /// # use std::task::{Context, Poll};
    /// use std::convert::Infallible;
    ///
    /// use stockade::{HttpBody, Response, Router};
    /// # #[derive(Clone)]
    /// # struct Echo;
    /// # impl tower_service::Service<stockade::http::Request<HttpBody>> for Echo {
    /// #     type Response = Response;
    /// #     type Error = Infallible;
    /// #     type Future = std::future::Ready<Result<Response, Infallible>>;
    /// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
    /// #         Poll::Ready(Ok(()))
    /// #     }
    /// #     fn call(&mut self, request: stockade::http::Request<HttpBody>) -> Self::Future {
    /// #         std::future::ready(Ok(Response::new(request.uri().path().to_owned().into())))
    /// #     }
    /// # }
    ///
    /// let mut router = Router::new();
    /// router.get("/assets/version", async || "1.0");
    /// // A program mounts a folder: `FromTower(ServeDir::new("assets"))`, or without `FromTower`.
    /// router.mount("/assets", Echo).max_body(64 * 1024).name("assets");
    /// let app = router.build()?;
    /// assert_eq!(app.generate_url("assets", [("splat", "css/a.css")]).unwrap(), "/assets/css/a.css");
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    ///
    /// # The request of the service
    ///
    /// - Its path begins after `path`: `/assets/css/a.css` becomes
    ///   `/css/a.css`, and `/assets` and `/assets/` become `/`. The query is
    ///   unchanged. The extensions contain the original target as
    ///   [`OriginalUri`], and the address of the peer as `PeerAddr`.
    /// - The path stays raw. A path gets a 400 if it has a segment `.` or `..`,
    ///   encoded or not, or if it would begin with two slashes. So no path
    ///   leads out of a folder. A path also gets a 400 if it leads to another
    ///   route when it is decoded once or twice. So if another route guards a
    ///   path below a mount, no spelling of this path reaches the mounted
    ///   service. Symbolic links are not checked: `ServeDir` follows the links
    ///   in its folder, wherever they lead.
    /// - A body with an announced length above the limit of the route or the
    ///   router gets a 413 before the service is called. If a body turns out to
    ///   be longer, the service reads the bytes up to the limit, and then the
    ///   error `BodyError::TooLarge`. The response is a 413 if the service
    ///   returns this error. A service that handles the error chooses its own
    ///   status: axum's `String` responds with 400.
    ///   [`max_body`](RouteEntry::max_body) sets the limit of the mount. The
    ///   service receives the original bytes, even if middleware has parsed
    ///   them.
    /// - The service receives all headers, including hop-by-hop headers:
    ///   `Connection` and the headers that it names, `TE`, `Upgrade`. A proxy
    ///   has to remove them, in both directions (RFC 9110, section 7.6.1):
    ///
    /// ```
    /// use stockade::http::{HeaderMap, HeaderName, header};
    ///
    /// fn remove_hop_by_hop(headers: &mut HeaderMap) {
    ///     let lists = headers.get_all(header::CONNECTION).iter().flat_map(|list| list.to_str());
    ///     let names = lists.flat_map(|list| list.split(',')).flat_map(|name| name.trim().parse());
    ///     let named: Vec<HeaderName> = names.collect();
    ///     let keep_alive = HeaderName::from_static("keep-alive");
    ///     let always = [header::CONNECTION, keep_alive, header::TE, header::UPGRADE];
    ///     for name in always.into_iter().chain(named) {
    ///         headers.remove(name);
    ///     }
    /// }
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("connection", "close, x-internal".parse().unwrap());
    /// headers.insert("x-internal", "1".parse().unwrap());
    /// headers.insert("accept", "*/*".parse().unwrap());
    /// remove_hop_by_hop(&mut headers);
    /// assert_eq!(headers.keys().collect::<Vec<_>>(), ["accept"]);
    /// ```
    ///
    /// # The response of the service
    ///
    /// - A response of the service is unchanged, whatever its status: a 404 or
    ///   405 of `ServeDir` does not have a body, and `error_handling` does not
    ///   apply to it. `ServeDir::fallback` passes a missing file to another
    ///   service.
    /// - An error of the service becomes a 500 and is logged, unless it is an
    ///   [`ApiError`], or an error of the request's body, which has its own
    ///   status.
    /// - An [`App`](crate::App) handles its own errors: the `error_handling`
    ///   and the `validation_status` of the router, of a group and of a node do
    ///   not affect them. The `error_handling` of the mount itself applies to
    ///   errors for which the `App` does not have an error handler, because the
    ///   innermost handler counts.
    /// - If the service redirects to its own path with a slash appended, the
    ///   location gets the prefix of the mount: `/css/` becomes `/assets/css/`,
    ///   as `ServeDir` needs for folders. All other redirects are unchanged.
    /// - A successful HTML response to GET or HEAD at `/assets` itself becomes
    ///   a 308 to `/assets/`, because relative links of the page would lead out
    ///   of the mount. The query is unchanged.
    /// - A service that needs the connection itself (an axum WebSocket) does
    ///   not receive it. An [`App`](crate::App) does, on HTTP/1.1.
    ///
    /// The service is cloned for each request.
    #[track_caller]
    pub fn mount(&mut self, path: &str, service: impl TowerService) -> RouteRef<'_> {
        self.add(any_method(), path, RouteEntry::mount(service))
    }
}

impl RouteTree {
    /// Adds a tower service for everything at and below this node.
    /// [`RouteEntry::mount`] creates the entry. See [`Router::mount`].
    #[track_caller]
    pub fn mount(self, entry: RouteEntry) -> Self {
        self.any(entry)
    }
}

impl RouteEntry {
    /// Creates the entry of a tower service for its path and everything below
    /// it. See [`Router::mount`].
    #[track_caller]
    pub fn mount(service: impl TowerService) -> Self {
        let handler = Handler::erased(move |req| Box::pin(serve(service.clone(), req)), describe);
        let mut entry = Self::of(handler);
        entry.is_mount = true;
        entry
    }
}

/// The original target of a request, in the extensions of a request to a
/// [mounted](Router::mount) service. In nested mounts, and below a path of axum
/// or actix-web, it is the target that the outermost application received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OriginalUri(pub Uri);

fn describe(doc: &mut RouteDescription) {
    doc.may_respond(
        400,
        "The path contains a segment . or .., or its rest begins with two slashes",
    );
    doc.may_respond(413, "The body is too large");
    doc.responds(ResponseDoc::unknown(StatusDoc::Default).meaning("A response of the service"));
}

async fn serve(service: impl TowerService, mut req: Request) -> Result<Response, ApiError> {
    let inner = below(req.uri(), start_of_rest(&req))?;
    let peer = req.peer();
    // An event stream of the service ends when the login of this application's
    // user ends.
    let lifetime = req.lend_user();
    let (mut request, _) = LentRequest::of(req);
    let method = request.method().clone();
    let own = std::mem::replace(request.uri_mut(), inner.clone());
    let extensions = request.extensions_mut();
    let original = extensions.get_or_insert_with(|| OriginalUri(own.clone()));
    let target = MountTarget::new(&method, &own, &original.0, &inner);
    peer.map(|peer| extensions.insert(peer));
    let mut response = service.answer(request).await?;
    target.correct(&mut response);
    end_with(&mut response, lifetime);
    Ok(response)
}

/// Returns the target without the path of the mount. The rest begins at
/// `start`, which is `None` for a request to the path of the mount itself.
fn below(uri: &Uri, start: Option<usize>) -> Result<Uri, ApiError> {
    let rest = start.and_then(|start| uri.path().get(start..)).unwrap_or_default();
    if rest.starts_with('/') || has_dot_segment(rest) {
        return Err(ApiError::new(400, "Bad Request"));
    }
    let target = match uri.query() {
        Some(query) => format!("/{rest}?{query}"),
        None => format!("/{rest}"),
    };
    let target = PathAndQuery::try_from(target).map_err(ApiError::internal)?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target);
    Uri::from_parts(parts).map_err(ApiError::internal)
}

/// Returns true if a path has the segment `.` or `..`, as it is, decoded, or
/// decoded twice.
fn has_dot_segment(path: &str) -> bool {
    if !path.contains(['.', '%']) {
        return false;
    }
    [Spelling::Once, Spelling::Twice]
        .into_iter()
        .any(|spelling| spelling.of(path).split('/').any(|it| matches!(it, "." | "..")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, start: Option<usize>, expected: &str) {
        let found = below(&target.parse().unwrap(), start);
        let found = found.map_or_else(|error| error.status().to_string(), |uri| uri.to_string());
        assert_eq!(found, expected, "{target}");
    }

    #[test]
    fn the_path_begins_after_the_mount() {
        check("/a/b/c", Some(3), "/b/c");
        check("/a/b%20c?x=/../y", Some(3), "/b%20c?x=/../y");
        check("/a/", Some(3), "/");
        check("/a", None, "/");
        check("/a?x=1", None, "/?x=1");
        check("https://a.example/a/b", Some(3), "https://a.example/b");
        check("/a/b//c/", Some(3), "/b//c/");
        check("/a/...", Some(3), "/...");
        check("/a/.well-known/x..y", Some(3), "/.well-known/x..y");
    }

    #[test]
    fn rejects_paths_outside_of_the_mount() {
        let paths = [
            "..",
            ".",
            "../x",
            "x/..",
            "x/../y",
            "x/./y",
            "%2e%2e/x",
            "x/.%2E/y",
            "..%2fx",
            "x%2f..%2Fy",
            "..%5cx",
            "%2e",
            "%252e%252e/x",
            "%c0%ae%c0%ae/x",
            "..%c0%afx",
            "/evil.example",
            "//x",
        ];
        for path in paths {
            check(&format!("/a/{path}"), Some(3), "400");
        }
    }
}
