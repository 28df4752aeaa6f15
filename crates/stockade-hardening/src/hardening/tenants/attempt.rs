//! [`Attempt`]: a request of the second user with ids of the first user, and its
//! comparison with the response for unknown ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::compare::{has_same_body, is_same, plain};
use super::crawl::{Probe, is_success};
use super::names::Verb;
use super::operation::{Call, Operation};
use super::{RULE, Who, curl};
use crate::exchange::Exchange;
use crate::hardening::tools::message;
use crate::shot::Shot;

/// A request of the second user with ids of the first user.
pub(super) struct Attempt {
    pub(super) operation: usize,
    /// The name, such as `:id of the other user`.
    pub(super) attack: String,
    pub(super) foreign: Shot,
    /// The same request with unknown ids. Empty if only the content of the
    /// response counts.
    pub(super) controls: Vec<Shot>,
    /// The ids and texts in all of these requests.
    pub(super) ids: Vec<String>,
    pub(super) proof: Proves,
}

/// The condition for a rejected attempt to count.
pub(super) enum Proves {
    /// The first user must succeed with this request, which is sent at the end.
    Owner(Box<Shot>),
    /// A request of the same form has succeeded.
    Known,
    /// No request of the first user has succeeded.
    Nothing(&'static str),
}

/// A rejected attempt that waits for the request of the first user.
pub(super) struct Proof {
    operation: usize,
    attack: String,
    shot: Shot,
}

impl Probe<'_, '_> {
    /// Sends an attempt and records the result.
    pub(super) async fn attempt(&mut self, attempt: Attempt) {
        let operations = Arc::clone(&self.operations);
        let Some(operation) = operations.get(attempt.operation) else { return };
        if !self.is_wanted(operation, &attempt.attack) {
            return;
        }
        let foreign = match self.send(Who::B, &attempt.foreign).await {
            Ok(foreign) => foreign,
            Err(reason) => return self.leave(operation, &attempt.attack, reason),
        };
        let found = self.found(operation, &attempt, &foreign).await;
        match found {
            Found::Leak(found) => self.fail(operation, &attempt.attack, &found, &foreign),
            Found::Nothing(reason) => self.leave(operation, &attempt.attack, reason),
            Found::Refused => match attempt.proof {
                Proves::Known => self.runner.report_mut().pass(RULE.family),
                Proves::Nothing(reason) => {
                    self.leave(operation, &attempt.attack, reason.to_owned());
                }
                Proves::Owner(shot) => self.proofs.push(Proof {
                    operation: attempt.operation,
                    attack: attempt.attack,
                    shot: *shot,
                }),
            },
        }
        if self.is_changed {
            self.recover().await;
        }
    }

    /// Returns false if the route is skipped, or if another attack is replayed.
    pub(super) fn is_wanted(&mut self, operation: &Operation, attack: &str) -> bool {
        let replay = self.runner.plan().tenants.replay.as_ref();
        let is_other = replay.is_some_and(|replay| *replay != name_of(operation, attack));
        !is_other && !self.is_skipped(operation)
    }

    async fn found(
        &mut self,
        operation: &Operation,
        attempt: &Attempt,
        foreign: &Exchange,
    ) -> Found {
        let status = status_of(operation, foreign);
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::TOO_MANY_REQUESTS {
            return Found::Nothing(format!("the response to the second user is {status}"));
        }
        if operation.verb != Verb::Read
            && let Some(changed) = self.changed().await
        {
            self.is_changed = true;
            return Found::Leak(format!(
                "the response is {}, and {changed} of the first user is different afterwards",
                foreign.status
            ));
        }
        if let Some(text) = self.secret_in(foreign, &attempt.ids) {
            return Found::Leak(format!(
                "the response is {} and contains data of the first user: {text}",
                foreign.status
            ));
        }
        let mut controls = Vec::new();
        for control in &attempt.controls {
            match self.send(Who::B, control).await {
                Ok(control) => controls.push(control),
                Err(reason) => return Found::Nothing(reason),
            }
        }
        compared(operation, attempt, foreign, &controls)
    }

    /// Returns a text or an object of the first user in a response.
    pub(super) fn secret_in(&self, exchange: &Exchange, ids: &[String]) -> Option<String> {
        let text = plain(exchange, ids);
        if let Some(start) = text.find(Who::A.marker()) {
            let rest = text.get(start..).unwrap_or_default();
            let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
            return Some(format!("the text `{}`", rest.get(..end).unwrap_or_default()));
        }
        let location = exchange.header("location").unwrap_or_default();
        let mut created = self.a.created_ids.iter().map(|(_, id)| id);
        let leaked = created.find(|id| {
            let is_long = id.len() >= OPAQUE && !ids.contains(id) && !self.b.has_value(id);
            is_long && (text.contains(*id) || location.contains(*id))
        });
        if let Some(id) = leaked {
            return Some(format!("the id `{id}`"));
        }
        let body = serde_json::from_slice::<Value>(&exchange.body).ok()?;
        let items = super::world::items(&body);
        let object = items
            .into_iter()
            .map(Value::to_string)
            .find(|object| self.a.objects.contains(object) && !self.b.objects.contains(object))?;
        Some(format!("the object `{object}`"))
    }

    /// Reads the objects of the first user again. Returns the first read with a
    /// different response.
    pub(super) async fn changed(&mut self) -> Option<String> {
        let operations = Arc::clone(&self.operations);
        for read in self.a.reads.clone() {
            let operation = operations.get(read.operation)?;
            let Ok(exchange) = self.send(Who::A, &read.shot).await else { continue };
            let is_same = exchange.status == read.exchange.status
                && has_same_body(&exchange, &read.exchange, &[]);
            if !is_same {
                return Some(format!("`{} {}`", operation.method, read.shot.target));
            }
        }
        None
    }

