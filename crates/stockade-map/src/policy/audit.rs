//! [`Audit`]: the table of all routes, for readers.

use std::fmt;

use serde::Serialize;
use stockade_errors::__internal::sort_by;

use super::Policy;
use super::finding::Finding;
use super::rule::{RuleInfo, all_routes};
use crate::{Need, Place, QuotaInfo, RouteInfo, RouteKind, RouteMap, SignatureInfo, text};

/// The table of all routes under a [`Policy`]: their access, limits, findings
/// and exceptions.
///
/// Its text is for readers; serde serializes it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// The routes. Public routes come first; each group keeps the order of the
    /// tree.
    pub routes: Vec<AuditedRoute>,
    /// The violations that are not allowed.
    pub findings: Vec<Finding>,
    /// The violations that are allowed.
    pub allowed: Vec<Exception>,
    /// The disabled rules.
    pub left_out: Vec<Exception>,
    /// The rules.
    pub rules: Vec<RuleInfo>,
}

/// A route in an [`Audit`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditedRoute {
    /// Its name in policies: `GET /users/:id`, `WS /chat`, `fallback`.
    pub route: String,
    /// The user requirement.
    pub user: Need,
    /// The reason why the route is public, if it declares one.
    pub public: Option<String>,
    /// The reason why connections may outlive the login of their user, if the
    /// route declares one.
    pub outlives_user: Option<String>,
    /// The signature that a request must have, if the route verifies one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureInfo>,
    /// The short names of the authentication methods.
    pub schemes: Vec<String>,
    /// The required roles: one of each inner list.
    pub roles: Vec<Vec<String>>,
    /// The names of the permissions; `None` for an unnamed permission.
    pub permissions: Vec<Option<String>>,
    /// The rate limits that apply to its requests.
    pub rate: Vec<QuotaInfo>,
    /// The largest body, or message of a WebSocket, in bytes.
    pub max_body: u64,
    /// The other origins that may read its responses, or open it as a
    /// WebSocket: `*` for all. Empty for its own origin only.
    pub origins: Vec<String>,
    /// The ids of the broken rules.
    pub findings: Vec<String>,
    /// The ids of the rules that the route may break.
    pub allowed: Vec<String>,
    /// The place of the declaration.
    pub location: Place,
    /// The rate limits as text.
    #[serde(skip)]
    limits: String,
}

/// An exception of a [`Policy`].
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Exception {
    /// The id of the rule.
    pub rule: String,
    /// The route, or `router`; `None` for a disabled rule.
    pub subject: Option<String>,
    /// The reason.
    pub reason: String,
    /// The place in the policy.
    pub location: Place,
}

/// Creates the table.
pub(super) fn audit(policy: &Policy, map: &RouteMap) -> Audit {
    let verdict = policy.validate(map);
    let allowed = verdict.allowed.iter().map(|(finding, index)| {
        let allowance = &policy.allowances[*index];
        Exception {
            rule: finding.rule.clone(),
            subject: Some(finding.subject.clone()),
            reason: allowance.reason.clone(),
            location: allowance.location.into(),
        }
    });
    let allowed: Vec<Exception> = allowed.collect();
    let left_out = policy.left_out.iter().map(|it| Exception {
        rule: it.rule.clone(),
        subject: None,
        reason: it.reason.clone(),
        location: it.location.into(),
    });
    let routes = all_routes(map).map(|route| {
        let label = route.label();
        let broken = verdict.findings.iter().filter(|finding| finding.subject == label);
        let excused = allowed.iter().filter(|it| it.subject.as_ref() == Some(&label));
        AuditedRoute {
            user: route.access.user,
            public: route.access.public.clone(),
            outlives_user: route.access.outlives_user.clone(),
            signature: route.signature.clone(),
            schemes: route.access.schemes.iter().map(|it| it.name().to_owned()).collect(),
            roles: route.access.roles.clone(),
            permissions: route.access.permissions.clone(),
            rate: route.limits.rate.clone(),
            max_body: route.web_socket.as_ref().map_or(route.limits.max_body, |it| it.max_payload),
            origins: origins(map, route),
            findings: broken.map(|finding| finding.rule.clone()).collect(),
            allowed: excused.map(|it| it.rule.clone()).collect(),
            location: route.location.clone(),
            limits: text::limits(route),
            route: label,
        }
    });
    let mut routes: Vec<AuditedRoute> = routes.collect();
    // A stable sort keeps the order within each group.
    let is_private = |route: &AuditedRoute| route.user == Need::Required;
    sort_by(&mut routes, |one, other| is_private(one).cmp(&is_private(other)));
    Audit {
        routes,
        findings: verdict.findings,
        allowed,
        left_out: left_out.collect(),
        rules: policy.rules().cloned().collect(),
    }
}

