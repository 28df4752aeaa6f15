//! [`RouteTree`]: the declarative tree of routes.
//!
//! `routes!` expands to this builder; a tree can also be built at run time. The
//! build of the router reports all configuration errors together.
//!
//! ```
//! use stockade::RouteTree;
//!
//! let users = RouteTree::new()
//!     .key("GET", async || "all users")
//!     .key(":id", RouteTree::new().key("get", async || "one user"));
//! let api = RouteTree::new().key("users", users);
//! let app = stockade::create_router(api, stockade::RouterOptions::new()).build()?;
//! assert_eq!(app.routes().len(), 2);
//! # Ok::<(), stockade::ConfigError>(())
//! ```
// Spec: Route tree (object router); Route entry object.

use std::panic::Location;

use http::Method;
use stockade_core::middleware::Level;
use stockade_core::{HandlerFn, HandlerSignature, IntoMiddlewareList, Middleware};
use stockade_errors::__internal::sort_by;
use stockade_errors::ConfigIssue;
use stockade_path::Pattern;

use crate::any_method::any_method;
use crate::entry::{RouteEntry, added};
use crate::route_host::{RouteHost, within};
use crate::settings::RouteSettings;

/// A node of the tree: methods, path segments, and middleware for everything
/// below.
#[derive(Debug, Default)]
#[must_use = "a tree does nothing until it is passed to a router"]
pub struct RouteTree {
    pub(crate) middleware: Vec<Middleware>,
    pub(crate) settings: Box<RouteSettings>,
    pub(crate) host: Option<RouteHost>,
    pub(crate) entries: Vec<(Method, RouteEntry)>,
    pub(crate) web_socket: Option<Box<RouteEntry>>,
    pub(crate) children: Vec<Child>,
    pub(crate) mistakes: Vec<ConfigIssue>,
}

#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) key: String,
    /// The key without the names of its parameters.
    form: String,
    pub(crate) tree: RouteTree,
    pub(crate) location: &'static Location<'static>,
    /// True if it comes from a spread tree, which may repeat a key.
    pub(crate) spread: bool,
    /// The roots of the spread trees around it, the outermost first.
    pub(crate) around: Vec<Around>,
}

/// The root of a spread tree.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    pub(crate) middleware: Vec<Middleware>,
    pub(crate) settings: RouteSettings,
    pub(crate) host: Option<RouteHost>,
}

impl RouteTree {
    /// Creates an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the value of a key. The key is a method name in any case with a
    /// handler or a [`RouteEntry`], or one or more path segments (`"api/v1"`)
    /// with a tree.
    ///
    /// The methods are GET, POST, PUT, DELETE and PATCH; every other key is a
    /// path segment.
    // Spec: Route tree.
    #[track_caller]
    pub fn key<M>(mut self, key: &str, node: impl IntoNode<M>) -> Self {
        let location = Location::caller();
        let method = TREE_METHODS.iter().find(|method| method.as_str().eq_ignore_ascii_case(key));
        match (method, node.into_node()) {
            (Some(method), Node::Entry(entry)) => self.method(method.clone(), *entry),
            (None, Node::Tree(tree)) => self.segment(key, tree),
            (Some(method), Node::Tree(_)) => {
                let message = format!("{method} is a method: expected a handler, found a tree");
                self.mistakes.push(ConfigIssue::new(message).at(location));
                self
            }
            (None, Node::Entry(_)) => {
                let message =
                    format!("{key:?} is a path segment: expected a tree, found a handler");
                self.mistakes.push(ConfigIssue::new(message + &did_you_mean(key)).at(location));
                self
            }
        }
    }

    /// Adds the entry of a method at this node.
    #[track_caller]
    pub fn method(mut self, method: Method, entry: RouteEntry) -> Self {
        let earlier = self.entries.iter().find(|(known, _)| *known == method);
        if let Some((_, earlier)) = earlier {
            let place = earlier.location;
            let message = format!("duplicate {method}, first at {}:{}", place.file(), place.line());
            self.mistakes.push(ConfigIssue::new(message).at(Location::caller()));
        } else {
            self.entries.push((method, entry));
        }
        self
    }

    /// Adds the entry for every method without its own entry at this node. See
    /// [`Router::any`](crate::Router::any).
    #[track_caller]
    pub fn any(self, entry: RouteEntry) -> Self {
        self.method(any_method(), entry)
    }

    /// Adds a WebSocket at this node. [`RouteEntry::web_socket`] creates the
    /// entry. The node may also have a handler for GET.
    ///
    /// Experimental.
    // Spec: WebSocket routes.
    #[track_caller]
    pub fn web_socket(mut self, entry: RouteEntry) -> Self {
        if let Some(earlier) = &self.web_socket {
            let place = earlier.location;
            let message =
                format!("duplicate WebSocket, first at {}:{}", place.file(), place.line());
            self.mistakes.push(ConfigIssue::new(message).at(Location::caller()));
        } else {
            self.web_socket = Some(Box::new(entry));
        }
        self
    }

