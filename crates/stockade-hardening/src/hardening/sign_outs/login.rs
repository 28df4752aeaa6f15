//! [`Login`]: the credentials of a user on one device, and the routes that
//! accept them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use stockade_routing::map::RouteKind;
use tokio::time::timeout;

use super::kept::{Kept, KeptKind, all_headers, cookie_header, credentials_in, plain, values_in};
use super::{Event, RULE};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::hardening::account_request::AccountRequest;
use crate::hardening::attack_target::{AttackTarget, json_of};
use crate::hardening::connection::Connection;
use crate::hardening::runner::Runner;
use crate::idempotency_key::needs_key;
use crate::sample::Sample;
use crate::shot::Shot;

/// The credentials of a user on one device.
pub(super) struct Login {
    pub(super) kept: Vec<Kept>,
    values: BTreeMap<String, String>,
    /// The credentials and the indexes of the routes that accept them.
    pub(super) accepted: Vec<(Kept, usize)>,
    /// The refresh token, and the index of its route.
    pub(super) refresh: Option<(Kept, usize)>,
    /// The open connections with the indexes of their routes.
    pub(super) connections: Vec<(usize, Connection)>,
}

/// The routes of a case.
#[derive(Clone, Copy)]
pub(super) struct Probes<'c> {
    pub(super) event: Event,
    /// The labels of the routes that begin and end the login.
    pub(super) own: &'c [String],
}

impl Login {
    /// Signs in. Returns the reason if the response does not have credentials.
    pub(super) async fn begin(
        runner: &mut Runner<'_>,
        sign_in: &AccountRequest,
    ) -> Result<Self, String> {
        let values = BTreeMap::new();
        let shot = prepared(runner, sign_in, &values, &HeaderMap::new());
        let exchange = runner.send_whole(&shot).await?;
        let kept = credentials_in(&exchange);
        if !has_succeeded(&exchange) || kept.is_empty() {
            return Err(format!(
                "the response to `{}` is {} without credentials",
                sign_in.name(),
                exchange.status
            ));
        }
        let values = values_in(&exchange);
        Ok(Self { kept, values, accepted: Vec::new(), refresh: None, connections: Vec::new() })
    }

    /// Returns the cookies of the login.
    pub(super) fn cookies(&self) -> Option<Credentials> {
        cookie_header(&self.kept).map(|cookies| Credentials::header("cookie", cookies))
    }

    /// Returns a request with the credentials of the login.
    pub(super) fn shot(&self, runner: &Runner<'_>, request: &AccountRequest) -> Shot {
        let mut values = self.values.clone();
        // A refresh may have replaced the token.
        let newest = self.refresh.iter().map(|(kept, _)| kept);
        values.extend(newest.map(|kept| (kept.name.clone(), kept.value.clone())));
        let headers = all_headers(&self.kept, &runner.map);
        prepared(runner, request, &values, &headers)
    }

    /// Tries each credential on the routes, and opens the connections.
    pub(super) async fn try_all(&mut self, runner: &mut Runner<'_>, probes: Probes<'_>) {
        let targets = Arc::clone(&runner.targets);
        self.renew_tokens(runner, probes).await;
        for kept in self.kept.clone() {
            for is_read in [true, false] {
                let before = self.accepted.len();
                for (index, target) in targets.iter().enumerate() {
                    let is_wanted = probes.takes(target) && reads(target) == is_read;
                    if !is_wanted || runner.skips(RULE.family, Some(&target.label)) {
                        continue;
                    }
                    self.try_one(runner, probes.event, &kept, (index, target)).await;
                }
                if self.accepted.len() > before {
                    break;
                }
            }
        }
        self.open(runner, probes).await;
    }

    /// Adds a route to the accepted ones, if it accepts the credential.
    async fn try_one(
        &mut self,
        runner: &mut Runner<'_>,
        event: Event,
        kept: &Kept,
        (index, target): (usize, &AttackTarget),
    ) {
        let Some(shot) = kept.shot(target) else { return };
        let Ok(exchange) = runner.send(Some(target), &shot).await else { return };
        if !is_accepted(event, exchange.status) {
            return;
        }
        if !exchange.is_event_stream() {
            self.accepted.push((kept.clone(), index));
        } else if !self.connections.iter().any(|(known, _)| *known == index)
            && let Ok((_, Some(connection))) = runner.open(&shot).await
        {
            self.connections.push((index, connection));
        }
    }

    /// Opens the WebSockets, each with the first credential that it accepts.
    async fn open(&mut self, runner: &mut Runner<'_>, probes: Probes<'_>) {
        let targets = Arc::clone(&runner.targets);
        for (index, target) in targets.iter().enumerate() {
            let is_socket = target.route.kind == RouteKind::WebSocket && probes.takes_any(target);
            if !is_socket || runner.skips(RULE.family, Some(&target.label)) {
                continue;
            }
            for shot in self.kept.iter().filter_map(|kept| kept.shot(target)) {
                if let Ok((_, Some(connection))) = runner.open(&shot).await {
                    self.connections.push((index, connection));
                    break;
                }
            }
        }
    }

