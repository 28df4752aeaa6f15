//! [`SiteBuilder`]: collects the routes of a host, or the routes without a
//! host.

use std::sync::Arc;

use http::Method;
use stockade_core::Endpoint;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_path::Pattern;

use crate::any_method::is_any;
use crate::host_table::HostTable;
use crate::matcher::{InsertError, TableBuilder};
use crate::route::Route;
use crate::route_host::RouteHost;
use crate::router::RouteDef;
use crate::site::Site;
use crate::table_set::TableBuilders;

/// The routes of a host, or the routes without a host.
#[derive(Default)]
pub(crate) struct SiteBuilder {
    host: Option<RouteHost>,
    tables: Vec<(Method, TableBuilder<Arc<Route>>)>,
    /// The routes of any method.
    any: Vec<(Pattern, Arc<Route>)>,
    web_sockets: Option<TableBuilder<Arc<Route>>>,
}

impl SiteBuilder {
    pub(crate) fn of(host: Option<&RouteHost>) -> Self {
        Self { host: host.cloned(), ..Self::default() }
    }

    /// Returns true if it has the routes of a host. Ignores the names of
    /// parameters.
    pub(crate) fn is_of(&self, host: Option<&RouteHost>) -> bool {
        let canonical = |host: &RouteHost| host.value.labels().canonical();
        match (&self.host, host) {
            (Some(own), Some(host)) => canonical(own) == canonical(host),
            (own, host) => own.is_none() && host.is_none(),
        }
    }

    /// Returns the route that has the same method and path, if there is one.
    pub(crate) fn equivalent(&self, route: &RouteDef, pattern: &Pattern) -> Option<&Endpoint> {
        let table = match &route.entry.web_socket {
            Some(_) => self.web_sockets.as_ref(),
            None => self.tables.iter().find(|(known, _)| *known == route.method).map(|it| &it.1),
        };
        table?.equivalent(pattern).map(|route| &*route.endpoint)
    }

    /// Adds a route to the table of its method.
    pub(crate) fn insert(
        &mut self,
        method: &Method,
        is_web_socket: bool,
        pattern: Pattern,
        route: &Arc<Route>,
    ) -> Result<(), InsertError> {
        let table = if is_web_socket {
            self.web_sockets.get_or_insert_with(TableBuilder::new)
        } else {
            self.table_of(method)
        };
        table.insert(&pattern, Arc::clone(route))?;
        if is_any(method) && !is_web_socket {
            self.any.push((pattern, Arc::clone(route)));
        }
        Ok(())
    }

    fn table_of(&mut self, method: &Method) -> &mut TableBuilder<Arc<Route>> {
        let index = self.tables.iter().position(|(known, _)| known == method);
        let index = index.unwrap_or_else(|| {
            self.tables.push((method.clone(), TableBuilder::new()));
            self.tables.len() - 1
        });
        &mut self.tables[index].1
    }

    fn build(self) -> Site {
        let builders = TableBuilders::new(self.tables, &self.any, self.web_sockets);
        let spelled = builders.spelled();
        Site { tables: builders.build(), spelled }
    }
}

/// Builds the site without a host, which is first, and the table of all hosts.
pub(crate) fn built_sites(
    sites: Vec<SiteBuilder>,
) -> Result<(Site, Option<Box<HostTable>>), ConfigError> {
    let mut sites = sites.into_iter();
    let first = sites.next().unwrap_or_default().build();
    let (mut table, mut built, mut canonical) = (TableBuilder::new(), Vec::new(), Vec::new());
    for site in sites {
        if let Some(host) = &site.host {
            let labels = host.value.labels();
            let place = host.place;
            table
                .insert(labels, built.len())
                .map_err(|error| ConfigIssue::new(error.to_string()).at(place))?;
            canonical.push(labels.canonical());
            built.push(site.build());
        }
    }
    let hosts = (!built.is_empty()).then(|| {
        Box::new(HostTable {
            table: table.build(),
            sites: built.into(),
            canonical: canonical.into(),
        })
    });
    Ok((first, hosts))
}
