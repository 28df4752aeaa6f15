//! Logs, metrics, dashboards, request ids, spans and health.

mod dashboard;
mod logs_and_metrics;
mod spans;
