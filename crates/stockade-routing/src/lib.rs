//! The route tree, the router and the dispatch of stockade.
//!
//! [`Router::build`] checks the definition in a [`Router`] and compiles it to
//! an [`App`], which handles requests from any source.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Router construction and members; Path syntax.

// Contents of the modules:
// - `tree`, `entry`: `RouteTree` and `RouteEntry`, to which `routes!` expands.
// - `router`: `Router`, `create_router`.
// - `options`, `host_options`: `RouterOptions`, and `HostOptions`, which
//   override them.
// - `settings`, `setters`: the settings of routers, groups, nodes and routes;
//   `access`: the two settings that share a slot; `docs`: documentation with
//   defaults.
// - `state`, `start`: the values that an application provides; `commands`: the
//   commands about its routes; `audit`: one of them; `configuration`: the map
//   under a configuration file.
// - `problems`: the problem types that routes declare.
// - `build`: `Router::build`; `compile`: the routes; `compile_methods`: the
//   methods of a route; `site_builder`: the tables.
// - `app`: `App`; `route`: a compiled route.
// - `dispatch`: the processing of a request; `lookup`: its route; `no_route`:
//   the responses without a route; `finish`: the last rules for a response.
//   Hot.
// - `stages`: the work for every request, with or without a route. Hot.
// - `table_set`: the tables of all methods, also for other spellings of paths;
//   `site`: the tables of a host; `sites`: the tables for the lookup of a
//   request, and the equal forms of its path.
// - `prepared_headers`: the headers of most responses, as a map and as text
//   (`head_sink`). Hot.
// - `route_host`, `host_setters`: the host of routes; `asked_host`: the host of
//   a request; `host_table`: from a host to its routes.
// - `matcher`: from a path to a route. Hot.
// - `url`: the paths of named routes.
// - `method_set`: the methods that the body of a request calls by name;
//   `built_methods`: the same in the map.
// - `tools`: routes as tools, and the endpoint that offers them, during the
//   build; `tool_server`: the functions of its protocol; `built_tools`: the
//   tools of a built application; `into_tool`: the values of the key `tool`;
//   `subrequest`: a request within a request.
// - `web_socket`: WebSocket routes; `health`: routes for monitoring.
// - `trailing_slash`: the other form of a path, and redirects to the declared
//   form.
// - `tower`: `App` as a tower service; `mount`: other tower services as routes,
//   and `mount_slash`: the slash after their path.
// - `map`: the `RouteMap`, which describes all routes of an application.
// - `adapter`: functions for adapters that add routes.
// - `host`: `HostRoutes`, the routes without stages, for adapters of other
//   hosts.

mod access;
mod adapter;
mod any_method;
mod app;
mod asked_host;
mod audit;
mod build;
mod built_methods;
mod built_tools;
mod commands;
mod compile;
mod compile_methods;
mod configuration;
#[cfg(feature = "metrics")]
mod dashboard;
mod deprecation;
mod dispatch;
mod docs;
mod entry;
mod finish;
mod head_sink;
mod health;
mod host;
mod host_options;
mod host_setters;
mod host_table;
mod into_rate_limit;
mod into_tool;
mod lookup;
pub mod map;
#[doc(hidden)]
pub mod matcher;
#[doc(hidden)]
pub mod method_set;
mod mount;
mod mount_slash;
mod no_route;
mod options;
mod page_lists;
mod prepared_headers;
mod problems;
mod route;
mod route_host;
mod router;
mod setters;
mod settings;
mod site;
mod site_builder;
mod sites;
mod stages;
mod start;
mod state;
#[doc(hidden)]
pub mod subrequest;
mod table_set;
mod tags;
mod tool_server;
mod tools;
mod tower;
mod trailing_slash;
mod tree;
mod url;
mod web_socket;

#[doc(hidden)]
pub mod tool_internals {
    pub use crate::built_tools::{
        Compile, CompiledTools, Describe, Explain, ToolRoutes, ToolTarget, place_of,
    };
    pub use crate::tool_server::{ToolInspector, ToolServer};
    pub use crate::url::UrlPattern;
}

pub use app::App;
pub use dispatch::ResponseFuture;
pub use entry::{RouteEntry, RouteRef};
pub use health::health_routes;
pub use host::{HostPath, HostResponseFuture, HostRoute, HostRoutes, HostSegment};
pub use host_options::HostOptions;
pub use http::Method;
pub use into_rate_limit::IntoRateLimit;
pub use into_tool::IntoTool;
pub use mount::OriginalUri;
pub use options::{Clock, RouterOptions};
pub use router::{Router, create_router};
pub use stockade_macros::routes;
pub use stockade_map::{Tool, TrailingSlash};
pub use tower::AppFuture;
pub use tree::{IntoNode, Node, RouteTree};
pub use url::{UrlError, build_url};

/// Items for the other crates of stockade. They are exempt from semantic
/// versioning.
#[doc(hidden)]
pub mod __internal {
    pub use crate::adapter::{add_mistake, entry_of};
    pub use crate::commands::{Command, pretty};
    pub use crate::dispatch::poll_into;
    pub use crate::head_sink::HeadSink;
    pub use crate::url::encode_component;
}
