//! [`BodyKind`]: the way a handler takes the body.

/// The way a handler takes the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyKind {
    /// The raw bytes or the stream.
    Raw,
    /// Parts of `multipart/form-data`.
    Multipart,
    /// A typed value that must be there.
    Typed,
    /// A typed value that may be absent.
    Optional,
}
