//! The exceptions of a policy, and the findings about unnecessary exceptions.

use std::panic::Location;

use stockade_errors::__internal::sort_by;

use super::Policy;
use super::finding::{Finding, POLICY, ROUTER};
use super::rule::{Rule, all_routes};
use super::under;
use crate::{Need, RouteInfo, RouteMap};

/// The id of findings about exceptions, reserved for them.
const ALLOWANCES: &str = "allowances";

/// The id of findings about the list of public routes.
pub(super) const PUBLIC_ROUTES: &str = "public-routes";

/// The label of the fallback, which does not exist if the routes are in another
/// host.
const FALLBACK: &str = "fallback";

/// A permission to break a rule in some places.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    pub(super) rule: String,
    /// The name of a route, or a path.
    pub(super) target: String,
    /// True for a path, which covers everything at and below it.
    is_path: bool,
    pub(super) reason: String,
    pub(super) location: &'static Location<'static>,
}

/// A rule that is disabled.
#[derive(Clone, Debug)]
pub(super) struct LeftOut {
    pub(super) rule: String,
    pub(super) reason: String,
    pub(super) location: &'static Location<'static>,
}

/// The list of the public routes.
#[derive(Clone, Debug)]
pub(super) struct PublicRoutes {
    routes: Vec<String>,
    pub(super) location: &'static Location<'static>,
}

impl Allowance {
    #[track_caller]
    pub(super) fn new(rule: String, target: String, is_path: bool, reason: String) -> Self {
        Self { rule, target, is_path, reason, location: Location::caller() }
    }

    /// Returns true if it covers a finding about `subject`.
    fn covers(&self, subject: &str) -> bool {
        if !self.is_path {
            return self.target == subject;
        }
        let path = subject.split_once(' ').map(|(_, path)| path);
        let below = path.and_then(|path| path.strip_prefix(self.target.trim_end_matches('/')));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns its name in a lock.
    pub(super) fn key(&self) -> String {
        let below = if self.is_path { "below " } else { "" };
        format!("{} {below}{}", self.rule, self.target)
    }

    /// Returns the code of the call that adds it to a policy.
    pub(super) fn call(&self) -> String {
        let method = if self.is_path { "allow_below" } else { "allow" };
        format!("{method}({:?}, {:?})", self.rule, self.target)
    }
}

impl LeftOut {
    #[track_caller]
    pub(super) fn new(rule: String, reason: String) -> Self {
        Self { rule, reason, location: Location::caller() }
    }
}

impl PublicRoutes {
    #[track_caller]
    pub(super) fn new(routes: Vec<String>) -> Self {
        Self { routes, location: Location::caller() }
    }

