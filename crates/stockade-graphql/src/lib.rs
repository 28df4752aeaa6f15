//! GraphQL over HTTP, with [`async_graphql`].
//!
//! [`GraphQl`] creates routes from a schema, for the route tree of an
//! application. Middleware, authentication, limits and route introspection
//! apply as for other routes. async-graphql provides types, validation and
//! execution. stockade provides the HTTP layer, the limits, and the errors that
//! clients receive.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
//!
//! Source: <https://spec.graphql.org/September2025/>, and
//! <https://graphql.github.io/graphql-over-http/draft/>.

// Modules:
// - `graphql`: `GraphQl`, which declares a schema. `request_context`:
//   `RequestContext`, the request for resolvers.
// - `engine`: `Engine`, the interface to a GraphQL implementation, and
//   async-graphql behind it. Hot.
// - `message`: parses client messages. `accept`: the accepted response formats.
//   Hot.
// - `limits`: `Limits`; `complexity`: the complexity of a list; `scan`: counts
//   tokens and aliases before parsing; `document`: a parsed and measured
//   document. Hot.
// - `reader`: reads documents and caches recent ones; `recent`: the cache. Hot.
// - `persisted`: documents that clients identify by hash. `upload`: files.
// - `service`: the request handlers of the routes.
// - `graphql_response`, `graphql_error`: the response to a client. Hot.
// - `describe`: the description of the routes; `members`: the schema members in
//   it; `marked`: checks that they follow `read_only` and `write_only`.
// - `protocol`: the rules of `graphql-transport-ws`, without sockets.
//   `web_socket`: the connections that use them; `subscription_options`: their
//   options.
// - `page`: the GraphiQL page.
// - `sse`: subscriptions over POST with server-sent events.

#![cfg_attr(docsrs, feature(doc_cfg))]
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

/// The GraphQL implementation; its types and macros define a schema.
#[doc(no_inline)]
pub use async_graphql;
pub use complexity::list_complexity;
pub use graphql::GraphQl;
pub use persisted::PersistedQueries;
pub use request_context::RequestContext;
pub use upload::UploadOptions;
