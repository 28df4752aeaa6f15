//! A collector on loopback, and the spans that it receives from three requests.

use std::time::Duration;

use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::Span as SentSpan;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use stockade::testing::TestClient;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Receives spans as OTLP over HTTP.
async fn take_spans(spans: State<UnboundedSender<SentSpan>>, body: Bytes) -> Result<(), ApiError> {
    let request = ExportTraceServiceRequest::decode(body).map_err(ApiError::internal)?;
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    for span in scopes.flat_map(|scope| scope.spans) {
        spans.send(span).map_err(ApiError::internal)?;
    }
    Ok(())
}

/// Serves an API on a free loopback port and returns its URL.
async fn serve(router: Router) -> String {
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let address = format!("http://{}", server.local_addr());
    tokio::spawn(server.serve());
    address
}

async fn collector() -> (String, UnboundedReceiver<SentSpan>) {
    let (sender, spans) = unbounded_channel();
    let api = routes! { "v1": { "traces": { POST: take_spans } } };
    let options = RouterOptions::new().rate_limit(false);
    (serve(create_router(api, options).state(sender)).await, spans)
}

/// Returns the next received span of a request.
async fn span_of(spans: &mut UnboundedReceiver<SentSpan>) -> SentSpan {
    let next = tokio::time::timeout(Duration::from_secs(20), spans.recv());
    let span = next.await.expect("a span within 20 s").expect("a collector");
    assert_eq!(span.kind, SpanKind::Server as i32);
    span
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn value_of(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        AnyValue::StringValue(text) => Some(text.clone()),
        AnyValue::IntValue(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_gets_requests_their_events_and_their_parents() {
    let (collector, mut spans) = collector().await;
    let exporter = SpanExporter::builder().with_http();
    let exporter = exporter.with_endpoint(format!("{collector}/v1/traces")).build().unwrap();
    let provider = provider(exporter);
    subscribe(provider.tracer("stockade")).unwrap();
    let client = TestClient::live(&serve(router()).await);

    let trace = format!("00-{TRACE}-{PARENT}-01");
    let answer = client.get("/hello/you?key=s3cret").header("traceparent", &trace);
    answer.header("x-request-id", "id-7").await.assert_status(200);
    client.get("/hello/again").header("traceparent", "00-0-0-00").await.assert_status(200);
    client.get("/nowhere").await.assert_status(404);
    tokio::task::spawn_blocking(move || provider.force_flush()).await.unwrap().unwrap();

    let span = span_of(&mut spans).await;
    println!("{span:#?}");
    assert_eq!(span.name, "GET /hello/:name");
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.into(), PARENT.into()));
    let events: Vec<_> = span.events.iter().map(|event| event.name.as_str()).collect();
    // The access log line is also an event.
    assert_eq!(events[0], "greeting");
    assert!(events[1].starts_with("GET /hello/:name 200 "), "{events:?}");
    assert_eq!(value_of(&span.events[0].attributes, "name").as_deref(), Some("you"));
    for (key, expected) in [
        ("http.request.method", "GET"),
        ("http.route", "/hello/:name"),
        ("http.response.status_code", "200"),
        ("url.scheme", "http"),
        ("client.address", "127.0.0.1"),
        ("server.address", "127.0.0.1"),
        ("network.protocol.version", "1.1"),
        ("request_id", "id-7"),
        ("trace_id", TRACE),
    ] {
        assert_eq!(value_of(&span.attributes, key).as_deref(), Some(expected), "{key}");
    }
    assert!(!format!("{span:?}").contains("s3cret"));

    // A malformed trace context is ignored, and a new trace starts.
    let span = span_of(&mut spans).await;
    assert_eq!((span.trace_id.len(), span.parent_span_id.len()), (16, 0));
    assert_eq!(value_of(&span.attributes, "trace_id"), None);
    let span = span_of(&mut spans).await;
    assert_eq!(span.name, "GET");
    assert_eq!(value_of(&span.attributes, "http.response.status_code").as_deref(), Some("404"));
}