    /// Returns the findings about unlisted public routes and wrong lines of the
    /// list.
    fn find(&self, map: &RouteMap) -> Vec<Finding> {
        let is_listed = |route: &&RouteInfo| self.routes.contains(&route.label());
        let unlisted = all_routes(map).filter(|route| route.is_open() && !is_listed(route));
        let unlisted = unlisted.map(|route| {
            Finding::on(route, "it is public, but `public_routes` does not list it")
                .mend("add it to `public_routes`, or `with_auth` to the route")
        });
        let wrong = self.routes.iter().enumerate().filter_map(|(index, label)| {
            let is_repeated = self.routes[..index].contains(label);
            match all_routes(map).find(|route| route.label() == *label) {
                _ if is_repeated => Some(format!("duplicate {label:?} in `public_routes`")),
                None if map.router.is_hosted && label == FALLBACK => None,
                None => Some(format!(
                    "`public_routes` lists {label:?}, which does not exist{}",
                    nearest(map, label)
                )),
                Some(route) if !route.is_open() => {
                    let needed = match route.access.user {
                        Need::Required => "authentication",
                        _ => "a signature",
                    };
                    Some(format!("`public_routes` lists {label:?}, which requires {needed}"))
                }
                Some(_) => None,
            }
        });
        let wrong = wrong.map(|message| Finding::on_policy(message, self.location));
        let mut findings: Vec<Finding> = unlisted.chain(wrong).collect();
        findings.iter_mut().for_each(|finding| PUBLIC_ROUTES.clone_into(&mut finding.rule));
        findings
    }
}

/// The result of a policy.
pub(super) struct Verdict {
    pub(super) findings: Vec<Finding>,
    /// The allowed findings, each with the index of its allowance.
    pub(super) allowed: Vec<(Finding, usize)>,
}

impl Policy {
    /// Checks all routes.
    pub(super) fn validate(&self, map: &RouteMap) -> Verdict {
        let mut verdict = Verdict { findings: Vec::new(), allowed: Vec::new() };
        let own = (!self.not_secret.is_empty()).then(|| self.in_map(map));
        let found = self.rules_in_force().flat_map(|rule| rule.find(own.as_ref().unwrap_or(map)));
        let file = map.configuration.as_ref();
        for finding in found {
            let finding = match file {
                Some(file) => under::placed(finding, file),
                None => finding,
            };
            let covers = |it: &Allowance| it.rule == finding.rule && it.covers(&finding.subject);
            match self.allowances.iter().position(covers) {
                Some(index) => verdict.allowed.push((finding, index)),
                None => verdict.findings.push(finding),
            }
        }
        verdict.findings.extend(self.public_routes.iter().flat_map(|list| list.find(map)));
        let needless = self.needless(map, &verdict.allowed);
        verdict.findings.extend(needless);
        verdict.findings.extend(self.needless_fields(map));
        verdict.findings.extend(self.wrong_rules());
        drop_repeated(&mut verdict);
        let of_router = verdict.findings.iter_mut().filter(|finding| finding.subject == ROUTER);
        for finding in of_router {
            finding.location = finding.location.take().or_else(|| map.router.location.clone());
        }
        let labels: Vec<String> = all_routes(map).map(RouteInfo::label).collect();
        // Sort by subject: the router, then each route, then the policy itself.
        let place = |finding: &Finding| match &*finding.subject {
            ROUTER => 0,
            POLICY => labels.len() + 2,
            subject if file.is_some_and(|file| file.name == subject) => 0,
            subject => {
                let index = labels.iter().position(|label| label == subject);
                index.unwrap_or(labels.len()) + 1
            }
        };
        sort_by(&mut verdict.findings, |one, other| place(one).cmp(&place(other)));
        verdict
    }

    /// Returns the findings about unnecessary allowances.
    fn needless(&self, map: &RouteMap, allowed: &[(Finding, usize)]) -> Vec<Finding> {
        let file = map.configuration.as_ref();
        // Exceptions for a file are necessary if that file needs them. The
        // check of a file does not judge other exceptions.
        let concerns = |it: &Allowance| match file {
            Some(file) => it.target == file.name,
            None => it.is_path || !under::is_file(&it.target),
        };
        let allowances = self.allowances.iter().enumerate();
        let needless = allowances.filter_map(|(index, it)| {
            let is_used = || {
                // If two allowances cover the same finding, both are necessary.
                allowed.iter().any(|(finding, used)| {
                    *used == index || (finding.rule == it.rule && it.covers(&finding.subject))
                })
            };
            let call = it.call();
            let message = if it.reason.trim().is_empty() {
                format!("`{call}` requires a reason")
            } else if let Some(message) = self.unknown(&it.rule) {
                format!("`{call}` {message}")
            } else if !concerns(it) || (map.router.is_hosted && it.target == FALLBACK) {
                return None;
            } else if file.is_none()
                && !it.covers(ROUTER)
                && !all_routes(map).any(|route| it.covers(&route.label()))
            {
                let hint = nearest(map, &it.target);
                format!("`{call}` names a route that does not exist{hint}")
            } else if is_used()
                || (map.router.is_hosted && is_about_stages(&it.rule))
                || (cfg!(debug_assertions)
                    && it.rule == "cors-development-origin"
                    && file.is_none())
            {
                return None;
            } else {
                format!("`{call}` is not needed: remove it, because nothing violates the rule")
            };
            Some(exception(message, it.location))
        });
        needless.collect()
    }

