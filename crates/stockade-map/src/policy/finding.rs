//! [`Finding`]: a violation of a rule.

use std::fmt;
use std::panic::Location;

use serde::Serialize;
use stockade_errors::ConfigIssue;

use crate::{Place, RouteInfo};

/// The subject of findings about the settings of the router.
pub(super) const ROUTER: &str = "router";

/// The subject of findings about the policy itself.
pub(super) const POLICY: &str = "policy";

/// A violation of a rule of a [`Policy`](super::Policy).
///
/// Its text is one line: the subject, the rule, the reason, the fix, file and
/// line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the rule, such as `access-declared`.
    pub rule: String,
    /// The route, such as `GET /users/:id`, or `fallback`; `router` for the
    /// router's settings, `policy` for the policy itself.
    pub subject: String,
    /// The reason: lower case, no full stop.
    pub message: String,
    /// The fix; `None` if the reason implies it.
    pub mend: Option<String>,
    /// The place that declares the route, or the wrong part of the policy.
    pub location: Option<Place>,
}

impl Finding {
    /// Creates a finding about a route. The message is the reason in lower
    /// case, without a full stop. The policy sets the rule.
    pub fn on(route: &RouteInfo, message: impl Into<String>) -> Self {
        Self::about(route.label(), message, Some(route.location.clone()))
    }

    /// Creates a finding about the settings of the router.
    pub fn on_router(message: impl Into<String>) -> Self {
        Self::about(ROUTER.to_owned(), message, None)
    }

    /// Creates a finding about the policy itself.
    pub(super) fn on_policy(
        message: impl Into<String>,
        location: &'static Location<'static>,
    ) -> Self {
        Self::about(POLICY.to_owned(), message, Some(location.into()))
    }

    fn about(subject: String, message: impl Into<String>, location: Option<Place>) -> Self {
        let message = message.into();
        Self { rule: String::new(), subject, message, mend: None, location }
    }

    /// Sets [`mend`](Self#structfield.mend).
    #[must_use]
    pub fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// Returns the rule, the reason and the fix.
    fn text(&self) -> String {
        let mend = self.mend.as_ref().map(|mend| format!(": {mend}"));
        format!("[{}] {}{}", self.rule, self.message, mend.unwrap_or_default())
    }

    /// Converts the finding to a configuration error. `places` are the known
    /// source locations.
    pub(super) fn to_issue(&self, places: &[&'static Location<'static>]) -> ConfigIssue {
        let is_here = |place: &&&'static Location<'static>| {
            self.location.as_ref().is_some_and(|location| *location == Place::from(**place))
        };
        let mistake = ConfigIssue::new(self.text()).on(&self.subject);
        match places.iter().find(is_here) {
            Some(place) => mistake.at(place),
            None => mistake,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.text())?;
        match &self.location {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}
