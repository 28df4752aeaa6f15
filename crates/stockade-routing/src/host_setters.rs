//! The setters of the host of routers, groups and nodes.

use crate::options::RouterOptions;
use crate::route_host::{read, within};
use crate::router::Router;
use crate::tree::RouteTree;

impl RouteTree {
    /// Sets the host of the requests to all routes from here on: a name such as
    /// `api.example.com`, or with parameters, `:tenant.example.com`. Default: any host.
    ///
    /// A parameter matches a part of the name between two dots, and comes before the
    /// parameters of the path in [`Path`](stockade_core::extract::Path). A host in a host is a
    /// configuration error.
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
    /// It is the authority of the target, if there is one (HTTP/2, and absolute targets), else
    /// `Host`. Two different ones are a 400. Behind a trusted proxy
    /// ([`trust_proxy`](crate::RouterOptions::trust_proxy)) it is the last value of
    /// `X-Forwarded-Host`, or of `host` in `Forwarded`, if the header is there. Let the proxy
    /// set this header, because it passes on the header of a client otherwise. Case, port and
    /// a dot at the end do not matter. A host is chosen by the client, so it is not proof of
    /// anything.
    ///
    /// # Which route wins
    ///
    /// The best host counts: text comes before a parameter, label by label from the left. Its
    /// routes come before routes without a host, which requests of all hosts reach. Requests
    /// of an unknown host, and of a malformed one, reach only these. A wrong method is a 405
    /// with the methods of both.
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

    /// Puts all routes on the host of the router, except routes for those who watch the
    /// program: they ask by an address.
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