    /// Removes the reads of the first user that change without a request.
    pub(super) async fn keep_stable_reads(&mut self) {
        let operations = Arc::clone(&self.operations);
        let mut newest: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for read in std::mem::take(&mut self.a.reads) {
            newest.entry(read.operation).or_default().push(read);
        }
        for (index, reads) in newest {
            let Some(operation) = operations.get(index) else { continue };
            let first = reads.len().saturating_sub(MAX_COMPARED);
            for mut read in reads.into_iter().skip(first) {
                let mut is_stable = true;
                for _ in 0..2 {
                    let Ok(exchange) = self.send(Who::A, &read.shot).await else { continue };
                    is_stable = is_same(&exchange, &read.exchange, &[]);
                    read.exchange = exchange;
                }
                if is_stable {
                    self.a.reads.push(read);
                } else {
                    let reason = "each response is different, so it does not show changes";
                    self.leave(operation, "the comparison with a later read", reason.into());
                }
            }
        }
    }

    /// Sends the requests of the first user. A rejected attempt counts only if
    /// the first user succeeds.
    pub(super) async fn prove(&mut self) {
        let operations = Arc::clone(&self.operations);
        let mut proofs = std::mem::take(&mut self.proofs);
        // Objects are deleted last, and the innermost first.
        proofs.sort_by_key(|proof| {
            let operation = operations.get(proof.operation);
            operation
                .filter(|it| it.verb == Verb::Delete)
                .map_or(0, |operation| usize::MAX - operation.shape.split('/').count())
        });
        let mut results: BTreeMap<usize, Result<(), String>> = BTreeMap::new();
        for proof in proofs {
            let Some(operation) = operations.get(proof.operation) else { continue };
            if !results.get(&proof.operation).is_some_and(Result::is_ok) {
                let result = match self.send(Who::A, &proof.shot).await {
                    Ok(exchange) if is_success(operation, &exchange) => Ok(()),
                    Ok(exchange) => {
                        Err(format!("the same request of the first user gets {}", exchange.status))
                    }
                    Err(reason) => Err(reason),
                };
                results.insert(proof.operation, result);
            }
            match results.get(&proof.operation) {
                Some(Err(reason)) => self.leave(operation, &proof.attack, reason.clone()),
                _ => self.runner.report_mut().pass(RULE.family),
            }
        }
    }

    pub(super) fn fail(
        &mut self,
        operation: &Operation,
        attack: &str,
        found: &str,
        exchange: &Exchange,
    ) {
        let curl = curl::command(&exchange.asked, Who::B);
        let name = name_of(operation, attack);
        let place = (Some(operation.label.clone()), Some(operation.route.location.clone()));
        let shown = format!("{curl}\nreplay: .replay({name:?})\n\n{exchange}");
        let failure = RULE.failure(attack.to_owned(), place, found.to_owned(), Some(shown));
        self.runner.report_mut().fail(failure);
    }
}

/// The result of an attempt.
enum Found {
    Leak(String),
    Refused,
    /// The responses prove nothing.
    Nothing(String),
}

/// Compares the response for ids of the first user with the responses for
/// unknown ids.
fn compared(
    operation: &Operation,
    attempt: &Attempt,
    foreign: &Exchange,
    controls: &[Exchange],
) -> Found {
    let status = status_of(operation, foreign);
    if status.is_server_error() && controls.iter().all(|it| status_of(operation, it) == status) {
        return Found::Nothing(format!("the response is {status}, also for unknown ids"));
    }
    let Some(first) = controls.first() else { return Found::Refused };
    let is_stable = controls.iter().all(|it| has_same_body(it, first, &attempt.ids));
    let is_known = match is_stable {
        true => controls.iter().any(|it| is_same(it, foreign, &attempt.ids)),
        false => controls.iter().any(|it| status_of(operation, it) == status),
    };
    let is_invalid = |status: StatusCode| {
        matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
    };
    if is_known {
        return Found::Refused;
    }
    if is_success(operation, foreign) {
        return Found::Leak(format!(
            "the response is {}, and {} for an unknown id",
            foreign.status,
            shown(operation, first)
        ));
    }
    if is_invalid(status_of(operation, first)) && !is_invalid(status) {
        let reason = "the generated unknown id is invalid: set `Hardening::param` or a schema";
        return Found::Nothing(reason.to_owned());
    }
    Found::Leak(format!(
        "the response is {}, and {} for an unknown id, which reveals that the object exists",
        shown(operation, foreign),
        shown(operation, first)
    ))
}

/// Returns the status of a response, or of the route in the result of a tool.
fn status_of(operation: &Operation, exchange: &Exchange) -> StatusCode {
    let in_result = || match &operation.call {
        Some(Call::Tool(_)) => {
            let body = serde_json::from_slice::<Value>(&exchange.body).ok()?;
            message::status_of(body.get("result")?)
        }
        _ => None,
    };
    in_result().unwrap_or(exchange.status)
}

/// Returns the status, or that the body of a response to a call is an error.
fn shown(operation: &Operation, exchange: &Exchange) -> String {
    match operation.call.is_some() && !is_success(operation, exchange) {
        true => "an error in the body".to_owned(),
        false => exchange.status.to_string(),
    }
}

/// Returns the name of an attempt for a replay.
fn name_of(operation: &Operation, attack: &str) -> String {
    format!("{}: {attack}", operation.label)
}

/// The minimum length of an id that does not occur in other texts by chance.
const OPAQUE: usize = 8;

/// The maximum number of compared reads of one operation.
const MAX_COMPARED: usize = 2;
