//! [`Probe`]: two users that create and read objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use stockade_routing::map::{RouteInfo, RouteKind, RouteMap, StatusDoc};

use super::attempt::Proof;
use super::names::Verb;
use super::operation::{Call, Operation, Param};
use super::request::{self, Content, Filling, Marker};
use super::world::{Read, World};
use super::{RULE, Who};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::hardening::NotAttacked;
use crate::hardening::attack_target::label_of;
use crate::hardening::runner::Runner;
use crate::shot::Shot;

/// Two users, and the objects that they have seen.
pub(super) struct Probe<'r, 'h> {
    pub(super) runner: &'r mut Runner<'h>,
    pub(super) map: Arc<RouteMap>,
    pub(super) operations: Arc<[Operation]>,
    users: (Credentials, Credentials),
    pub(super) a: World,
    pub(super) b: World,
    /// The number of requests that created an object or failed, by user,
    /// operation and values.
    tries: BTreeMap<(Who, usize, Vec<String>), (u32, u32)>,
    /// The names of members and parameters that are not ids.
    pub(super) plain: BTreeMap<String, String>,
    markers: u32,
    /// Attacks that count if the owner may send the same request.
    pub(super) proofs: Vec<Proof>,
    /// True if an attack changed data of the first user.
    pub(super) is_changed: bool,
}

impl<'r, 'h> Probe<'r, 'h> {
    pub(super) fn new(runner: &'r mut Runner<'h>, a: Credentials, b: Credentials) -> Self {
        let map = Arc::clone(&runner.map);
        let references = &runner.plan().tenants.references;
        let mut operations = Operation::all(&map);
        for operation in &mut operations {
            for member in operation.query.iter_mut().chain(&mut operation.body) {
                if let Some(noun) = references.get(&member.name) {
                    member.noun.clone_from(noun);
                }
            }
        }
        Self {
            plain: runner.plan().params.clone(),
            operations: operations.into(),
            users: (a, b),
            map,
            runner,
            a: World::default(),
            b: World::default(),
            tries: BTreeMap::new(),
            markers: 0,
            proofs: Vec::new(),
            is_changed: false,
        }
    }

    pub(super) async fn run(&mut self) {
        self.crawl(Who::A).await;
        self.crawl(Who::B).await;
        self.attack().await;
        self.report_unknown();
    }

    pub(super) fn world(&self, who: Who) -> &World {
        match who {
            Who::A => &self.a,
            Who::B => &self.b,
        }
    }

    fn world_mut(&mut self, who: Who) -> &mut World {
        match who {
            Who::A => &mut self.a,
            Who::B => &mut self.b,
        }
    }

    /// Sends a request as one of the users.
    pub(super) async fn send(&mut self, who: Who, shot: &Shot) -> Result<Exchange, String> {
        let shot = shot.clone().of(self.user(who));
        self.runner.send_whole(&shot).await
    }

    pub(super) fn user(&self, who: Who) -> &Credentials {
        match who {
            Who::A => &self.users.0,
            Who::B => &self.users.1,
        }
    }

    pub(super) fn next_marker(&mut self, who: Who) -> Marker {
        self.markers += 1;
        Marker { who, number: self.markers }
    }

    /// Returns a request of a user with its own objects. `given` has values of
    /// members that replace generated values.
    pub(super) fn shot(
        &mut self,
        who: Who,
        operation: &Operation,
        values: &[String],
        given: BTreeMap<String, Value>,
        has_optional: bool,
    ) -> Shot {
        let body = self.content(who, operation, given, has_optional);
        let shot = request::shot(&self.map, operation, values, &[], body);
        self.at_host(who, operation, shot)
    }

    fn content(
        &mut self,
        who: Who,
        operation: &Operation,
        given: BTreeMap<String, Value>,
        has_optional: bool,
    ) -> Option<Content> {
        let marker = self.next_marker(who);
        let world = self.world(who);
        let filling = Filling { world, marker, given, has_optional, plain: &self.plain };
        request::body(&self.map, operation, &filling)
    }

    /// Sets the host of a user, if its parameter names the tenant.
    pub(super) fn at_host(&self, who: Who, operation: &Operation, shot: Shot) -> Shot {
        let Some(host) = operation.host() else { return shot };
        let values = &self.runner.plan().tenants.values;
        let named = host.params.iter().find_map(|param| {
            let (a, b) = values.get(&param.name)?;
            Some((&param.name, if who == Who::A { a } else { b }))
        });
        match named {
            Some((name, value)) => {
                let name = host.template.replace(&format!("{{{name}}}"), value);
                shot.set("host", name)
            }
            None => shot,
        }
    }