    /// Returns the findings about rules that are duplicates, have a reserved
    /// id, or are disabled unnecessarily.
    fn wrong_rules(&self) -> Vec<Finding> {
        let left_out = self.left_out.iter().filter_map(|it| {
            let is_known = self.rules.iter().any(|rule| rule.info.id == it.rule);
            let message = match is_known {
                true if it.reason.trim().is_empty() => "requires a reason".to_owned(),
                true => return None,
                false => format!("names an unknown rule{}", self.similar(&it.rule)),
            };
            Some(exception(format!("`without({:?})` {message}", it.rule), it.location))
        });
        let rules = self.rules.iter().enumerate().filter_map(|(index, rule)| {
            let id = &rule.info.id;
            let is_taken = matches!(id.as_str(), "" | ALLOWANCES | PUBLIC_ROUTES);
            let is_repeated = self.rules[..index].iter().any(|known| known.info.id == *id);
            let message = match (is_taken, is_repeated) {
                (true, _) => format!("a rule cannot have the id {id:?}"),
                (_, true) => format!("duplicate rule id {id:?}: use another id"),
                _ => return None,
            };
            Some(exception(message, self.location))
        });
        left_out.chain(rules).collect()
    }

    /// Returns the end of a sentence about a rule that does not apply.
    fn unknown(&self, rule: &str) -> Option<String> {
        if self.left_out.iter().any(|it| it.rule == rule) {
            return Some(format!("is not needed: `without({rule:?})` disables the rule"));
        }
        let is_known = self.rules.iter().any(|known| known.info.id == rule);
        (!is_known).then(|| format!("names an unknown rule{}", self.similar(rule)))
    }

    /// Returns a hint about the intended rule.
    fn similar(&self, wanted: &str) -> String {
        let same = |id: &str| {
            let (id, wanted) = (id.replace('-', ""), wanted.replace(['-', '_', ' '], ""));
            id.eq_ignore_ascii_case(&wanted)
        };
        let ids = || self.rules.iter().map(|rule: &Rule| rule.info.id.as_str());
        match ids().find(|id| same(id)) {
            Some(id) => format!(", did you mean {id:?}?"),
            None => format!(": the rules are {}", ids().collect::<Vec<_>>().join(", ")),
        }
    }
}

pub(super) fn exception(message: String, location: &'static Location<'static>) -> Finding {
    Finding { rule: ALLOWANCES.to_owned(), ..Finding::on_policy(message, location) }
}

/// Returns true for a rule about built-in stages, which another host replaces.
fn is_about_stages(rule: &str) -> bool {
    matches!(rule, "rate-limited" | "cors-open-with-user" | "wildcard-exposed")
}

/// The rules that repeat `access-declared` for a route without a declared user.
const REPEATED: [&str; 2] = ["mutating-needs-user", "middleware-opaque-guard"];

/// Removes findings that repeat another finding: a route that changes data and
/// declares nothing breaks two rules. If `access-declared` is allowed, its
/// reason covers the others too.
fn drop_repeated(verdict: &mut Verdict) {
    let allowed = verdict.allowed.iter().map(|(finding, _)| finding);
    let undeclared = verdict.findings.iter().chain(allowed);
    let undeclared = undeclared.filter(|finding| finding.rule == "access-declared");
    let undeclared: Vec<String> = undeclared.map(|finding| finding.subject.clone()).collect();
    verdict.findings.retain(|finding| {
        !REPEATED.contains(&finding.rule.as_str()) || !undeclared.contains(&finding.subject)
    });
}

/// Returns a hint about the intended route, such as the same path with a
/// prefix.
fn nearest(map: &RouteMap, target: &str) -> String {
    let (method, path) = target.split_once(' ').unwrap_or(("", target));
    let labels: Vec<String> = all_routes(map).map(RouteInfo::label).collect();
    let fits = |label: &&String| {
        let (known, known_path) = label.split_once(' ').unwrap_or(("", label));
        known.eq_ignore_ascii_case(method) && path.len() > 1 && known_path.ends_with(path)
    };
    let same_path = |label: &&String| label.split_once(' ').is_some_and(|(_, it)| it == path);
    let found = labels.iter().find(fits).or_else(|| labels.iter().find(same_path));
    found.map(|label| format!(", did you mean {label:?}?")).unwrap_or_default()
}
