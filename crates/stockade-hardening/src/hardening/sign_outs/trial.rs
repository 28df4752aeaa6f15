//! [`Trial`]: signs in, sends the request that ends the login, and tries all
//! credentials again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use stockade_routing::map::Place;

use super::kept::{Kept, credentials_in};
use super::login::{Login, Probes, has_succeeded, is_rejected, refresh_shot, still_open};
use super::{CONNECTIONS, Case, Event, PASSWORD, ROTATION, RULE};
use crate::exchange::Exchange;
use crate::hardening::account_request::AccountRequest;
use crate::hardening::attack_target::label_of;
use crate::hardening::runner::{Rule, Runner};

/// One case of the attacks on logins that have ended.
pub(super) struct Trial<'r, 'h> {
    runner: &'r mut Runner<'h>,
    case: &'h Case,
    sign_in: &'h AccountRequest,
    /// The label of the route that ends the login.
    route: Option<String>,
    location: Option<Place>,
}

impl<'r, 'h> Trial<'r, 'h> {
    pub(super) fn new(
        runner: &'r mut Runner<'h>,
        case: &'h Case,
        sign_in: &'h AccountRequest,
    ) -> Self {
        Self { runner, case, sign_in, route: None, location: None }
    }

    pub(super) async fn run(mut self) {
        let event = self.case.event;
        let mut logins = match self.logins().await {
            Ok(logins) => logins,
            Err(reason) => return self.leave(event.name().to_owned(), reason),
        };
        let first = logins.first().map(|login| login.shot(self.runner, &self.case.request));
        let Some(shot) = first else { return };
        let ending = self.runner.target_of(&shot);
        self.route = ending.map(label_of);
        self.location = ending.map(|route| route.location.clone());
        if self.runner.skips(RULE.family, self.route.as_deref()) {
            return;
        }
        let own = self.own_routes();
        let probes = Probes { event, own: &own };
        if event == Event::SignOut {
            self.reuse_refresh_token(probes).await;
        }
        for login in &mut logins {
            login.try_all(self.runner, probes).await;
        }
        // A refresh may have replaced the credentials.
        let Some(first) = logins.first() else { return };
        let shot = first.shot(self.runner, &self.case.request);
        let exchange = match self.runner.send_whole(&shot).await {
            Ok(exchange) if has_succeeded(&exchange) => exchange,
            Ok(exchange) => {
                let reason = format!("the response is {}", exchange.status);
                return self.leave(event.name().to_owned(), reason);
            }
            Err(reason) => return self.leave(event.name().to_owned(), reason),
        };
        self.wait().await;
        let stays = event == Event::PasswordChange && !self.case.request.has_own_user();
        for (number, login) in logins.into_iter().enumerate().skip(usize::from(stays)) {
            self.check(login, number, &exchange).await;
        }
        if event == Event::PasswordChange {
            self.check_old_password().await;
        }
    }

    /// Signs in on the devices of the case.
    async fn logins(&mut self) -> Result<Vec<Login>, String> {
        let is_sent_by_user = !self.case.request.has_own_user();
        let devices = match self.case.event {
            Event::SignOutEverywhere => 2,
            Event::PasswordChange if is_sent_by_user => 2,
            _ => 1,
        };
        let mut logins = Vec::new();
        for _ in 0..devices {
            logins.push(Login::begin(self.runner, self.sign_in).await?);
        }
        Ok(logins)
    }

    /// Returns the labels of the routes that begin and end logins.
    fn own_routes(&self) -> Vec<String> {
        let plan = &self.runner.plan().sign_outs;
        let cases = plan.cases.iter();
        let all = cases.flat_map(|case| case.sign_in.iter().chain([&case.request]));
        let none = BTreeMap::new();
        let shots = all.map(|request| request.shot(&none, &HeaderMap::new()));
        let own = shots.filter_map(|shot| self.runner.target_of(&shot).map(label_of));
        own.chain(self.route.clone()).collect()
    }

