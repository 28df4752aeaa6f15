//! The setters for the host of routers, groups and nodes.

use crate::options::RouterOptions;
use crate::route_host::{read, within};
use crate::router::Router;
use crate::tree::RouteTree;

impl RouteTree {
    /// Sets the host of the requests to this node and all routes below it. The
    /// host is a name such as `api.example.com`, or has parameters, as in
    /// `:tenant.example.com`. Default: any host.
    ///
    /// A parameter matches one label of the name, and precedes the parameters
    /// of the path in [`Path`](stockade_core::extract::Path). Nested hosts are
    /// a configuration error.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// async fn home(Path(tenant): Path<String>) -> String { format!("home of {tenant}") }
    /// async fn user(Path((tenant, id)): Path<(String, u64)>) -> String { format!("{tenant} {id}") }
    ///
    /// fn tenant_site() -> RouteTree {
    ///     routes! { host: ":tenant.example.com", GET: home, "users/:id": { GET: user } }
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let api = routes! { ..tenant_site(), "status": { GET: async || "fine" } };
    /// let client = TestClient::new(create_router(api, RouterOptions::new()));
    /// let acme = client.clone().with_header("host", "acme.example.com");
    /// acme.get("/").await.assert_text("home of acme");
    /// acme.get("/users/7").await.assert_text("acme 7");
    /// acme.get("/status").await.assert_text("fine");
    /// client.get("/").await.assert_status(404);
    /// # }
    /// ```
    ///
    /// # The host of a request
    ///
    /// The host is the authority of the target, if there is one (HTTP/2, and
    /// absolute targets), otherwise `Host`. A request with two different hosts
    /// gets a 400. Behind a trusted proxy
    /// ([`trust_proxy`](crate::RouterOptions::trust_proxy)) it is the last
    /// value of `X-Forwarded-Host`, or of `host` in `Forwarded`, if the request
    /// has the header. Configure the proxy to set this header; otherwise it
    /// forwards the header of a client. Case, port and a trailing dot do not
    /// matter. The client chooses the host, so a host does not prove anything.
    ///
    /// # Route precedence
    ///
    /// Only the best matching host counts: text precedes a parameter, label by
    /// label from the left. Its routes precede routes without a host, which
    /// match requests of all hosts. Requests with an unknown or malformed host
    /// only match routes without a host. A wrong method gets a 405 that lists
    /// the methods of both.
    #[track_caller]
    pub fn host(mut self, host: &str) -> Self {
        match read(host) {
            Ok(host) => self.host = Some(host),
            Err(mistake) => self.mistakes.push(mistake),
        }
        self
    }
}

impl Router {
    /// Sets the host of all routes of the router, or of a group. See [`RouteTree::host`].
    #[track_caller]
    pub fn host(&mut self, host: &str) -> &mut Self {
        match read(host) {
            Ok(host) => self.options.route_host = Some(host),
            Err(mistake) => self.mistakes.push(mistake),
        }
        self
    }

    /// Sets the host of the router for all its routes, except the routes for
    /// monitoring, because monitoring uses an address as the host.
    pub(crate) fn place_host(&mut self) {
        let Some(host) = self.options.route_host.take() else { return };
        for route in self.routes.iter_mut().filter(|route| !route.entry.has_any_host) {
            let own = route.entry.host.take();
            route.entry.host = within(Some(&host), own, &mut self.mistakes);
        }
    }
}

impl RouterOptions {
    /// Sets the host of all routes except [`health_routes`](crate::health_routes). See
    /// [`RouteTree::host`]. Default: any host.
    #[must_use]
    #[track_caller]
    pub fn host(mut self, host: &str) -> Self {
        match read(host) {
            Ok(host) => self.route_host = Some(host),
            Err(mistake) => self.settings.mistakes.push(mistake),
        }
        self
    }
}
