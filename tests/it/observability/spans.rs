//! Spans of requests: their fields, their events and their end.

use std::convert::Infallible;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures_util::stream;
use stockade::http;
use stockade::middleware::{with_request_id, with_tracing};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::upgrade::TlsConnection;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::support::{app, block_on, call, request, text_of};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Records a line for each span that ends and for each event.
#[derive(Clone, Default)]
struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        values.record(span.extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let span = context.event_span(event).map_or("none", |span| span.name());
        self.lines.lock().unwrap().push(format!("event in {span}:{}", fields.0));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let (name, level) = (span.name(), span.metadata().level());
        let extensions = span.extensions();
        let Fields(fields) = extensions.get().unwrap();
        let line = format!("{level} {} {name}:{fields}", span.metadata().target());
        self.lines.lock().unwrap().push(line);
    }
}

impl Recorder {
    /// Runs `work` and records its lines.
    fn watch(work: impl FnOnce(&Self)) {
        let recorder = Self::default();
        let subscriber = tracing_subscriber::registry().with(recorder.clone());
        tracing::subscriber::with_default(subscriber, || work(&recorder));
    }

    /// Removes and returns the lines so far.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }

    /// Removes and returns the line of the only span that has ended.
    #[track_caller]
    fn span(&self) -> String {
        let lines = self.take();
        let [line] = &lines[..] else { panic!("not one span: {lines:?}") };
        line.clone()
    }
}

fn api() -> RouteTree {
    async fn pieces() -> Streamed {
        let pieces = ["one", "two"].map(|piece| {
            tracing::info!(piece, "a piece");
            Ok::<_, Infallible>(piece)
        });
        let pieces = stream::iter(pieces);
        Streamed::new(stream::unfold(pieces, async |mut pieces| {
            use futures_util::StreamExt as _;
            let piece = pieces.next().await?;
            tracing::info!("streaming");
            Some((piece, pieces))
        }))
    }
    async fn breaks() -> Streamed {
        Streamed::new(stream::iter([Ok("one"), Err(std::io::Error::other("gone"))]))
    }
    async fn told(_: Path<u64>) -> &'static str {
        tracing::info!(answer = 42, "told");
        tokio::task::yield_now().await;
        tracing::info!("told again");
        "told"
    }
    fn guard(req: &mut Request) -> Result<(), ApiError> {
        tracing::info!("guarded");
        req.headers().get("x-stop").map_or(Ok(()), |_| Err(ApiError::authorization()))
    }
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::internal("boom"))
    }
    routes! {
        "told": { ":id": { GET: { handler: told, middleware: [guard] } } },
        "fails": { GET: fails },
        "pieces": { GET: pieces },
        "breaks": { GET: breaks },
        "waits": { GET: waits },
    }
}

/// Logs when it is dropped.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        tracing::info!("dropped");
    }
}

async fn waits() {
    let _dropped = Dropped;
    std::future::pending().await
}

fn with(options: RouterOptions) -> App {
    app(create_router(api(), options.expose_errors(false)))
}

#[test]
fn spans_have_opentelemetry_names_and_no_secrets() {
    let app = with(RouterOptions::new().tracing(with_tracing()).request_id(with_request_id()));
    Recorder::watch(|recorder| {
        let text = format!(
            "GET /fails?key=s3cret\nhost: api.example:8080\nuser-agent: curl/8\n\
             authorization: s3cret\nx-request-id: id-1\ntraceparent: {TRACE}"
        );
        block_on(call(&app, &text));
        let expected = "INFO stockade::request HTTP request: otel.name=GET /fails \
            otel.kind=\"server\" http.request.method=\"GET\" http.route=\"/fails\" \
            url.scheme=\"http\" client.address=192.0.2.7 network.protocol.version=\"1.1\" \
            request_id=\"id-1\" trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\" \
            server.address=\"api.example\" server.port=8080 http.response.status_code=500 \
            error.type=\"500\" otel.status_code=\"ERROR\"";
        assert_eq!(recorder.span(), expected);
    });
}

