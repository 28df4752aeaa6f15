//! [`HardeningReport`]: the result of the attacks.

use std::fmt;

use serde::Serialize;
use stockade_routing::map::Place;

use crate::fail::fail;

/// A family of attacks.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AttackFamily {
    /// Missing, malformed and forged credentials, and signatures of webhooks.
    Credentials,
    /// Authenticated users with the wrong role or permission.
    Roles,
    /// Bypass attempts: other methods, other spellings of a path, and headers
    /// that override the method or the path.
    Detours,
    /// Oversized and malformed bodies.
    Bodies,
    /// Cross-origin requests: CORS and WebSocket handshakes.
    Origins,
    /// Missing and malformed idempotency keys.
    IdempotencyKeys,
    /// Requests above a rate limit, and headers that forge the client address.
    RateLimits,
    /// Routes as tools for AI agents: hidden tools, values that lead to other
    /// routes, foreign pages, cookies, and calls above a rate limit.
    Tools,
    /// The responses to all attacks: headers and error bodies.
    Responses,
    /// Objects of another user or tenant.
    Tenants,
    /// Uploaded files that a browser would run as a page.
    Uploads,
    /// Credentials of logins that have ended.
    SignOuts,
}

impl AttackFamily {
    /// All families, in the order of the attacks.
    pub const ALL: &'static [Self] = &[
        Self::Credentials,
        Self::Roles,
        Self::Detours,
        Self::Bodies,
        Self::Origins,
        Self::IdempotencyKeys,
        Self::RateLimits,
        Self::Tools,
        Self::Responses,
        Self::Tenants,
        Self::Uploads,
        Self::SignOuts,
    ];
}

/// Writes the name, such as `rate limits`.
impl fmt::Display for AttackFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Credentials => "credentials",
            Self::Roles => "roles",
            Self::Detours => "detours",
            Self::Bodies => "bodies",
            Self::Origins => "origins",
            Self::IdempotencyKeys => "idempotency keys",
            Self::RateLimits => "rate limits",
            Self::Tools => "tools",
            Self::Responses => "responses",
            Self::Tenants => "tenants",
            Self::Uploads => "uploads",
            Self::SignOuts => "sign-outs",
        })
    }
}

/// The result of the attacks of a [`Hardening`](crate::Hardening).
///
/// `Display` writes a table, the failures and the inconclusive attacks. serde
/// serializes the report as JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct HardeningReport {
    /// The attack counts of each family.
    pub families: Vec<FamilyCount>,
    /// The attacks that succeeded.
    pub failures: Vec<HardeningFailure>,
    /// The attacks that prove nothing, because they were not sent or the
    /// response is inconclusive.
    pub not_attacked: Vec<NotAttacked>,
    /// The attacks that [`Hardening::skip`](crate::Hardening::skip) skipped.
    pub skipped: Vec<SkippedAttacks>,
    /// The families that [`Hardening::only`](crate::Hardening::only) left out.
    /// If there are any, the run was partial.
    pub left_out: Vec<AttackFamily>,
}

/// The attack counts of a family.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FamilyCount {
    /// The family.
    pub family: AttackFamily,
    /// The attacks that were rejected correctly; the responses without a fault
    /// for [`AttackFamily::Responses`].
    pub passed: usize,
    /// The attacks that succeeded.
    pub failed: usize,
    /// The attacks that prove nothing.
    pub not_attacked: usize,
}

/// An attack that succeeded.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HardeningFailure {
    /// The family.
    pub family: AttackFamily,
    /// The attack, such as `a token with alg: none`.
    pub attack: String,
    /// The route, such as `DELETE /users/:id`; `None` if the attack concerns
    /// all routes.
    pub route: Option<String>,
    /// The source location of the route.
    pub location: Option<Place>,
    /// The finding, such as `the response is 200 OK`.
    pub found: String,
    /// The violated rule.
    pub rule: String,
    /// The remedy.
    pub mend: String,
    /// The first exchange, with credentials redacted; `None` if no request was
    /// needed.
    pub exchange: Option<String>,
    /// The number of times that the route showed this failure.
    pub times: usize,
}

/// An attack that proves nothing.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NotAttacked {
    /// The family.
    pub family: AttackFamily,
    /// One or more attacks.
    pub attack: String,
    /// The route; `None` if the attack concerns all routes.
    pub route: Option<String>,
    /// The reason.
    pub reason: String,
}

/// Attacks that were skipped on purpose.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkippedAttacks {
    /// The family.
    pub family: AttackFamily,
    /// The route.
    pub route: String,
    /// The reason passed to [`Hardening::skip`](crate::Hardening::skip).
    pub reason: String,
    /// The number of skipped attacks.
    pub attacks: usize,
}

impl HardeningReport {
    /// Creates a report of these families; of all families with `None`.
    pub(super) fn of(only: Option<&[AttackFamily]>) -> Self {
        let is_sent = |family: &AttackFamily| only.is_none_or(|only| only.contains(family));
        let (sent, left_out) = AttackFamily::ALL.iter().copied().partition(is_sent);
        let sent: Vec<AttackFamily> = sent;
        let families = sent.into_iter().map(|family| FamilyCount {
            family,
            passed: 0,
            failed: 0,
            not_attacked: 0,
        });
        Self { families: families.collect(), left_out, ..Self::default() }
    }

