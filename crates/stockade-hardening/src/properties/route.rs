//! [`RouteCheck`]: the check of one route.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proptest::strategy::ValueTree;
use serde_json::Value;
use stockade_errors::ConfigError;
use stockade_routing::App;
use stockade_routing::map::{Need, RouteInfo, RouteKind};

use super::breaks::{self, Break, Unbroken};
use super::case::Aim;
use super::fit::Schemas;
use super::form;
use super::input::{Input, InputPart, JSON, broken_form, can_be_body, can_be_pairs, inputs};
use super::kept::SavedFailure;
use super::report::{NotChecked, Property, PropertyFailure, RouteReport};
use super::text::Alphabet;
use super::validate::Verdict;
use super::values::{Maker, Source};
use super::{PropertyCheck, Run, label_of};
use crate::any_version::is_if_match;
use crate::idempotency_key::is_key;
use crate::{Contract, Credentials};

/// The check of one route.
pub(super) struct RouteCheck<'c> {
    pub(super) check: &'c PropertyCheck,
    pub(super) contract: &'c Contract,
    pub(super) route: &'c RouteInfo,
    /// The index in the map.
    pub(super) index: usize,
    pub(super) label: String,
    pub(super) maker: Maker,
    pub(super) app: App,
    pub(super) credentials: Option<Credentials>,
    pub(super) report: RouteReport,
}

