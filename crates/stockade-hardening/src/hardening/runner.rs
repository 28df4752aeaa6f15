//! [`Runner`]: sends attacks and records their results.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use stockade_core::upgrade::Switch;
use stockade_core::{HttpBody, Response};
use stockade_routing::App;
use stockade_routing::map::{Place, RouteInfo, RouteKind, RouteMap, RouterInfo};

use super::attack_target::{AttackTarget, index_of, label_of};
use super::connection::Connection;
use super::responses;
use super::{
    AttackFamily, Hardening, HardeningFailure, HardeningReport, NotAttacked, SkippedAttacks,
};
use crate::exchange::{Exchange, SentRequest};
use crate::idempotency_key::{IDEMPOTENCY_KEY, key_of};
use crate::into_app::start;
use crate::shot::{Shot, ShotBody};
use crate::{Credentials, TestClock};

/// A rule that attacks try to break.
pub(super) struct Rule {
    pub(super) family: AttackFamily,
    pub(super) text: &'static str,
    pub(super) mend: &'static str,
}

impl Rule {
    /// Returns the failure of a route that breaks the rule.
    pub(super) fn failure(
        &self,
        attack: String,
        (route, location): (Option<String>, Option<Place>),
        found: String,
        exchange: Option<String>,
    ) -> HardeningFailure {
        HardeningFailure {
            family: self.family,
            attack,
            route,
            location,
            found,
            rule: self.text.to_owned(),
            mend: self.mend.to_owned(),
            exchange,
            times: 1,
        }
    }
}

/// The result of an attack.
pub(super) enum Verdict {
    /// The attack was rejected correctly.
    Refused,
    /// The attack succeeded; contains the finding.
    GotThrough(String),
    /// The response proves nothing; contains the reason.
    Unproven(String),
}

/// Sends the attacks of a [`Hardening`].
pub(super) struct Runner<'h> {
    plan: &'h Hardening,
    app: App,
    pub(super) clock: Option<TestClock>,
    pub(super) map: Arc<RouteMap>,
    pub(super) targets: Arc<[AttackTarget]>,
    report: HardeningReport,
    /// The number of attacks that each skip left out.
    skipped: Vec<usize>,
    peers: u32,
    keys: u32,
}

impl<'h> Runner<'h> {
    pub(super) fn new(plan: &'h Hardening) -> Self {
        let app = plan.app.clone();
        let map = app.route_map();
        let mut report = HardeningReport::of(plan.only.as_deref());
        let mut targets = Vec::new();
        for (index, route) in map.routes.iter().enumerate() {
            match AttackTarget::new(&app, &map, index, |name| plan.params.get(name).cloned()) {
                Some(target) => targets.push(target),
                // Objects of tenants are attacked with values from responses, and
                // any route shows that a login has ended.
                None => AttackFamily::ALL
                    .iter()
                    .filter(|it| concerns(route, **it))
                    .filter(|it| plan.attacks(**it))
                    .for_each(|family| {
                        report.leave(NotAttacked {
                            family: *family,
                            attack: "all attacks".to_owned(),
                            route: Some(label_of(route)),
                            reason: match route.kind {
                                RouteKind::RpcMethod => RPC_METHOD.to_owned(),
                                _ => NO_PATH.to_owned(),
                            },
                        });
                    }),
            }
        }
        Self {
            plan,
            app,
            clock: plan.clock.clone(),
            map: Arc::new(map),
            targets: targets.into(),
            report,
            skipped: vec![0; plan.skips.len()],
            peers: 0,
            keys: 0,
        }
    }

