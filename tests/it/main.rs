//! Tests through the facade, in the order of the specification.
//!
//! Each module has its cases on top as data; [`support`] is the only place that
//! makes requests.

mod support;

mod conformance;
mod construction;
mod contract;
mod cors_by_route;
mod cross_origin;
mod defences;
mod described;
mod documents;
mod routing;

mod accepts;
mod bodies;
mod body_hooks;
mod content;
mod description_size;
mod descriptions;
mod entries;
mod extractors;
mod file_names;
mod files;
mod handlers;
mod json_values;
mod json_vectors;
mod limits;
mod load;
mod lock;
mod logged_out;
mod logged_out_attacks;
mod logged_out_sockets;
mod map;
mod middleware;
mod options;
mod validation;

mod rest;
mod spellings;
mod sql;

mod auth;
mod auth_lookups;
mod helpers;
mod idempotency;
mod sessions;
mod settings;

mod graphql;
mod http;
mod policy;
mod properties;
mod proxy;
mod rpc;

mod error_forms;
mod errors;
mod events;
mod failures;
mod fallback;
mod web_sockets;
mod wire;

mod any;
mod github_routes;
mod hardened;
mod hosts;
mod observability;
mod observatory;
mod official;
mod openapi;
mod openapi_3_0;
mod shop;
mod shop_graphql;
mod shop_lock;
mod shop_products;
mod spans;
mod spec_rows;
mod stages;
mod tags;
mod tower;

mod allocations;

mod derives;
mod revoked_issuers;
mod routes_macro;
