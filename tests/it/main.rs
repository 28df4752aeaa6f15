//! Tests through the facade crate, in one folder per topic.
//!
//! Most modules list their cases as data. [`support`] contains the shared
//! functions that send requests.

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
mod recording;
mod reference;
mod reported_programs;
mod rest;
mod routing;
mod rpc;
mod security;
mod shop;
mod sql;
mod testing;
mod validation;