    pub(super) fn plan(&self) -> &'h Hardening {
        self.plan
    }

    pub(super) fn router(&self) -> &RouterInfo {
        &self.map.router
    }

    /// Returns the route that handles a request, if any.
    pub(super) fn target_of(&self, shot: &Shot) -> Option<&RouteInfo> {
        self.map.routes.get(index_of(&self.app, shot)?)
    }

    /// Returns true if the requests of a route call JSON-RPC methods by name.
    pub(super) fn has_methods(&self, target: &AttackTarget) -> bool {
        let prefix = format!("{}#", target.route.path);
        let mut methods = self.map.routes.iter().filter(|it| it.kind == RouteKind::RpcMethod);
        target.route.kind == RouteKind::Http && methods.any(|it| it.path.starts_with(&prefix))
    }

    /// Returns true if no route matches a request, so it reaches the fallback.
    pub(super) fn fallback_takes(&self, shot: &Shot) -> bool {
        let explained = self.app.explain(&format!("{} {}", shot.method, shot.target));
        explained.is_ok_and(|found| found.route.is_none() && found.status.is_none())
    }

    /// Lets a sender sign a request, if the route needs a signature and the test
    /// has the keys.
    pub(super) fn signed(&self, target: &AttackTarget, mut shot: Shot) -> Shot {
        let sender = target.route.signature.as_ref().map(|it| it.sender.as_str());
        let signers = &self.plan.signers;
        shot.signer = signers.iter().position(|signer| sender == Some(signer.sender));
        shot
    }

    /// Signs a request whose body is in memory.
    fn with_signature<'s>(&self, shot: Cow<'s, Shot>) -> Cow<'s, Shot> {
        let signer = shot.signer.and_then(|index| self.plan.signers.get(index));
        match (signer, &shot.body) {
            (Some(signer), ShotBody::Whole(body)) => {
                let signed = signer.headers(body).into_iter();
                Cow::Owned(
                    signed.fold(shot.into_owned(), |shot, (name, value)| shot.set(name, value)),
                )
            }
            _ => shot,
        }
    }

    /// Returns the credentials of a user with these roles.
    pub(super) fn user(&self, roles: &[&str]) -> Option<Credentials> {
        self.plan.users.as_ref()?(roles)
    }

    /// Creates a request that passes the guards of a route, with credentials if
    /// the route needs a user. If no such user is known, records that `attack`
    /// is left out.
    pub(super) fn shot_let_through(
        &mut self,
        family: AttackFamily,
        target: &AttackTarget,
        attack: &'static str,
    ) -> Option<Shot> {
        if !target.needs_user() {
            return Some(target.shot());
        }
        let user = self.user(&target.roles());
        if user.is_none() {
            let reason =
                "no user with access to the route is known: add one with `Hardening::users`";
            self.leave(family, Some(target), attack, reason);
        }
        user.map(|user| target.shot().of(&user))
    }

    /// Sends an attack and validates the response.
    pub(super) async fn attack(
        &mut self,
        rule: &Rule,
        target: Option<&AttackTarget>,
        attack: impl Into<Cow<'static, str>>,
        shot: Shot,
        validator: impl FnOnce(&Exchange) -> Verdict,
    ) {
        let attack = attack.into();
        if self.is_skipped(rule.family, target) {
            return;
        }
        let mut exchange = self.send(target, &shot).await;
        if let (Ok(answer), Some(clock)) = (&exchange, &self.clock)
            && answer.status == StatusCode::TOO_MANY_REQUESTS
        {
            // The limit does not depend on the client address, so advance the
            // clock to reset it.
            clock.advance(A_DAY);
            exchange = self.send(target, &shot).await;
        }
        let exchange = match exchange {
            Ok(exchange) => exchange,
            Err(reason) => return self.leave(rule.family, target, attack, reason),
        };
        let verdict = match exchange.status {
            StatusCode::TOO_MANY_REQUESTS => Verdict::Unproven("the response was 429".into()),
            _ => validator(&exchange),
        };
        self.note(rule, target, attack, Some(&exchange), verdict);
    }

    /// Records the result of an attack.
    pub(super) fn note(
        &mut self,
        rule: &Rule,
        target: Option<&AttackTarget>,
        attack: impl Into<Cow<'static, str>>,
        exchange: Option<&Exchange>,
        verdict: Verdict,
    ) {
        let found = match verdict {
            Verdict::Refused => return self.report.pass(rule.family),
            Verdict::Unproven(reason) => return self.leave(rule.family, target, attack, reason),
            Verdict::GotThrough(found) => found,
        };
        let place = target.map(|it| (it.label.clone(), it.route.location.clone())).unzip();
        let shown = exchange.map(ToString::to_string);
        self.report.fail(rule.failure(attack.into().into_owned(), place, found, shown));
        if exchange.is_some_and(|exchange| !exchange.status.is_client_error()) {
            self.renew();
        }
    }

    /// Records an attack that was not made, with the reason.
    pub(super) fn leave(
        &mut self,
        family: AttackFamily,
        target: Option<&AttackTarget>,
        attack: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) {
        self.report.leave(NotAttacked {
            family,
            attack: attack.into().into_owned(),
            route: target.map(|target| target.label.clone()),
            reason: reason.into(),
        });
    }

    /// Returns true if this family is skipped for a route.
    pub(super) fn is_skipped(
        &mut self,
        family: AttackFamily,
        target: Option<&AttackTarget>,
    ) -> bool {
        self.skips(family, target.map(|target| target.label.as_str()))
    }

    /// Returns true if this family is skipped for the route with this label.
    pub(super) fn skips(&mut self, family: AttackFamily, label: Option<&str>) -> bool {
        let is_meant = |route: &str| route == EVERY_ROUTE || label == Some(route);
        let mut skips = self.plan.skips.iter();
        let found = skips.position(|skip| skip.family == family && is_meant(&skip.route));
        if let Some(count) = found.and_then(|index| self.skipped.get_mut(index)) {
            *count += 1;
        }
        found.is_some()
    }

    /// Rebuilds the application, if the test has a function for it.
    pub(super) fn renew(&mut self) {
        // The first application was built from the same routes without an error.
        if let Some(Ok((app, clock))) = self.plan.make.as_ref().map(|make| make()) {
            (self.app, self.clock) = (app, clock);
        }
    }

    /// Returns an unused client address.
    pub(super) fn new_peer(&mut self) -> SocketAddr {
        // 198.18.0.0/15 is reserved for benchmarks (RFC 2544), so no trusted
        // proxy uses it.
        let address = FIRST_PEER + self.peers % PEERS;
        self.peers += 1;
        SocketAddr::new(IpAddr::V4(Ipv4Addr::from_bits(address)), 50_000)
    }

    /// Adds a unique idempotency key if the request needs one.
    fn with_key<'s>(&mut self, shot: &'s Shot) -> Cow<'s, Shot> {
        if !shot.has_new_key {
            return Cow::Borrowed(shot);
        }
        self.keys += 1;
        Cow::Owned(shot.clone().set(IDEMPOTENCY_KEY, key_of(self.keys)))
    }

    /// Sends a request and validates the response against the rules for all
    /// responses. Returns the reason if the request gets no response.
    pub(super) async fn send(
        &mut self,
        target: Option<&AttackTarget>,
        shot: &Shot,
    ) -> Result<Exchange, String> {
        let (asked, response) = self.response(shot).await?;
        let exchange = read(asked, response).await;
        responses::validate(self, target, &exchange);
        Ok(exchange)
    }

    /// Sends a request and returns the response with its whole body. Advances
    /// the clock if the response is a 429.
    pub(super) async fn send_whole(&mut self, shot: &Shot) -> Result<Exchange, String> {
        let (mut asked, mut response) = self.response(shot).await?;
        if let (StatusCode::TOO_MANY_REQUESTS, Some(clock)) = (response.status(), &self.clock) {
            clock.advance(A_DAY);
            (asked, response) = self.response(shot).await?;
        }
        Ok(read_whole(asked, response).await)
    }

    /// Opens a WebSocket or a stream of events. The connection is `None` if the
    /// response is neither.
    pub(super) async fn open(
        &mut self,
        shot: &Shot,
    ) -> Result<(Exchange, Option<Connection>), String> {
        let (asked, mut response) = self.response(shot).await?;
        let switch = Switch::take(&mut response);
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status, head.headers);
        let mut exchange = Exchange { asked, status, headers, body: Bytes::new() };
        let connection = match switch {
            Some(switch) => Some(Connection::open(switch).await),
            None if exchange.is_event_stream() && status.is_success() => {
                Some(Connection::Events(body))
            }
            None => {
                exchange.body = refusal(body).await;
                None
            }
        };
        Ok((exchange, connection))
    }

    /// Sends a request. Returns the reason if there is no response.
    async fn response(&mut self, shot: &Shot) -> Result<(Arc<SentRequest>, Response), String> {
        let peer = shot.peer.unwrap_or_else(|| self.new_peer());
        let keyed = self.with_key(shot);
        let shot = &self.with_signature(keyed);
        let request = shot.request(peer).ok_or("no client can send it")?;
        let (app, through) = (self.app.clone(), self.plan.through.clone());
        let answer = async move {
            match through {
                Some(through) => through(app, request).await,
                None => app.handle(request).await,
            }
        };
        let asked = Arc::new(shot.sent(self.plan.location));
        start(&self.app).await;
        let response = tokio::time::timeout(PATIENCE, answer).await;
        let response = response.map_err(|_| format!("no response within {PATIENCE:?}"))?;
        Ok((asked, response))
    }

    pub(super) fn report_mut(&mut self) -> &mut HardeningReport {
        &mut self.report
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    pub(super) fn into_report(mut self) -> HardeningReport {
        for (skip, attacks) in self.plan.skips.iter().zip(&self.skipped) {
            if !self.plan.attacks(skip.family) {
                continue;
            }
            if *attacks == 0 {
                self.report.fail(HardeningFailure {
                    family: skip.family,
                    attack: "a skip".to_owned(),
                    route: Some(skip.route.clone()),
                    location: None,
                    found: "it does not match any attack".to_owned(),
                    rule: "each skip is needed".to_owned(),
                    mend: "remove it, or write the route as in the report".to_owned(),
                    exchange: None,
                    times: 1,
                });
                continue;
            }
            self.report.skipped.push(SkippedAttacks {
                family: skip.family,
                route: skip.route.clone(),
                reason: skip.reason.clone(),
                attacks: *attacks,
            });
        }
        self.report
    }
}