    /// Returns the attack counts of a family.
    #[must_use]
    pub fn count(&self, family: AttackFamily) -> FamilyCount {
        let found = self.families.iter().find(|count| count.family == family);
        found.copied().unwrap_or(FamilyCount { family, passed: 0, failed: 0, not_attacked: 0 })
    }

    /// Returns true if no attack succeeded.
    #[must_use]
    pub fn is_hardened(&self) -> bool {
        self.failures.is_empty()
    }

    /// Fails the test if an attack succeeded.
    ///
    /// # Panics
    /// Panics with the whole report if an attack succeeded.
    #[track_caller]
    pub fn assert(&self) {
        if !self.is_hardened() {
            fail(self);
        }
    }

    fn count_mut(&mut self, family: AttackFamily) -> Option<&mut FamilyCount> {
        self.families.iter_mut().find(|count| count.family == family)
    }

    pub(super) fn pass(&mut self, family: AttackFamily) {
        if let Some(count) = self.count_mut(family) {
            count.passed += 1;
        }
    }

    /// Adds a failure, or counts it if the route already has the same one.
    pub(super) fn fail(&mut self, failure: HardeningFailure) {
        if let Some(count) = self.count_mut(failure.family) {
            count.failed += 1;
        }
        let same = self.failures.iter_mut().find(|known| {
            known.family == failure.family
                && known.attack == failure.attack
                && known.route == failure.route
                && known.found == failure.found
        });
        match same {
            Some(known) => known.times += 1,
            None => self.failures.push(failure),
        }
    }

    pub(super) fn leave(&mut self, left: NotAttacked) {
        if self.not_attacked.contains(&left) {
            return;
        }
        if let Some(count) = self.count_mut(left.family) {
            count.not_attacked += 1;
        }
        self.not_attacked.push(left);
    }

    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.failures.len();
        match failed {
            0 => writeln!(f, "No attack got through.")?,
            1 => writeln!(f, "One attack got through.")?,
            _ => writeln!(f, "{failed} attacks got through.")?,
        }
        if !self.left_out.is_empty() {
            let sent: Vec<String> = self.families.iter().map(|it| it.family.to_string()).collect();
            writeln!(f, "This is a partial run: only {} (`Hardening::only`).", sent.join(", "))?;
        }
        writeln!(f, "\n{:<12} {:>7} {:>7} {:>13}", "attacks", "passed", "failed", "not attacked")?;
        for FamilyCount { family, passed, failed, not_attacked } in &self.families {
            writeln!(f, "{family:<12} {passed:>7} {failed:>7} {not_attacked:>13}")?;
        }
        Ok(())
    }

    /// Writes the attacks that were not made, grouped by family and reason.
    fn write_left(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<(AttackFamily, &str)> = Vec::new();
        for left in &self.not_attacked {
            if !reasons.contains(&(left.family, &left.reason)) {
                reasons.push((left.family, &left.reason));
            }
        }
        if !reasons.is_empty() {
            writeln!(f, "\nNot attacked, so not proven:")?;
        }
        for (family, reason) in reasons {
            let all = || {
                let all = self.not_attacked.iter();
                all.filter(move |left| left.family == family && left.reason == reason)
            };
            let attacks = unique(all().map(|left| left.attack.as_str()));
            let (shown, rest) = attacks.split_at(attacks.len().min(MAX_ATTACKS));
            write!(f, "  {family}, {}", shown.join("; "))?;
            if !rest.is_empty() {
                write!(f, "; and {} others", rest.len())?;
            }
            writeln!(f, ": {reason}")?;
            let routes = unique(all().filter_map(|left| left.route.as_deref()));
            if !routes.is_empty() {
                writeln!(f, "    {}", routes.join(", "))?;
            }
        }
        Ok(())
    }
}

/// Returns the texts in order, without duplicates.
fn unique<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut unique = Vec::new();
    for text in texts {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    unique
}

impl fmt::Display for HardeningReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_table(f)?;
        for (index, failure) in self.failures.iter().enumerate() {
            writeln!(f)?;
            failure.write(f, index < MAX_EXCHANGES)?;
        }
        self.write_left(f)?;
        if !self.skipped.is_empty() {
            writeln!(f, "\nSkipped on purpose:")?;
        }
        for SkippedAttacks { family, route, reason, attacks } in &self.skipped {
            writeln!(f, "  {family}, {route}: {reason} ({attacks} attacks)")?;
        }
        Ok(())
    }
}

impl HardeningFailure {
    fn write(&self, f: &mut fmt::Formatter<'_>, with_exchange: bool) -> fmt::Result {
        write!(f, "FAILED {}: {}", self.family, self.attack)?;
        if let Some(route) = &self.route {
            write!(f, ", on {route}")?;
        }
        if let Some(location) = &self.location {
            write!(f, " ({location})")?;
        }
        writeln!(f, "\n  found  {}", self.found)?;
        writeln!(f, "  rule   {}", self.rule)?;
        writeln!(f, "  mend   {}", self.mend)?;
        if self.times > 1 {
            writeln!(f, "  times  {}", self.times)?;
        }
        match &self.exchange {
            Some(exchange) if with_exchange => {
                exchange.lines().try_for_each(|line| writeln!(f, "  {line}"))
            }
            Some(_) => writeln!(f, "  (the exchange is in `HardeningReport::failures`)"),
            None => Ok(()),
        }
    }
}

/// The maximum number of printed exchanges.
const MAX_EXCHANGES: usize = 10;

/// The maximum number of attacks listed for one reason.
const MAX_ATTACKS: usize = 3;
