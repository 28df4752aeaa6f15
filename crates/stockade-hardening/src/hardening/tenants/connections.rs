//! Connections that stay open: the second user must not receive messages of the
//! first.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use stockade_routing::map::RouteKind;

use super::crawl::{Probe, creates, is_success};
use super::operation::Operation;
use super::request::{Filling, messages, messages_with, shot, typed};
use super::{RULE, Who};
use crate::exchange::Exchange;
use crate::hardening::connection::Connection;

impl Probe<'_, '_> {
    /// Opens the WebSockets and the streams of events of both users. The first
    /// user then sends messages and creates objects.
    pub(super) async fn attack_connections(&mut self) {
        let operations = Arc::clone(&self.operations);
        let mut is_any = false;
        for (index, operation) in operations.iter().enumerate() {
            let is_stream = self.a.streams.contains(&index);
            if operation.route.kind != RouteKind::WebSocket && !is_stream {
                continue;
            }
            is_any = true;
            let attack = "messages of the other user";
            self.overhear(operation, attack, None).await;
            for (variant, member) in messages_with(&self.map, operation) {
                if self.plain.contains_key(&member.name) {
                    continue;
                }
                let Some(id) = self.foreign_id(&member) else { continue };
                let given: BTreeMap<String, Value> =
                    typed(&member, &id).map(|value| (member.path(), value)).into_iter().collect();
                let attack =
                    format!("message member `{}` with an id of the other user", member.path());
                let marker = self.next_marker(Who::B);
                let (world, plain) = (&self.b, &self.plain);
                let filling = Filling { world, marker, given, has_optional: false, plain };
                let all = messages(&self.map, operation, &filling);
                let Some(text) = all.into_iter().nth(variant) else { continue };
                self.overhear(operation, &attack, Some((text, id))).await;
            }
        }
        if is_any {
            // The first user created objects.
            self.reread(Who::A).await;
            self.reread(Who::B).await;
        }
    }

    /// Listens as the second user while the first sends messages. `sent` is a
    /// message of the second user with an id of the first.
    async fn overhear(
        &mut self,
        operation: &Operation,
        attack: &str,
        sent: Option<(String, String)>,
    ) {
        if !self.is_wanted(operation, attack) {
            return;
        }
        let mut speaker = match self.opened(Who::A, operation).await {
            Ok((_, connection)) => connection,
            Err(reason) => return self.leave(operation, attack, reason),
        };
        let (mut own, mut other) =
            match (self.opened(Who::A, operation).await, self.opened(Who::B, operation).await) {
                (Ok(own), Ok(other)) => (own, other),
                (Err(reason), _) | (_, Err(reason)) => {
                    return self.leave(operation, attack, reason);
                }
            };
        let (foreign, ids) = sent.unzip();
        for text in foreign.into_iter().chain(self.texts(Who::B, operation)) {
            other.1.send(text).await;
        }
        let mut heard = other.1.messages().await;
        for text in self.texts(Who::A, operation) {
            own.1.send(text).await;
        }
        own.1.messages().await;
        // A message may change the effect of the next ones, such as the room.
        let mut texts = self.texts(Who::A, operation);
        texts.reverse();
        texts.extend(self.texts(Who::A, operation));
        for text in texts {
            speaker.send(text).await;
        }
        let mut proof = speaker.messages().await;
        self.create_some().await;
        proof.extend(own.1.messages().await);
        heard.extend(other.1.messages().await);
        let mut exchange = other.0;
        exchange.body = Value::from(heard).to_string().into();
        let ids: Vec<String> = ids.into_iter().collect();
        if let Some(text) = self.secret_in(&exchange, &ids) {
            let found = format!("the connection receives data of the first user: {text}");
            return self.fail(operation, attack, &found, &exchange);
        }
        if proof.iter().any(|text| text.contains(Who::A.marker())) {
            return self.runner.report_mut().pass(RULE.family);
        }
        let reason = "no message with a text of the first user reaches its own connection";
        self.leave(operation, attack, reason.to_owned());
    }

    /// Opens a connection of a user to its own objects.
    async fn opened(
        &mut self,
        who: Who,
        operation: &Operation,
    ) -> Result<(Exchange, Connection), String> {
        let user = if who == Who::A { "first" } else { "second" };
        let chains = self.chains(who, &operation.route, &operation.params);
        let values = chains.into_iter().next();
        let values = values.ok_or_else(|| format!("no id of the {user} user is known"))?;
        let shot = shot(&self.map, operation, &values, &[], None);
        let shot = self.at_host(who, operation, shot).of(self.user(who));
        match self.runner.open(&shot).await? {
            (exchange, Some(connection)) => Ok((exchange, connection)),
            (exchange, None) => {
                Err(format!("the response to the {user} user is {}", exchange.status))
            }
        }
    }

    /// Returns one message of each kind.
    fn texts(&mut self, who: Who, operation: &Operation) -> Vec<String> {
        if operation.route.kind != RouteKind::WebSocket {
            return Vec::new();
        }
        let marker = self.next_marker(who);
        let (world, plain) = (self.world(who), &self.plain);
        let filling = Filling { world, marker, given: BTreeMap::new(), has_optional: false, plain };
        messages(&self.map, operation, &filling)
    }

    /// Creates objects of the first user.
    async fn create_some(&mut self) {
        let operations = Arc::clone(&self.operations);
        let mut created = 0;
        for (index, operation) in operations.iter().enumerate() {
            if !creates(&operations, operation) || created == MAX_CREATED {
                continue;
            }
            let chains = self.chains(Who::A, &operation.route, &operation.params);
            let Some(values) = chains.into_iter().next() else { continue };
            if self.is_skipped(operation) {
                continue;
            }
            let shot = self.shot(Who::A, operation, &values, BTreeMap::new(), false);
            let Ok(exchange) = self.send(Who::A, &shot).await else { continue };
            if is_success(operation, &exchange) {
                created += 1;
                self.a.learn(&operations, index, &values, &exchange, true);
            }
        }
    }
}

/// The number of objects that the first user creates while the second listens.
const MAX_CREATED: usize = 10;