#[test]
fn path_and_user_agent_are_optional() {
    let spans = with_tracing().url_path(true).user_agent(true);
    let app = with(RouterOptions::new().tracing(spans));
    Recorder::watch(|recorder| {
        block_on(call(&app, "GET /no/where?key=s3cret\nuser-agent: curl/8"));
        let span = recorder.span();
        for part in [
            "otel.name=GET otel.kind",
            " url.path=\"/no/where\" ",
            " user_agent.original=\"curl/8\" ",
            " http.response.status_code=404",
        ] {
            assert!(span.contains(part), "{part} is not in {span}");
        }
        for part in ["http.route", "s3cret", "error.type", "otel.status_code", "trace_id"] {
            assert!(!span.contains(part), "{part} is in {span}");
        }
        // Malformed values are omitted, and all unknown methods share one name.
        let odd = "BREW /no/where\nhost: not a host\ntraceparent: 00-0-0-00";
        block_on(call(&app, odd));
        let span = recorder.span();
        assert!(span.contains("otel.name=HTTP otel.kind"), "{span}");
        assert!(span.contains(" http.request.method=\"_OTHER\" "), "{span}");
        assert!(span.contains(" http.request.method_original=\"BREW\" "), "{span}");
        assert!(!span.contains("server.address") && !span.contains("trace_id"), "{span}");
        block_on(call(&app, "GET /no/where\nhost: [::1]:443"));
        assert!(recorder.span().contains(" server.address=\"::1\" server.port=443 "));
        let mut tls = http::Request::get("/no/where").body(()).unwrap();
        tls.extensions_mut().insert(TlsConnection);
        block_on(app.handle(tls));
        assert!(recorder.span().contains(" url.scheme=\"https\" "));
    });
}

#[test]
fn events_of_middleware_and_handler_belong_to_the_span() {
    let app = with(RouterOptions::new().tracing(with_tracing()));
    Recorder::watch(|recorder| {
        block_on(call(&app, "GET /told/7"));
        let lines = recorder.take();
        let expected = [
            "event in HTTP request: message=guarded",
            "event in HTTP request: message=told answer=42",
            "event in HTTP request: message=told again",
        ];
        assert_eq!(lines[..3], expected);
        assert!(lines[3].contains("otel.name=GET /told/:id ") && lines.len() == 4, "{lines:?}");
        tracing::info!("outside");
        assert_eq!(recorder.take(), ["event in none: message=outside"]);
        block_on(call(&app, "GET /told/7\nx-stop: 1"));
        let lines = recorder.take();
        assert_eq!(lines[..1], ["event in HTTP request: message=guarded"]);
        assert!(lines[1].contains("http.response.status_code=403"), "{lines:?}");
    });
}

#[test]
fn spans_can_be_enabled_and_disabled() {
    for (options, has_span) in [
        (RouterOptions::new().tracing(true), true),
        (RouterOptions::new().tracing(with_tracing()).tracing(false), false),
    ] {
        let app = with(options);
        Recorder::watch(|recorder| {
            block_on(call(&app, "GET /told/7"));
            let is_span = |line: &String| line.contains("otel.name=GET /told/:id ");
            assert_eq!(recorder.take().iter().any(is_span), has_span);
        });
    }
}

#[test]
fn a_span_ends_with_the_last_byte() {
    let app = with(RouterOptions::new().tracing(with_tracing()));
    Recorder::watch(|recorder| {
        let response = block_on(app.handle(request("GET /pieces")));
        let pieces = ["\"one\"", "\"two\""];
        let pieces = pieces.map(|it| format!("event in HTTP request: message=a piece piece={it}"));
        assert_eq!(recorder.take(), pieces, "not at its end");
        tracing::info!("between");
        assert_eq!(block_on(text_of(response.into_body())), "onetwo");
        let lines = recorder.take();
        let streaming = "event in HTTP request: message=streaming";
        assert_eq!(lines[..3], ["event in none: message=between", streaming, streaming]);
        assert!(lines[3].contains("status_code=200") && !lines[3].contains("error"), "{lines:?}");

        drop(block_on(app.handle(request("GET /pieces"))));
        let span = recorder.take().pop().unwrap();
        assert!(span.ends_with("http.response.status_code=200 error.type=\"aborted\""), "{span}");

        let response = block_on(app.handle(request("GET /breaks")));
        assert_eq!(block_on(text_of(response.into_body())), "one<error>");
        let span = recorder.span();
        assert!(span.ends_with(" error.type=\"aborted\" otel.status_code=\"ERROR\""), "{span}");
    });
}

