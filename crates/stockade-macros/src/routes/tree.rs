//! The input of `routes!` as data.

use proc_macro2::Ident;
use stockade_path::__internal::route_settings;
use syn::{Expr, LitStr};

/// The content of the braces of a segment, or of the root.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) items: Vec<Item>,
}

/// One line of a node, in the order of the source.
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

/// A method with its handler and its entry.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The method as written.
    pub(crate) key: Ident,
    /// `None` in an entry without a handler, which is reported already.
    pub(crate) handler: Option<Expr>,
    pub(crate) middleware: Vec<Expr>,
    /// All other keys, which are methods of `RouteEntry`.
    pub(crate) fields: Vec<(Ident, Expr)>,
}

impl Route {
    /// Returns the string literal that a key of the entry holds.
    pub(crate) fn text(&self, name: &str) -> Option<&LitStr> {
        let (_, value) = self.fields.iter().find(|(key, _)| key == name)?;
        match value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text),
            _ => None,
        }
    }

    /// Returns true if the entry has this key.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _)| key == name)
    }
}

/// The methods that a tree takes, and the keys that stand beside them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Method(&'static str);

impl Method {
    /// Reads a method, the `ws` of a WebSocket, or `mount`, in any case.
    pub(crate) fn of(key: &str) -> Option<Self> {
        METHODS
            .into_iter()
            .chain([WEB_SOCKET, MOUNT])
            .find(|method| method.eq_ignore_ascii_case(key))
            .map(Self)
    }

    /// Returns true for the key of a WebSocket, which is no method.
    pub(crate) fn is_web_socket(self) -> bool {
        self.0 == WEB_SOCKET
    }

    /// Returns true for the key of any method.
    pub(crate) fn is_any(self) -> bool {
        self.0 == ANY
    }

    /// Returns true for the key of a tower service.
    pub(crate) fn is_mount(self) -> bool {
        self.0 == MOUNT
    }

    /// Returns the keys of an entry that only this one has.
    pub(crate) fn own_keys(self) -> &'static [&'static str] {
        if self.is_web_socket() { &["allowed_origins", "options"] } else { &[] }
    }

    pub(crate) fn name(self) -> &'static str {
        self.0
    }
}

pub(crate) const METHODS: [&str; 8] =
    ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", ANY];

/// The key of a route for every method that has none of its own.
const ANY: &str = "ANY";

/// The key of a WebSocket, which stands where a method stands.
pub(crate) const WEB_SOCKET: &str = "ws";

/// The key of a tower service, which stands where a method stands.
pub(crate) const MOUNT: &str = "mount";

/// The keys of an entry that a node does not have. Each except `handler` is the method of `RouteEntry` that takes its value.
const OWN_KEYS: [&str; 7] =
    ["handler", "name", "path", "middleware", "validation", "query", "params"];

/// Makes [`SETTINGS`] of the table that the router makes its settings of.
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
        /// The keys that an entry and a node have. Each is the method of `RouteEntry` and of
        /// `RouteTree` that takes its value.
        pub(crate) const SETTINGS: &[&str] =
            &[$(stringify!($name),)* $(stringify!($its_name),)*];
    };
}

route_settings!(settings!);

/// Returns the keys of an entry.
pub(crate) fn entry_keys() -> Vec<&'static str> {
    OWN_KEYS.iter().chain(SETTINGS).copied().collect()
}

/// Returns the keys of a node except methods, segments and `middleware`.
pub(crate) fn node_settings() -> Vec<&'static str> {
    SETTINGS.iter().chain(&[HOST]).copied().collect()
}

/// The key of a node that an entry does not have.
pub(crate) const HOST: &str = "host";
