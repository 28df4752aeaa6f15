//! [`Sites`]: the tables for the lookup of a request, and the equal forms of a
//! path.

use std::sync::Arc;

use stockade_core::__internal::{HostParams, Params};
use stockade_core::Request;
use stockade_map::TrailingSlash;
use stockade_path::Spans;
use stockade_path::encoding::EncodedPath;
use stockade_path::host::HostPattern;
use stockade_path::spelling::Spelling;

use crate::app::{Resolved, RouteSet};
use crate::asked_host::{AskedHost, asked_host};
use crate::host_table::HostTable;
use crate::lookup::{RouteMatch, find_in};
use crate::matcher::Table;
use crate::route::Route;
use crate::site::Site;
use crate::table_set::TableSet;
use crate::trailing_slash::{has_other_form, other_form};

/// A function that finds a route for a path in one set of tables.
pub(crate) type FindIn<'f, 'r> = &'f dyn Fn(&'r TableSet, &str) -> Option<RouteMatch<'r>>;

/// The tables for the lookup of a request: the tables of its host, then the
/// tables of routes without a host.
pub(crate) struct Sites<'r> {
    routes: &'r RouteSet,
    /// The site of the best host.
    host: Option<FoundHost<'r>>,
    /// True if the request has two different hosts, and gets a 400.
    is_contradictory: bool,
}

/// The host of a request.
struct FoundHost<'r> {
    site: &'r Site,
    /// Its labels, as a path.
    labels: String,
    /// The positions of its parameters.
    spans: Spans,
}

impl<'r> Sites<'r> {
    #[inline]
    pub(crate) fn of(app: &'r Resolved, req: &Request) -> Self {
        let routes = &*app.routes;
        match &routes.hosts {
            None => Self { routes, host: None, is_contradictory: false },
            Some(hosts) => Self::on_host(routes, hosts, asked_host(app, req)),
        }
    }

    fn on_host(routes: &'r RouteSet, hosts: &'r HostTable, asked: AskedHost) -> Self {
        let is_contradictory = matches!(asked, AskedHost::Contradictory);
        let AskedHost::Labels(labels) = asked else {
            return Self { routes, host: None, is_contradictory };
        };
        let host = hosts.find(&labels).map(|(site, spans)| FoundHost { site, labels, spans });
        Self { routes, host, is_contradictory }
    }

    pub(crate) fn routes(&self) -> &'r RouteSet {
        self.routes
    }

    pub(crate) fn is_contradictory(&self) -> bool {
        self.is_contradictory
    }

    /// Returns true if the routes of a declared host are included.
    pub(crate) fn includes(&self, host: &str) -> bool {
        let (Some(hosts), Some(found)) = (&self.routes.hosts, &self.host) else { return false };
        let site = HostPattern::parse(host).ok().and_then(|host| hosts.site_of(&host));
        site.is_some_and(|site| std::ptr::eq(site, found.site))
    }

    /// Returns the sites in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'r Site> {
        self.host.iter().map(|host| host.site).chain([&self.routes.site])
    }

    /// Adds the parameters of the host if the route has a host.
    fn with_host(&self, (route, params): RouteMatch<'r>) -> RouteMatch<'r> {
        match self.host.as_ref().zip(route.host_names.as_ref()) {
            Some((FoundHost { labels, spans, .. }, names)) => {
                let host = HostParams::new(labels.clone(), names, spans.clone());
                (route, params.with_host(Arc::new(host)))
            }
            None => (route, params),
        }
    }

    /// Returns true if a route has text with other spellings.
    pub(crate) fn has_spellings(&self) -> bool {
        self.iter().any(|site| site.spelled.is_some())
    }

    /// Looks up a path in a spelling, and in all forms that are equal to it.
    #[cold]
    pub(crate) fn search(
        &self,
        spelling: Option<Spelling>,
        path: &str,
        find: FindIn<'_, 'r>,
    ) -> Option<RouteMatch<'r>> {
        let ignores_slash = self.routes.trailing_slash == TrailingSlash::Ignore;
        self.iter().find_map(|site| {
            let (tables, forms) = (site.get(spelling), Forms::of(site, spelling, path));
            let mut found = forms.search(tables, find);
            if found.is_none() && ignores_slash {
                found = forms.search_other(tables, find);
            }
            found.map(|found| self.with_host(found))
        })
    }

    /// Looks up the other form of a path, with or without a trailing slash.
    /// Ignores routes of `**` and mounts.
    #[cold]
    pub(crate) fn search_other(&self, path: &str, find: FindIn<'_, 'r>) -> Option<RouteMatch<'r>> {
        self.iter().find_map(|site| Forms::of(site, None, path).search_other(&site.tables, find))
    }

    /// Returns true if a table matches a path of a site in a spelling.
    pub(crate) fn has(&self, forms: &Forms<'_>, table: &Table<Arc<Route>>) -> bool {
        let ignores_slash = self.routes.trailing_slash == TrailingSlash::Ignore;
        forms.iter().any(|form| table.find(form).is_some())
            || ignores_slash && forms.has_other(table)
    }
}

/// The equal forms of a path.
pub(crate) struct Forms<'p> {
    path: &'p str,
    /// The path in the encoded form that routes use for their text. `None` if
    /// it equals `path`.
    encoded: Option<EncodedPath<'p>>,
}

impl<'p> Forms<'p> {
    pub(crate) fn of(site: &Site, spelling: Option<Spelling>, path: &'p str) -> Self {
        // Only the original path has an encoded form. A spelling is compared
        // unchanged.
        let has_encoded = spelling.is_none() && site.spelled.is_some();
        Self { path, encoded: has_encoded.then(|| EncodedPath::of(path)).flatten() }
    }

    /// Returns the forms, the best first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.encoded.iter().map(EncodedPath::text).chain([self.path])
    }

    pub(crate) fn search<'r>(
        &self,
        tables: &'r TableSet,
        find: FindIn<'_, 'r>,
    ) -> Option<RouteMatch<'r>> {
        self.iter().enumerate().find_map(|(index, form)| {
            let (route, params) = find(tables, form)?;
            Some((route, Self::place(self.encoded_at(index), params)?))
        })
    }

    pub(crate) fn search_other<'r>(
        &self,
        tables: &'r TableSet,
        find: FindIn<'_, 'r>,
    ) -> Option<RouteMatch<'r>> {
        self.iter().enumerate().find_map(|(index, form)| {
            let (route, params) = find(tables, &other_form(form)?)?;
            if !has_other_form(route.endpoint.pattern()) {
                return None;
            }
            // A trailing slash does not move any parameter.
            Some((route, Self::place(self.encoded_at(index), params)?))
        })
    }

    /// Returns true if a table matches the other form of the path.
    pub(crate) fn has_other(&self, table: &Table<Arc<Route>>) -> bool {
        self.iter().any(|form| {
            let found = other_form(form).and_then(|other| find_in(table, &other));
            found.is_some_and(|(route, _)| has_other_form(route.endpoint.pattern()))
        })
    }

    fn encoded_at(&self, index: usize) -> Option<&EncodedPath<'p>> {
        self.encoded.as_ref().filter(|_| index == 0)
    }

    /// Converts the positions of parameters to positions in the original path.
    fn place(encoded: Option<&EncodedPath<'_>>, params: Params) -> Option<Params> {
        match encoded {
            Some(encoded) => params.map_spans(|spans| encoded.origins(spans)),
            None => Some(params),
        }
    }
}
