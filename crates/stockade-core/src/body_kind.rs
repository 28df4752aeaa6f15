//! [`BodyKind`]: the form in which a handler receives the body.

/// The form in which a handler receives the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyKind {
    /// The raw bytes or the stream.
    Raw,
    /// The parts of `multipart/form-data`.
    Multipart,
    /// A required typed value.
    Typed,
    /// An optional typed value.
    Optional,
}
