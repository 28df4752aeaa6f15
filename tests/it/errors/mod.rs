//! Errors: responses to clients and lines in the log.

mod failures;
mod forms;
mod heads;
mod languages;
mod problems;
mod responses;
mod rule_texts;
