//! The policy as data of a map.

use super::Policy;
use super::allowance::PUBLIC_ROUTES;
use crate::PolicyInfo;

impl Policy {
    /// Returns the rules and the exceptions as data.
    #[doc(hidden)]
    #[must_use]
    pub fn info(&self) -> PolicyInfo {
        let mut rules: Vec<String> = self.rules().map(|rule| rule.id.clone()).collect();
        rules.extend(self.public_routes.iter().map(|_| PUBLIC_ROUTES.to_owned()));
        rules.sort_unstable();
        rules.dedup();
        let allowed = self.allowances.iter().map(|it| (it.key(), it.reason.clone()));
        let left_out = self.left_out.iter().map(|it| (it.rule.clone(), it.reason.clone()));
        let not_secret = self.not_secret.iter().map(|it| (it.field.clone(), it.reason.clone()));
        PolicyInfo {
            rules,
            exceptions: allowed.chain(left_out).collect(),
            not_secret: not_secret.collect(),
            location: Some(self.location.into()),
        }
    }
}