/// Returns true if the attacks of a family need a path of the route.
fn concerns(route: &RouteInfo, family: AttackFamily) -> bool {
    match family {
        AttackFamily::Tenants | AttackFamily::Uploads | AttackFamily::SignOuts => false,
        AttackFamily::Tools => route.tool.is_some() || route.mcp.is_some(),
        _ => true,
    }
}

/// Reads a response. The body of a success may be endless, so it is included
/// only if it is already in memory.
async fn read(asked: Arc<SentRequest>, mut response: Response) -> Exchange {
    // Drops the upgrade function, so it never runs.
    drop(Switch::take(&mut response));
    let (head, body) = response.into_parts();
    let body = match body.as_bytes() {
        Some(bytes) => Bytes::copy_from_slice(bytes),
        None if head.status.is_success() => Bytes::new(),
        None => refusal(body).await,
    };
    Exchange { asked, status: head.status, headers: head.headers, body }
}

/// Reads a response with its body. A body that is endless or slow is cut.
pub(super) async fn read_whole(asked: Arc<SentRequest>, mut response: Response) -> Exchange {
    drop(Switch::take(&mut response));
    let (head, mut body) = response.into_parts();
    let mut whole = Vec::new();
    while whole.len() < MAX_WHOLE
        && let Ok(Some(Ok(piece))) =
            tokio::time::timeout(PAUSE, body.chunk()).await.map(Result::transpose)
    {
        whole.extend_from_slice(&piece);
    }
    Exchange { asked, status: head.status, headers: head.headers, body: whole.into() }
}

/// Reads the body of a rejection. Returns an empty body if it is too long,
/// broken or slow, because it serves only for messages.
async fn refusal(body: HttpBody) -> Bytes {
    let whole = tokio::time::timeout(PATIENCE, body.collect(MAX_REFUSAL)).await;
    whole.ok().and_then(Result::ok).unwrap_or_default()
}

/// The timeout for a response.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum body size of a rejection, in bytes.
const MAX_REFUSAL: u64 = 1_048_576;

/// The maximum size of a body that is read whole, in bytes.
const MAX_WHOLE: usize = 1_048_576;

/// The longest pause in a body that is read whole.
const PAUSE: Duration = Duration::from_millis(300);

/// The first client address of attacks: 198.18.0.1.
const FIRST_PEER: u32 = 0xC612_0001;

/// The number of client addresses.
const PEERS: u32 = 130_000;

/// A duration that is long enough for common rate limits to reset.
const A_DAY: Duration = Duration::from_secs(86_400);

/// The name that skips a family for all routes.
const EVERY_ROUTE: &str = "*";

const NO_PATH: &str =
    "found no path that matches the route: set its parameters with `Hardening::param`";
const RPC_METHOD: &str = "only the route of a method is attacked, not its individual calls";