    /// Gets new tokens with the refresh token, if a route does this.
    pub(super) async fn renew_tokens(&mut self, runner: &mut Runner<'_>, probes: Probes<'_>) {
        let targets = Arc::clone(&runner.targets);
        let refresh = self.kept.iter().filter(|kept| is_refresh(kept)).cloned();
        for kept in refresh.collect::<Vec<_>>() {
            for (index, target) in targets.iter().enumerate() {
                if probes.own.contains(&target.label) {
                    continue;
                }
                let Some(shot) = refresh_shot(runner, &kept, target) else { continue };
                let Ok(exchange) = runner.send_whole(&shot).await else { continue };
                if !exchange.status.is_success() {
                    continue;
                }
                let new = credentials_in(&exchange);
                let newest = new.iter().find(|it| is_refresh(it) && it.kind == kept.kind);
                self.refresh = Some((newest.unwrap_or(&kept).clone(), index));
                self.values.extend(values_in(&exchange));
                self.kept.extend(new.into_iter().filter(|it| !is_refresh(it)));
                return;
            }
        }
    }
}

impl Probes<'_> {
    /// Returns true if the responses of a route show that a login has ended.
    fn takes(self, target: &AttackTarget) -> bool {
        let is_http = target.route.kind == RouteKind::Http && target.route.method != "DELETE";
        is_http && self.takes_any(target)
    }

    fn takes_any(self, target: &AttackTarget) -> bool {
        let access = &target.route.access;
        let is_restricted = !access.roles.is_empty() || !access.permissions.is_empty();
        target.needs_user()
            && !self.own.contains(&target.label)
            && (self.event != Event::RoleChange || is_restricted)
    }
}

/// Returns true if the request of a target is a GET.
fn reads(target: &AttackTarget) -> bool {
    target.shot().method == Method::GET
}

/// Returns the request of a case with generated values.
fn prepared(
    runner: &Runner<'_>,
    request: &AccountRequest,
    values: &BTreeMap<String, String>,
    headers: &HeaderMap,
) -> Shot {
    let mut shot = request.shot(values, headers);
    let Some(route) = runner.target_of(&shot) else { return shot };
    shot = shot.new_key(needs_key(route));
    if request.has_body() {
        return shot;
    }
    let Some(content) = json_of(route) else { return shot };
    let Some(mut body) = Sample::of(&runner.map).value(&content.schema) else { return shot };
    for (name, member) in body.as_object_mut().into_iter().flatten() {
        let known = values.iter().find(|(known, _)| plain(known) == plain(name));
        if let (Value::String(text), Some((_, known))) = (member, known) {
            text.clone_from(known);
        }
    }
    shot.body("application/json", body.to_string())
}

fn is_refresh(kept: &Kept) -> bool {
    kept.kind == KeptKind::Refresh
        || (kept.kind == KeptKind::Cookie && plain(&kept.name).contains("refresh"))
}

/// Returns the request for new tokens; `None` if the route does not read the
/// refresh token.
pub(super) fn refresh_shot(
    runner: &Runner<'_>,
    kept: &Kept,
    target: &AttackTarget,
) -> Option<Shot> {
    let is_write = target.route.method == "POST" && target.route.kind == RouteKind::Http;
    if !is_write {
        return None;
    }
    if kept.kind == KeptKind::Cookie {
        let is_meant = plain(&target.path).contains("refresh");
        return is_meant.then(|| target.shot().set("cookie", kept.pair()));
    }
    let content = json_of(&target.route)?;
    let mut body = Sample::of(&runner.map).value(&content.schema)?;
    let members = body.as_object_mut()?;
    let (_, member) = members.iter_mut().find(|(name, _)| {
        let name = plain(name);
        name == plain(&kept.name) || name.contains("refreshtoken")
    })?;
    *member = Value::from(kept.value.clone());
    // RFC 6749, section 6.
    if let Some(grant) = members.get_mut("grant_type") {
        *grant = Value::from("refresh_token");
    }
    Some(target.shot().body("application/json", body.to_string()))
}

pub(super) fn has_succeeded(exchange: &Exchange) -> bool {
    exchange.status.is_success() || exchange.status.is_redirection()
}

/// Returns true if a status shows that the credential is accepted.
fn is_accepted(event: Event, status: StatusCode) -> bool {
    let unclear = [401, 403, 405, 415, 429];
    match event {
        Event::MemberRemoval => status.is_success(),
        _ if status.is_client_error() => !unclear.contains(&status.as_u16()),
        _ => status.is_success(),
    }
}

/// Returns true if a status shows that the credential is rejected.
pub(super) fn is_rejected(event: Event, status: StatusCode) -> bool {
    match status.as_u16() {
        401 | 403 => true,
        // Clients cannot see the objects of others.
        404 => event == Event::MemberRemoval,
        _ => status.is_redirection(),
    }
}

/// Waits until the connections end, or until the limit. Returns the index of
/// each route, and true if its connection is still open.
pub(super) async fn still_open(
    connections: Vec<(usize, Connection)>,
    limit: Duration,
) -> Vec<(usize, bool)> {
    join_all(connections.into_iter().map(async |(index, mut connection)| {
        let ended = timeout(limit, until_ended(&mut connection)).await;
        (index, ended.is_err())
    }))
    .await
}

/// Completes at the end of a connection.
async fn until_ended(connection: &mut Connection) {
    match connection {
        Connection::WebSocket(socket) => {
            while let Some(Ok(message)) = socket.next().await {
                if message.is_close() {
                    return;
                }
            }
        }
        Connection::Events(body) => while let Ok(Some(_)) = body.chunk().await {},
    }
}