    /// Returns the value of a parameter that is not learned from responses.
    fn fixed(&self, who: Who, route: &RouteInfo, param: &Param) -> Option<String> {
        let plan = self.runner.plan();
        if let Some(value) = plan.params.get(&param.name) {
            return Some(value.clone());
        }
        if let Some((a, b)) = plan.tenants.values.get(&param.name) {
            return Some(if who == Who::A { a.clone() } else { b.clone() });
        }
        listed(route, param)
    }

    /// Returns true if a parameter identifies an object.
    pub(super) fn is_id(&self, route: &RouteInfo, param: &Param) -> bool {
        !self.runner.plan().params.contains_key(&param.name) && listed(route, param).is_none()
    }

    /// Returns known values of parameters, the newest first.
    pub(super) fn chains(&self, who: Who, route: &RouteInfo, params: &[Param]) -> Vec<Vec<String>> {
        let Some((last, parents)) = params.split_last() else { return vec![Vec::new()] };
        let longer = |value: String| {
            let parents = self.chains(who, route, parents);
            parents.into_iter().next().map(|mut values| {
                values.push(value);
                values
            })
        };
        if let Some(value) = self.fixed(who, route, last) {
            return longer(value).into_iter().collect();
        }
        let world = self.world(who);
        let known = world.chains.get(&last.anchor).map(Vec::as_slice).unwrap_or_default();
        if !known.is_empty() {
            return known.iter().rev().cloned().collect();
        }
        let ids = world.nouns.get(&last.noun).map(Vec::as_slice).unwrap_or_default();
        ids.iter().rev().take(MAX_GUESSES).filter_map(|id| longer(id.clone())).collect()
    }

    pub(super) fn is_skipped(&mut self, operation: &Operation) -> bool {
        // A skipped route includes its GraphQL fields and its tool.
        let route = match &operation.call {
            Some(Call::GraphQl(_)) => Some(label_of(&operation.route)),
            Some(Call::Tool(tool)) => Some(tool.route.clone()),
            _ => None,
        };
        self.runner.skips(RULE.family, Some(&operation.label))
            || route.is_some_and(|route| self.runner.skips(RULE.family, Some(&route)))
    }

    /// Creates and reads objects as a user, until nothing new appears.
    pub(super) async fn crawl(&mut self, who: Who) {
        for _ in 0..MAX_ROUNDS {
            let before = self.world(who).size();
            self.read_all(who).await;
            self.settle(who).await;
            self.create_all(who).await;
            self.settle(who).await;
            self.put_all(who).await;
            if self.world(who).size() == before {
                break;
            }
        }
        self.reread(who).await;
    }

    async fn read_all(&mut self, who: Who) {
        let operations = Arc::clone(&self.operations);
        for (index, operation) in operations.iter().enumerate() {
            if operation.verb != Verb::Read || operation.route.kind == RouteKind::WebSocket {
                continue;
            }
            let chains = self.chains(who, &operation.route, &operation.params);
            for values in chains.into_iter().take(MAX_READS) {
                let key = (who, index, values.clone());
                let (done, failed) = self.tries.get(&key).copied().unwrap_or_default();
                if done > 0 || failed >= MAX_FAILURES {
                    continue;
                }
                let is_read = self.read(who, index, &values).await;
                let tries = self.tries.entry(key).or_default();
                if is_read { tries.0 += 1 } else { tries.1 += 1 }
            }
        }
    }

    /// Reads an object or a list. Returns true if the response is a success.
    async fn read(&mut self, who: Who, index: usize, values: &[String]) -> bool {
        let operations = Arc::clone(&self.operations);
        let Some(operation) = operations.get(index) else { return false };
        if self.is_skipped(operation) {
            return false;
        }
        let shot = self.shot(who, operation, values, BTreeMap::new(), false);
        let Some(exchange) = self.tried(who, operation, &shot).await else { return false };
        let world = self.world_mut(who);
        world.learn(&operations, index, values, &exchange, false);
        if let Some(last) = operation.params.last() {
            let is_created = values
                .last()
                .is_some_and(|id| world.created_ids.contains(&(last.noun.clone(), id.clone())));
            world.add_chain(&last.anchor, values, is_created);
        }
        // An endless stream would make each comparison wait.
        if exchange.is_event_stream() {
            world.streams.insert(index);
            return true;
        }
        world.reads.push(Read { operation: index, values: values.to_vec(), shot, exchange });
        true
    }

