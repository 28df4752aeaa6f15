//! In-process requests, and responses as text.

use std::net::SocketAddr;

use http_body_util::BodyExt as _;
use stockade::prelude::*;
use stockade::routing::map::{RouteMap, WebSocketInfo};
use stockade::testing::Contract;
use stockade::websockets::WebSocketOptions;
use stockade::{HttpBody, PeerAddr, http};

/// An application, optionally with a contract that checks its responses.
pub trait Answers {
    fn answer(&self, request: Request) -> impl Future<Output = Response>;
}

impl Answers for App {
    fn answer(&self, request: Request) -> impl Future<Output = Response> {
        self.handle(request)
    }
}

impl Answers for Contract {
    fn answer(&self, request: Request) -> impl Future<Output = Response> {
        self.handle(request)
    }
}

/// Builds a router without configuration errors.
#[track_caller]
pub fn app(router: Router) -> App {
    router.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Builds an app from one tree with the default options and hidden 5xx
/// messages.
#[track_caller]
pub fn app_of(tree: RouteTree) -> App {
    app(create_router(tree, RouterOptions::new().expose_errors(false).rate_limit(false)))
}

/// Parses a request: `METHOD target`, then a `name: value` line for each
/// header, then the body after an empty line.
pub fn request(text: &str) -> Request {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
    let mut builder = http::Request::builder().method(method).uri(target);
    for line in lines {
        let (name, value) = line.split_once(':').unwrap();
        builder = builder.header(name.trim(), value.trim());
    }
    let request = builder.body(body.as_bytes().to_vec()).unwrap();
    let peer: SocketAddr = "192.0.2.7:4711".parse().unwrap();
    Request::from(request).with_peer(PeerAddr(peer))
}

/// Runs a command with its arguments after the program name. Returns `None` if
/// the first argument is not a command.
pub fn command<'a>(
    app: &App,
    args: impl IntoIterator<Item = &'a str>,
) -> Option<Result<String, BoxError>> {
    let args = ["program"].into_iter().chain(args).map(str::to_owned);
    block_on(app.command_output(args))
}

/// Calls the app and returns `status body`, or only the status.
pub async fn call(app: &impl Answers, request_text: &str) -> String {
    show(app.answer(request(request_text)).await).await
}

/// Returns `status body`, or only the status.
pub async fn show(response: Response) -> String {
    let status = response.status().as_u16();
    let body = text_of(response.into_body()).await;
    if body.is_empty() { status.to_string() } else { format!("{status} {body}") }
}

/// Returns a body as text, with `<error>` at the end if reading fails.
pub async fn text_of(mut body: HttpBody) -> String {
    let mut text = String::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => text += &String::from_utf8_lossy(frame.data_ref().unwrap()),
            Err(_) => text += "<error>",
        }
    }
    text
}

/// Calls the app and compares the response.
#[track_caller]
pub fn check(app: &impl Answers, request_text: &str, expected: &str) {
    let actual = block_on(call(app, request_text));
    assert_eq!(actual, expected, "{request_text}");
}

/// Returns the value of a response header, or `-` if it is absent.
pub fn header_of(app: &impl Answers, request_text: &str, name: &str) -> String {
    let response = block_on(app.answer(request(request_text)));
    let value = response.headers().get(name);
    value.map_or("-".to_owned(), |value| value.to_str().unwrap().to_owned())
}

/// Runs a future to completion. Most in-process tests never wait.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future)
}

/// Returns the message of a failed test client assertion.
#[track_caller]
pub fn panic_of(failing: impl FnOnce()) -> String {
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(failing));
    let message = failed.expect_err("it does not fail");
    match message.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => (*other.downcast::<&str>().expect("no text")).to_owned(),
    }
}

/// Returns the map of a router with these options, one route and one WebSocket.
pub fn map_with(options: RouterOptions) -> RouteMap {
    let mut router = Router::with_options(options);
    router.get("/", async || "");
    router.add_web_socket_route("/socket", async |_: WebSocket| (), WebSocketOptions::new());
    app(router).route_map()
}

/// Returns the WebSocket in such a map.
pub fn socket_of(map: &RouteMap) -> &WebSocketInfo {
    map.routes.iter().find_map(|route| route.web_socket.as_ref()).unwrap()
}

/// Captured log lines for tests.
pub mod log {
    use std::sync::Mutex;

    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// The level, the message, and ` key=value` for each pair with a value.
    struct Line(String);

    impl<'kvs> log::kv::VisitSource<'kvs> for Line {
        fn visit_pair(
            &mut self,
            key: log::kv::Key<'kvs>,
            value: log::kv::Value<'kvs>,
        ) -> Result<(), log::kv::Error> {
            let value = value.to_string();
            if value != "None" {
                self.0 += &format!(" {key}={value}");
            }
            Ok(())
        }
    }

    struct Watch;

    impl log::Log for Watch {
        fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &log::Record<'_>) {
            let mut line = Line(format!("{} {}", record.level(), record.args()));
            record.key_values().visit(&mut line).unwrap();
            LINES.lock().unwrap().push(line.0);
        }

        fn flush(&self) {}
    }

    /// Captures every line from now on. All tests share the lines.
    pub fn watch() {
        // It fails if another test has already set the logger, which is fine.
        if log::set_logger(&Watch).is_ok() {
            log::set_max_level(log::LevelFilter::Debug);
        }
    }

    /// Removes the durations from an access log line, because they vary.
    pub fn without_durations(line: &str) -> String {
        let is_duration = |word: &str| {
            word.starts_with("duration_us=")
                || word.strip_suffix("ms").is_some_and(|number| number.parse::<f64>().is_ok())
        };
        let words = line.split(' ').filter(|word| !is_duration(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the lines so far that contain `text`.
    pub fn lines_with(text: &str) -> Vec<String> {
        LINES.lock().unwrap().iter().filter(|line| line.contains(text)).cloned().collect()
    }
}

/// Returns the number of generated cases for a test: `short`, or `long` if the
/// variable `LONG` is set, as in `cargo xtask cases`.
pub(crate) fn long_or<T>(long: T, short: T) -> T {
    if std::env::var_os("LONG").is_some() { long } else { short }
}
