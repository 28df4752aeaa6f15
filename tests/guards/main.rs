//! Mutations: a small program loses one defense, and a tool for tests names the
//! fault, the file and the line.

mod authentication;
mod claims;
mod configuration;
mod example_shop;
mod lock;
mod logins;
mod mcp;
mod sign_outs;
mod signed;
mod tenant_connections;
mod tenant_graphql;
mod tenants;
mod uploads;

/// Runs a future to completion. Most in-process tests never wait.
fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future)
}