    /// Sends a request. Returns the exchange if the response is a success.
    async fn tried(&mut self, who: Who, operation: &Operation, shot: &Shot) -> Option<Exchange> {
        let exchange = self.send(who, shot).await.ok()?;
        if exchange.status == StatusCode::UNAUTHORIZED {
            let user = if who == Who::A { "first" } else { "second" };
            let reason = format!(
                "the credentials of the {user} user get a 401; use `skip` for the route that ends \
                 the login"
            );
            self.leave(operation, "objects of other tenants", reason);
        }
        is_success(operation, &exchange).then_some(exchange)
    }

    pub(super) fn leave(&mut self, operation: &Operation, attack: &str, reason: String) {
        self.runner.report_mut().leave(NotAttacked {
            family: RULE.family,
            attack: attack.to_owned(),
            route: Some(operation.label.clone()),
            reason,
        });
    }

    /// Tries the candidates for ids, and keeps the first that works.
    async fn settle(&mut self, who: Who) {
        let operations = Arc::clone(&self.operations);
        for candidates in std::mem::take(&mut self.world_mut(who).candidates) {
            let anchor = &candidates.anchor;
            let world = self.world(who);
            let known = candidates.choices.iter().find(|choice| world.knows(anchor, choice));
            if let Some(known) = known.cloned() {
                if candidates.is_created {
                    self.world_mut(who).add_chain(anchor, &known, true);
                }
                continue;
            }
            let is_foreign = |choice: &Vec<String>| {
                who == Who::B && self.a.created.contains(&(anchor.clone(), choice.clone()))
            };
            if !candidates.is_created && candidates.choices.iter().any(is_foreign) {
                continue;
            }
            let is_reader = |it: &Operation| it.verb == Verb::Read && it.shape == *anchor;
            let reader = operations.iter().position(is_reader);
            for choice in &candidates.choices {
                let works = match reader {
                    Some(reader) => self.read(who, reader, choice).await,
                    None => true,
                };
                if works {
                    self.world_mut(who).add_chain(anchor, choice, candidates.is_created);
                    if let Some(reader) = reader {
                        self.tries.entry((who, reader, choice.clone())).or_default().0 += 1;
                    }
                    break;
                }
            }
        }
        if who == Who::B {
            self.forget_foreign();
        }
    }

    /// Removes the objects that the first user created from the knowledge of
    /// the second: a list that contains them is a failure.
    fn forget_foreign(&mut self) {
        let (a, b) = (&self.a, &mut self.b);
        for (anchor, chains) in &mut b.chains {
            let is_own = |chain: &Vec<String>| {
                let key = (anchor.clone(), chain.clone());
                !a.created.contains(&key) || b.created.contains(&key)
            };
            chains.retain(is_own);
        }
        for (noun, ids) in &mut b.nouns {
            ids.retain(|id| {
                let key = (noun.clone(), id.clone());
                !a.created_ids.contains(&key) || b.created_ids.contains(&key)
            });
        }
    }

    async fn create_all(&mut self, who: Who) {
        let operations = Arc::clone(&self.operations);
        for (index, operation) in operations.iter().enumerate() {
            if !creates(&operations, operation) {
                continue;
            }
            let chains = self.chains(who, &operation.route, &operation.params);
            let Some(values) = chains.into_iter().next() else { continue };
            let key = (who, index, values.clone());
            let wanted = if who == Who::A { 2 } else { 1 };
            loop {
                let (done, failed) = self.tries.get(&key).copied().unwrap_or_default();
                if done >= wanted || failed >= MAX_FAILURES || self.is_skipped(operation) {
                    break;
                }
                let has_optional = failed % 2 == 1;
                let shot = self.shot(who, operation, &values, BTreeMap::new(), has_optional);
                if let Some(exchange) = self.tried(who, operation, &shot).await {
                    let world = self.world_mut(who);
                    world.learn(&operations, index, &values, &exchange, true);
                    self.tries.entry(key.clone()).or_default().0 += 1;
                    self.settle(who).await;
                } else {
                    self.tries.entry(key.clone()).or_default().1 += 1;
                    if has_optional {
                        break;
                    }
                }
            }
        }
    }

