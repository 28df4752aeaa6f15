//! [`Rpc`]: the JSON-RPC methods of an application.

use std::panic::Location;
use std::sync::{Arc, OnceLock};

use http::Method;
use serde_json::{Value, json};
use stockade_core::reply::Json;
use stockade_core::{Handler, RouteDocs};
use stockade_errors::__internal::setters;
use stockade_errors::{ApiError, ConfigIssue};
use stockade_routing::method_set::{MapInspector, MethodSet};
use stockade_routing::{RouteEntry, RouteTree};
use stockade_websockets::WebSocketOptions;

use crate::describe::describe_route;
use crate::error::{is_reserved, reserved};
use crate::message::Rules;
use crate::method::{IntoRpcMethod, RpcMethod};
use crate::openrpc::{MethodErrors, document as document_of};
use crate::service::{Service, describe};
use crate::web_socket::web_socket;

/// JSON-RPC 2.0 methods and their options.
///
/// ```
/// use stockade::extract::Body;
/// use stockade::prelude::*;
/// use stockade::rpc::Rpc;
/// use stockade::testing::TestClient;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Subtract {
///     minuend: i64,
///     subtrahend: i64,
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let rpc = Rpc::new()
///     .method("subtract", async |Body(it): Body<Subtract>| Json(it.minuend - it.subtrahend));
/// let api = routes! { "rpc": { ..rpc.routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let call = json!({ "jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1 });
/// let answer = client.post("/rpc").json(&call).await;
/// answer.assert_json(&json!({ "jsonrpc": "2.0", "result": 19, "id": 1 }));
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "methods do nothing until their routes are in a tree"]
pub struct Rpc {
    methods: Vec<(String, RouteEntry)>,
    /// The errors of methods, for `rpc.discover`.
    errors: MethodErrors,
    mistakes: Vec<ConfigIssue>,
    max_batch: usize,
    parallel: usize,
    max_answer: u64,
    plain: bool,
    rest: bool,
    discover: bool,
    web_socket: bool,
    web_socket_options: WebSocketOptions,
    outlives_user: Option<String>,
    title: String,
    version: String,
    location: &'static Location<'static>,
}

impl Default for Rpc {
    #[track_caller]
    fn default() -> Self {
        Self {
            methods: Vec::new(),
            errors: MethodErrors::new(),
            mistakes: Vec::new(),
            max_batch: 50,
            parallel: 8,
            max_answer: 8 * 1_048_576,
            plain: false,
            rest: false,
            discover: false,
            web_socket: false,
            web_socket_options: WebSocketOptions::new(),
            outlives_user: None,
            title: "JSON-RPC".to_owned(),
            version: "1.0.0".to_owned(),
            location: Location::caller(),
        }
    }
}

impl Rpc {
    /// Creates an empty collection.
    #[track_caller]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method: a handler, or an [`RpcMethod`](crate::RpcMethod) with
    /// middleware and other options.
    ///
    /// A duplicate name and a name that starts with `rpc.` are configuration
    /// errors, which are reported when the router is built.
    #[track_caller]
    pub fn method<M>(mut self, name: impl Into<String>, method: impl IntoRpcMethod<M>) -> Self {
        let (name, place) = (name.into(), Location::caller());
        let RpcMethod { entry, errors } = method.into_rpc_method();
        let mut codes = errors.iter().map(|(code, _)| *code);
        let code = codes.find(|code| is_reserved(*code));
        let code = code.map(|code| format!("the method {name:?}: {}", reserved(code)));
        let faults = self.fault(&name).into_iter().chain(code);
        self.mistakes.extend(faults.map(|fault| ConfigIssue::new(fault).at(place)));
        if !errors.is_empty() {
            self.errors.insert(name.clone(), errors);
        }
        self.methods.push((name, entry.applying_marks()));
        self
    }

    /// Returns the configuration error in a name.
    fn fault(&self, name: &str) -> Option<String> {
        if name.is_empty() {
            return Some("a method must have a name".to_owned());
        }
        if name.starts_with(RESERVED) {
            return Some(format!(
                "the method {name:?} begins with `{RESERVED}`, which is reserved"
            ));
        }
        let earlier = self.methods.iter().find(|(known, _)| known == name);
        earlier.map(|(_, earlier)| {
            let place = earlier.location();
            format!("duplicate method {name:?}, first at {}:{}", place.file(), place.line())
        })
    }

    setters! {
        /// Sets the maximum number of calls in a batch. No call of a larger
        /// batch runs. Default: 50.
        max_batch: usize;
        /// Sets the maximum number of concurrent calls in a batch. Default: 8.
        parallel: usize;
        /// Sets the maximum size of a response, in bytes. The call that exceeds
        /// it and all later calls get the error -32603. Default: 8 MiB.
        max_answer: u64;
        /// Sets whether calls such as `{"method": …, "params": …}` without
        /// `jsonrpc` are accepted. Their responses also omit it, and calls
        /// without an id get a response too. Default: false.
        plain: bool;
        /// Sets whether each method also has its own route,
        /// `POST <path>/<method>`, with the named parameters as a JSON body. It is
        /// for clients that are generated from an OpenAPI document. Method
        /// names must then be valid path segments: letters, digits, `.`, `_`,
        /// `-` and `~`. Default: false.
        rest: bool;
        /// Sets whether the method `rpc.discover` exists, which returns an
        /// OpenRPC document of all methods except hidden ones. Default: false.
        discover: bool;
        /// Sets whether clients can also call methods over a WebSocket at the
        /// same path. It handles 16 messages concurrently and sends each
        /// response when it is ready. A method with a
        /// [`Notifier`](crate::Notifier) may send notifications later. Requires
        /// `RouterOptions::enable_web_sockets`. Default: false.
        web_socket: bool;
        /// Sets the options of the WebSocket. Binary messages are always
        /// accepted. Default: the options of the router.
        web_socket_options: WebSocketOptions;
        /// Sets the reason why the WebSocket may outlive the login of its user.
        /// By default, the connection closes with 4401 when the user of the
        /// handshake, or of a call with a [`Notifier`](crate::Notifier), is
        /// logged out.
        outlives_user: some into String;
        /// Sets the title of the `rpc.discover` document. Default: `JSON-RPC`.
        title: into String;
        /// Sets the version of the API in the `rpc.discover` document. Default:
        /// `1.0.0`.
        version: into String;
    }

