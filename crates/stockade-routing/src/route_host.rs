//! The host of a router, a group or a node: [`RouteHost`], and its setters.

use std::panic::Location;
use std::sync::Arc;

use stockade_errors::ConfigIssue;
use stockade_path::host::HostPattern;

use crate::entry::RouteEntry;
use crate::options::RouterOptions;
use crate::router::Router;
use crate::settings::Placed;
use crate::tree::RouteTree;

/// The host of some routes, and the line that set it.
pub(crate) type RouteHost = Placed<Arc<HostPattern>>;

#[track_caller]
fn read(host: &str) -> Result<RouteHost, ConfigIssue> {
    let place = Location::caller();
    let pattern = HostPattern::parse(host);
    let pattern = pattern.map_err(|message| ConfigIssue::new(message).at(place))?;
    Ok(Placed::new(Arc::new(pattern), place))
}

/// Returns the host of routes within another level. Two hosts are a configuration error.
pub(crate) fn within(
    outer: Option<&RouteHost>,
    inner: Option<RouteHost>,
    mistakes: &mut Vec<ConfigIssue>,
) -> Option<RouteHost> {
    let (Some(outer), Some(inner)) = (outer, &inner) else {
        return inner.or_else(|| outer.cloned());
    };
    let (file, line) = (outer.place.file(), outer.place.line());
    let message = format!(
        "`host` is {:?} here and {:?} around it ({file}:{line}): hosts cannot be nested",
        inner.value.as_str(),
        outer.value.as_str()
    );
    // Each route of the level would report it again.
    if !mistakes.iter().any(|it| it.location() == Some(inner.place) && it.message() == message) {
        mistakes.push(ConfigIssue::new(message).at(inner.place));
    }
    Some(inner.clone())
}

/// Returns the host of a route as it was declared; empty for any host.
pub(crate) fn text_of(entry: &RouteEntry) -> &str {
    entry.host.as_ref().map_or("", |host| host.value.as_str())
}

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
