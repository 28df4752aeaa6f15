//! Logs, metrics, request ids, spans and health.

mod logs_and_metrics;
mod spans;