fn origins(map: &RouteMap, route: &RouteInfo) -> Vec<String> {
    match (&route.web_socket, route.kind) {
        (Some(web_socket), _) => web_socket.allowed_origins.clone(),
        (None, RouteKind::WebSocket) => Vec::new(),
        _ => {
            let cors = route.cors.as_ref().or(map.router.cors.as_ref());
            cors.map(|cors| cors.origins.clone()).unwrap_or_default()
        }
    }
}

impl AuditedRoute {
    /// Returns the columns: route, access, roles, limits, origins, findings.
    pub(super) fn columns(&self) -> [String; 6] {
        let schemes = self.schemes.join(" or ");
        let who = match (self.user, &self.signature) {
            (Need::Required, _) if schemes.is_empty() => "a user".to_owned(),
            (Need::Required, _) => format!("a user by {schemes}"),
            (_, Some(signature)) => format!("the sender {}", signature.sender),
            (Need::Optional, _) => format!("everybody, a user by {schemes}"),
            (Need::None, _) => "everybody".to_owned(),
        };
        let roles = self.roles.iter().map(|roles| roles.join("|"));
        let permissions = self.permissions.iter();
        let permissions =
            permissions.map(|name| name.clone().unwrap_or_else(|| "permission".to_owned()));
        let roles: Vec<String> = roles.chain(permissions).collect();
        let allowed = self.allowed.iter().map(|rule| format!("({rule})"));
        let findings: Vec<String> = self.findings.iter().cloned().chain(allowed).collect();
        let limits = format!("{}, {}", self.limits, size(self.max_body));
        [
            self.route.clone(),
            who,
            or_dash(&roles, "+"),
            limits,
            or_dash(&self.origins, " "),
            or_dash(&findings, " "),
        ]
    }
}

fn or_dash(texts: &[String], between: &str) -> String {
    if texts.is_empty() { "-".to_owned() } else { texts.join(between) }
}

fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit =
        units.into_iter().find(|(_, bits)| bytes >= 1 << bits && bytes.is_multiple_of(1 << bits));
    match unit {
        Some((unit, bits)) => format!("{} {unit}", bytes >> bits),
        None => format!("{bytes} B"),
    }
}

/// Returns a text on one line, because external text may contain line breaks.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Shows a line for each route, then the reasons of public routes, the findings
/// and the exceptions.
impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["ROUTE", "WHO", "ROLES", "LIMITS", "ORIGINS", "FINDINGS"];
        let mut lines = vec![titles.map(str::to_owned)];
        lines.extend(self.routes.iter().map(|it| it.columns().map(|text| one_line(&text))));
        let width = |column: usize| {
            let widths = lines.iter().map(|line| line[column].chars().count());
            widths.max().unwrap_or_default()
        };
        let widths: [usize; 5] = std::array::from_fn(width);
        for line in &lines {
            for (text, width) in line.iter().zip(widths) {
                write!(f, "{text:<width$}  ")?;
            }
            writeln!(f, "{}", line[5])?;
        }
        let is_open =
            |route: &&AuditedRoute| route.user != Need::Required && route.signature.is_none();
        let open = self.routes.iter().filter(is_open);
        let open = open.map(|route| {
            let reason = route.public.as_deref().unwrap_or("no reason is given");
            format!("{}: {reason}", route.route)
        });
        list(f, "open to everybody", open)?;
        let outliving = self.routes.iter().filter_map(|route| {
            let reason = route.outlives_user.as_deref()?;
            Some(format!("{}: {reason}", route.route))
        });
        list(f, "outlives the login of its user", outliving)?;
        list(f, "findings", self.findings.iter().map(ToString::to_string))?;
        let allowed = self.allowed.iter().map(|it| {
            let subject = it.subject.as_deref().unwrap_or_default();
            format!("{subject}: [{}] {} ({})", it.rule, it.reason, it.location)
        });
        list(f, "allowed", allowed)?;
        let left_out = self.left_out.iter();
        list(
            f,
            "left out",
            left_out.map(|it| format!("{}: {} ({})", it.rule, it.reason, it.location)),
        )
    }
}

fn list(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    lines: impl Iterator<Item = String>,
) -> fmt::Result {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    writeln!(f, "\n{title}:")?;
    lines.try_for_each(|line| writeln!(f, "  {}", one_line(&line)))
}
