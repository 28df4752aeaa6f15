//! [`RouteEntry`]: a handler with its middleware, checks and limits, and
//! [`RouteRef`], a reference to the entry of an added route.
// Spec: Route entry object.

use std::panic::Location;

use stockade_core::boxed_or::BoxedOr;
use stockade_core::middleware::Level;
use stockade_core::setting_internals::Inherit as _;
use stockade_core::{
    Authentication, Handler, HandlerFn, HandlerSignature, IntoMiddlewareList, IntoSchema,
    Middleware, RouteDocs, Setting, Validation,
};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::Tool;
use stockade_websockets::WebSocketOptions;

use crate::access::Access;
use crate::commands::Command;
use crate::into_tool::IntoTool;
use crate::method_set::MethodSet;
use crate::route_host::RouteHost;
use crate::settings::{RouteSettings, runs_before_auth};
use crate::tool_server::ToolServer;

/// Returns the middleware of a list, each with the source location of its
/// addition.
#[track_caller]
pub(crate) fn added<M>(list: impl IntoMiddlewareList<M>, level: Level) -> Vec<Middleware> {
    let place = Location::caller();
    let mut list = list.into_list();
    list.iter_mut().for_each(|middleware| middleware.note_place(level, place));
    list
}

/// The value of a method in the tree: a handler with its middleware, checks and
/// limits.
// Spec: Route entry object.
#[derive(Clone, Debug)]
#[must_use = "an entry does nothing until it is added to a tree"]
pub struct RouteEntry {
    pub(crate) handler: Handler,
    /// Only for a WebSocket route. Boxed, like `cors`, because only a few of
    /// many routes have it.
    pub(crate) web_socket: Option<Box<WebSocketOptions>>,
    /// True if an option was set that only WebSocket routes have.
    pub(crate) web_socket_only: bool,
    /// True if the route matches everything at and below its path.
    pub(crate) is_mount: bool,
    pub(crate) middleware: Vec<Middleware>,
    /// The index in `middleware` of the first middleware after the router's
    /// middleware. Authentication runs there.
    pub(crate) after_router: usize,
    /// The index in `middleware` of the route's own first middleware.
    pub(crate) own: usize,
    /// The host of the nodes and groups around it; `None` for any host.
    pub(crate) host: Option<RouteHost>,
    /// True if the host of the router does not apply.
    pub(crate) has_any_host: bool,
    /// Its own settings.
    pub(crate) settings: RouteSettings,
    /// The settings of the nodes and groups around it.
    pub(crate) inherited: RouteSettings,
    pub(crate) validation: BoxedOr<Validation>,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    /// The reason why no rate limit applies to it, if the framework exempts it.
    pub(crate) rate_exempt_reason: Option<&'static str>,
    pub(crate) docs: BoxedOr<RouteDocs>,
    /// The methods that its requests call by name.
    pub(crate) methods: Option<Box<MethodSet>>,
    /// The tool that it is for agents. Boxed, like `tool_server`, because most
    /// routes do not have it.
    pub(crate) tool: Option<Box<Tool>>,
    /// The protocol of the tools that it offers.
    pub(crate) tool_server: Option<Box<ToolServer>>,
    /// True if it is a method that the requests of another route call.
    pub(crate) is_call: bool,
    /// True if its `auth` and its `public` do not replace a required `auth`
    /// around it.
    pub(crate) keeps_outer_auth: bool,
    /// True if rate limits count the parts of its requests separately.
    pub(crate) has_subrequests: bool,
    /// True if the marks of its types are applied to its requests and
    /// responses.
    pub(crate) applies_marks: bool,
    /// The middleware of the framework that runs before all other middleware.
    pub(crate) outermost: Option<Box<Middleware>>,
    /// The commands that it adds to the application.
    pub(crate) commands: Vec<Command>,
    pub(crate) location: &'static Location<'static>,
    /// The configuration errors in its options.
    pub(crate) mistakes: Vec<ConfigIssue>,
}

