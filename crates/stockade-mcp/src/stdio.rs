//! The command `mcp --stdio`: messages on standard input and output, one in
//! each line.
//!
//! Each line is a request to the endpoint, as if a client had sent it by HTTP.
//! Nothing else is written to standard output.
//!
//! Source: the page `basic/transports/stdio` of the specification.

use std::collections::HashMap;
use std::env;
use std::io::{self, BufRead as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http::{HeaderValue, header};
use serde_json::Value;
use stockade_core::{HttpBody, PeerAddr, Request, Response};
use stockade_errors::BoxError;
use stockade_map::RouteMap;
use stockade_routing::__internal::Command;
use stockade_routing::App;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::protocol_error::{IsMessage, ProtocolError};

/// Marks a request that comes from a line, which does not have the headers of
/// the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line;

/// Creates the command.
pub(crate) fn command() -> Command {
    Command::serving(NAME, USAGE, |app, args| Box::pin(run(app, args)))
}

/// Runs the command. Returns `None` for unknown arguments.
async fn run(app: App, args: Vec<String>) -> Result<Option<()>, BoxError> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let variable = match args.as_slice() {
        ["--stdio"] => None,
        ["--stdio", "--authorization-from", variable] => Some(*variable),
        _ => return Ok(None),
    };
    let authorization = variable.map(authorization_of).transpose()?;
    let endpoint = Endpoint::of(&app.route_map(), authorization)?;
    app.start().await?;
    let (sender, lines) = mpsc::channel(MOST_WAITING);
    // A thread that waits for standard input does not prevent the end of the
    // program.
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || read_lines(&sender))?;
    let (output, messages) = mpsc::channel(MOST_WAITING);
    let writer = tokio::task::spawn_blocking(move || write_lines(messages));
    serve(app, endpoint, lines, output).await;
    writer.await??;
    Ok(Some(()))
}

/// Returns the credentials in an environment variable.
fn authorization_of(variable: &str) -> Result<HeaderValue, BoxError> {
    let text = env::var(variable).map_err(|error| {
        format!(
            "cannot read the environment variable {variable}: {error}; set it to a value of \
                 `Authorization`, such as `Bearer …`"
        )
    })?;
    let invalid = |_| format!("the environment variable {variable} is not a header value");
    let mut value = HeaderValue::try_from(text).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The endpoint for the lines, and the credentials of all of them.
#[derive(Clone, Debug)]
struct Endpoint {
    path: String,
    host: String,
    authorization: Option<HeaderValue>,
}

impl Endpoint {
    fn of(map: &RouteMap, authorization: Option<HeaderValue>) -> Result<Self, BoxError> {
        let route = map.routes.iter().find(|route| route.mcp.is_some());
        let route = route.ok_or("the program does not have an MCP endpoint")?;
        if !route.params.is_empty() {
            let path = &route.path;
            return Err(format!(
                "the path {path} of the MCP endpoint has parameters, so \
                                `mcp --stdio` does not support it"
            )
            .into());
        }
        let host = route.host.as_ref().map_or_else(|| "localhost".to_owned(), |it| it.example());
        Ok(Self { path: route.path.clone(), host, authorization })
    }

    fn request(&self, line: Vec<u8>) -> Result<Request, http::Error> {
        let mut request = http::Request::post(&self.path)
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .extension(Line);
        if let Some(value) = &self.authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let request = Request::from(request.body(HttpBody::from(line))?);
        Ok(request.with_peer(PeerAddr(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))))
    }
}

