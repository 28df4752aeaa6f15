//! Errors: what clients get and what is logged.

mod failures;
mod forms;
mod responses;