impl RouteEntry {
    /// Creates an entry with only this handler.
    #[track_caller]
    pub fn new<F, Args>(handler: F) -> Self
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        Self::of(Handler::new(handler))
    }

    #[track_caller]
    pub(crate) fn of(handler: Handler) -> Self {
        Self {
            handler,
            web_socket: None,
            web_socket_only: false,
            is_mount: false,
            middleware: Vec::new(),
            after_router: 0,
            own: 0,
            host: None,
            has_any_host: false,
            settings: RouteSettings::default(),
            inherited: RouteSettings::default(),
            validation: BoxedOr::default(),
            name: None,
            path: None,
            rate_exempt_reason: None,
            docs: BoxedOr::default(),
            methods: None,
            tool: None,
            tool_server: None,
            is_call: false,
            keeps_outer_auth: false,
            has_subrequests: false,
            applies_marks: false,
            outermost: None,
            commands: Vec::new(),
            location: Location::caller(),
            mistakes: Vec::new(),
        }
    }

    /// Replaces the path from the tree. The prefix of the router still applies.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Inserts the middleware of a node, a group or a router first.
    pub(crate) fn inherit(&mut self, middleware: &[Middleware]) {
        self.middleware.splice(0..0, middleware.iter().cloned());
        self.own += middleware.len();
    }

    /// Removes the configuration errors and returns them.
    pub(crate) fn take_mistakes(&mut self) -> impl Iterator<Item = ConfigIssue> + use<> {
        let settings = self.settings.end_level(Level::Entry);
        std::mem::take(&mut self.mistakes).into_iter().chain(settings)
    }

    /// Inserts the limits of a node or a group after the first `outer`
    /// middleware.
    pub(crate) fn inherit_limits(&mut self, outer: usize, limits: &[Middleware]) {
        self.middleware.splice(outer..outer, limits.iter().cloned());
        self.own += limits.len();
    }

    /// Adds the middleware of its settings before its other middleware: error
    /// handling, limits, timeout.
    pub(crate) fn place_settings(&mut self, router: &RouteSettings) {
        self.keep_outer_auth(router);
        let mut settings = self.settings.clone();
        settings.timeout.inherit(&self.inherited.timeout);
        settings.timeout.inherit(&router.timeout);
        let ahead = settings.own_error_handling().into_iter();
        let ahead = ahead.chain(settings.limits(Level::Entry)).chain(settings.own_timeout());
        self.middleware.splice(self.own..self.own, ahead);
        self.middleware.extend(settings.late_limit(Level::Entry));
        let mut access = Access::of(&self.settings);
        access.inherit(&Access::of(&self.inherited));
        access.inherit(&Access::of(router));
        if let Some(auth) = access.authentication() {
            self.authenticate(auth.middleware().clone());
        }
    }

    /// Keeps a required `auth` around the route if the route requests it. Its
    /// own `auth` then runs in addition, and its own `public` does not count.
    fn keep_outer_auth(&mut self, router: &RouteSettings) {
        let mut outer = Access::of(&self.inherited);
        outer.inherit(&Access::of(router));
        let is_required = outer.authentication().is_some_and(Authentication::is_required);
        if !self.keeps_outer_auth || !is_required {
            return;
        }
        self.settings.public = Setting::Inherit;
        if let Setting::Value(own) = std::mem::take(&mut self.settings.auth) {
            self.middleware.insert(self.own, own.value.middleware().clone());
        }
    }

    /// Adds authentication after the middleware of the router.
    fn authenticate(&mut self, auth: Middleware) {
        let own = self.own.saturating_sub(self.after_router);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut outer = 0;
        for (index, middleware) in self.middleware.drain(self.after_router..).enumerate() {
            if runs_before_auth(&middleware) {
                before.push(middleware);
            } else {
                after.push(middleware);
                outer += usize::from(index < own);
            }
        }
        self.middleware.extend(before);
        self.middleware.push(auth);
        self.own = self.middleware.len() + outer;
        self.middleware.extend(after);
    }

    /// Exempts the route from the `auth` and the `public` around it, because
    /// its own middleware decides about access.
    #[doc(hidden)]
    pub fn own_access(mut self) -> Self {
        self.settings.auth = Setting::Off;
        self
    }

    /// Keeps a required `auth` around the route, in addition to the `auth` of
    /// the route and despite its `public`. For example, for a method that
    /// requests of another route call.
    #[doc(hidden)]
    pub fn keeping_outer_auth(mut self) -> Self {
        self.keeps_outer_auth = true;
        self
    }

    /// Returns the value of an option. Stores its configuration errors for the
    /// build of the router.
    fn checked<T>(&mut self, key: &str, value: Result<T, ConfigError>) -> Option<T> {
        let place = self.location;
        let mistakes = |error: ConfigError| {
            let mistakes = error.issues().iter().map(|mistake| {
                let message = format!("{key}: {}", mistake.message());
                ConfigIssue::new(message).at(mistake.location().unwrap_or(place))
            });
            self.mistakes.extend(mistakes);
        };
        value.map_err(mistakes).ok()
    }
}