    /// Creates objects with PUT and ids of our choice.
    async fn put_all(&mut self, who: Who) {
        let operations = Arc::clone(&self.operations);
        for operation in operations.iter() {
            let Some((last, parents)) = operation.params.split_last() else { continue };
            let is_put = operation.method == http::Method::PUT && operation.shape == last.anchor;
            let is_known = !self.chains(who, &operation.route, &operation.params).is_empty();
            if !is_put || is_known || self.is_skipped(operation) {
                continue;
            }
            let chains = self.chains(who, &operation.route, parents);
            let Some(mut values) = chains.into_iter().next() else { continue };
            let schema = operation.route.params.iter().find(|param| param.name == last.name);
            let schema = schema.and_then(|param| param.schema.as_object()).cloned();
            let marker = self.next_marker(who);
            let text = schema.and_then(|schema| request::varied(&schema, marker));
            let Some(Value::String(text)) = text else { continue };
            values.push(text);
            let shot = self.shot(who, operation, &values, BTreeMap::new(), false);
            if self.tried(who, operation, &shot).await.is_some() {
                self.world_mut(who).add_chain(&last.anchor, &values, true);
            }
        }
    }

    /// Sends all reads again, because later requests created objects.
    pub(super) async fn reread(&mut self, who: Who) {
        let operations = Arc::clone(&self.operations);
        let reads = std::mem::take(&mut self.world_mut(who).reads);
        for mut read in reads {
            let Some(operation) = operations.get(read.operation) else { continue };
            let Some(exchange) = self.tried(who, operation, &read.shot).await else { continue };
            let world = self.world_mut(who);
            world.learn(&operations, read.operation, &read.values, &exchange, false);
            read.exchange = exchange;
            world.reads.push(read);
        }
        self.settle(who).await;
    }

    /// Creates the objects of both users again after an attack destroyed some.
    pub(super) async fn recover(&mut self) {
        self.runner.renew();
        self.tries.clear();
        (self.a, self.b) = (World::default(), World::default());
        self.crawl(Who::A).await;
        self.crawl(Who::B).await;
        self.is_changed = false;
    }

    /// Reports the operations that the first user never reached.
    fn report_unknown(&mut self) {
        let operations = Arc::clone(&self.operations);
        for operation in operations.iter().filter(|it| !it.params.is_empty()) {
            if self.chains(Who::A, &operation.route, &operation.params).is_empty()
                && !self.is_skipped(operation)
            {
                let reason = "no id of the first user is known: no response contains one";
                self.leave(operation, "objects of other tenants", reason.to_owned());
            }
        }
    }
}

/// Returns true if a response is a success, also in the body of a call.
pub(super) fn is_success(operation: &Operation, exchange: &Exchange) -> bool {
    if !exchange.status.is_success() && !exchange.status.is_redirection() {
        return false;
    }
    let body = || serde_json::from_slice::<Value>(&exchange.body).unwrap_or_default();
    operation.call.as_ref().is_none_or(|call| !call.is_error(&body()))
}

/// Returns true if an operation creates objects, rather than changing one.
pub(super) fn creates(operations: &[Operation], operation: &Operation) -> bool {
    if operation.verb != Verb::Create || operation.ends_login() {
        return false;
    }
    let anchor = operation.items();
    let has_items = operations.iter().flat_map(|it| &it.params).any(|it| it.anchor == anchor);
    let is_created = |status: &StatusDoc| *status == StatusDoc::Exact(201);
    operation.call.is_some()
        || operation.params.is_empty()
        || has_items
        || operation.route.answers.iter().any(|answer| is_created(&answer.status))
}

/// Returns the first value of a parameter with a fixed list of values.
fn listed(route: &RouteInfo, param: &Param) -> Option<String> {
    let info = route.params.iter().find(|it| it.name == param.name)?;
    let first = info.schema.get("enum")?.as_array()?.first()?;
    super::world::text_of(first)
}

/// The maximum number of rounds, which limits the depth of nested objects.
const MAX_ROUNDS: usize = 6;

/// The maximum number of objects of one kind that are read.
const MAX_READS: usize = 3;

/// The maximum number of failed requests with the same values.
const MAX_FAILURES: u32 = 4;

/// The maximum number of ids from other paths that are tried.
const MAX_GUESSES: usize = 2;
