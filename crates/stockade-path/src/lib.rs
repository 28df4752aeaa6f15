//! Path patterns: their notation, and their precedence.
//!
//! The macros and the router both read a [`Pattern`] once, when a route is
//! made. Nothing here knows HTTP or handlers.
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
//! | text | itself, character for character; text beyond ASCII in its percent-encoded form | |
//! | `\:`, `\*` | the text `:` or `*` | |
//! | `:name` | one or more characters except `/` | `name` |
//! | `/:from-:to`, `/v:major.:minor` | several in a segment, greedy from the left | each |
//! | `:name(expr)` | a regular expression, anchored, within the segment | `name` |
//! | `:name?` as a whole segment | the slash and the segment together, or nothing | `name`, if there |
//! | `:name?` elsewhere | the parameter, or nothing | `name`, if there |
//! | `*` | one segment that is not empty | `splat` |
//! | `**` | the rest of the path, slashes included, also nothing | `splat` |
//!
//! A name begins with a letter, `_` or `$`; digits may follow. So `:user-id` is
//! the parameter `user` and the text `-id`.
//!
//! A segment that ends with a plain parameter directly after a letter or a digit is an
//! error, because `/users:batch` may be meant as text. Write `/users\:batch` for the text,
//! or `/users:batch(.+)` for a parameter. `/v:major.:minor` and `/x:id?` are valid.
//!
//! # Text beyond ASCII
//!
//! `/café` matches `/caf%C3%A9`, and also `/caf%c3%a9` and unencoded UTF-8. If a pattern of
//! the router has text beyond ASCII or an escape, the case of the digits in an escape does
//! not matter in its text. Nothing else is equal: an encoded letter (`/%63af%C3%A9`) is
//! another path, `%2F` never separates segments, and there is no Unicode normalization, so
//! `é` as one character differs from `e` with a combining accent. A request that would reach
//! another route after decoding gets 400.
//!
//! No segment has a special meaning: `..` is text like any other. A value is
//! decoded after the match, so that `%2F` in it becomes `/`. So the value of
//! `**` or of a parameter is no safe path of a file;
//! `stockade::extract::FileName` checks one segment.
//!
//! # Which pattern wins
//!
//! The path is split at each `/` after the leading one; `/` alone is one empty
//! segment. A pattern stands for one or more [variants](Pattern::variants), one
//! for each choice of its optional parameters. A variant matches when its
//! segments match those of the path one by one; a parameter takes one character
//! or more, `**` takes all remaining segments, of which there must be one.
//!
//! 1. Of a pattern's variants, one that another covers is dropped: an earlier
//!    one of the same length that matches whatever it matches, segment by
//!    segment. Earlier are those that include the leftmost optional parameter.
//!    So `/search/2` on `/search/:query?/:page(\d+)?` is the query `2`.
//! 2. Among all matching variants the segments are compared from the left by
//!    [`Precedence`]: text, a segment with an expression, a segment with
//!    parameters and text, a plain `:name`, `*`, `**`. Of two segments with
//!    expressions or text, more text wins, then the [shape](Segment::shape) in
//!    alphabetical order.
//! 3. Variants of the same shape match the same paths. The one that skipped no
//!    optional parameter wins, so `/x` beside `/x/:a?` is no conflict; then the
//!    one whose whole pattern comes first by the precedence of its segments;
//!    then by its [canonical text](Pattern::canonical).
//!
//! Patterns with the same canonical text are equivalent: having both is a
//! mistake that the router reports. The order of registration never matters.
//!
//! Spec: Path syntax.

// Where things are:
// - `pattern`: `Pattern` and `join`.
// - `parse`: the parser of the notation.
// - `segment`: `Segment`, `SegmentPart`, `Param`, `Precedence`.
// - `constraint`: `Constraint`, the expression of a parameter.
// - `variant`: `Variant`, the choices of optional parameters.
// - `spans`: `Spans`, the positions of parameters in a path.
// - `encoding`: `encoded`, the text that requests have.
// - `host`: `HostPattern`, the host of some routes.
// - `problem_type`: the notation of problem types.
// - `spelling`: `Spelling`, a path with its escapes decoded.
// - `keywords`: the table of the keywords of schemas, for the macros and the validation.
// - `route_settings`: the table of the settings of routes, for the macros and the router.
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

/// Items for the other crates of stockade. They carry no promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::__keywords as keywords;
    pub use crate::__route_settings as route_settings;
    pub use crate::parse::find_control_escape;
}