    /// Uses a refresh token twice.
    async fn reuse_refresh_token(&mut self, probes: Probes<'_>) {
        let Ok(mut login) = Login::begin(self.runner, self.sign_in).await else { return };
        let used = login.kept.clone();
        login.renew_tokens(self.runner, probes).await;
        let Some((newest, index)) = login.refresh else { return };
        let used = used.into_iter().find(|it| it.kind == newest.kind && it.name == newest.name);
        let Some(used) = used else { return };
        let attack = format!("{} after its use", used.label());
        if used.value == newest.value {
            let reason = "the response does not contain a new one";
            return self.leave(attack, reason.to_owned());
        }
        let targets = Arc::clone(&self.runner.targets);
        let Some(target) = targets.get(index) else { return };
        let Some(shot) = refresh_shot(self.runner, &used, target) else { return };
        match self.runner.send_whole(&shot).await {
            Ok(exchange) if exchange.status.is_success() => {
                let found = format!("the response is {}, with new tokens", exchange.status);
                let place = (Some(target.label.clone()), Some(target.route.location.clone()));
                self.fail_at(&ROTATION, place, attack, found, &exchange);
            }
            other => self.pass_or_leave(attack, other),
        }
    }

    /// Records a rejection. An overloaded or failing application proves nothing.
    fn pass_or_leave(&mut self, attack: String, outcome: Result<Exchange, String>) {
        match outcome {
            Ok(exchange) if is_unclear(exchange.status) => {
                self.leave(attack, format!("the response was {}", exchange.status));
            }
            Ok(_) => self.runner.report_mut().pass(RULE.family),
            Err(reason) => self.leave(attack, reason),
        }
    }

    /// Waits until the login must have ended.
    async fn wait(&self) {
        let within = self.runner.plan().sign_outs.within;
        if within.is_zero() {
            return;
        }
        if let Some(clock) = &self.runner.clock {
            clock.advance(within);
        }
        tokio::time::sleep(within).await;
    }

    /// Tries all credentials of a login again.
    async fn check(&mut self, login: Login, number: usize, exchange: &Exchange) {
        let device = if number > 0 { " on another device" } else { "" };
        let after = format!("{device} after {}", self.case.event.name());
        let mut is_any = !login.connections.is_empty();
        for kept in &login.kept {
            let accepted = login.accepted.iter();
            let routes: Vec<usize> = accepted
                .filter(|(it, _)| it.name == kept.name && it.value == kept.value)
                .map(|(_, index)| *index)
                .collect();
            is_any |= !routes.is_empty();
            self.check_routes(kept, &routes, &after).await;
        }
        // A refresh token may outlive a role, because new tokens have the new role.
        let ends_all = self.case.event.ends_login();
        if let Some((kept, index)) = login.refresh.as_ref().filter(|_| ends_all) {
            is_any = true;
            self.check_refresh(kept, *index, &after).await;
        }
        let limit = self.runner.plan().sign_outs.within.max(CONNECTIONS);
        for (index, is_open) in still_open(login.connections, limit).await {
            let time = is_open.then_some(limit);
            self.check_connection(index, time, &after, exchange);
        }
        if !is_any {
            let reason = "no route accepts the credentials of the sign-in before it";
            self.leave(format!("the credentials{after}"), reason.to_owned());
        }
    }

