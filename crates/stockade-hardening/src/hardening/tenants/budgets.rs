//! Rate limits: the first user must not spend the budget of the second.

use std::sync::Arc;

use http::StatusCode;
use stockade_routing::map::QuotaInfo;

use super::crawl::Probe;
use super::operation::Operation;
use super::world::Read;
use super::{RULE, Who};

impl Probe<'_, '_> {
    /// Spends each rate limit as the first user. Must be the last attack,
    /// because the first user gets no other responses afterwards.
    pub(super) async fn attack_budgets(&mut self) {
        let operations = Arc::clone(&self.operations);
        let router = self.runner.router().rate_limit.clone();
        let mut names: Vec<String> = Vec::new();
        for read in self.a.reads.clone() {
            let Some(operation) = operations.get(read.operation) else { continue };
            let limits = &operation.route.limits;
            let shared = router.iter().filter(|_| !limits.rate_exempt);
            for quota in limits.rate.iter().chain(shared) {
                let own = self.b.reads.iter().find(|own| own.operation == read.operation);
                let Some(own) = own.cloned().filter(|_| !names.contains(&quota.name)) else {
                    continue;
                };
                names.push(quota.name.clone());
                self.spend(operation, quota, &read, &own).await;
            }
        }
    }

    async fn spend(&mut self, operation: &Operation, quota: &QuotaInfo, read: &Read, own: &Read) {
        let attack = format!("the rate limit {} after requests of the other user", quota.name);
        if !self.is_wanted(operation, &attack) {
            return;
        }
        let Some(limit) = quota.limit.filter(|limit| *limit <= MAX_REQUESTS) else {
            let reason = "the number of requests is unknown or too large to send".to_owned();
            return self.leave(operation, &attack, reason);
        };
        let peer = self.runner.new_peer();
        let shot = read.shot.clone().of(self.user(Who::A)).peer(peer);
        let mut is_spent = false;
        for _ in 0..=limit {
            match self.runner.send(None, &shot).await {
                Ok(exchange) => is_spent = exchange.status == StatusCode::TOO_MANY_REQUESTS,
                Err(reason) => return self.leave(operation, &attack, reason),
            }
            if is_spent {
                break;
            }
        }
        if !is_spent {
            let reason = format!("{} requests of the first user get no 429", limit + 1);
            return self.leave(operation, &attack, reason);
        }
        let shot = own.shot.clone().of(self.user(Who::B));
        match self.runner.send(None, &shot).await {
            Ok(exchange) if exchange.status == StatusCode::TOO_MANY_REQUESTS => {
                let found = "the response is a 429 for the second user, from another address";
                self.fail(operation, &attack, found, &exchange);
            }
            Ok(_) => self.runner.report_mut().pass(RULE.family),
            Err(reason) => self.leave(operation, &attack, reason),
        }
    }
}

/// The largest budget that is spent.
const MAX_REQUESTS: u64 = 1_000;
