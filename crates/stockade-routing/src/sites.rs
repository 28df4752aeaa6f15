//! [`Sites`]: the tables in which a request is looked up, and the equal forms of a path.

use stockade_core::__internal::Params;
use stockade_path::encoding::EncodedPath;
use stockade_path::spelling::Spelling;

use crate::app::RouteSet;
use crate::lookup::RouteMatch;
use crate::table_set::{SpelledTables, TableSet};

/// The tables of some routes, also for other spellings of their paths.
pub(crate) struct Site {
    pub(crate) tables: TableSet,
    /// The tables for paths in other spellings, if their routes differ from `tables`.
    pub(crate) spelled: Option<Box<SpelledTables>>,
}

impl Site {
    /// Returns the tables for a spelling; `None` is the path as it was sent.
    pub(crate) fn get(&self, spelling: Option<Spelling>) -> &TableSet {
        let spelled = self.spelled.as_ref().zip(spelling);
        spelled.map_or(&self.tables, |(spelled, spelling)| spelled.get(spelling))
    }
}

/// Finds a route for a path in one set of tables.
pub(crate) type FindIn<'f, 'r> = &'f dyn Fn(&'r TableSet, &str) -> Option<RouteMatch<'r>>;

/// The tables in which a request is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Sites<'r> {
    routes: &'r RouteSet,
}

impl<'r> Sites<'r> {
    pub(crate) fn of(routes: &'r RouteSet) -> Self {
        Self { routes }
    }

    /// Returns the sites in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'r Site> {
        std::iter::once(&self.routes.site)
    }

    /// Returns true if a route has text with other spellings.
    pub(crate) fn has_spellings(self) -> bool {
        self.iter().any(|site| site.spelled.is_some())
    }

    /// Looks a path up in a spelling, and in all forms that are equal to it.
    #[cold]
    pub(crate) fn search(
        self,
        spelling: Option<Spelling>,
        path: &str,
        find: FindIn<'_, 'r>,
    ) -> Option<RouteMatch<'r>> {
        self.iter()
            .find_map(|site| Forms::of(site, spelling, path).search(site.get(spelling), find))
    }
}

/// The equal forms of a path.
pub(crate) struct Forms<'p> {
    path: &'p str,
    /// The form that the text of routes has. `None` if it is `path`.
    encoded: Option<EncodedPath<'p>>,
}

impl<'p> Forms<'p> {
    pub(crate) fn of(site: &Site, spelling: Option<Spelling>, path: &'p str) -> Self {
        // Other spellings are equal only to themselves.
        let has_encoded = spelling.is_none() && site.spelled.is_some();
        Self { path, encoded: has_encoded.then(|| EncodedPath::of(path)).flatten() }
    }

    /// Returns the forms, the best first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.encoded.iter().map(EncodedPath::text).chain([self.path])
    }

    fn search<'r>(&self, tables: &'r TableSet, find: FindIn<'_, 'r>) -> Option<RouteMatch<'r>> {
        self.iter().enumerate().find_map(|(index, form)| {
            let (route, params) = find(tables, form)?;
            let encoded = self.encoded.as_ref().filter(|_| index == 0);
            Some((route, self.place(encoded, params)?))
        })
    }

    /// Returns parameters with their places in the path that was sent.
    fn place(&self, encoded: Option<&EncodedPath<'_>>, params: Params) -> Option<Params> {
        match encoded {
            Some(encoded) => params.map_spans(|spans| encoded.origins(spans)),
            None => Some(params),
        }
    }
}
