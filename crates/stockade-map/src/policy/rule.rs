//! [`Rule`]: a rule of a policy.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::finding::Finding;
use crate::{RouteInfo, RouteMap};

type Find = Arc<dyn Fn(&RouteMap) -> Vec<Finding> + Send + Sync>;

/// A rule of a policy.
#[derive(Clone)]
pub(super) struct Rule {
    pub(super) info: RuleInfo,
    find: Find,
}

/// The description of a rule.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleInfo {
    /// Its id, such as `access-declared`.
    pub id: String,
    /// Its text: the condition that routes must meet.
    pub text: String,
    /// Its entry of the OWASP API Security Top 10 of 2023, such as `API2`;
    /// `None` for rules of the application.
    pub owasp: Option<String>,
}

/// A built-in rule.
pub(super) struct BuiltIn {
    pub(super) id: &'static str,
    pub(super) text: &'static str,
    pub(super) owasp: &'static str,
    pub(super) find: fn(&RouteMap) -> Vec<Finding>,
}

impl Rule {
    pub(super) fn new(
        id: String,
        text: String,
        find: impl Fn(&RouteMap) -> Vec<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self { info: RuleInfo { id, text, owasp: None }, find: Arc::new(find) }
    }

    /// Creates a rule that is checked for each route separately.
    pub(super) fn of_routes(
        id: String,
        text: String,
        keeps: impl Fn(&RouteInfo) -> bool + Send + Sync + 'static,
    ) -> Self {
        let reason = text.clone();
        Self::new(id, text, move |map| {
            let broken = all_routes(map).filter(|route| !keeps(route));
            broken.map(|route| Finding::on(route, reason.clone())).collect()
        })
    }

    /// Returns its findings, with its id set.
    pub(super) fn find(&self, map: &RouteMap) -> Vec<Finding> {
        let mut findings = (self.find)(map);
        findings.iter_mut().for_each(|finding| finding.rule.clone_from(&self.info.id));
        findings
    }
}

impl From<&BuiltIn> for Rule {
    fn from(rule: &BuiltIn) -> Self {
        let mut own = Self::new(rule.id.to_owned(), rule.text.to_owned(), rule.find);
        own.info.owasp = Some(rule.owasp.to_owned());
        own
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.id)
    }
}

/// Returns all routes, and the fallback.
pub(super) fn all_routes(map: &RouteMap) -> impl Iterator<Item = &RouteInfo> {
    map.routes.iter().chain(&map.fallback)
}