    /// Adds a tree below one or several path segments, such as `":id"` or
    /// `"api/v1"`.
    #[track_caller]
    pub fn segment(mut self, key: &str, tree: Self) -> Self {
        let location = Location::caller();
        let form = canonical(key);
        let same = |child: &&Child| !child.spread && child.form == form;
        let earlier = self.children.iter().find(same);
        if let Some(place) = earlier.map(|earlier| earlier.location) {
            let message =
                format!("duplicate segment {key:?}, first at {}:{}", place.file(), place.line());
            self.mistakes.push(ConfigIssue::new(message).at(location));
        } else {
            let (key, around) = (key.to_owned(), Vec::new());
            self.children.push(Child { key, form, tree, location, spread: false, around });
        }
        self
    }

    /// Adds middleware for everything at and below this node. It runs after the
    /// middleware of the nodes above.
    #[track_caller]
    pub fn middleware<M>(mut self, list: impl IntoMiddlewareList<M>) -> Self {
        self.middleware.extend(added(list, Level::Node));
        self
    }

    /// Adds the content of another tree, as if it were written here.
    ///
    /// Middleware and settings at the root of the other tree apply only to the
    /// routes of that tree.
    pub fn spread(mut self, tree: Self) -> Self {
        let Self { middleware, mut settings, host, entries, web_socket, children, mistakes } = tree;
        self.mistakes.append(&mut settings.end_level(Level::Node));
        let mut ahead = settings.limits(Level::Node);
        ahead.extend(middleware);
        ahead.extend(settings.late_limit(Level::Node));
        self.entries.extend(entries.into_iter().map(|(method, mut entry)| {
            entry.inherit(&ahead);
            entry.inherited.inherit(&settings);
            entry.host = within(host.as_ref(), entry.host.take(), &mut self.mistakes);
            (method, entry)
        }));
        if let Some(mut entry) = web_socket {
            entry.inherit(&ahead);
            entry.inherited.inherit(&settings);
            entry.host = within(host.as_ref(), entry.host.take(), &mut self.mistakes);
            self = self.web_socket(*entry);
        }
        let around = Around { middleware: ahead, settings: *settings, host };
        self.children.extend(children.into_iter().map(|mut child| {
            child.around.insert(0, around.clone());
            Child { spread: true, ..child }
        }));
        self.mistakes.extend(mistakes);
        self
    }
}

/// The value of a key in a tree.
#[derive(Debug)]
#[non_exhaustive]
pub enum Node {
    /// A handler with its middleware, checks and limits.
    Entry(Box<RouteEntry>),
    /// The routes below a path segment.
    Tree(RouteTree),
}

/// A value for a key of a tree: a handler, a [`RouteEntry`], a [`RouteTree`].
///
/// `Marker` distinguishes the implementations; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in a route tree",
    label = "not a handler, a RouteEntry or a RouteTree"
)]
pub trait IntoNode<Marker> {
    /// Converts the value to a node.
    fn into_node(self) -> Node;
}

impl IntoNode<()> for RouteTree {
    fn into_node(self) -> Node {
        Node::Tree(self)
    }
}

impl IntoNode<()> for RouteEntry {
    fn into_node(self) -> Node {
        Node::Entry(Box::new(self))
    }
}

impl<F, Args> IntoNode<(Args,)> for F
where
    F: HandlerFn<Args>,
    F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    #[track_caller]
    fn into_node(self) -> Node {
        Node::Entry(Box::new(RouteEntry::new(self)))
    }
}

/// The methods that a tree supports. Register other methods with the methods of
/// the router.
pub(crate) const TREE_METHODS: [Method; 5] =
    [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH];

/// Returns a key without the names of its parameters. Returns the key itself if
/// it is invalid, which is reported separately.
fn canonical(key: &str) -> String {
    Pattern::parse(key).map_or_else(|_| key.to_owned(), |pattern| pattern.canonical())
}

/// Returns a hint for a key with a handler that is not a method of a tree.
fn did_you_mean(key: &str) -> String {
    let key = key.to_ascii_uppercase();
    if matches!(key.as_str(), "ANY" | "HEAD" | "OPTIONS" | "TRACE" | "CONNECT" | "QUERY") {
        return " (use `Router::route` for other methods)".to_owned();
    }
    let same_letters = |name: &str| {
        let sorted = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            sort_by(&mut bytes, u8::cmp);
            bytes
        };
        let (key, name) = (sorted(&key), sorted(name));
        let common = name.iter().filter(|byte| key.contains(byte)).count();
        key.len().abs_diff(name.len()) <= 1 && common + 1 >= name.len().max(key.len())
    };
    let method = TREE_METHODS.iter().find(|method| same_letters(method.as_str()));
    method.map_or_else(String::new, |method| format!(" (did you mean {method}?)"))
}
