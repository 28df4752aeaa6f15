//! Middleware, and the built-in stages of a router.

mod body_hooks;
mod helpers;
mod order;
mod references;
mod spec_rows;
mod stages;
