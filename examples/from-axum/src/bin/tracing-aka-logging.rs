//! A span for each request, and callbacks for its start, its response, each
//! body chunk, its end, and its failure.

use std::time::Duration;

use stockade::http::{self, HeaderMap};
use stockade::middleware::{layered, with_tracing};
use stockade::prelude::*;
use tower_http::classify::ServerErrorsFailureClass;
use tower_http::trace::TraceLayer;
use tracing::Span;

fn app() -> Result<App, ConfigError> {
    let trace = TraceLayer::new_for_http()
        .make_span_with(|_: &http::Request<_>| {
            // Inside the span of `with_tracing`, which contains the method and
            // the route.
            tracing::info_span!("handling", some_other_field = tracing::field::Empty)
        })
        .on_request(|_: &http::Request<_>, span: &Span| {
            span.record("some_other_field", "a value");
            tracing::info!("the request begins");
        })
        .on_response(|_: &http::Response<_>, _: Duration, _: &Span| tracing::info!("answered"))
        .on_body_chunk(|_: &Bytes, _: Duration, _: &Span| tracing::info!("a piece of the body"))
        .on_eos(|_: Option<&HeaderMap>, _: Duration, _: &Span| tracing::info!("the end"))
        .on_failure(|_: ServerErrorsFailureClass, _: Duration, _: &Span| tracing::error!("failed"));
    let api = routes! {
        middleware: [layered(trace)],
        GET: async || Html("<h1>Hello, World!</h1>"),
        "fail/:reason": { GET: async || Err::<(), _>(StatusCode::BAD_GATEWAY) },
    };
    create_router(api, RouterOptions::new().tracing(with_tracing())).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use stockade::testing::TestClient;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the log lines of a request.
    async fn lines_of(path: &str) -> String {
        let log = Log::default();
        let writer = log.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        let _guard = tracing::subscriber::set_default(subscriber.finish());
        TestClient::new(app().unwrap()).get(path).await;
        let log = log.0.lock().unwrap().clone();
        String::from_utf8(log).unwrap()
    }

    #[track_caller]
    fn check(lines: &str, event: &str, route: &str) {
        let line = lines.lines().find(|line| line.ends_with(event));
        let line = line.unwrap_or_else(|| panic!("no {event:?} in {lines}"));
        for part in ["http.request.method=\"GET\"", route, "some_other_field=\"a value\""] {
            assert!(line.contains(part), "no {part:?} in {line}");
        }
    }

    #[tokio::test]
    async fn each_event_is_in_the_span_of_its_request() {
        let lines = lines_of("/").await;
        for event in ["the request begins", "answered", "a piece of the body"] {
            check(&lines, event, "http.route=\"/\"");
        }
        assert!(!lines.contains("failed"), "{lines}");
    }

    #[tokio::test]
    async fn logs_a_failure_with_its_route_pattern() {
        let lines = lines_of("/fail/secret").await;
        check(&lines, "failed", "http.route=\"/fail/:reason\"");
        assert!(!lines.contains("secret"), "{lines}");
    }
}
