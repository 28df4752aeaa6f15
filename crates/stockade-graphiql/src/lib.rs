//! The page of GraphiQL, compressed with gzip, and the policy that it needs.
//!
//! `cargo xtask graphiql` makes the page of npm's `graphiql`, of React, and of the
//! template, the style and the script in `assets`. Everything stands in the page
//! itself, so that no path but its own is asked for, and no other host.

/// The version of npm's `graphiql`, the last one that is a script of its own.
pub const VERSION: &str = "4.1.2";

/// The day after that version came out. The libraries in its script, whose licences
/// are kept, were not younger.
pub const DATE: &str = "2026-03-11";

/// The version of npm's `react` and `react-dom`, the last one that has such scripts.
pub const REACT_VERSION: &str = "18.3.1";

/// The page, compressed with gzip: HTML in UTF-8. It sends operations to its own
/// address: queries and mutations by POST, subscriptions by POST with
/// `Accept: text/event-stream`.
pub const PAGE: &[u8] = include_bytes!("../assets/graphiql.html.gz");

/// The `Content-Security-Policy` of the page: its scripts and styles by their hashes,
/// and requests to its own host.
pub const POLICY: &str = include_str!("../assets/policy.txt");

/// The licences of GraphiQL, of React and of the libraries in their scripts.
pub const LICENSES: &str = include_str!("../assets/LICENSES.txt");
