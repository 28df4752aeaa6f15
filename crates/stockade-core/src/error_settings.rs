//! `Settings`: the settings for error responses.

use std::borrow::Cow;

use serde_json::Value;
use stockade_errors::problem_internals::BLANK;
use stockade_errors::{ApiError, ProblemBase};

/// The settings for error responses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// True if the client receives the real message of a 5xx.
    pub expose_errors: bool,
    /// True if errors are sent as RFC 9457 problem details.
    pub problem_details: bool,
    /// The base of relative problem types.
    pub problem_base: Option<ProblemBase>,
}

impl Settings {
    /// Returns the error body that the client receives.
    #[must_use]
    pub fn body(&self, error: &ApiError) -> Value {
        let expose = self.expose_errors;
        match self.problem_details {
            true => error.problem_at(self.problem_base, expose),
            false => error.body(expose),
        }
    }

    /// Returns the type and the members of an error, for protocols with their
    /// own error format. The type is `None` unless problem details are enabled.
    pub fn problem<'e>(
        &self,
        error: &'e ApiError,
    ) -> (Option<Cow<'e, str>>, impl Iterator<Item = (&'static str, &'e Value)>) {
        let uri = self.problem_details.then(|| error.problem_type_at(self.problem_base));
        (uri.filter(|uri| *uri != BLANK), error.public_members())
    }
}