impl<'c> RouteCheck<'c> {
    pub(super) fn new(
        check: &'c PropertyCheck,
        (index, route): (usize, &'c RouteInfo),
        (schemas, contract): (&Rc<Schemas>, &'c Contract),
    ) -> Self {
        // `with_sanitization` lengthens texts that contain HTML characters.
        let is_changed = route.middleware.iter().any(|it| it.name == "with_sanitization");
        let alphabet = if is_changed { Alphabet::Plain } else { Alphabet::All };
        Self {
            check,
            contract,
            route,
            index,
            label: label_of(route),
            maker: Maker { schemas: Rc::clone(schemas), alphabet, source: Source::Body },
            app: contract.app().clone(),
            credentials: None,
            report: RouteReport {
                method: route.method.clone(),
                path: route.path.clone(),
                place: route.location.clone(),
                valid: 0,
                rules: 0,
                replies: BTreeMap::new(),
                not_checked: Vec::new(),
                failures: Vec::new(),
            },
        }
    }

    /// Checks the route.
    ///
    /// # Errors
    /// Fails if the application cannot be built again.
    pub(super) async fn run(mut self, run: &mut Run) -> Result<RouteReport, ConfigError> {
        if let Some(why) = self.exemption() {
            self.leave_out("the route", why);
            return Ok(self.report);
        }
        if let Some(why) = self.hindrance() {
            self.leave_out("the route", why);
            self.note_valid();
            return Ok(self.report);
        }
        if let Some(rebuild) = &self.check.rebuild {
            self.app = rebuild()?;
        }
        let (found, unbroken) = self.breaks();
        for Unbroken { field, rule, why } in unbroken {
            self.leave_out(format!("{field}: {rule}"), why);
        }
        self.replay(&found, run).await;
        self.valid(run).await;
        for (input_part, found) in &found {
            self.broken(*input_part, found, run).await;
        }
        self.note_replies();
        self.note_valid();
        self.report.not_checked.sort();
        self.report.not_checked.dedup();
        Ok(self.report)
    }

    /// Returns the reason why the route needs no valid case.
    fn exemption(&self) -> Option<String> {
        if let Some(reason) = self.check.skip_reason(self.route) {
            return Some(reason.to_owned());
        }
        let reason = match self.route.kind {
            RouteKind::Http if self.route.mcp.is_some() => "calls of tools are not generated",
            RouteKind::Http => return None,
            RouteKind::WebSocket => "WebSocket messages are not generated",
            RouteKind::RpcMethod => "JSON-RPC calls are not generated",
            _ => "a service inside does not describe its routes",
        };
        Some(reason.to_owned())
    }

    /// Returns the reason why no request can be sent. Also finds the user.
    fn hindrance(&mut self) -> Option<String> {
        let access = &self.route.access;
        let roles = roles_of(&access.roles);
        if let Some(users) = &self.check.users
            && access.user != Need::None
        {
            let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
            self.credentials = users(&roles);
        }
        if access.user == Need::Required && self.credentials.is_none() {
            let who = if roles.is_empty() { "a user".to_owned() } else { roles.join(" and ") };
            return Some(format!(
                "it requires the credentials of {who}: add them with PropertyCheck::users"
            ));
        }
        if let Some(name) = self.misfit() {
            return Some(format!("the value of `param({name:?}, …)` does not fit its schema"));
        }
        let own = self.credentials.as_ref().map(Credentials::headers);
        let needed = self.route.headers.iter().find(|header| {
            let is_sent = own.is_some_and(|own| own.contains_key(&header.name));
            let name = header.name.as_str();
            let is_made =
                name.eq_ignore_ascii_case("content-type") || is_key(name) || is_if_match(name);
            header.required && !is_sent && !is_made
        });
        needed.map(|header| {
            format!(
                "cannot generate the header {}, because it does not have a schema: skip the route",
                header.name
            )
        })
    }

    /// Returns the name of a parameter with a configured value
    /// ([`param`](super::PropertyCheck::param)) that does not fit its schema.
    fn misfit(&self) -> Option<&str> {
        let fits = |schema: &Value, text: &str| {
            // A path segment becomes a number if the schema requires one.
            let parsed = text.parse::<i64>().ok().map(Value::from);
            let parsed = parsed.or_else(|| serde_json::from_str(text).ok());
            [Some(text.into()), parsed]
                .iter()
                .flatten()
                .any(|it| self.maker.schemas.fits(schema, it))
        };
        let misfit = self.route.params.iter().find(|param| {
            let set = self.check.params.get(&param.name).and_then(Value::as_str);
            set.is_some_and(|text| !fits(&param.schema, text))
        });
        misfit.map(|param| param.name.as_str())
    }

    /// Returns the ways to violate each rule for the parameters, the query and
    /// the body, and the rules that cannot be violated.
    fn breaks(&self) -> (Vec<(InputPart, Break)>, Vec<Unbroken>) {
        let of = |source| Maker { source, ..self.maker.clone() };
        let mut all = Vec::new();
        for (index, param) in self.route.params.iter().enumerate() {
            let path = Maker { alphabet: Alphabet::Plain, ..of(Source::Path) };
            all.push((InputPart::Param(index), breaks::of(&path, &param.schema, &param.name)));
        }
        if let Some(schema) = &self.route.query {
            all.push((InputPart::Query, breaks::of(&of(Source::Query), schema, "")));
        }
        if let Some(body) = &self.route.body
            && let Some(form) = broken_form(body)
            && let Some(content) = body.content.iter().find(|it| it.media_type == form)
        {
            let found = if form == JSON {
                breaks::of(&of(Source::Body), &content.schema, "")
            } else {
                let schema = form::with_texts(&self.maker.schemas, &content.schema);
                let schema = form::with_limits(&self.maker.schemas, &schema);
                let (mut found, unbroken) = breaks::of(&of(Source::Query), &schema, "");
                // The size of a part is not a rule of the schema: it is a 413.
                found.retain(|it| !form::is_size(&schema, it));
                (found, unbroken)
            };
            all.push((InputPart::Body, found));
        }
        let mut found = Vec::new();
        let mut unbroken = Vec::new();
        for (input_part, (breaks, left)) in all {
            found.extend(breaks.into_iter().map(|it| (input_part, it)));
            unbroken.extend(left);
        }
        (found, unbroken)
    }

    /// Repeats the saved failing cases that still apply.
    async fn replay(&mut self, found: &[(InputPart, Break)], run: &mut Run) {
        let cases = run.kept.cases.iter().filter(|case| case.route == self.label);
        let cases: Vec<SavedFailure> = cases.cloned().collect();
        for case in cases {
            let of_case = |it: &&(InputPart, Break)| {
                it.1.field == case.field && it.1.rules.iter().any(|rule| case.rules.contains(rule))
            };
            let aim = match case.property {
                Property::Broken => found.iter().find(of_case).map(|(_, it)| Aim::Broken(it)),
                _ => self.is_valid(&case.input).then_some(Aim::Valid),
            };
            if let Some(aim) = aim {
                self.try_once(&case.input, aim, run, None).await;
            }
        }
    }

    /// Returns true if an input fits the current schemas.
    fn is_valid(&self, input: &Input) -> bool {
        let schemas = &self.maker.schemas;
        let params = self.route.params.iter().all(|param| {
            let is_set = self.check.params.contains_key(&param.name);
            let value = input.params.get(&param.name).filter(|_| !is_set);
            value.is_none_or(|value| schemas.fits(&param.schema, value))
        });
        let query = match &self.route.query {
            Some(schema) => {
                let query = input.query.clone().into();
                can_be_pairs(&query) && schemas.fits(schema, &query)
            }
            None => input.query.is_empty(),
        };
        let body = match (&self.route.body, &input.body) {
            (Some(info), Some(body)) => info.content.iter().any(|content| {
                content.media_type == body.media_type
                    && can_be_body(&body.media_type, &body.value)
                    && schemas.fits(&content.schema, &body.value)
            }),
            (Some(info), None) => !info.required,
            (None, body) => body.is_none(),
        };
        self.route.templates.contains(&input.template) && params && query && body
    }

    /// Sends valid input.
    async fn valid(&mut self, run: &mut Run) {
        let strategy = match inputs(&self.maker, self.route, &self.check.params, None) {
            Ok(strategy) => strategy,
            Err(why) => {
                self.leave_out("valid input", why);
                return;
            }
        };
        let has_input = !self.route.params.is_empty()
            || self.route.query.is_some()
            || self.route.body.is_some();
        let cases = if has_input { self.check.cases_for(&self.label) } else { 1 };
        let mut runner = self.runner("valid");
        let mut beside: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..cases {
            let tree = match self.next(&strategy, &mut runner) {
                Ok(tree) => tree,
                Err(why) => {
                    self.leave_out("valid input", why);
                    break;
                }
            };
            let input = tree.current();
            match self.try_once(&input, Aim::Valid, run, Some(tree)).await {
                Verdict::Right => self.report.valid += 1,
                Verdict::Beside(why) => *beside.entry(why).or_default() += 1,
                Verdict::Wrong(_) => break,
            }
        }
        for (why, count) in beside {
            self.leave_out(format!("valid input, {count} of {cases} cases"), why);
        }
    }

    /// Sends input that violates one rule.
    async fn broken(&mut self, input_part: InputPart, found: &Break, run: &mut Run) {
        let rule = found.rules.first().map_or("", String::as_str);
        let part = format!("{}: {rule}", found.field);
        let broken = Some((input_part, found));
        let strategy = match inputs(&self.maker, self.route, &self.check.params, broken) {
            Ok(strategy) => strategy,
            Err(why) => {
                self.leave_out(part, why);
                return;
            }
        };
        let mut runner = self.runner(&part);
        let mut is_refused = false;
        let mut beside = None;
        for _ in 0..self.check.cases_for(&self.label).div_ceil(BROKEN) {
            let tree = match self.next(&strategy, &mut runner) {
                Ok(tree) => tree,
                Err(why) => {
                    beside = Some(why);
                    break;
                }
            };
            let input = tree.current();
            match self.try_once(&input, Aim::Broken(found), run, Some(tree)).await {
                Verdict::Right => is_refused = true,
                Verdict::Beside(why) => beside = Some(why),
                Verdict::Wrong(_) => return,
            }
        }
        if is_refused {
            self.report.rules += 1;
        } else if let Some(why) = beside {
            self.leave_out(part, why);
        }
    }

    /// Adds a note to the report if no response was successful.
    fn note_replies(&mut self) {
        let replies = &self.report.replies;
        if replies.is_empty() || replies.keys().any(|status| *status < 400) {
            return;
        }
        let statuses: BTreeSet<String> = replies.keys().map(u16::to_string).collect();
        let statuses = statuses.into_iter().collect::<Vec<_>>().join(", ");
        self.leave_out("successful responses", format!("found none, only {statuses}"));
    }

    /// Adds a failure if no valid input was accepted and nothing else failed,
    /// because the check proved nothing about the route.
    fn note_valid(&mut self) {
        if self.report.valid > 0 || !self.report.failures.is_empty() {
            return;
        }
        let is_about_input =
            |it: &&NotChecked| it.part == "the route" || it.part.starts_with("valid input");
        let reasons = self.report.not_checked.iter().filter(is_about_input);
        let reasons: Vec<&str> = reasons.map(|it| it.why.as_str()).collect();
        self.report.failures.push(PropertyFailure {
            property: Property::Reached,
            message: format!("no valid case reached the handler: {}; {HELP}", reasons.join(", ")),
            exchange: String::new(),
        });
    }

    pub(super) fn leave_out(&mut self, part: impl Into<String>, why: impl Into<String>) {
        let left = NotChecked { part: part.into(), why: why.into() };
        if !self.report.not_checked.contains(&left) {
            self.report.not_checked.push(left);
        }
    }
}

/// Returns roles that satisfy every list: a role that all lists contain, or
/// else the first of each list.
fn roles_of(lists: &[Vec<String>]) -> Vec<String> {
    let first = lists.first().map(Vec::as_slice).unwrap_or_default();
    if let Some(one) = first.iter().find(|role| lists.iter().all(|list| list.contains(role))) {
        return vec![one.clone()];
    }
    let firsts: BTreeSet<&String> = lists.iter().filter_map(|list| list.first()).collect();
    firsts.into_iter().cloned().collect()
}

/// The remedies for a route without a valid case.
const HELP: &str =
    "set values with `param` or credentials with `users`, or skip the route with `skip`";

/// The number of valid cases for each case that violates a rule.
const BROKEN: u32 = 16;
