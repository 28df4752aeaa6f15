//! The syntax tree of `routes!`.

use proc_macro2::Ident;
use stockade_path::__internal::route_settings;
use syn::{Expr, LitStr};

/// The items in the braces of a segment or of the root.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) items: Vec<Item>,
}

/// One item of a node, in source order.
pub(crate) enum Item {
    Middleware(Vec<Expr>),
    /// A key of [`node_settings`].
    Setting {
        key: Ident,
        value: Expr,
    },
    Route(Box<Route>),
    Segment {
        key: LitStr,
        node: Node,
    },
    Spread(Expr),
}

/// A method with its handler and its route options.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The method as written.
    pub(crate) key: Ident,
    /// `None` if the handler is missing, which has already been reported.
    pub(crate) handler: Option<Expr>,
    pub(crate) middleware: Vec<Expr>,
    /// All other keys, which are methods of `RouteEntry`.
    pub(crate) fields: Vec<(Ident, Expr)>,
}

impl Route {
    /// Returns the string literal of a route option.
    pub(crate) fn text(&self, name: &str) -> Option<&LitStr> {
        let (_, value) = self.fields.iter().find(|(key, _)| key == name)?;
        match value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text),
            _ => None,
        }
    }

    /// Returns true if the route has this option.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }
}

/// The methods in a tree, and the other keys that can replace a method.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Method(&'static str);

impl Method {
    /// Parses a method, `ws` or `mount` in any case.
    pub(crate) fn of(key: &str) -> Option<Self> {
        METHODS
            .into_iter()
            .chain([WEB_SOCKET, MOUNT])
            .find(|method| method.eq_ignore_ascii_case(key))
            .map(Self)
    }

    /// Returns true for the WebSocket key, which is not an HTTP method.
    pub(crate) fn is_web_socket(self) -> bool {
        self.0 == WEB_SOCKET
    }

    /// Returns true for the key that matches any method.
    pub(crate) fn is_any(self) -> bool {
        self.0 == ANY
    }

    /// Returns true for the key of a tower service.
    pub(crate) fn is_mount(self) -> bool {
        self.0 == MOUNT
    }

    /// Returns the route options that only this key supports.
    pub(crate) fn own_keys(self) -> &'static [&'static str] {
        if self.is_web_socket() { &["allowed_origins", "options"] } else { &[] }
    }

    pub(crate) fn name(self) -> &'static str {
        self.0
    }
}

pub(crate) const METHODS: [&str; 8] =
    ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", ANY];

/// The key of a route for every method without its own route.
const ANY: &str = "ANY";

/// The key of a WebSocket, used like a method.
pub(crate) const WEB_SOCKET: &str = "ws";

/// The key of a tower service, used like a method.
pub(crate) const MOUNT: &str = "mount";

/// The route options that a node does not have. Except for `handler`, each is
/// the name of a `RouteEntry` method that takes the value.
const OWN_KEYS: [&str; 8] =
    ["handler", "name", "path", "middleware", "validation", "query", "params", "tool"];

/// Generates [`SETTINGS`] from the table that the router also uses.
macro_rules! settings {
    (
        ()
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident $args:tt -> $field:ty $convert:block = $default:expr;
        )*}
        routing {$(
            $(#[$its_meta:meta])* [$($its_serde:tt)*]
            $its_name:ident $(<$generic:ident>)? ($($its_args:tt)*) -> $its_field:ty $its_convert:block = $its_default:expr;
        )*}
    ) => {
        /// The keys that routes and nodes share. Each is the name of a method
        /// of `RouteEntry` and `RouteTree` that takes the value.
        pub(crate) const SETTINGS: &[&str] =
            &[$(stringify!($name),)* $(stringify!($its_name),)*];
    };
}

route_settings!(settings!);

/// Returns the keys of route options.
pub(crate) fn entry_keys() -> Vec<&'static str> {
    OWN_KEYS.iter().chain(SETTINGS).copied().collect()
}

/// Returns the keys of a node except methods, segments and `middleware`.
pub(crate) fn node_settings() -> Vec<&'static str> {
    SETTINGS.iter().chain(&[HOST]).copied().collect()
}

/// The key that only nodes have.
pub(crate) const HOST: &str = "host";
