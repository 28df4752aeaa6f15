//! [`RouteFacts`]: what the parts of a route have said about it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{AddedHeader, Answer, ErrorForm, InputFact, SecurityScheme, WebSocketFact};

/// The words of middleware, extractors and reply of a route about it, in the
/// order in which they run.
#[derive(Clone, Debug, Default)]
pub struct RouteFacts {
    /// The answers.
    pub answers: Vec<Answer>,
    /// The headers and cookies of the request that are read.
    pub reads: Vec<ReadField>,
    /// The methods that find the user; none where nobody is asked.
    pub user: Option<UserFact>,
    /// The methods of middleware in front of that, whose user is replaced. Each
    /// of them may have required one.
    pub earlier_users: Vec<UserFact>,
    /// True if a role, a permission or the user itself is asked for in front of
    /// middleware that finds the user anew, as the handler gets it.
    pub judges_earlier_user: bool,
    /// True if an argument of the handler is the user.
    pub takes_user: bool,
    /// The roles, one of which the user must have; several lists are asked one
    /// after the other.
    pub roles: Vec<Vec<String>>,
    /// The permissions that are asked for.
    pub permissions: Vec<Permission>,
    /// The rate limits that count a request to the route.
    pub quotas: Vec<QuotaFact>,
    /// The shortest time that a request may take.
    pub timeout: Option<TimeoutFact>,
    /// The middleware.
    pub middleware: Vec<MiddlewareFact>,
    /// The types of the arguments that do not describe themselves, so that they may
    /// refuse a request with any status. Each is the path of the type, which may
    /// change from one compiler to the next.
    pub opaque_arguments: Vec<&'static str>,
    /// The headers that middleware adds to the answers of what comes behind it.
    pub added_headers: Vec<AddedHeader>,
    /// The schemas by which middleware checks parts of the request.
    pub inputs: Vec<InputFact>,
    /// The forms that error handlers of the application give to the errors of what
    /// comes behind them.
    pub error_forms: Vec<ErrorForm>,
    /// The connections of a WebSocket route; none of another one.
    pub web_socket: Option<WebSocketFact>,
    /// The schema of GraphQL by which its requests ask; none of another route.
    pub graphql: Option<Arc<GraphQlFact>>,
    /// The idempotency keys by which its requests run once; none where a request
    /// that comes twice runs twice.
    pub idempotency: Option<IdempotencyFact>,
}

/// A schema of GraphQL.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GraphQlFact {
    /// The schema in the schema definition language.
    pub sdl: String,
    /// Its members with their types, such as `Query.add` and `Query.add(a)` with
    /// `Int!`, `input Filter.text` with `String! = ""`, and `enum Color.RED`.
    pub members: BTreeMap<String, String>,
}

impl GraphQlFact {
    /// Makes the fact of a schema.
    #[must_use]
    pub fn new(sdl: impl Into<String>, members: BTreeMap<String, String>) -> Self {
        Self { sdl: sdl.into(), members }
    }
}

/// A header or a cookie of the request that a route reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReadField {
    /// The place where it stands.
    pub from: ReadFrom,
    /// Its name.
    pub name: Cow<'static, str>,
    /// True if a request without it is refused.
    pub required: bool,
    /// The JSON Schema of its text. `None` for any text.
    pub schema: Option<Value>,
    /// The part of the route that reads it.
    pub by: Cow<'static, str>,
}

/// The place of a [`ReadField`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReadFrom {
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// The methods that find the user of a route.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserFact {
    /// The methods, each of which suffices.
    pub schemes: Vec<SecurityScheme>,
    /// True if a request without a user is answered with 401.
    pub required: bool,
    /// The middleware that asks.
    pub by: Cow<'static, str>,
}

/// A permission that a route asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Permission {
    /// A permission with a name.
    Named(String),
    /// A function that says nothing about itself.
    Opaque,
}

/// A rate limit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuotaFact {
    /// Its name: `default` for that of the router.
    pub name: String,
    /// The number of requests of one client in a window; none where it depends
    /// on the request.
    pub quota: Option<(u64, Duration)>,
}

/// A limit of the time that a request may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeoutFact {
    /// The time.
    pub after: Duration,
    /// The status of the answer when it is over.
    pub status: u16,
}

/// The idempotency keys by which the requests of a route run once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdempotencyFact {
    /// True if a request without a key is refused.
    pub required: bool,
    /// The time for which a handler holds its key without renewing it.
    pub lease: Duration,
    /// The time for which an answer is kept.
    pub ttl: Duration,
    /// True if a key whose handler was dropped in the middle is refused, and false
    /// if its handler runs again.
    pub refuses_after_crash: bool,
    /// True if requests run without protection while the store is down.
    pub passes_outage: bool,
    /// True if a function of the program tells whose key it is, and not the user
    /// or the address of the client.
    pub own_scope: bool,
}

impl IdempotencyFact {
    /// Makes the fact of keys that hold: they are refused while the store is down,
    /// run again after a crash, and belong to the user or the client.
    #[must_use]
    pub fn new(required: bool, lease: Duration, ttl: Duration) -> Self {
        let (refuses_after_crash, passes_outage, own_scope) = (false, false, false);
        Self { required, lease, ttl, refuses_after_crash, passes_outage, own_scope }
    }
}

/// A middleware of a route.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MiddlewareFact {
    /// Its name.
    pub name: String,
    /// True if `Middleware::named` gave the name. Another name is the path of the
    /// function, which may change from one compiler to the next.
    pub is_named: bool,
    /// True if it does not describe itself, so that it may answer anything.
    pub is_opaque: bool,
}

impl QuotaFact {
    /// Makes the fact of a limit.
    #[must_use]
    pub fn new(name: impl Into<String>, quota: Option<(u64, Duration)>) -> Self {
        Self { name: name.into(), quota }
    }
}
