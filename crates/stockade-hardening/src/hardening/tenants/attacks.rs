//! The requests of the second user, in the order of their effects.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::header;
use serde_json::Value;
use stockade_routing::map::RouteKind;

use super::attempt::{Attempt, Proves};
use super::compare::unknown;
use super::crawl::{Probe, is_success};
use super::names::{Verb, is_cursor, is_reference};
use super::operation::{Call, Member, Operation, Param, decoded};
use super::request::{page_size, shot, typed};
use super::{RULE, Who};
use crate::hardening::attack_target::index_of;
use crate::idempotency_key::IDEMPOTENCY_KEY;
use crate::shot::Shot;

impl Probe<'_, '_> {
    /// Sends all requests of the second user: reads before changes, and
    /// deletions last.
    pub(super) async fn attack(&mut self) {
        self.attack_connections().await;
        self.keep_stable_reads().await;
        let operations = Arc::clone(&self.operations);
        let all = || operations.iter().enumerate();
        for (index, operation) in all().filter(|(_, it)| it.verb == Verb::Read) {
            self.attack_lists(index).await;
            self.attack_paths(index, operation).await;
            self.attack_query(index, operation).await;
            self.attack_cursors(index, operation).await;
            self.attack_body(index, operation).await;
        }
        self.attack_links().await;
        for (index, operation) in all().filter(|(_, it)| it.verb != Verb::Read) {
            self.attack_body(index, operation).await;
        }
        for verb in [Verb::Create, Verb::Change, Verb::Delete] {
            for (index, operation) in all().filter(|(_, it)| it.verb == verb) {
                self.attack_paths(index, operation).await;
            }
        }
        for (index, operation) in all().filter(|(_, it)| it.route.idempotency.is_some()) {
            self.attack_retry(index, operation).await;
        }
        self.prove().await;
        self.attack_budgets().await;
    }

    /// Reads the lists and objects of the second user, which must not contain
    /// objects of the first.
    async fn attack_lists(&mut self, index: usize) {
        let reads = self.b.reads.iter().filter(|read| read.operation == index);
        let shots: Vec<Shot> = reads.map(|read| read.shot.clone()).collect();
        for foreign in shots {
            self.attempt(Attempt {
                operation: index,
                attack: "own objects of the second user".to_owned(),
                foreign,
                controls: Vec::new(),
                ids: Vec::new(),
                proof: Proves::Known,
            })
            .await;
        }
    }

    /// Sends ids of the first user in paths.
    async fn attack_paths(&mut self, index: usize, operation: &Operation) {
        let ids: Vec<usize> = operation
            .params
            .iter()
            .enumerate()
            .filter(|(_, param)| self.is_id(&operation.route, param))
            .map(|(place, _)| place)
            .collect();
        let Some(foreign) = self.foreign_values(operation, &ids) else { return };
        if ids.len() > 1 || operation.params.len() == ids.len() {
            let name = match ids.as_slice() {
                [place] => param_name(operation, *place),
                _ => "all path parameters of the other user".to_owned(),
            };
            self.attack_values(index, operation, &foreign, &ids, &foreign, name).await;
        }
        let chain =
            |params: &[Param]| self.chains(Who::B, &operation.route, params).into_iter().next();
        let Some((last, parents)) = operation.params.split_last() else { return };
        let (own, has_own) = match (chain(&operation.params), chain(parents)) {
            (Some(own), _) => (own, true),
            (None, Some(mut own)) => {
                own.extend(foreign.last().cloned());
                (own, false)
            }
            (None, None) => return,
        };
        let places = ids.into_iter().filter(|_| !parents.is_empty());
        for place in places.filter(|place| has_own || *place == parents.len()) {
            let mut values = own.clone();
            if let (Some(value), Some(id)) = (values.get_mut(place), foreign.get(place)) {
                value.clone_from(id);
            }
            if (has_own && values == own) || self.b.knows(&last.anchor, &values) {
                continue;
            }
            let name = format!("own path with {}", param_name(operation, place));
            self.attack_values(index, operation, &values, &[place], &foreign, name).await;
        }
    }

    /// Returns values of the first user that the second user does not have.
    fn foreign_values(&self, operation: &Operation, ids: &[usize]) -> Option<Vec<String>> {
        let last = operation.params.last()?;
        if ids.is_empty() {
            return None;
        }
        let chains = self.chains(Who::A, &operation.route, &operation.params);
        let own = self.chains(Who::B, &operation.route, &operation.params);
        let is_foreign =
            |values: &&Vec<String>| !own.contains(values) && !self.b.knows(&last.anchor, values);
        let is_created = |values: &&Vec<String>| {
            self.a.created.contains(&(last.anchor.clone(), values.to_vec()))
        };
        let foreign: Vec<&Vec<String>> = chains.iter().filter(is_foreign).collect();
        let created = foreign.iter().copied().find(is_created);
        created.or_else(|| foreign.first().copied()).cloned()
    }

