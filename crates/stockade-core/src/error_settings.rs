//! `Settings`: how errors are answered.

/// The settings for responses to errors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// True if the real message of a 5xx is sent.
    pub expose_errors: bool,
    /// True if errors are sent as RFC 9457 problem details.
    pub problem_details: bool,
}
