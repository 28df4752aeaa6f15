//! Path patterns: their notation and their precedence.
//!
//! The macros and the router both parse a [`Pattern`] once, when a route is
//! created. This crate does not depend on HTTP or on handlers.
//!
//! ```
//! use stockade::path::Pattern;
//!
//! let pattern = Pattern::parse("/flights/:from-:to/:page(\\d+)?")?;
//! let names: Vec<_> = pattern.params().collect();
//! assert_eq!(names, [("from", false), ("to", false), ("page", true)]);
//! # Ok::<(), stockade::path::PatternError>(())
//! ```
//!
//! # Notation
//!
//! | Form | Matches | Parameter |
//! |---|---|---|
//! | text | itself, character by character; non-ASCII text in its percent-encoded form | |
//! | `\:`, `\*` | the text `:` or `*` | |
//! | `:name` | one or more characters except `/` | `name` |
//! | `/:from-:to`, `/v:major.:minor` | several parameters in a segment, greedy from the left | each |
//! | `:name(expr)` | an anchored regular expression within the segment | `name` |
//! | `:name?` as a whole segment | the slash and the segment together, or nothing | `name`, if present |
//! | `:name?` elsewhere | the parameter, or nothing | `name`, if present |
//! | `*` | one non-empty segment | `splat` |
//! | `**` | the rest of the path including slashes; may be empty | `splat` |
//!
//! A name starts with a letter, `_` or `$`; digits may follow. So `:user-id` is
//! the parameter `user` and the text `-id`.
//!
//! A segment that ends with a plain parameter directly after a letter or a
//! digit is an error, because `/users:batch` may be meant as text. Write
//! `/users\:batch` for the text, or `/users:batch(.+)` for a parameter.
//! `/v:major.:minor` and `/x:id?` are valid.
//!
//! # Non-ASCII text
//!
//! `/café` matches `/caf%C3%A9`, and also `/caf%c3%a9` and unencoded UTF-8. If
//! any pattern of the router contains non-ASCII text or an escape, the letter
//! case of escapes in literal text is ignored. Other spellings differ:
//!
//! - An encoded letter (`/%63af%C3%A9`) is a different path.
//! - `%2F` never separates segments.
//! - There is no Unicode normalization, so `é` as one character differs from
//!   `e` with a combining accent.
//!
//! A request that would reach another route after decoding gets 400.
//!
//! No segment has a special meaning: `..` is ordinary text. A value is decoded
//! after the match, which turns `%2F` into `/`. Do not use the value of `**` or
//! of a parameter as a file path without a check; `stockade::extract::FileName`
//! checks one segment.
//!
//! # Precedence
//!
//! The path is split at each `/` after the leading one; `/` by itself is one
//! empty segment. A pattern has one or more [variants](Pattern::variants), one
//! for each choice of its optional parameters. A variant matches if each of its
//! segments matches the corresponding segment of the path. A parameter matches
//! at least one character. `**` matches all remaining segments; there must be
//! at least one.
//!
//! 1. A variant is dropped if an earlier variant of the same pattern covers it:
//!    the earlier variant has the same length and matches at least the same
//!    text in each segment. Variants that include the leftmost optional
//!    parameter are earlier. So `/search/2` on `/search/:query?/:page(\d+)?` is
//!    the query `2`.
//! 2. The segments of all matching variants are compared from the left by
//!    [`Precedence`]: text, a segment with an expression, a segment with
//!    parameters and text, a plain `:name`, `*`, `**`. Between two segments
//!    with expressions or text, more text wins, then the alphabetical order of
//!    the [shape](Segment::shape).
//! 3. Variants of the same shape match the same paths. The variant that skips
//!    no optional parameter wins, so `/x` and `/x/:a?` do not conflict. The
//!    next criteria are the precedence of the whole pattern's segments, and its
//!    [canonical text](Pattern::canonical).
//!
//! Patterns with the same canonical text are equivalent; a router with both is
//! a configuration error. The order of registration never matters.
// Spec: Path syntax.

// Contents of the modules:
//
// - `pattern`: `Pattern` and `join`.
// - `parse`: the parser of the notation.
// - `segment`: `Segment`, `SegmentPart`, `Param`, `Precedence`.
// - `constraint`: `Constraint`, the expression of a parameter.
// - `variant`: `Variant`, the choices of optional parameters.
// - `spans`: `Spans`, the positions of parameters in a path.
// - `encoding`: `encoded`, the form of text in requests.
// - `host`: `HostPattern`, a host that routes are restricted to.
// - `problem_type`: the notation of problem types.
// - `spelling`: `Spelling`, a path with its escapes decoded.
// - `keywords`: the table of schema keywords, for the macros and the
//   validation.
// - `route_settings`: the table of route settings, for the macros and the
//   router.
// - `error`: `PatternError` and `PatternErrorKind`.

mod constraint;
#[doc(hidden)]
pub mod encoding;
mod error;
#[doc(hidden)]
pub mod host;
mod keywords;
mod parse;
mod pattern;
#[doc(hidden)]
pub mod problem_type;
mod route_settings;
mod segment;
mod spans;
#[doc(hidden)]
pub mod spelling;
mod variant;

pub use constraint::Constraint;
pub use encoding::encoded;
pub use error::{PatternError, PatternErrorKind};
pub use pattern::{Pattern, join};
pub use segment::{Param, Precedence, SPLAT, Segment, SegmentPart};
pub use spans::Spans;
pub use variant::Variant;

/// Items for the other crates of stockade. They are exempt from semantic
/// versioning.
#[doc(hidden)]
pub mod __internal {
    pub use crate::__keywords as keywords;
    pub use crate::__route_settings as route_settings;
    pub use crate::parse::find_control_escape;
}