    /// Creates the routes of the methods. Spread them into the tree of an
    /// application: `"rpc": { ..rpc.routes() }`.
    #[track_caller]
    pub fn routes(&self) -> RouteTree {
        let table = Arc::new(OnceLock::new());
        let service = Arc::new(Service {
            table: Arc::clone(&table),
            forms: OnceLock::new(),
            rules: Rules { max_batch: self.max_batch, takes_plain: self.plain },
            parallel: self.parallel.max(1),
            max_answer: self.max_answer,
        });
        let socket = self.web_socket.then(|| {
            let code = self.web_socket_options.logged_out_code;
            let entry = web_socket(Arc::clone(&service), code);
            self.outlives_user.iter().fold(entry, |entry, reason| entry.outlives_user(reason))
        });
        let handler =
            Handler::erased(move |req| Box::pin(Arc::clone(&service).answer(req)), describe);
        let mut set = MethodSet {
            methods: self.methods.clone(),
            mistakes: self.issues(),
            table,
            describe: describe_route,
            inspect: None,
        };
        if self.discover {
            self.add_discover(&mut set);
        }
        let entry = RouteEntry::of_handler(handler)
            .accepts(MEDIA_TYPES)
            .docs(RouteDocs::new("Calls methods over JSON-RPC 2.0"))
            .calling(set);
        let tree = RouteTree::new().method(Method::POST, entry);
        let tree = match socket {
            // A message is JSON in either frame type, and an ignored message
            // would never get a response.
            Some(socket) => {
                tree.web_socket(socket.options(self.web_socket_options.clone().binary(true)))
            }
            None => tree,
        };
        let methods = self.methods.iter().filter(|(name, _)| self.rest && is_segment(name));
        methods.fold(tree, |tree, (name, entry)| {
            // Forms and text are rejected, because other origins can send them
            // without a preflight. As with calls, the outer authentication
            // applies in addition to the authentication of the method.
            let entry = entry.clone().accepts([JSON]).keeping_outer_auth();
            tree.segment(name, RouteTree::new().method(Method::POST, entry))
        })
    }

    /// Adds the method that describes all methods. The document is created from
    /// the map when the router is built.
    #[track_caller]
    fn add_discover(&self, set: &mut MethodSet) {
        let document = Arc::new(OnceLock::<Value>::new());
        let made = Arc::clone(&document);
        let discover = move || {
            let document = document.get().cloned();
            async move { document.map(Json).ok_or_else(not_made) }
        };
        let docs = RouteDocs::new("Describes the methods as an OpenRPC document");
        set.methods.push((DISCOVER.to_owned(), RouteEntry::new(discover).docs(docs)));
        let info = json!({ "title": self.title, "version": self.version });
        let errors = self.errors.clone();
        set.inspect = Some(MapInspector::new(move |methods, map| {
            made.get_or_init(|| document_of(&info, methods, &errors, map));
        }));
    }

    fn issues(&self) -> Vec<ConfigIssue> {
        let mut mistakes = self.mistakes.clone();
        if self.methods.is_empty() {
            mistakes
                .push(ConfigIssue::new("an `Rpc` must have at least one method").at(self.location));
        }
        let unsafe_names = self.methods.iter().filter(|(name, _)| self.rest && !is_segment(name));
        mistakes.extend(unsafe_names.map(|(name, entry)| {
            let message =
                format!("the method {name:?} is not a valid path segment, but `rest` needs one");
            ConfigIssue::new(message).at(entry.location())
        }));
        for (name, value) in [("max_batch", self.max_batch), ("parallel", self.parallel)] {
            if value == 0 {
                mistakes.push(
                    ConfigIssue::new(format!("`{name}` must be at least 1")).at(self.location),
                );
            }
        }
        mistakes
    }
}

/// Returns true if a path can contain the name without encoding.
fn is_segment(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '~');
    !name.is_empty() && name.chars().all(is_safe) && !name.chars().all(|c| c == '.')
}

#[cold]
fn not_made() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: the document of `rpc.discover` was not created")
}

/// The accepted media types. A page on another origin cannot send any of them
/// without a preflight. Older clients send the last two.
const MEDIA_TYPES: [&str; 3] = [JSON, "application/json-rpc", "application/jsonrequest"];

const JSON: &str = "application/json";

/// The method that describes all methods.
const DISCOVER: &str = "rpc.discover";

/// The prefix of names that the specification reserves.
const RESERVED: &str = "rpc.";
