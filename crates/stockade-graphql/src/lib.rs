//! GraphQL over HTTP, by the engine [`async_graphql`].
//!
//! [`GraphQl`] takes a schema and makes a tree of it, which stands in the tree of an
//! application as any other: middleware, users, limits and the map of the routes hold
//! for it. Types, validation and execution are the engine's; the messages of HTTP, the
//! limits and the errors that a client sees are those of stockade.
//!
//! Source: <https://spec.graphql.org/September2025/>, and
//! <https://graphql.github.io/graphql-over-http/draft/>.

// Where things are:
// - `graphql`: `GraphQl`, which declares a schema. `request_context`: `RequestContext`, the
//   request as resolvers see it.
// - `engine`: `Engine`, the three methods of an engine, and async-graphql behind them.
//   Hot.
// - `message`: what a client sends, taken apart. `accept`: what it takes. Hot.
// - `limits`: `Limits`; `complexity`: that of a list; `scan`: tokens and aliases,
//   counted before the parser runs; `document`: a document that is parsed and
//   measured. Hot.
// - `reader`: reads documents, and keeps those that came lately; `recent`: what is kept.
//   Hot.
// - `persisted`: documents that clients name by their hash. `upload`: files.
// - `service`: the handlers of the routes.
// - `graphql_response`, `graphql_error`: the response to a client. Hot.
// - `describe`: the description of the routes; `members`: those of the schema in it;
//   `marked`: the check that they follow the marks of types.
// - `protocol`: the rules of `graphql-transport-ws`, without sockets. `web_socket`: the
//   connections that go by them; `subscription_options`: their options.
// - `page`: the page of GraphiQL.
// - `sse`: subscriptions by POST, whose outcomes are events.

#![forbid(unsafe_code)]

mod accept;
mod complexity;
mod describe;
mod document;
mod engine;
mod graphql;
mod graphql_error;
mod graphql_response;
mod limits;
mod marked;
mod members;
mod message;
#[cfg(feature = "graphiql")]
mod page;
mod persisted;
mod protocol;
mod reader;
mod recent;
mod request_context;
mod scan;
mod service;
mod sse;
mod subscription_options;
mod upload;
mod web_socket;

/// The engine, whose types and macros describe a schema.
pub use async_graphql;
pub use complexity::list_complexity;
pub use graphql::GraphQl;
pub use persisted::PersistedQueries;
pub use request_context::RequestContext;
pub use upload::UploadOptions;
