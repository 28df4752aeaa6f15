//! Statements that are written once for both dialects.

use std::sync::Arc;

use crate::Dialect;

/// A statement of a store in the dialect of its database.
///
/// In the text, `:name` is a string from the parameter, `#name` is an integer
/// from it, and `#now` is the time in milliseconds since 1970. `least`,
/// `json_object` and `{skip locked}` are translated to the dialect.
#[derive(Debug)]
pub(super) struct Template(Arc<str>);

/// The time of the statement, unless a test passes one.
const POSTGRES_NOW: &str = "coalesce(CAST(($1->>'now') AS bigint), \
    CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint))";

impl Template {
    pub(super) fn new(dialect: Dialect, text: &str) -> Self {
        let text = match dialect {
            Dialect::Postgres => text
                .replace("json_object(", "json_build_object(")
                // Two processes may remove rows concurrently. Neither waits for
                // the other.
                .replace("{skip locked}", "FOR UPDATE SKIP LOCKED"),
            Dialect::Sqlite => text.replace("least(", "min(").replace("{skip locked}", ""),
        };
        Self(parameters(dialect, &text).into())
    }

    pub(super) fn text(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// Replaces the parameter names.
fn parameters(dialect: Dialect, text: &str) -> String {
    let place = match dialect {
        Dialect::Postgres => "$1",
        Dialect::Sqlite => "?1",
    };
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(at) = rest.find([':', '#']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let is_text = after.starts_with(':');
        let after = after.get(1..).unwrap_or_default();
        let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let value = match (is_text, name, dialect) {
            (false, "now", Dialect::Postgres) => POSTGRES_NOW.to_owned(),
            (false, ..) => format!("CAST(({place}->>'{name}') AS bigint)"),
            (true, ..) => format!("({place}->>'{name}')"),
        };
        out.push_str(&value);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_words_of_each_dialect() {
        let text = "SELECT least(#one, 2), json_object('a', :b) WHERE x IN (y {skip locked})";
        assert_eq!(
            &*Template::new(Dialect::Sqlite, text).text(),
            "SELECT min(CAST((?1->>'one') AS bigint), 2), json_object('a', (?1->>'b')) \
             WHERE x IN (y )"
        );
        assert_eq!(
            &*Template::new(Dialect::Postgres, text).text(),
            "SELECT least(CAST(($1->>'one') AS bigint), 2), json_build_object('a', ($1->>'b')) \
             WHERE x IN (y FOR UPDATE SKIP LOCKED)"
        );
    }

    #[test]
    fn lets_postgres_use_its_own_clock() {
        let text = |dialect| Template::new(dialect, "#now").text();
        assert_eq!(&*text(Dialect::Sqlite), "CAST((?1->>'now') AS bigint)");
        assert!(text(Dialect::Postgres).contains("statement_timestamp()"));
    }
}
