//! Error responses and their log lines.

mod failures;
mod forms;
mod heads;
mod languages;
mod problems;
mod responses;
mod rule_texts;
