//! One case of a route. It is generated, sent and checked, and shrunk if it fails.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use stockade_core::{HttpBody, Request};
use stockade_routing::map::asked_route::asked_route;
use tokio::time::timeout;

use super::Run;
use super::breaks::Break;
use super::input::{self, Input, text_of};
use super::kept::SavedFailure;
use super::report::{Property, PropertyFailure};
use super::route::RouteCheck;
use super::validate::{self, Answered, Verdict};
use crate::Credentials;
use crate::any_version::{ANY_VERSION, IF_MATCH, needs_version};
use crate::exchange::Exchange;
use crate::idempotency_key::{IDEMPOTENCY_KEY, key_of, needs_key};
use crate::into_app::start;

type Tree = Box<dyn ValueTree<Value = Input>>;

/// The property that the response to a request must satisfy.
#[derive(Clone, Copy)]
pub(super) enum Aim<'b> {
    Valid,
    Broken(&'b Break),
}

/// The result of a case, with the data for the report.
enum CaseVerdict {
    Right,
    Beside(String),
    Wrong(Property, String, String),
}

impl RouteCheck<'_> {
    /// Returns a case that is routed to the route.
    pub(super) fn next(
        &self,
        strategy: &BoxedStrategy<Input>,
        runner: &mut TestRunner,
    ) -> Result<Tree, String> {
        for _ in 0..TRIES {
            let tree = strategy.new_tree(runner).map_err(|reason| reason.to_string())?;
            if self.is_routed(&tree.current()) {
                return Ok(tree);
            }
        }
        Err("the path does not match the route".to_owned())
    }

    /// Returns true if the path of an input leads to the route with the
    /// intended parameters.
    fn is_routed(&self, input: &Input) -> bool {
        if input.params.is_empty() {
            return true;
        }
        let target = input.target();
        let method = input::method_of(self.route);
        // Parameters are ambiguous only if one segment contains several.
        if !input.template.split('/').any(|segment| segment.matches('{').count() > 1) {
            let request = http::Request::builder().method(method).uri(&target);
            let request = request.body(HttpBody::empty()).map(Request::from);
            return request.is_ok_and(|it| asked_route(&self.app, it) == Some(self.index));
        }
        let path = target.split('?').next().unwrap_or_default();
        let Ok(found) = self.app.explain(&format!("{method} {path}")) else { return false };
        let is_route = found.route.is_some_and(|route| {
            (&route.path, &route.method) == (&self.route.path, &self.route.method)
        });
        let params: BTreeMap<&String, &String> =
            found.params.iter().map(|(name, value)| (name, value)).collect();
        is_route
            && input.params.iter().all(|(name, value)| {
                params.get(name).is_some_and(|found| **found == text_of(value))
            })
    }

    /// Sends an input and validates the response. A failure is shrunk, reported
    /// and saved.
    pub(super) async fn try_once(
        &mut self,
        input: &Input,
        aim: Aim<'_>,
        run: &mut Run,
        tree: Option<Tree>,
    ) -> Verdict {
        let (verdict, status) = self.try_input(input, aim, run).await;
        *self.report.replies.entry(status).or_default() += 1;
        let (property, message, exchange) = match verdict {
            CaseVerdict::Right => return Verdict::Right,
            CaseVerdict::Beside(why) => return Verdict::Beside(why),
            CaseVerdict::Wrong(property, message, exchange) => (property, message, exchange),
        };
        let is_first = run.shrunk.insert(message.clone());
        let mut smallest = (input.clone(), message, exchange);
        if let Some(tree) = tree.filter(|_| is_first) {
            self.shrink(tree, aim, property, (&mut smallest, run)).await;
        }
        let (input, message, exchange) = smallest;
        run.shrunk.insert(message.clone());
        let (field, rules) = match aim {
            Aim::Valid => (String::new(), Vec::new()),
            Aim::Broken(found) => (found.field.clone(), found.rules.clone()),
        };
        run.kept.add(SavedFailure { route: self.label.clone(), property, field, rules, input });
        let failure = PropertyFailure { property, message: message.clone(), exchange };
        let is_known = self.report.failures.iter().any(|it| it.message == message);
        if !is_known {
            self.report.failures.push(failure);
        }
        Verdict::Wrong(message)
    }

    /// Searches for a smaller input that fails in the same way, in the same
    /// application.
    async fn shrink(
        &mut self,
        mut tree: Tree,
        aim: Aim<'_>,
        wanted: Property,
        (smallest, run): (&mut (Input, String, String), &mut Run),
    ) {
        let mut is_left = tree.simplify();
        let mut steps = 0;
        while is_left && steps < STEPS {
            steps += 1;
            let input = tree.current();
            let mut is_wrong = false;
            if self.is_routed(&input)
                && let (CaseVerdict::Wrong(property, message, exchange), _) =
                    self.try_input(&input, aim, run).await
                && property == wanted
            {
                *smallest = (input, message, exchange);
                is_wrong = true;
            }
            is_left = if is_wrong { tree.simplify() } else { tree.complicate() };
        }
    }

    /// Sends an input and validates the response. Also returns the status, or 0
    /// without a response.
    async fn try_input(&self, input: &Input, aim: Aim<'_>, run: &mut Run) -> (CaseVerdict, u16) {
        let own = match aim {
            Aim::Valid => Property::Valid,
            Aim::Broken(_) => Property::Broken,
        };
        let answered = match self.send(input, run).await {
            Ok(answered) => answered,
            Err(error) => return (CaseVerdict::Wrong(own, error, String::new()), 0),
        };
        let verdict = match aim {
            Aim::Valid => validate::valid(self.route, &answered),
            Aim::Broken(found) => validate::broken(self.route, found, &answered),
        };
        let status = answered.status();
        let kept = || self.contract.check_exchange(&answered.exchange, answered.is_whole);
        let verdict = match verdict {
            Verdict::Right => match kept() {
                Ok(()) => CaseVerdict::Right,
                Err(error) => {
                    let exchange = answered.exchange.to_string();
                    CaseVerdict::Wrong(Property::Reply, error.to_string(), exchange)
                }
            },
            Verdict::Beside(why) => CaseVerdict::Beside(why),
            Verdict::Wrong(message) => {
                CaseVerdict::Wrong(own, message, answered.exchange.to_string())
            }
        };
        (verdict, status)
    }

    /// Sends an input. Returns the reason if the response is missing or
    /// incomplete.
    async fn send(&self, input: &Input, run: &mut Run) -> Result<Answered, String> {
        run.requests += 1;
        let number = run.requests;
        run.progress.show(self.index, &self.label, number);
        let peer = Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)) + number);
        let mut shot = input.request(self.route);
        let own = self.credentials.as_ref().map(Credentials::headers);
        let has_own = |name: &str| own.is_some_and(|own| own.contains_key(name));
        if needs_key(self.route) && !has_own(IDEMPOTENCY_KEY) {
            // Each request has its own key, even if the input is repeated.
            shot = shot.add(IDEMPOTENCY_KEY, key_of(number));
        }
        if needs_version(self.route) && !has_own(IF_MATCH) {
            shot = shot.add(IF_MATCH, ANY_VERSION);
        }
        if let Some(credentials) = &self.credentials {
            shot = shot.of(credentials);
        }
        let asked = Arc::new(shot.sent(self.check.location));
        let without = |why: String| format!("{why}\n\n{asked}");
        let Some(request) = shot.request((peer, PORT).into()) else {
            return Err(without("the target cannot be sent".to_owned()));
        };
        start(&self.app).await;
        let late = || without(format!("no complete response within {PATIENCE:?}"));
        let response = timeout(PATIENCE, self.app.handle(request)).await.map_err(|_| late())?;
        let (head, body) = response.into_parts();
        let content_type = head.headers.get(http::header::CONTENT_TYPE);
        // An event stream does not end.
        let is_whole =
            content_type.is_none_or(|it| !it.as_bytes().starts_with(b"text/event-stream"));
        let body = if is_whole {
            let whole = timeout(PATIENCE, body.collect(MAX_WHOLE)).await.map_err(|_| late())?;
            whole.map_err(|error| without(format!("the body ended early: {error}")))?
        } else {
            Bytes::new()
        };
        let exchange = Exchange { asked, status: head.status, headers: head.headers, body };
        Ok(Answered { exchange, is_whole })
    }

    /// Returns the generator for a part of the route. It is deterministic and
    /// independent of other routes.
    pub(super) fn runner(&self, part: &str) -> TestRunner {
        let mut seed = [0; 32];
        let name = format!("{} {part}", self.label);
        for (place, byte) in self.check.seed.to_le_bytes().into_iter().enumerate() {
            seed[place] = byte;
        }
        for (place, byte) in name.bytes().enumerate() {
            let place = 8 + place % 24;
            seed[place] = seed[place].wrapping_mul(31).wrapping_add(byte);
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let config = ProptestConfig {
            failure_persistence: None,
            max_local_rejects: REJECTS,
            ..ProptestConfig::default()
        };
        TestRunner::new_with_rng(config, rng)
    }
}

/// The maximum number of attempts to generate a case that is routed to the
/// route.
const TRIES: usize = 50;

/// The maximum number of steps to shrink a failing case.
const STEPS: usize = 200;

/// The maximum number of values that a strategy may discard before it gives up.
const REJECTS: u32 = 5_000;

/// The port of the client address.
const PORT: u16 = 50_000;

/// The timeout for a response and its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// The maximum body size that is read completely, in bytes.
const MAX_WHOLE: u64 = 64 * 1024 * 1024;