    /// Sends a credential to the routes that accepted it.
    async fn check_routes(&mut self, kept: &Kept, routes: &[usize], after: &str) {
        let targets = Arc::clone(&self.runner.targets);
        let mut failed: Vec<String> = Vec::new();
        let mut first = None;
        let attack = format!("{}{after}", kept.label());
        for target in routes.iter().filter_map(|index| targets.get(*index)) {
            let Some(shot) = kept.shot(target) else { continue };
            match self.runner.send(Some(target), &shot).await {
                Ok(exchange) if is_rejected(self.case.event, exchange.status) => {
                    self.runner.report_mut().pass(RULE.family);
                }
                Ok(exchange) if is_unclear(exchange.status) => {
                    self.leave(attack.clone(), format!("the response was {}", exchange.status));
                }
                Ok(exchange) => {
                    failed.push(format!("{} (at {})", target.label, target.route.location));
                    first.get_or_insert(exchange);
                }
                Err(reason) => self.leave(attack.clone(), reason),
            }
        }
        let Some(exchange) = first else { return };
        let more = failed.len().saturating_sub(1);
        let others = if more == 0 { String::new() } else { format!(", as in {more} other routes") };
        let route = failed.first().map_or("", String::as_str);
        let found = format!("the response of {route} is {}{others}", exchange.status);
        self.fail(attack, found, &exchange);
    }

    async fn check_refresh(&mut self, kept: &Kept, index: usize, after: &str) {
        let targets = Arc::clone(&self.runner.targets);
        let Some(target) = targets.get(index) else { return };
        let Some(shot) = refresh_shot(self.runner, kept, target) else { return };
        let attack = format!("{}{after}", kept.label());
        match self.runner.send_whole(&shot).await {
            Ok(exchange) if exchange.status.is_success() => {
                let place = format!("{} (at {})", target.label, target.route.location);
                let found = format!("the response of {place} is {}", exchange.status);
                self.fail(attack, found, &exchange);
            }
            other => self.pass_or_leave(attack, other),
        }
    }

    /// Records the result of a connection. `open_for` is the time for which it
    /// stayed open; `None` if it ended.
    fn check_connection(
        &mut self,
        index: usize,
        open_for: Option<Duration>,
        after: &str,
        ending: &Exchange,
    ) {
        let targets = Arc::clone(&self.runner.targets);
        let Some(target) = targets.get(index) else { return };
        let attack = format!("a connection of {}{after}", target.label);
        let Some(time) = open_for else { return self.runner.report_mut().pass(RULE.family) };
        if let Some(reason) = &target.route.access.outlives_user {
            let reason = format!("the route may outlive its user: {reason}");
            return self.leave(attack, reason);
        }
        let place = &target.route.location;
        let found = format!("it is open for {} s (at {place})", time.as_secs());
        self.fail(attack, found, ending);
    }

    /// Signs in with the old password.
    async fn check_old_password(&mut self) {
        let none = BTreeMap::new();
        let shot = self.sign_in.shot(&none, &HeaderMap::new());
        let attack = "the sign-in with the old password".to_owned();
        match self.runner.send_whole(&shot).await {
            Ok(exchange) if has_succeeded(&exchange) && !credentials_in(&exchange).is_empty() => {
                let found = format!("the response is {}, with credentials", exchange.status);
                let place = (self.route.clone(), self.location.clone());
                self.fail_at(&PASSWORD, place, attack, found, &exchange);
            }
            other => self.pass_or_leave(attack, other),
        }
    }

    fn leave(&mut self, attack: String, reason: String) {
        self.runner.report_mut().leave(crate::NotAttacked {
            family: RULE.family,
            attack,
            route: self.route.clone(),
            reason,
        });
    }

    /// Records a failure of the route that ends the login.
    fn fail(&mut self, attack: String, found: String, exchange: &Exchange) {
        let place = (self.route.clone(), self.location.clone());
        self.fail_at(self.case.event.rule(), place, attack, found, exchange);
    }

    fn fail_at(
        &mut self,
        rule: &Rule,
        place: (Option<String>, Option<Place>),
        attack: String,
        found: String,
        exchange: &Exchange,
    ) {
        let failure = rule.failure(attack, place, found, Some(exchange.to_string()));
        self.runner.report_mut().fail(failure);
    }
}

/// Returns true if a status does not show that the credential is rejected.
fn is_unclear(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}
