//! Hot: [`Tables`], the table of each method.

use std::slice;

use http::Method;

use super::Table;

/// A [`Table`] for each of some methods.
#[derive(Debug)]
pub struct Tables<T> {
    tables: Box<[(Method, Table<T>)]>,
    /// The index of each standard method in `tables`, or [`NOWHERE`]. It spares
    /// a branch for each method, which the processor cannot foresee.
    places: [usize; OTHER + 1],
}

impl<T> Tables<T> {
    /// Returns the table of a method, if there is one.
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
        self.tables.iter().find(|(own, _)| own == method).map(|(_, table)| table)
    }

    /// Returns the methods with their tables, in the order in which they were
    /// given.
    pub fn iter(&self) -> slice::Iter<'_, (Method, Table<T>)> {
        self.tables.iter()
    }
}

/// Of two tables of the same method, the first counts.
impl<T> FromIterator<(Method, Table<T>)> for Tables<T> {
    fn from_iter<I: IntoIterator<Item = (Method, Table<T>)>>(tables: I) -> Self {
        let tables: Box<[_]> = tables.into_iter().collect();
        let mut places = [NOWHERE; OTHER + 1];
        for (place, (method, _)) in tables.iter().enumerate().rev() {
            places[number(method)] = place;
        }
        places[OTHER] = NOWHERE;
        Self { tables, places }
    }
}

/// Returns a number for each standard method, in the order of `http`: there the
/// compiler sees that nothing has to be decided.
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
}
