//! `MethodSet`: the methods of a route that the body of a request calls by
//! name.
//!
//! A method is compiled like a route, with the middleware of its route before
//! its own middleware. So a method is described, listed in the map and checked
//! like a route. The route runs the common middleware once for a request, and
//! the rest for each call (`MethodTable::run`).

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use stockade_core::endpoint_internals::{RunningHandler, run_from};
use stockade_core::{Endpoint, Handler, Middleware, Request, Response};
use stockade_errors::ConfigIssue;
use stockade_stages::observation::Observation;
use stockade_stages::rate_limit::meter::Meter;

use crate::built_methods::BuiltMethods;
use crate::commands::Command;
use crate::entry::RouteEntry;
use crate::map::{Inspector, RouteInfo, RouteMap};

type Look = dyn Fn(&[&RouteInfo], &RouteMap) + Send + Sync;

/// A function that inspects the methods of a route in the map, when the router
/// is built.
#[derive(Clone)]
pub struct MapInspector {
    look: Arc<Look>,
    /// Creates the inspector of the route at an index. The build refers to maps
    /// only through this pointer and the pointer in [`Inspector`].
    inspector: fn(Arc<Look>, usize) -> Inspector,
}

impl MapInspector {
    /// Creates an inspector from a function.
    pub fn new(look: impl Fn(&[&RouteInfo], &RouteMap) + Send + Sync + 'static) -> Self {
        let inspector = |look: Arc<Look>, index| {
            Inspector::new(move |app, map| {
                // The index belongs to a route with methods in the same
                // application.
                let methods: Option<&BuiltMethods> = app.resolved.routes.methods.get(index);
                look(
                    &methods.map(|methods| methods.methods_in(&map.routes)).unwrap_or_default(),
                    map,
                );
                Ok(())
            })
        };
        Self { look: Arc::new(look), inspector }
    }

    /// Returns the inspector of the route at an index.
    pub(crate) fn of(&self, index: usize) -> Inspector {
        (self.inspector)(Arc::clone(&self.look), index)
    }
}

impl fmt::Debug for MapInspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MapInspector")
    }
}

/// The methods of a route, as declared by its protocol.
#[derive(Clone)]
pub struct MethodSet {
    /// The methods with their names.
    pub methods: Vec<(String, RouteEntry)>,
    /// The configuration errors in them.
    pub mistakes: Vec<ConfigIssue>,
    /// The place for the compiled methods.
    pub table: Arc<OnceLock<MethodTable>>,
    /// Derives the body and the responses of the route from its methods.
    pub describe: fn(&mut RouteInfo, &[RouteInfo]),
    /// Inspects the methods in the map when the router is built.
    pub inspect: Option<MapInspector>,
}

impl fmt::Debug for MethodSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.methods.iter().map(|(name, _)| name)).finish()
    }
}

/// The compiled methods of a route.
#[derive(Debug)]
pub struct MethodTable {
    /// Sorted by name.
    pub(crate) methods: Vec<(Box<str>, Call)>,
}

/// A compiled method.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) endpoint: Arc<Endpoint>,
    /// The index of the first middleware that belongs only to this method.
    pub(crate) own: usize,
}

impl MethodTable {
    /// Returns the index of a method.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.methods.binary_search_by(|(known, _)| (**known).cmp(name)).ok()
    }

    /// Returns the endpoint of each method, in the order of their indexes.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.methods.iter().map(|(_, call)| &call.endpoint)
    }

    /// Runs the method at this index for a request, after the common
    /// middleware. Also returns its name. Returns `None` if the index does not
    /// have a method.
    #[must_use]
    pub fn run(
        &self,
        index: usize,
        mut req: Request,
        params: bytes::Bytes,
    ) -> Option<(&str, RunningCall)> {
        let (name, call) = self.methods.get(index)?;
        req.set_part(Arc::clone(call.endpoint.context()), params);
        let meter = req.shared::<Meter>();
        let observation = meter.and_then(|meter| meter.enter_part(&req));
        let running = run_from(Arc::clone(&call.endpoint), call.own, req);
        Some((name, RunningCall { running, observation: observation.map(Box::new) }))
    }
}

/// The future of a running method. It reports the response to the log and the
/// metrics.
#[derive(Debug)]
#[must_use = "it does nothing until it is awaited"]
pub struct RunningCall {
    running: RunningHandler,
    /// Boxed, because most calls are not observed.
    observation: Option<Box<Observation>>,
}

impl Future for RunningCall {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        self.running.poll_into(cx, &mut slot);
        if let Poll::Ready(response) = &mut slot
            && let Some(observation) = self.observation.take()
        {
            observation.leave(response);
        }
        slot
    }
}

impl RouteEntry {
    /// Creates an entry with a type-erased handler.
    #[doc(hidden)]
    #[track_caller]
    pub fn of_handler(handler: Handler) -> Self {
        Self::of(handler)
    }

    /// Returns the file and line that created the entry.
    #[doc(hidden)]
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Lets the requests of a route call these methods.
    #[doc(hidden)]
    pub fn calling(mut self, methods: MethodSet) -> Self {
        self.methods = Some(Box::new(methods));
        self.with_parts()
    }

    /// Counts the parts of its requests separately in rate limits.
    #[doc(hidden)]
    pub fn with_parts(mut self) -> Self {
        self.has_subrequests = true;
        self
    }

    /// Runs middleware before the middleware of the router.
    #[doc(hidden)]
    pub fn outermost(mut self, middleware: Middleware) -> Self {
        self.outermost = Some(Box::new(middleware));
        self
    }

    /// Adds a command to the application that has this route.
    #[doc(hidden)]
    pub fn with_command(mut self, command: Command) -> Self {
        self.commands.push(command);
        self
    }

    /// Applies the marks `read_only` and `write_only` of its types to its
    /// requests and responses.
    #[doc(hidden)]
    pub fn applying_marks(mut self) -> Self {
        self.applies_marks = true;
        self
    }
}
