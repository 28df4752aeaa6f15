//! The compilation of the methods of a route.

use std::sync::Arc;

use http::Method;
use stockade_core::endpoint_internals::EndpointKind;
use stockade_core::marked::AppliesMarks;
use stockade_core::{Middleware, Setting};
use stockade_errors::__internal::sort_by;
use stockade_errors::ConfigIssue;
use stockade_path::Pattern;
use stockade_stages::cors::policy_internals::PageNames;

use crate::access::Access;
use crate::built_methods::{BuiltMethods, LABEL, path_of};
use crate::compile::Compiler;
use crate::entry::RouteEntry;
use crate::method_set::{Call, MethodSet, MethodTable};
use crate::route::Route;
use crate::route_host::RouteHost;
use crate::settings::RouteSettings;

/// Methods that wait until their route is compiled.
pub(crate) struct WaitingMethods {
    set: MethodSet,
    /// The middleware of the entry of the route and of the nodes around it.
    middleware: Vec<Middleware>,
    inherited: RouteSettings,
    host: Option<RouteHost>,
}

impl WaitingMethods {
    /// Removes the methods from an entry, if it has some.
    pub(crate) fn of(entry: &mut RouteEntry) -> Option<Self> {
        let set = *entry.methods.take()?;
        let (middleware, mut inherited) = (entry.middleware.clone(), entry.inherited.clone());
        // A call runs within the route, and the middleware of the route has the
        // timeout.
        inherited.timeout = Setting::Off;
        Some(Self { set, middleware, inherited, host: entry.host.clone() })
    }
}

impl Compiler<'_> {
    /// Compiles the methods of a route. Returns the configuration error of the
    /// route; the compiler collects the errors of the methods, with their
    /// locations.
    pub(crate) fn compile_methods(
        &mut self,
        waiting: WaitingMethods,
        route: &Route,
        pattern: &Pattern,
        page_names: &mut PageNames,
    ) -> Option<String> {
        let WaitingMethods { set, middleware, mut inherited, host } = waiting;
        let access = Access::of(&inherited).of_calls(&Access::of(self.router_settings()));
        access.put_into(&mut inherited);
        self.note_mistakes(set.mistakes);
        let (mut methods, mut indexes) = (Vec::new(), Vec::new());
        for (name, mut entry) in set.methods {
            let label = format!("RPC {}", path_of(pattern.as_str(), &name));
            let location = entry.location;
            let mistakes = entry.take_mistakes();
            self.note_mistakes(mistakes.map(|it| it.on(&label)));
            entry.is_call = true;
            entry.host.clone_from(&host);
            entry.inherited.inherit(&inherited);
            self.place_settings(&mut entry);
            let own = entry.middleware.len();
            entry.inherit(&middleware);
            let mut faults = Vec::new();
            let ((mut parts, mut context), cors, call) =
                self.parts_of(&Method::POST, pattern, entry, &mut faults);
            page_names.add_call(&call);
            let applied = parts.middleware.last().and_then(Middleware::mark::<AppliesMarks>);
            let own = own + usize::from(applied.is_some());
            let own = parts.middleware.len().saturating_sub(own);
            parts.kind = EndpointKind::RpcMethod;
            context.label = Some(format!("{LABEL}{name}").into());
            let method = self.add_route((parts, context), cors, false);
            let faults = faults.into_iter().map(|fault| ConfigIssue::new(fault).on(&label));
            self.note_mistakes(faults.map(|mistake| mistake.at(location)));
            indexes.push(method.index);
            let endpoint = Arc::clone(&method.endpoint);
            methods.push((name.into_boxed_str(), Call { endpoint, own }));
        }
        sort_by(&mut methods, |(one, _), (other, _)| one.cmp(other));
        let built = BuiltMethods { route: route.index, methods: indexes, describe: set.describe };
        self.add_methods(built, set.inspect);
        let is_taken = set.table.set(MethodTable { methods }).is_err();
        is_taken.then(|| {
            "its methods belong to another route: call `routes` again for this route".to_owned()
        })
    }
}