    /// Sends one combination of values. Values at the places of ids become
    /// unknown in the controls.
    async fn attack_values(
        &mut self,
        index: usize,
        operation: &Operation,
        values: &[String],
        ids: &[usize],
        owner: &[String],
        attack: String,
    ) {
        let foreign = self.shot(Who::B, operation, values, BTreeMap::new(), false);
        let mut controls = Vec::new();
        let mut texts = values.to_vec();
        for choice in self.unknown_values(operation, values, ids) {
            texts.extend(choice.iter().cloned());
            controls.push(same_body(operation, &choice, &foreign));
        }
        if controls.is_empty() {
            let reason = "found no unknown id of the same form".to_owned();
            return self.leave(operation, &attack, reason);
        }
        let proof = match operation.verb {
            Verb::Read if self.a.reads.iter().any(|read| read.operation == index) => Proves::Known,
            _ => {
                Proves::Owner(Box::new(self.shot(Who::A, operation, owner, BTreeMap::new(), false)))
            }
        };
        self.attempt(Attempt { operation: index, attack, foreign, controls, ids: texts, proof })
            .await;
    }

    /// Returns two combinations with unknown ids that reach the same route.
    fn unknown_values(
        &self,
        operation: &Operation,
        values: &[String],
        ids: &[usize],
    ) -> Vec<Vec<String>> {
        let choices: BTreeMap<usize, Vec<String>> = ids
            .iter()
            .filter_map(|place| Some((*place, self.unknown_ids(values.get(*place)?))))
            .collect();
        let most = choices.values().map(Vec::len).min().unwrap_or(0);
        let mut found = Vec::new();
        for choice in 0..most {
            let mut values = values.to_vec();
            for (place, choices) in &choices {
                if let (Some(value), Some(other)) = (values.get_mut(*place), choices.get(choice)) {
                    value.clone_from(other);
                }
            }
            let target = shot(&self.map, operation, &values, &[], None);
            let target = self.at_host(Who::B, operation, target);
            let place = index_of(self.runner.app(), &target);
            let route = place.and_then(|place| self.map.routes.get(place));
            if operation.call.is_some() || route.is_some_and(|it| *it == operation.route) {
                found.push(values);
            }
            if found.len() == CONTROLS {
                break;
            }
        }
        found
    }

    /// Returns ids that neither user knows.
    fn unknown_ids(&self, id: &str) -> Vec<String> {
        let is_unknown = |id: &String| !self.a.has_value(id) && !self.b.has_value(id);
        unknown(id).into_iter().filter(is_unknown).collect()
    }

    /// Sends ids and texts of the first user in the query.
    async fn attack_query(&mut self, index: usize, operation: &Operation) {
        let chains = self.chains(Who::B, &operation.route, &operation.params);
        let Some(own) = chains.into_iter().next() else { return };
        for member in &operation.query {
            let is_page = is_cursor(&member.name) && !is_reference(&member.name);
            if is_page || self.plain.contains_key(&member.name) {
                continue;
            }
            for (kind, value, others) in self.query_values(operation, member) {
                let query = |value: &str| vec![(member.name.clone(), value.to_owned())];
                let shot = |value: &str| {
                    let shot = shot(&self.map, operation, &own, &query(value), None);
                    self.at_host(Who::B, operation, shot)
                };
                let controls: Vec<Shot> = others.iter().take(CONTROLS).map(|it| shot(it)).collect();
                let foreign = shot(&value);
                let ids = others.into_iter().chain([value]).collect();
                let is_read = self.a.reads.iter().any(|read| read.operation == index);
                let proof = match is_read {
                    true => Proves::Known,
                    false => Proves::Nothing(NEVER_READ),
                };
                let attack =
                    format!("query parameter `{}` with {kind} of the other user", member.name);
                self.attempt(Attempt { operation: index, attack, foreign, controls, ids, proof })
                    .await;
            }
        }
    }

    /// Returns values of the first user for a query parameter, each with unknown
    /// values.
    fn query_values(
        &self,
        operation: &Operation,
        member: &Member,
    ) -> Vec<(&'static str, String, Vec<String>)> {
        let mut found = Vec::new();
        if let Some(id) = self.foreign_id(member) {
            let others = self.unknown_ids(&id);
            found.push(("an id", id, others));
        } else if let Some(marker) = self.foreign_text(operation, member) {
            let other = |letter: &str| marker.replace(Who::A.marker(), &format!("canary{letter}"));
            let others = vec![other("y"), other("z")];
            found.push(("a text", marker, others));
        }
        found
    }

