//! The GraphiQL page, compressed with gzip, and its content security policy.
//!
//! `cargo xtask graphiql` builds the page from npm's `graphiql`, React, and the
//! template, the style and the script in `assets`. The page contains everything
//! inline, so a browser requests no other path and no other host.

/// The version of npm's `graphiql`, the last one with a standalone script.
pub const VERSION: &str = "4.1.2";

/// The day after this version was released. The libraries in its script, and
/// their licenses, are from this day or earlier.
pub const DATE: &str = "2026-03-11";

/// The version of npm's `react` and `react-dom`, the last one with standalone
/// scripts.
pub const REACT_VERSION: &str = "18.3.1";

/// The page, compressed with gzip: HTML in UTF-8. It sends operations to its
/// own URL: queries and mutations by POST, subscriptions by POST with
/// `Accept: text/event-stream`.
pub const PAGE: &[u8] = include_bytes!("../assets/graphiql.html.gz");

/// The `Content-Security-Policy` of the page. It allows the page's scripts and
/// styles by their hashes, and requests to the page's host.
pub const POLICY: &str = include_str!("../assets/policy.txt");

/// The licenses of GraphiQL, React and the libraries in their scripts.
pub const LICENSES: &str = include_str!("../assets/LICENSES.txt");
