//! [`Tables`], the table of each method. Hot.

use std::slice;

use http::Method;

use super::Table;

/// A [`Table`] for each of several methods, and optionally one for all other
/// methods.
#[derive(Debug)]
pub struct Tables<T> {
    /// The tables of the methods, then the table for all other methods.
    tables: Box<[(Method, Table<T>)]>,
    /// The number of methods with their own table.
    named: usize,
    /// The index of each standard method in `tables`, or [`NOWHERE`]. Avoids a
    /// branch for each method, which the processor cannot predict.
    places: [usize; OTHER + 1],
}

impl<T> Tables<T> {
    /// Creates the tables of several methods. If a method has two tables, the
    /// first counts. `any` is for the methods without their own table, except
    /// HEAD, OPTIONS and CONNECT, which have a response without a route.
    pub fn new(
        named: impl IntoIterator<Item = (Method, Table<T>)>,
        any: Option<(Method, Table<T>)>,
    ) -> Self {
        let mut tables: Vec<_> = named.into_iter().collect();
        let named = tables.len();
        let mut places = [any.as_ref().map_or(NOWHERE, |_| named); OTHER + 1];
        for method in [Method::HEAD, Method::OPTIONS, Method::CONNECT] {
            places[number(&method)] = NOWHERE;
        }
        for (place, (method, _)) in tables.iter().enumerate().rev() {
            places[number(method)] = place;
        }
        places[OTHER] = NOWHERE;
        tables.extend(any);
        Self { tables: tables.into(), named, places }
    }

    /// Returns the table for the routes of a method, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, method: &Method) -> Option<&Table<T>> {
        let number = number(method);
        match self.tables.get(self.places[number]) {
            Some((_, table)) => Some(table),
            None if number == OTHER => self.search(method),
            None => None,
        }
    }

    #[cold]
    fn search(&self, method: &Method) -> Option<&Table<T>> {
        let own = self.iter().find(|(own, _)| own == method).map(|(_, table)| table);
        own.or_else(|| self.any())
    }

    /// Returns the methods that have their own table, with these tables, in the
    /// original order.
    pub fn iter(&self) -> slice::Iter<'_, (Method, Table<T>)> {
        self.tables[..self.named].iter()
    }

    /// Returns the table for the methods without their own table.
    #[must_use]
    pub fn any(&self) -> Option<&Table<T>> {
        self.tables.get(self.named).map(|(_, table)| table)
    }
}

/// If a method has two tables, the first counts.
impl<T> FromIterator<(Method, Table<T>)> for Tables<T> {
    fn from_iter<I: IntoIterator<Item = (Method, Table<T>)>>(tables: I) -> Self {
        Self::new(tables, None)
    }
}

/// Returns a number for each standard method. In the order of `http`, the
/// compiler recognizes that no decision is necessary.
#[inline]
fn number(method: &Method) -> usize {
    match *method {
        Method::OPTIONS => 0,
        Method::GET => 1,
        Method::POST => 2,
        Method::PUT => 3,
        Method::DELETE => 4,
        Method::HEAD => 5,
        Method::TRACE => 6,
        Method::CONNECT => 7,
        Method::PATCH => 8,
        _ => OTHER,
    }
}

const OTHER: usize = 9;
const NOWHERE: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use stockade_path::Pattern;

    use super::*;
    use crate::matcher::TableBuilder;

    #[test]
    fn each_method_has_its_table() {
        let names = [
            "PURGE", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT",
            "TRACE", "LINK",
        ];
        let table = |name| {
            let mut builder = TableBuilder::new();
            builder.insert(&Pattern::parse("/").unwrap(), name).unwrap();
            (Method::from_bytes(str::as_bytes(name)).unwrap(), builder.build())
        };
        let tables: Tables<&str> = names.into_iter().map(table).collect();
        for (method, _) in tables.iter() {
            let found = tables.get(method).and_then(|table| table.find("/"));
            assert_eq!(found.map(|found| *found.value), Some(method.as_str()));
        }
        let some: Tables<&str> = [table("GET"), table("PURGE")].into_iter().collect();
        for name in names {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            assert_eq!(some.get(&method).is_some(), ["GET", "PURGE"].contains(&name), "{name}");
        }
    }

    #[test]
    fn methods_without_a_table_use_any_with_three_exceptions() {
        let table = |name| {
            let mut builder = TableBuilder::new();
            builder.insert(&Pattern::parse("/").unwrap(), name).unwrap();
            (Method::from_bytes(str::as_bytes(name)).unwrap(), builder.build())
        };
        let check = |tables: &Tables<&str>, name: &str, expected: &str| {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            let found = tables.get(&method).and_then(|table| table.find("/"));
            assert_eq!(found.map_or("-", |found| *found.value), expected, "{name}");
        };
        let named = || [table("GET"), table("PURGE"), table("OPTIONS")];
        let tables = Tables::new(named(), Some(table("ANY")));
        for name in ["GET", "PURGE", "OPTIONS"] {
            check(&tables, name, name);
        }
        for name in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "LINK", "ANY"] {
            check(&tables, name, "ANY");
        }
        for name in ["HEAD", "CONNECT"] {
            check(&tables, name, "-");
        }
        assert_eq!(tables.iter().count(), 3);
        assert!(Tables::new(named(), None).any().is_none());
    }
}
