//! Tests through the facade, in folders by topic.
//!
//! Each module has its cases on top as data; [`support`] is the only place that
//! makes requests.

mod support;

mod auth;
mod errors;
mod graphql;
mod http;
mod idempotency;
mod limits;
mod middleware;
mod observability;
mod openapi;
mod rest;
mod routing;
mod rpc;
mod security;
mod shop;
mod sql;
mod testing;
mod validation;
