//! [`Marks`]: the places of the claims by which a token is revoked.

/// The places of `jti`, `iss` and `sub` in a payload, so that a check reads nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) id: Mark,
    pub(super) issuer: Mark,
    pub(super) subject: Mark,
}

/// The place of a text in a payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Mark {
    /// There is none.
    #[default]
    Absent,
    /// The bytes between its quotes.
    At { start: usize, end: usize },
    /// It has escapes, and must be parsed.
    Escaped,
}

impl Mark {
    /// Returns the place of `text`, which is a part of `whole`.
    pub(super) fn of(text: &str, whole: &str) -> Self {
        match text.as_ptr().addr().checked_sub(whole.as_ptr().addr()) {
            Some(start) => Self::At { start, end: start + text.len() },
            None => Self::Escaped,
        }
    }
}
