//! Sends request spans to an OpenTelemetry collector and prints them in the
//! terminal.
//!
//! ```text
//! docker run -p 4318:4318 -p 16686:16686 jaegertracing/jaeger
//! cd examples/opentelemetry && cargo run
//! curl localhost:3000/hello/you -H \
//!     'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
//! ```
//!
//! The span of the request is a child of the caller's span `00f067aa0ba902b7`,
//! and it contains the event of the handler. Set another collector in
//! `OTEL_EXPORTER_OTLP_ENDPOINT`, the service name in `OTEL_SERVICE_NAME`, and
//! the terminal output in `RUST_LOG`.

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use stockade::http::HeaderMap;
use stockade::middleware::{with_request_id, with_tracing};
use stockade::prelude::*;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

async fn hello(Path(name): Path<String>) -> Value {
    tracing::info!(name, "greeting");
    json!({ "hello": name })
}

/// Makes the span of a request a child of the caller's span.
fn continue_trace(span: &Span, headers: &HeaderMap) {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if let Err(error) = span.set_parent(parent) {
        tracing::warn!("cannot continue a trace: {error}");
    }
}

fn router() -> Router {
    let api = routes! { "hello": { ":name": { GET: hello } } };
    let options = RouterOptions::new()
        .request_id(with_request_id())
        .access_log(true)
        .tracing(with_tracing().on_span(continue_trace));
    create_router(api, options)
}

/// Sends spans in batches on a separate thread.
fn provider(exporter: SpanExporter) -> SdkTracerProvider {
    SdkTracerProvider::builder().with_batch_exporter(exporter).build()
}

/// Sends spans and events from `INFO` on to the collector, and prints them as
/// `RUST_LOG` specifies.
fn subscribe(tracer: Tracer) -> Result<(), BoxError> {
    let terminal =
        EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env()?;
    tracing_subscriber::registry()
        .with(tracing_opentelemetry::layer().with_tracer(tracer).with_filter(LevelFilter::INFO))
        .with(fmt::layer().with_filter(terminal))
        .try_init()?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let provider = provider(SpanExporter::builder().with_http().build()?);
    subscribe(provider.tracer("stockade"))?;
    router().listen(3000).await?;
    // The last spans still have to be sent.
    tokio::task::spawn_blocking(move || provider.shutdown()).await??;
    Ok(())
}

#[cfg(test)]
mod tests;
