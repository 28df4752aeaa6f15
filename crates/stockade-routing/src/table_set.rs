//! [`TableSet`]: the tables for the lookup of requests.

use std::sync::Arc;

use http::Method;
use stockade_path::Pattern;
use stockade_path::spelling::Spelling;

use crate::any_method::is_any;
use crate::matcher::{Table, TableBuilder, Tables};
use crate::route::Route;

/// The tables for the lookup of a request.
pub(crate) struct TableSet {
    /// One table for each method, because the method is part of the match.
    pub(crate) methods: Tables<Arc<Route>>,
    /// The WebSocket routes, if there are any.
    pub(crate) web_sockets: Option<Table<Arc<Route>>>,
}

/// The tables of the same routes, with the text of their paths in other
/// spellings.
pub(crate) struct SpelledTables {
    unreserved: TableSet,
    once: TableSet,
    twice: TableSet,
}

impl SpelledTables {
    fn new(of: impl Fn(Spelling) -> TableSet) -> Self {
        Self {
            unreserved: of(Spelling::Unreserved),
            once: of(Spelling::Once),
            twice: of(Spelling::Twice),
        }
    }

    pub(crate) fn get(&self, spelling: Spelling) -> &TableSet {
        match spelling {
            Spelling::Unreserved => &self.unreserved,
            Spelling::Once => &self.once,
            Spelling::Twice => &self.twice,
        }
    }
}

/// The builders of all tables.
pub(crate) struct TableBuilders {
    methods: Vec<(Method, TableBuilder<Arc<Route>>)>,
    any: Option<(Method, TableBuilder<Arc<Route>>)>,
    web_sockets: Option<TableBuilder<Arc<Route>>>,
}

impl TableBuilders {
    /// Adds the routes of any method to each table, unless a route of the
    /// method has an equivalent path.
    ///
    /// HEAD and OPTIONS have only their own routes here. If none of them
    /// matches, HEAD is handled as GET. OPTIONS gets a response without a
    /// route, or a route of any method handles it (`lookup.rs`).
    pub(crate) fn new(
        mut methods: Vec<(Method, TableBuilder<Arc<Route>>)>,
        routes: &[(Pattern, Arc<Route>)],
        web_sockets: Option<TableBuilder<Arc<Route>>>,
    ) -> Self {
        let any = methods.iter().position(|(method, _)| is_any(method));
        let any = any.map(|index| methods.swap_remove(index));
        let alone = [Method::HEAD, Method::OPTIONS];
        for (_, table) in methods.iter_mut().filter(|(method, _)| !alone.contains(method)) {
            for (pattern, route) in routes {
                // The table for any method already contains the pattern, so the
                // only possible error is an equivalent path. Then the route of
                // the method has precedence.
                let _ = table.insert(pattern, Arc::clone(route));
            }
        }
        Self { methods, any, web_sockets }
    }

    /// Returns the tables for paths in other spellings, if a route has text
    /// with another spelling.
    pub(crate) fn spelled(&self) -> Option<Box<SpelledTables>> {
        let methods = self.methods.iter().chain(&self.any).map(|(_, table)| table);
        let mut tables = methods.chain(&self.web_sockets);
        if !tables.any(TableBuilder::has_other_spellings) {
            return None;
        }
        Some(Box::new(SpelledTables::new(|spelling| {
            let build = |(method, table): &(Method, TableBuilder<_>)| {
                (method.clone(), table.build_spelled(spelling))
            };
            TableSet {
                methods: Tables::new(self.methods.iter().map(build), self.any.as_ref().map(build)),
                web_sockets: self.web_sockets.as_ref().map(|it| it.build_spelled(spelling)),
            }
        })))
    }

    pub(crate) fn build(self) -> TableSet {
        let build = |(method, table): (Method, TableBuilder<_>)| (method, table.build());
        TableSet {
            methods: Tables::new(self.methods.into_iter().map(build), self.any.map(build)),
            web_sockets: self.web_sockets.map(TableBuilder::build),
        }
    }
}