/// A reference to an added route, for setting its options.
#[derive(Debug)]
pub struct RouteRef<'r> {
    pub(crate) entry: &'r mut RouteEntry,
}

impl<'r> RouteRef<'r> {
    pub(crate) fn of(entry: &'r mut RouteEntry) -> Self {
        Self { entry }
    }

    /// Calls [`RouteEntry::own_access`].
    #[doc(hidden)]
    #[expect(
        clippy::must_use_candidate,
        clippy::return_self_not_must_use,
        reason = "the route is added already"
    )]
    pub fn own_access(self) -> Self {
        self.entry.settings.auth = Setting::Off;
        self
    }

    /// Returns the file and line of the call that added the route.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.entry.location
    }
}

/// Generates each setter for both an entry and a reference to a route.
macro_rules! setters {
    ($(
        $(#[$doc:meta])*
        fn $name:ident $(<$M:ident>)? ($entry:ident, $value:ident: $type:ty) $set:block
    )*) => {
        impl RouteEntry {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (mut self, $value: $type) -> Self {
                let $entry = &mut self;
                $set
                self
            })*
        }

        #[expect(
            clippy::return_self_not_must_use,
            reason = "the route is added already"
        )]
        impl RouteRef<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (self, $value: $type) -> Self {
                let $entry = &mut *self.entry;
                $set
                self
            })*
        }
    };
}

setters! {
    /// Adds middleware that runs after the middleware of the router, its groups
    /// and the tree, in list order.
    fn middleware<M>(entry, list: impl IntoMiddlewareList<M>) {
        entry.middleware.extend(added(list, Level::Entry));
    }

    /// Validates the body before the handler runs, and replaces it with the
    /// validated value. An invalid body gets a 400. A WebSocket validates each
    /// message that is read as JSON. On a route of any method, such as a mount,
    /// GET, HEAD and OPTIONS requests without a body pass. A body of GET or
    /// HEAD is not parsed, and is invalid.
    fn validation(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().body = entry.checked("validation", schema.into_schema());
    }

    /// Validates the query before the body. Text is converted to numbers and
    /// booleans if the schema requires them.
    fn query(entry, schema: impl IntoSchema) {
        let schema = entry.checked("query", schema.into_schema());
        let mistakes = schema.iter().flat_map(|schema| schema.query_mistakes());
        let place = entry.location;
        let issues = mistakes.map(|text| ConfigIssue::new(format!("query: {text}")).at(place));
        entry.mistakes.extend(issues);
        entry.validation.make_mut().query = schema;
    }

    /// Validates the parameters of the path before the query. Text is converted
    /// to numbers and booleans if the schema requires them.
    fn params(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().params = entry.checked("params", schema.into_schema());
    }

    /// Names the route for `generate_url`.
    fn name(entry, name: impl Into<String>) {
        entry.name = Some(name.into());
    }

    /// Makes the route a tool for AI agents, with this description or
    /// [`Tool`]. The endpoint `Mcp` of the router offers it. A call of the tool
    /// is a request to the route. Default: the route is not a tool.
    ///
    /// It needs the feature `mcp`.
    fn tool(entry, tool: impl IntoTool) {
        entry.tool = Some(Box::new(tool.into_tool().at(Location::caller())));
    }
}
