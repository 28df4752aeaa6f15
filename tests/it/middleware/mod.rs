//! Middleware and a router's built-in stages.

mod body_hooks;
mod helpers;
mod order;
mod references;
mod spec_rows;
mod stages;