    /// Returns an id of the first user for a member.
    pub(super) fn foreign_id(&self, member: &Member) -> Option<String> {
        let ids = self.a.nouns.get(&member.noun)?;
        let own = self.b.nouns.get(&member.noun).map(Vec::as_slice).unwrap_or_default();
        let is_foreign = |id: &&String| !own.contains(id) && typed(member, id).is_some();
        let is_created =
            |id: &&String| self.a.created_ids.contains(&(member.noun.clone(), id.to_string()));
        let created = ids.iter().rev().filter(is_foreign).find(is_created);
        created.or_else(|| ids.iter().rev().find(is_foreign)).cloned()
    }

    /// Returns a text that the first user reads in the same list.
    fn foreign_text(&self, operation: &Operation, member: &Member) -> Option<String> {
        let is_plain = ["enum", "const", "format", "pattern"]
            .iter()
            .all(|word| !member.schema.contains_key(*word));
        typed(member, "canarya0000").filter(|it| it.is_string() && is_plain)?;
        let reads = self.a.reads.iter().filter(|read| {
            self.operations.get(read.operation).is_some_and(|it| it.shape == operation.shape)
        });
        reads.filter_map(|read| marker_in(&read.exchange.body)).last()
    }

    /// Sends page positions of the first user.
    async fn attack_cursors(&mut self, index: usize, operation: &Operation) {
        let Some(cursor) = operation.query.iter().find(|member| is_cursor(&member.name)) else {
            return;
        };
        let attack = format!("query parameter `{}` with a page of the other user", cursor.name);
        let own = self.chains(Who::B, &operation.route, &operation.params).into_iter().next();
        let chains = self.chains(Who::A, &operation.route, &operation.params);
        let size: Vec<(String, String)> =
            page_size(operation).map(|it| (it.name.clone(), "1".to_owned())).into_iter().collect();
        for values in chains {
            let first = shot(&self.map, operation, &values, &size, None);
            let first = self.at_host(Who::A, operation, first);
            if let Ok(exchange) = self.send(Who::A, &first).await
                && is_success(operation, &exchange)
            {
                let operations = Arc::clone(&self.operations);
                self.a.learn(&operations, index, &values, &exchange, false);
            }
        }
        self.a.candidates.clear();
        let cursors: Vec<String> = self
            .a
            .cursors
            .iter()
            .filter(|(place, _)| *place == index)
            .map(|(_, text)| text.clone())
            .chain(self.a.links.iter().filter_map(|link| value_in(link, operation, &cursor.name)))
            .collect();
        let (Some(own), false) = (own, cursors.is_empty()) else {
            let reason = "no response to the first user contains a page position".to_owned();
            return self.leave(operation, &attack, reason);
        };
        for text in cursors.into_iter().take(MAX_CURSORS) {
            let foreign =
                shot(&self.map, operation, &own, &[(cursor.name.clone(), text.clone())], None);
            let foreign = self.at_host(Who::B, operation, foreign);
            let (attack, controls) = (attack.clone(), Vec::new());
            let (ids, proof) = (vec![text], Proves::Known);
            self.attempt(Attempt { operation: index, attack, foreign, controls, ids, proof }).await;
        }
    }

    /// Follows the links with a query that the first user received.
    async fn attack_links(&mut self) {
        let operations = Arc::clone(&self.operations);
        for link in self.a.links.clone() {
            let path = link.split('?').next().unwrap_or_default();
            let found = operations.iter().enumerate().find(|(_, operation)| {
                operation.verb == Verb::Read
                    && operation.call.is_none()
                    && operation.values_of(path).is_some()
            });
            let Some((index, operation)) = found else { continue };
            let foreign = Shot::new(operation.method.clone(), link.clone());
            let foreign = self.at_host(Who::B, operation, foreign);
            self.attempt(Attempt {
                operation: index,
                attack: "a link of the other user".to_owned(),
                foreign,
                controls: Vec::new(),
                ids: operation.values_of(path).unwrap_or_default(),
                proof: Proves::Known,
            })
            .await;
        }
    }