/// Sends the lines of standard input, until it ends.
fn read_lines(sender: &mpsc::Sender<Vec<u8>>) {
    for line in io::stdin().lock().split(b'\n') {
        match line {
            Ok(line) => {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            Err(error) => {
                log::error!(target: "stockade", "cannot read standard input: {error}");
                return;
            }
        }
    }
}

/// Writes each message as a line. A closed reader, such as a host that ended,
/// is not an error.
fn write_lines(mut messages: mpsc::Receiver<Bytes>) -> io::Result<()> {
    while let Some(message) = messages.blocking_recv() {
        let mut line = message.to_vec();
        line.push(b'\n');
        let mut output = io::stdout().lock();
        match output.write_all(&line).and_then(|()| output.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Handles lines until their end, and waits for their responses.
async fn serve(
    app: App,
    endpoint: Endpoint,
    mut lines: mpsc::Receiver<Vec<u8>>,
    output: mpsc::Sender<Bytes>,
) {
    let mut tasks = JoinSet::new();
    let mut by_id: HashMap<String, AbortHandle> = HashMap::new();
    while let Some(line) = lines.recv().await {
        // The reader of the output has ended.
        if output.is_closed() {
            return;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        while tasks.try_join_next().is_some() {}
        by_id.retain(|_, task| !task.is_finished());
        let note = Note::of(&line);
        if let Some(task) = note.cancelled.and_then(|id| by_id.remove(&id)) {
            task.abort();
        }
        let (app, endpoint, output) = (app.clone(), endpoint.clone(), output.clone());
        let id = note.id.clone();
        let task = tasks.spawn(async move {
            handle(&app, &endpoint, line, id.as_deref(), &output).await;
        });
        by_id.extend(note.id.map(|id| (id, task)));
    }
    while tasks.join_next().await.is_some() {}
}

/// The parts of a message that the command itself uses.
#[derive(Debug, Default, Eq, PartialEq)]
struct Note {
    /// The id of a request, as JSON.
    id: Option<String>,
    /// The id of the request that a `notifications/cancelled` ends, as JSON.
    cancelled: Option<String>,
}

impl Note {
    fn of(line: &[u8]) -> Self {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        let is_cancelled = message["method"] == "notifications/cancelled";
        let id = |value: &Value| {
            (value.is_string() || value.is_i64() || value.is_u64()).then(|| value.to_string())
        };
        let cancelled = id(&message["params"]["requestId"]).filter(|_| is_cancelled);
        Self { id: id(&message["id"]), cancelled }
    }
}

/// Handles a line, and writes its messages.
async fn handle(
    app: &App,
    endpoint: &Endpoint,
    line: Vec<u8>,
    id: Option<&str>,
    output: &mpsc::Sender<Bytes>,
) {
    let request = match endpoint.request(line) {
        Ok(request) => request,
        Err(error) => {
            log::error!(target: "stockade", "cannot create the request of a message: {error}");
            return;
        }
    };
    let response = app.handle(request).await;
    let outcome = match is_events(&response) {
        true => write_events(response, output).await,
        false => write_message(response, id, output).await,
    };
    if let Err(error) = outcome {
        log::error!(target: "stockade", "cannot read the response to a message: {error}");
    }
}

fn is_events(response: &Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value == "text/event-stream")
}

/// Writes the data of each event. Each chunk of the stream is a whole event.
async fn write_events(response: Response, output: &mpsc::Sender<Bytes>) -> Result<(), BoxError> {
    let mut body = response.into_body();
    while let Some(chunk) = body.chunk().await? {
        let text = std::str::from_utf8(&chunk)?;
        let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        // A comment has no data. Line breaks between JSON values are spaces.
        if !data.is_empty() && output.send(data.join(" ").into()).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Writes a message. A response of another part of the application, such as a
/// rate limit, becomes an error of the protocol.
async fn write_message(
    response: Response,
    id: Option<&str>,
    output: &mpsc::Sender<Bytes>,
) -> Result<(), BoxError> {
    let is_message = response.extensions().get::<IsMessage>().is_some();
    let status = response.status();
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        bytes.extend_from_slice(&chunk);
    }
    let message = match (is_message, id) {
        (true, _) => bytes.into(),
        (false, Some(_)) if !status.is_success() => {
            ProtocolError::http(status, &String::from_utf8_lossy(&bytes)).write(id).into()
        }
        // A notification never gets a response.
        (false, _) => return Ok(()),
    };
    // The host may have ended.
    drop(output.send(one_line(message)).await);
    Ok(())
}

/// Returns a message without line breaks, which are not part of a text in JSON.
fn one_line(message: Bytes) -> Bytes {
    if !message.contains(&b'\n') && !message.contains(&b'\r') {
        return message;
    }
    let space = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    message.iter().map(space).collect::<Vec<_>>().into()
}

/// The maximum number of lines and of messages that wait.
const MOST_WAITING: usize = 64;

const NAME: &str = "mcp";
const USAGE: &str = "mcp --stdio [--authorization-from VARIABLE]";

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use http::Method;
    use stockade_routing::{RouteEntry, RouteTree, RouterOptions, create_router};

    use super::*;
    use crate::Mcp;

    /// A program with a tool that never ends.
    fn program() -> App {
        let wait = RouteEntry::new(async || pending::<()>().await).name("wait").tool("Waits.");
        let wait = RouteTree::new().method(Method::POST, wait);
        let mcp = Mcp::new("Waiting", "1").routes();
        let tree = RouteTree::new().segment("mcp", mcp).segment("wait", wait);
        create_router(tree, RouterOptions::new()).build().unwrap()
    }

    /// Time passes only if nothing else happens, so a call that does not end
    /// fails the test at once.
    #[tokio::test(start_paused = true)]
    async fn a_cancelled_call_ends() {
        let app = program();
        let endpoint = Endpoint::of(&app.route_map(), None).unwrap();
        let (lines, receiver) = mpsc::channel(8);
        let (output, mut messages) = mpsc::channel(8);
        let served = tokio::spawn(serve(app, endpoint, receiver, output));
        let line = |text: &str| lines.try_send(text.as_bytes().to_vec()).unwrap();
        line(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}"#);
        line(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#);
        // The call runs by now.
        assert_eq!(messages.recv().await.unwrap(), r#"{"jsonrpc":"2.0","id":8,"result":{}}"#);
        line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
        drop(lines);
        tokio::time::timeout(Duration::from_secs(5), served).await.unwrap().unwrap();
        assert_eq!(messages.recv().await, None);
    }

    #[test]
    fn finds_the_ids_of_a_message() {
        #[track_caller]
        fn check(line: &str, id: Option<&str>, cancelled: Option<&str>) {
            let (id, cancelled) = (id.map(str::to_owned), cancelled.map(str::to_owned));
            assert_eq!(Note::of(line.as_bytes()), Note { id, cancelled }, "{line}");
        }
        check(r#"{"id": 7, "method": "ping"}"#, Some("7"), None);
        check(r#"{"id": "a"}"#, Some("\"a\""), None);
        let cancelled = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;
        check(cancelled, None, Some("7"));
        check(r#"{"method":"other","params":{"requestId":7}}"#, None, None);
        check("{", None, None);
        check("[1]", None, None);
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(one_line(Bytes::from_static(b"{\r\n}")), "{  }");
        assert_eq!(one_line(Bytes::from_static(b"{}")), "{}");
    }
}
