//! [`Marks`]: the positions of the claims that identify a revocation.

/// The positions of `jti`, `iss` and `sub` in a payload. A revocation check
/// reads nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) id: Mark,
    pub(super) issuer: Mark,
    pub(super) subject: Mark,
}

/// The position of a text in a payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Mark {
    /// The text does not exist.
    #[default]
    Absent,
    /// The bytes between its quotes.
    At { start: usize, end: usize },
    /// The text has escapes and must be parsed.
    Escaped,
}

impl Mark {
    /// Returns the position of `text`, which is a part of `whole`.
    pub(super) fn of(text: &str, whole: &str) -> Self {
        match text.as_ptr().addr().checked_sub(whole.as_ptr().addr()) {
            Some(start) => Self::At { start, end: start + text.len() },
            None => Self::Escaped,
        }
    }
}
