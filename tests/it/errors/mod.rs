//! Errors: responses to clients and lines in the log.

mod failures;
mod forms;
mod heads;
mod problems;
mod responses;