    /// Sends ids of the first user in bodies.
    async fn attack_body(&mut self, index: usize, operation: &Operation) {
        let chains = self.chains(Who::B, &operation.route, &operation.params);
        let Some(own) = chains.into_iter().next() else { return };
        for member in &operation.body {
            if self.plain.contains_key(&member.name) {
                continue;
            }
            let attack = match &operation.call {
                Some(Call::GraphQl(_) | Call::Tool(_)) => format!("argument `{}`", member.path()),
                _ => format!("body member `{}`", member.path()),
            };
            let attack = format!("{attack} with an id of the other user");
            let Some(id) = self.foreign_id(member) else {
                let is_id = operation.call.is_some() && member.name == "id";
                if (is_id || is_reference(&member.name)) && !self.a.nouns.contains_key(&member.noun)
                {
                    let reason = format!(
                        "no id of the first user is known for it: declare its collection with \
                         `refers_to({:?}, …)`, or `param` if it is not an id",
                        member.name
                    );
                    self.leave(operation, &attack, reason);
                }
                continue;
            };
            let given = |id: &str| -> BTreeMap<String, Value> {
                let value = typed(member, id);
                value.map(|value| (member.path(), value)).into_iter().collect()
            };
            let foreign = self.shot(Who::B, operation, &own, given(&id), false);
            let others = self.unknown_ids(&id);
            let mut controls = Vec::new();
            for other in others.iter().take(CONTROLS) {
                controls.push(self.shot(Who::B, operation, &own, given(other), false));
            }
            let chains = self.chains(Who::A, &operation.route, &operation.params);
            let Some(owner) = chains.into_iter().next() else { continue };
            let shot = self.shot(Who::A, operation, &owner, given(&id), false);
            let proof = Proves::Owner(Box::new(shot));
            let mut ids: Vec<String> = others.into_iter().chain([id]).collect();
            ids.extend(own.iter().cloned());
            self.attempt(Attempt { operation: index, attack, foreign, controls, ids, proof }).await;
        }
    }

    /// Sends a request of the first user again, with the same idempotency key.
    async fn attack_retry(&mut self, index: usize, operation: &Operation) {
        const ATTACK: &str = "an idempotency key of the other user";
        let chain = |probe: &Self, who| {
            probe.chains(who, &operation.route, &operation.params).into_iter().next()
        };
        let (Some(a), Some(b)) = (chain(self, Who::A), chain(self, Who::B)) else { return };
        if !self.is_wanted(operation, ATTACK) {
            return;
        }
        let key = format!("\"tenants-{index}\"");
        let first = self.shot(Who::A, operation, &a, BTreeMap::new(), false).new_key(false);
        let first = first.set(IDEMPOTENCY_KEY, &key);
        let mut second = first.clone();
        second.target = operation.path(&b);
        let (first, second) = (self.send(Who::A, &first).await, self.send(Who::B, &second).await);
        let (Ok(first), Ok(second)) = (first, second) else { return };
        if !is_success(operation, &first) {
            let reason = format!("the request of the first user gets {}", first.status);
            return self.leave(operation, ATTACK, reason);
        }
        let location =
            |exchange: &crate::exchange::Exchange| exchange.headers.get(header::LOCATION).cloned();
        let has_id = location(&first).is_some() || !first.body.is_empty();
        let is_replayed = second.header("idempotency-replayed").is_some()
            || (has_id && first.body == second.body && location(&first) == location(&second));
        match is_success(operation, &second) && is_replayed {
            true => {
                let found = "the response is the saved response to the first user";
                self.fail(operation, ATTACK, found, &second);
            }
            false => self.runner.report_mut().pass(RULE.family),
        }
    }
}

/// Returns the same request with other values in the path.
fn same_body(operation: &Operation, values: &[String], foreign: &Shot) -> Shot {
    let mut control = foreign.clone();
    let query = foreign.target.split_once('?').map(|(_, query)| query);
    let path = operation.path(values);
    control.target = match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    control
}

/// Returns the name of a path parameter for messages.
fn param_name(operation: &Operation, place: usize) -> String {
    let name = operation.params.get(place).map(|param| param.name.as_str());
    let handshake = match operation.route.kind {
        RouteKind::WebSocket => " in a handshake",
        _ => "",
    };
    format!("`:{}` of the other user{handshake}", name.unwrap_or_default())
}

/// Returns the value of a query parameter in a link to an operation.
fn value_in(link: &str, operation: &Operation, name: &str) -> Option<String> {
    let (path, query) = link.split_once('?')?;
    operation.values_of(path)?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(decoded(&value.replace('+', " ")))
}

/// Returns the last text of the first user in a body.
fn marker_in(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let start = text.rfind(Who::A.marker())?;
    let rest = text.get(start..)?;
    let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
    rest.get(..end).map(str::to_owned)
}

/// The number of requests with unknown ids.
const CONTROLS: usize = 2;

/// The maximum number of page positions of one operation.
const MAX_CURSORS: usize = 4;

const NEVER_READ: &str = "the first user cannot read it";