#[test]
fn a_disconnect_ends_the_span() {
    let app = with(RouterOptions::new().tracing(with_tracing()));
    Recorder::watch(|recorder| {
        let mut future = Box::pin(app.handle(request("GET /waits")));
        block_on(std::future::poll_fn(|cx| {
            assert!(future.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
        assert!(recorder.take().is_empty());
        drop(future);
        let lines = recorder.take();
        assert_eq!(lines[0], "event in HTTP request: message=dropped");
        assert!(lines[1].ends_with(" error.type=\"aborted\"") && lines.len() == 2, "{lines:?}");
    });
}

#[test]
fn the_hook_receives_the_span_before_it_is_entered() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&calls);
    let spans = with_tracing().on_span(move |span, headers| {
        let parent = headers.get("traceparent").and_then(|it| it.to_str().ok().map(str::to_owned));
        let is_entered = tracing::Span::current().id() == span.id();
        heard.lock().unwrap().push((parent, is_entered));
        assert!(!headers.contains_key("x-panic"), "asked for");
    });
    let app = with(RouterOptions::new().tracing(spans));
    // No subscriber is interested in the span.
    let errors_alone = tracing_subscriber::registry().with(LevelFilter::ERROR);
    tracing::subscriber::with_default(errors_alone, || block_on(call(&app, "GET /fails")));
    assert!(calls.lock().unwrap().is_empty());
    Recorder::watch(|recorder| {
        let answer =
            block_on(call(&app, &format!("GET /told/1\ntraceparent: {TRACE}\nx-panic: 1")));
        assert_eq!(answer, "200 told");
        assert_eq!(calls.lock().unwrap()[..], [(Some(TRACE.to_owned()), false)]);
        assert!(recorder.take().last().unwrap().contains(" http.response.status_code=200"));
    });
}

#[test]
fn every_response_has_a_span_and_the_default_is_off() {
    let options = RouterOptions::new().max_body_size(4).rate_limit(5 / MINUTE);
    let app = with(options.tracing(with_tracing()));
    Recorder::watch(|recorder| {
        for (text, status) in [
            ("GET /nowhere", 404),
            ("PUT /told/1", 405),
            ("OPTIONS /told/1\norigin: http://a\naccess-control-request-method: GET", 204),
            ("OPTIONS *", 204),
            ("GET /told/x", 400),
            ("GET /nowhere", 404),
            ("GET /told/1", 429),
        ] {
            block_on(call(&app, text));
            let span = recorder.take().pop().unwrap();
            assert!(
                span.contains(&format!("http.response.status_code={status}")),
                "{text}: {span}"
            );
        }
        block_on(call(&with(RouterOptions::new()), "GET /fails"));
        assert!(recorder.take().is_empty());
    });
}

#[test]
fn a_route_can_have_a_separate_span() {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router.get("/own", async || tracing::info!("own")).middleware(with_tracing());
    router.get("/fails", async || Err::<(), _>(ApiError::internal("x"))).middleware(with_tracing());
    let app = app(router);
    Recorder::watch(|recorder| {
        block_on(call(&app, "GET /own"));
        let lines = recorder.take();
        assert_eq!(lines[0], "event in HTTP request: message=own");
        assert!(lines[1].contains("otel.name=GET /own ") && lines.len() == 2, "{lines:?}");
        block_on(call(&app, "GET /fails"));
        assert!(recorder.span().ends_with(" error.type=\"500\" otel.status_code=\"ERROR\""));
    });
}

#[test]
fn the_option_is_read_from_a_file() {
    let read =
        |text: &str| serde_json::from_str::<RouterOptions>(&format!(r#"{{"tracing":{text}}}"#));
    for (text, has_span, has_path) in
        [("true", true, false), ("false", false, false), (r#"{"urlPath":true}"#, true, true)]
    {
        let app = with(read(text).unwrap());
        Recorder::watch(|recorder| {
            block_on(call(&app, "GET /told/7"));
            let lines = recorder.take();
            let span = lines.iter().find(|line| line.contains("otel.name=GET /told/:id "));
            assert_eq!(span.is_some(), has_span, "{text}");
            assert_eq!(
                span.is_some_and(|it| it.contains("url.path=")),
                has_path,
                "{text}: {span:?}"
            );
        });
    }
    assert!(read(r#"{"query":true}"#).is_err());
}
