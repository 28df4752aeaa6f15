//! [`RouteEntry`]: a handler with its middleware, checks and limits, and
//! [`RouteRef`], the same in the place where it was added.
//!
//! Spec: Route entry object.

use std::panic::Location;

use stockade_core::boxed_or::BoxedOr;
use stockade_core::middleware::Level;
use stockade_core::setting_internals::Inherit as _;
use stockade_core::{
    Authentication, Handler, HandlerFn, HandlerSignature, IntoMiddlewareList, IntoSchema,
    Middleware, RouteDocs, Setting, Validation,
};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_websockets::WebSocketOptions;

use crate::access::Access;
use crate::method_set::MethodSet;
use crate::route_host::RouteHost;
use crate::settings::{RouteSettings, runs_before_auth};

/// Returns the middleware of a list, each with the place where it was added.
#[track_caller]
pub(crate) fn added<M>(list: impl IntoMiddlewareList<M>, level: Level) -> Vec<Middleware> {
    let place = Location::caller();
    let mut list = list.into_list();
    list.iter_mut().for_each(|middleware| middleware.note_place(level, place));
    list
}

/// The value of a method in the tree: a handler with its middleware, checks and
/// limits.
///
/// Spec: Route entry object.
#[derive(Clone, Debug)]
#[must_use = "an entry does nothing until it stands in a tree"]
pub struct RouteEntry {
    pub(crate) handler: Handler,
    /// Only of a WebSocket route. In a box, as `cors`: there are many routes, and
    /// few of them have one.
    pub(crate) web_socket: Option<Box<WebSocketOptions>>,
    /// True if something was set that only a WebSocket has.
    pub(crate) web_socket_only: bool,
    /// True if the route is everything at and below its path.
    pub(crate) is_mount: bool,
    pub(crate) middleware: Vec<Middleware>,
    /// The index in `middleware` of the first middleware after the router's middleware:
    /// authentication runs there.
    pub(crate) after_router: usize,
    /// The index in `middleware` of the route's own first middleware.
    pub(crate) own: usize,
    /// The host of the nodes and groups around it; none for any host.
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
    /// The reason why no rate limit counts it, if the framework takes it out.
    pub(crate) rate_exempt_reason: Option<&'static str>,
    pub(crate) docs: BoxedOr<RouteDocs>,
    /// The methods that its requests call by their names.
    pub(crate) methods: Option<Box<MethodSet>>,
    /// True if it is a method that the requests of another route call.
    pub(crate) is_call: bool,
    /// True if its `auth` and its `public` do not replace a required `auth` around it.
    pub(crate) keeps_outer_auth: bool,
    /// True if rate limits count the parts of its requests one by one.
    pub(crate) has_subrequests: bool,
    /// True if the marks of its types are applied to its requests and responses.
    pub(crate) applies_marks: bool,
    pub(crate) location: &'static Location<'static>,
    /// The mistakes in the values of its keys.
    pub(crate) mistakes: Vec<ConfigIssue>,
}

impl RouteEntry {
    /// Makes an entry of this handler and nothing else.
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
            is_call: false,
            keeps_outer_auth: false,
            has_subrequests: false,
            applies_marks: false,
            location: Location::caller(),
            mistakes: Vec::new(),
        }
    }

    /// Replaces the path that the tree gives it; the router's prefix still
    /// applies.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Puts middleware of a node, a group or a router in front.
    pub(crate) fn inherit(&mut self, middleware: &[Middleware]) {
        self.middleware.splice(0..0, middleware.iter().cloned());
        self.own += middleware.len();
    }

    /// Takes the mistakes in its keys out.
    pub(crate) fn take_mistakes(&mut self) -> impl Iterator<Item = ConfigIssue> + use<> {
        let settings = self.settings.end_level(Level::Entry);
        std::mem::take(&mut self.mistakes).into_iter().chain(settings)
    }

    /// Puts the limits of a node or a group in front, behind the first `outer` middleware.
    pub(crate) fn inherit_limits(&mut self, outer: usize, limits: &[Middleware]) {
        self.middleware.splice(outer..outer, limits.iter().cloned());
        self.own += limits.len();
    }

    /// Adds the middleware of its settings before its other middleware: error handling,
    /// limits, timeout.
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

    /// Keeps a required `auth` around the route if the route asks for it: its own `auth` runs
    /// in addition, and its own `public` does not count.
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

    /// Takes the route out of the `auth` and the `public` around it, because its own
    /// middleware decides who may call it.
    #[doc(hidden)]
    pub fn own_access(mut self) -> Self {
        self.settings.auth = Setting::Off;
        self
    }

    /// Lets a required `auth` around the route run too, in addition to the `auth` of the
    /// route and in spite of its `public`, as for a method that requests of a route call.
    #[doc(hidden)]
    pub fn keeping_outer_auth(mut self) -> Self {
        self.keeps_outer_auth = true;
        self
    }

    /// Returns the value of a key; mistakes in it are kept for the build of the
    /// router.
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

/// A route that was just added, to say more about it.
#[derive(Debug)]
pub struct RouteRef<'r> {
    pub(crate) entry: &'r mut RouteEntry,
}

impl<'r> RouteRef<'r> {
    pub(crate) fn of(entry: &'r mut RouteEntry) -> Self {
        Self { entry }
    }

    /// Does the same as [`RouteEntry::own_access`].
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

    /// Returns the file and line where the route was added.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.entry.location
    }
}

/// Writes each setter twice: for an entry, and for a route in its place.
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
    /// Adds middleware that runs after that of the router, its groups and the
    /// tree, in list order.
    fn middleware<M>(entry, list: impl IntoMiddlewareList<M>) {
        entry.middleware.extend(added(list, Level::Entry));
    }

    /// Checks the body before the handler runs, and puts the outcome in its
    /// place; a body that fails is a 400. Of a WebSocket it checks each message that is
    /// read as JSON. On a route of any method, such as a mount, GET, HEAD and OPTIONS
    /// without a body pass; a body of GET or HEAD is not parsed, and fails.
    fn validation(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().body = entry.checked("validation", schema.into_schema());
    }

    /// Checks the query before the body. Text becomes numbers and booleans
    /// where the schema asks for them.
    fn query(entry, schema: impl IntoSchema) {
        let schema = entry.checked("query", schema.into_schema());
        let mistakes = schema.iter().flat_map(|schema| schema.query_mistakes());
        let place = entry.location;
        let issues = mistakes.map(|text| ConfigIssue::new(format!("query: {text}")).at(place));
        entry.mistakes.extend(issues);
        entry.validation.make_mut().query = schema;
    }

    /// Checks the parameters of the path before the query. Text becomes numbers
    /// and booleans where the schema asks for them.
    fn params(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().params = entry.checked("params", schema.into_schema());
    }

    /// Names the route for `generate_url`.
    fn name(entry, name: impl Into<String>) {
        entry.name = Some(name.into());
    }
}
