//! [`Compiler`]: builds an [`App`] from the routes of a router, and finds all
//! configuration errors in them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::Location;
use std::sync::{Arc, Weak};

use http::{Extensions, Method};
use stockade_core::__internal::{States, contradictions, example_issues};
use stockade_core::completion::{Completions, time_to_complete};
use stockade_core::description::BodyDoc;
use stockade_core::endpoint_internals::{EndpointKind, EndpointParts};
use stockade_core::error_settings::Settings;
use stockade_core::known_types::KnownTypes;
use stockade_core::marked::{RouteMarks, without_write_only};
use stockade_core::middleware::Level;
use stockade_core::route_context::RouteContext;
use stockade_core::type_check::TypeCheck;
use stockade_core::{
    Accepts, BodyKind, Endpoint, ErrorHandler, Middleware, RouteDescription, RouteDocs, Setting,
};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_path::Pattern;
use stockade_path::host::HostPattern;
use stockade_stages::RateLimit;
use stockade_stages::cors::policy_internals::{Cors, PageNames};
use stockade_validation::Schema;
use stockade_websockets::handshake::RouterRules;

use crate::app::{App, Resolved, RouteSet, warn_if_exposed};
use crate::built_methods::BuiltMethods;
use crate::commands::Command;
use crate::compile_methods::WaitingMethods;
use crate::deprecation::announcing;
use crate::entry::RouteEntry;
use crate::map::Inspector;
use crate::method_set::MapInspector;
use crate::options::RouterOptions;
use crate::page_lists::PageLists;
use crate::problems::KnownProblems;
use crate::route::Route;
use crate::route_host::RouteHost;
use crate::router::RouteDef;
use crate::settings::{RouteSettings, place_late_limits};
use crate::site_builder::{SiteBuilder, built_sites};
use crate::stages::Stages;
use crate::start::Openers;
use crate::tags::SeenTags;
use crate::tools::{ToolParts, WaitingTools};
use crate::trailing_slash::has_other_form;
use crate::url::UrlPattern;
use crate::web_socket;
use stockade_map::QuotaInfo;
use stockade_map::policy::{Configuration, Policy};

/// An endpoint that is not built yet.
pub(crate) type Parts = (EndpointParts, RouteContext);

/// The parts of a router that do not belong to single routes.
pub(crate) struct Extras {
    pub(crate) policy: Option<Arc<Policy>>,
    pub(crate) documents_page: Option<String>,
    pub(crate) openers: Option<Openers>,
    pub(crate) commands: Vec<Command>,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) configurations: Vec<Configuration>,
}

/// Checks and compiles one route after the other, and collects the
/// configuration errors.
pub(crate) struct Compiler<'o> {
    options: &'o RouterOptions,
    states: States,
    /// True for the routes of another host.
    pub(crate) is_hosted: bool,
    mistakes: Vec<ConfigIssue>,
    /// The declared route names. The value describes the route for messages.
    seen_names: HashMap<String, String>,
    /// The routes without a host, then the routes of each host.
    sites: Vec<SiteBuilder>,
    web_socket_rules: RouterRules,
    routes: Vec<Arc<Route>>,
    methods: Vec<BuiltMethods>,
    /// The functions that inspect the methods of routes in the map.
    pub(crate) inspectors: Vec<Inspector>,
    /// The paths without a trailing slash. The value is true if the declared
    /// path has a slash, with a description of its route.
    slash_forms: HashMap<String, (bool, String)>,
    fallback: Option<Arc<Route>>,
    names: HashMap<String, UrlPattern>,
    page_lists: PageLists,
    /// The limit of requests in flight, over all routes.
    concurrency_limit: Option<Middleware>,
    /// The notes that the descriptions of all routes share.
    common: Extensions,
    tags: SeenTags,
    known_types: KnownTypes,
    /// The handlers that continue after their clients disconnect, over all
    /// routes.
    completions: Completions,
    /// The checks that need the types of all routes, each with its route.
    type_checks: Vec<(TypeCheck, String, &'static Location<'static>)>,
    problems: KnownProblems,
    pub(crate) tools: WaitingTools,
    /// The commands of routes.
    pub(crate) commands: Vec<Command>,
}

impl<'o> Compiler<'o> {
    pub(crate) fn new(
        options: &'o RouterOptions,
        states: States,
        mut mistakes: Vec<ConfigIssue>,
        is_hosted: bool,
    ) -> Self {
        let settings = &options.settings;
        mistakes.extend(no_client_error(settings.endpoint.validation_status).map(ConfigIssue::new));
        let limit = settings.concurrency_limit.value();
        let concurrency_limit = limit.map(|limit| Middleware::new(limit.value.for_router()));
        let mut common = Extensions::new();
        common.insert(options.clock.clone());
        let (problems, issue) = KnownProblems::of(options);
        mistakes.extend(issue);
        Self {
            options,
            states,
            is_hosted,
            mistakes,
            seen_names: HashMap::new(),
            sites: vec![SiteBuilder::default()],
            web_socket_rules: web_socket::router_rules(options),
            routes: Vec::new(),
            methods: Vec::new(),
            inspectors: Vec::new(),
            slash_forms: HashMap::new(),
            fallback: None,
            names: HashMap::new(),
            page_lists: PageLists::new(options, is_hosted),
            concurrency_limit,
            common,
            tags: SeenTags::default(),
            known_types: KnownTypes::default(),
            completions: Completions::default(),
            type_checks: Vec::new(),
            problems,
            tools: WaitingTools::default(),
            commands: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, mut route: RouteDef) {
        let path = route.below(&self.options.prefix);
        let kind = route.entry.web_socket.as_ref().map_or(route.method.as_str(), |_| "WebSocket");
        let label = format!("{kind} {}{path}", host_text(&route.entry));
        let location = route.entry.location;
        let mistakes = route.entry.take_mistakes();
        self.mistakes.extend(mistakes.map(|mistake| mistake.on(&label)));
        self.place_settings(&mut route.entry);
        if let Err(messages) = self.compile(route, &path, &label) {
            let mistakes = messages.into_iter().map(|message| ConfigIssue::new(message).on(&label));
            self.mistakes.extend(mistakes.map(|mistake| mistake.at(location)));
        }
    }

    /// Adds a route, or fails with all configuration errors in it.
    fn compile(&mut self, route: RouteDef, path: &str, label: &str) -> Result<(), Vec<String>> {
        let pattern = Pattern::parse(path).map_err(|error| vec![error.to_string()])?;
        if route.method == Method::CONNECT {
            return Err(vec!["a route cannot use the method CONNECT".to_owned()]);
        }
        let mut faults = Vec::new();
        if let Some(name) = &route.entry.name {
            match self.seen_names.entry(name.clone()) {
                Entry::Occupied(earlier) => {
                    faults.push(format!(
                        "duplicate route name {name:?}, already used by {}",
                        earlier.get()
                    ));
                }
                Entry::Vacant(place) => {
                    place.insert(located(label, route.entry.location));
                    self.names.insert(name.clone(), UrlPattern::new(pattern.clone()));
                }
            }
        }
        let mount = mount_path(&route.entry, path);
        for pattern in mount.iter().chain([&pattern]) {
            if let Some(earlier) = self.equivalent(&route, pattern) {
                faults.push(format!(
                    "duplicate route: same method and path as {}",
                    place_of(earlier)
                ));
                return Err(faults);
            }
        }
        faults.extend(self.note_slash_form(&route.entry, &pattern, label));
        faults.extend(host_faults(&route.entry, &pattern));
        let site = self.site_of(route.entry.host.as_ref());
        let (method, mut entry) = (route.method, *route.entry);
        let methods = WaitingMethods::of(&mut entry);
        let tools = ToolParts::of(&mut entry);
        let is_web_socket = entry.web_socket.is_some();
        let (parts, cors, mut page_names) = self.parts_of(&method, &pattern, entry, &mut faults);
        let route = self.add_route(parts, cors, mount.is_some());
        faults.extend(self.add_tools(route.index, tools));
        faults.extend(
            methods.and_then(|methods| {
                self.compile_methods(methods, &route, &pattern, &mut page_names)
            }),
        );
        self.page_lists.set(&route.endpoint, page_names);
        for pattern in mount.into_iter().chain([pattern]) {
            if let Err(error) = self.sites[site].insert(&method, is_web_socket, pattern, &route) {
                faults.push(error.to_string());
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Returns the configuration error of a path that is declared with and
    /// without a trailing slash, if the router treats both as the same path.
    fn note_slash_form(
        &mut self,
        entry: &RouteEntry,
        pattern: &Pattern,
        label: &str,
    ) -> Option<String> {
        if self.options.trailing_slash.is_strict() || !has_other_form(pattern.as_str()) {
            return None;
        }
        let canonical = pattern.canonical();
        let bare = canonical.strip_suffix('/');
        let form = (bare.is_some(), located(label, entry.location));
        let host = entry.host.as_ref().map(|host| host.value.labels().canonical());
        let (had_slash, earlier) = self
            .slash_forms
            .entry(host.unwrap_or_default() + " " + bare.unwrap_or(&canonical))
            .or_insert_with(|| form.clone());
        (*had_slash != form.0).then(|| {
            format!("`trailing_slash` makes the path equal to {earlier}: declare only one of them")
        })
    }

    pub(crate) fn note_mistakes(&mut self, mistakes: impl IntoIterator<Item = ConfigIssue>) {
        self.mistakes.extend(mistakes);
    }

    /// Builds a route and adds it to the list of all routes.
    pub(crate) fn add_route(
        &mut self,
        parts: Parts,
        cors: Option<Arc<Cors>>,
        has_mount_path: bool,
    ) -> Arc<Route> {
        let route = self.route_of(parts, cors, has_mount_path);
        self.routes.push(Arc::clone(&route));
        route
    }

    /// Builds the next route.
    fn route_of(
        &self,
        (parts, context): Parts,
        cors: Option<Arc<Cors>>,
        has_mount_path: bool,
    ) -> Arc<Route> {
        // The host was already parsed, so this cannot fail.
        let host = parts.host.as_deref().and_then(|host| HostPattern::parse(host).ok());
        let host_names = host.map(|host| host.params().map(Box::from).collect());
        let endpoint = Arc::new(parts.build(context));
        let index = self.routes.len();
        Arc::new(Route { index, endpoint, cors, host_names, has_mount_path })
    }

    pub(crate) fn add_methods(&mut self, methods: BuiltMethods, inspect: Option<MapInspector>) {
        self.inspectors.extend(inspect.map(|inspect| inspect.of(self.methods.len())));
        self.methods.push(methods);
    }

    /// Records the problem types of a route. Adds configuration errors about
    /// the needs of its parts and about its parameters to `faults`.
    fn note_needs(
        &mut self,
        entry: &RouteEntry,
        pattern: &Pattern,
        doc: &RouteDescription,
        faults: &mut Vec<String>,
    ) {
        faults.extend(doc.issues(&self.states));
        self.mistakes.extend(self.problems.note(doc.facts()));
        faults.extend(foreign_params(entry.validation.params.as_ref(), &names_of(entry, pattern)));
    }

    /// Returns the configuration errors about the body of a route.
    fn body_faults(
        &self,
        has_body: bool,
        entry: &RouteEntry,
        settings: &RouteSettings,
        doc: &RouteDescription,
    ) -> impl Iterator<Item = String> {
        let checks_none = entry.validation.body.is_some() && !has_body;
        let method = doc.method();
        let checks_none =
            checks_none.then(|| format!("`validation` is set, but {method} requests have no body"));
        let limit = settings.endpoint.max_body.or(self.options.settings.endpoint.max_body);
        checks_none.into_iter().chain(doc.part_above(limit))
    }

    /// Returns the settings of a route, including the settings of the levels
    /// around it.
    fn settings_of(&mut self, entry: &mut RouteEntry, faults: &mut Vec<String>) -> RouteSettings {
        let mut settings = entry.settings.clone().or(&entry.inherited);
        faults.extend(no_client_error(settings.endpoint.validation_status));
        // A host can replace the limit of the router.
        let max_body = settings.endpoint.max_body;
        let rate_limit = settings.rate_limit.clone();
        let concurrency_limit = settings.concurrency_limit.clone();
        settings.inherit(&self.options.settings);
        settings.endpoint.max_body = max_body;
        // A host or middleware may have a limit even if the router does not.
        settings.rate_limit = rate_limit;
        settings.concurrency_limit = concurrency_limit;
        if let Some(options) = settings.validation_options.take() {
            entry.validation.make_mut().options = options;
        }
        entry.docs = settings.docs.of_route();
        settings.date_docs(&mut entry.docs);
        let tag = settings.tag.as_ref();
        self.mistakes.extend(tag.and_then(|tag| self.tags.note(tag)));
        settings
    }

    /// Builds the parts of an entry's endpoint, with its own CORS rules and the
    /// names of its headers. Adds all configuration errors to `faults`.
    pub(crate) fn parts_of(
        &mut self,
        method: &Method,
        pattern: &Pattern,
        mut entry: RouteEntry,
        faults: &mut Vec<String>,
    ) -> (Parts, Option<Arc<Cors>>, PageNames) {
        let mut settings = self.settings_of(&mut entry, faults);
        let is_web_socket = entry.web_socket.is_some();
        let guard = self.guard_of(&mut entry, faults);
        faults.extend(self.covers_only_answers(method, &entry));
        let mut middleware = self.middleware_of(method, guard, &entry, &settings);
        let cors = self.cors_of(&entry, &mut middleware, faults);
        let mut doc = self.describe(method, pattern, &middleware, &entry, &settings);
        self.note_needs(&entry, pattern, &doc, faults);
        let has_body = !matches!(*method, Method::GET | Method::HEAD);
        faults.extend(self.body_faults(has_body, &entry, &settings, &doc));
        let is_bodiless = is_web_socket || !has_body;
        let has_own = entry.settings.endpoint.accepts.value().is_some();
        faults.extend(check_accepts(&mut settings.endpoint.accepts, has_own, is_bodiless, &doc));
        faults.extend(web_socket::misplaced(is_web_socket, &doc));
        faults.extend(ends_with_client(&entry.settings, &mut settings, is_web_socket, &doc));
        faults.extend(entry.docs.issues());
        let validation = entry.validation.into_inner().with_handler(&doc);
        if entry.applies_marks
            && let Some(marks) = RouteMarks::of(&validation, &doc, faults)
        {
            middleware.push(applying(marks, entry.location));
            entry.handler = without_write_only(entry.handler);
        }
        middleware.extend(reply_middleware(&mut doc, entry.location));
        let errors =
            outer_error_handler(&entry.settings, [&entry.inherited, &self.options.settings]);
        let changes_errors = errors.is_some_and(|handler| handler.form().is_some());
        let faults_of = |docs: &RouteDocs| {
            let mut faults = example_issues(&validation, &doc, docs);
            faults.extend(contradictions(&doc, docs, changes_errors));
            faults
        };
        settings.docs.add_fitting(&mut entry.docs, |docs| faults_of(docs).len());
        faults.extend(faults_of(&entry.docs));
        self.note_types(&mut doc, pattern, entry.location);
        self.common = std::mem::take(doc.common_mut());
        let page_names = PageNames::of(doc.facts());
        let host = entry.host.as_ref().map(|host| host.value.as_str());
        let label = host.map(|host| format!("{host}{}", pattern.as_str()).into());
        let host = host.map(Box::from);

        let context = RouteContext {
            label,
            validation: validation.into(),
            states: self.states.clone(),
            settings: settings.endpoint,
            challenges: doc.challenges().iter().map(|text| text.as_str().into()).collect(),
            error_handler: errors.cloned(),
            own_error_handler: entry.settings.error_handler().cloned(),
            languages: self.options.languages.as_ref().map(|placed| placed.value.clone()),
            outlives_user: settings.outlives_user.into_value(),
            completions: Some(self.completions.clone()),
            may_stream: is_web_socket || may_stream(&doc),
            ..RouteContext::new(pattern.as_str())
        };
        let parts = EndpointParts {
            host,
            name: entry.name.map(Into::into),
            middleware: middleware.into(),
            is_rate_limited: !settings.rate_limit.is_off(),
            rate_exempt_reason: entry.rate_exempt_reason,
            guards_origin: doc.has_origin_guard(),
            docs: entry.docs,
            tag: settings.tag.map(|placed| placed.tag),
            public: settings.public.into_value(),
            kind: kind_of(is_web_socket, entry.is_mount),
            has_subrequests: entry.has_subrequests,
            location: entry.location,
            ..EndpointParts::new(method.clone(), entry.handler)
        };
        ((parts, context), cors, page_names)
    }

    /// Adds the fallback of the router, if it has one.
    pub(crate) fn add_fallback(&mut self) {
        let Some(mut entry) = self.options.fallback.as_deref().cloned() else { return };
        let location = entry.location;
        let mistakes = entry.take_mistakes();
        self.mistakes.extend(mistakes.map(|mistake| mistake.on(FALLBACK)));
        self.place_settings(&mut entry);
        let mut faults = Vec::new();
        if entry.name.is_some() {
            faults.push(
                "`name` is set, but the fallback does not have a path for `generate_url`"
                    .to_owned(),
            );
        }
        // A path without parameters, and a method that allows a body.
        match Pattern::parse("/") {
            Ok(root) => {
                let ((parts, mut context), cors, page_names) =
                    self.parts_of(&Method::POST, &root, entry, &mut faults);
                context.is_fallback = true;
                let route = self.route_of((parts, context), cors, false);
                self.page_lists.set(&route.endpoint, page_names);
                self.fallback = Some(route);
            }
            Err(error) => faults.push(error.to_string()),
        }
        let mistakes = faults.into_iter().map(|message| ConfigIssue::new(message).on(FALLBACK));
        self.mistakes.extend(mistakes.map(|mistake| mistake.at(location)));
    }

    /// Returns the middleware that runs before all other middleware: the rules
    /// of a WebSocket, or the middleware of another protocol. Takes the commands
    /// of the entry.
    fn guard_of(&mut self, entry: &mut RouteEntry, faults: &mut Vec<String>) -> Option<Middleware> {
        self.commands.append(&mut entry.commands);
        let guard = web_socket::compile(entry, self.options, &self.web_socket_rules, faults);
        guard.or_else(|| entry.outermost.take().map(|it| *it))
    }

    /// Returns the middleware of a route, after its `guard`: the rules of a
    /// WebSocket, or the outermost middleware of another protocol.
    fn middleware_of(
        &mut self,
        method: &Method,
        guard: Option<Middleware>,
        entry: &RouteEntry,
        settings: &RouteSettings,
    ) -> Vec<Middleware> {
        let mut middleware: Vec<Middleware> = announcing(&entry.docs).into_iter().collect();
        middleware.extend(guard);
        middleware.extend(self.concurrency_limit.clone());
        middleware.extend_from_slice(&self.options.middleware);
        middleware.extend_from_slice(&entry.middleware);
        settings.retain_limits(&mut middleware);
        // The middleware of a call's route has already run.
        let own = entry.middleware.len() - entry.own;
        let outer = if entry.is_call { middleware.len().saturating_sub(own) } else { 0 };
        place_late_limits(&mut middleware, outer, |it| self.finds_user(method, it));
        middleware
    }

    /// Returns the settings of the router.
    pub(crate) fn router_settings(&self) -> &RouteSettings {
        &self.options.settings
    }

    /// Adds the middleware of the settings of a route, before its other middleware.
    pub(crate) fn place_settings(&self, entry: &mut RouteEntry) {
        entry.place_settings(&self.options.settings);
    }

    /// Returns the route that has the same method and path, if there is one.
    fn equivalent(&self, route: &RouteDef, pattern: &Pattern) -> Option<&Endpoint> {
        let site = self.sites.iter().find(|site| site.is_of(route.entry.host.as_ref()))?;
        site.equivalent(route, pattern)
    }

    /// Returns the index of the site of a host.
    fn site_of(&mut self, host: Option<&RouteHost>) -> usize {
        let index = self.sites.iter().position(|site| site.is_of(host));
        index.unwrap_or_else(|| {
            self.sites.push(SiteBuilder::of(host));
            self.sites.len() - 1
        })
    }

    /// Describes a route by its middleware and its handler. The description
    /// holds `common` until the caller takes it back.
    fn describe(
        &mut self,
        method: &Method,
        pattern: &Pattern,
        middleware: &[Middleware],
        entry: &RouteEntry,
        settings: &RouteSettings,
    ) -> RouteDescription {
        let mut doc = RouteDescription::new(method.clone(), names_of(entry, pattern));
        *doc.common_mut() = std::mem::take(&mut self.common);
        doc.set_states(self.states.clone());
        doc.set_validation_status(settings.endpoint.validation_status);
        // A level that also requires a user has its own configuration error.
        doc.set_public(settings.public.value().is_some() && settings.contradiction().is_none());
        if let Some(limit) = self.charged_limit(settings) {
            let quota = (limit.max_requests.into(), limit.window);
            doc.counted(QuotaInfo::new(limit.name.as_str(), Some(quota)));
        }
        middleware.iter().for_each(|middleware| middleware.describe(&mut doc));
        entry.handler.describe(&mut doc);
        doc
    }

    /// Returns true if the description of middleware says that it authenticates
    /// requests.
    fn finds_user(&mut self, method: &Method, middleware: &Middleware) -> bool {
        let mut doc = RouteDescription::new(method.clone(), Vec::new());
        *doc.common_mut() = std::mem::take(&mut self.common);
        middleware.describe(&mut doc);
        self.common = std::mem::take(doc.common_mut());
        doc.has_found_user()
    }

    /// Returns the rate limit of the router, if the route is charged to it.
    fn charged_limit(&self, settings: &RouteSettings) -> Option<RateLimit> {
        let is_charged = !settings.rate_limit.is_off() && !self.is_hosted;
        self.options.limit().filter(|_| is_charged)
    }

    /// Returns the configuration error of a `with_cors` in the middleware of a
    /// single route, if the built-in stage responds to the preflights.
    fn covers_only_answers(&self, method: &Method, entry: &RouteEntry) -> Option<String> {
        let mut own = entry.middleware[entry.own..].iter();
        let has_rules = own.any(|middleware| middleware.mark::<Arc<Cors>>().is_some());
        (has_rules && !self.is_hosted && *method != Method::OPTIONS).then(|| {
            "`with_cors` as route middleware is only for other hosts: use `cors`, which covers \
             preflights and every response"
                .to_owned()
        })
    }

    /// Returns the CORS rules of a route if they differ from the rules of the
    /// router: its `cors`, otherwise the rules of the `with_cors` nearest to
    /// its handler.
    ///
    /// If a route has `cors`, an inherited `with_cors` does not run. It would
    /// apply other rules to responses than to preflights.
    fn cors_of(
        &self,
        entry: &RouteEntry,
        middleware: &mut Vec<Middleware>,
        faults: &mut Vec<String>,
    ) -> Option<Arc<Cors>> {
        if self.is_hosted {
            return None;
        }
        let settings = &entry.settings.cors;
        let is_own = !settings.is_inherited();
        let rules = settings.clone().or(&entry.inherited.cors);
        if rules.is_inherited() {
            return nearest_cors(middleware).cloned();
        }
        if !is_own && nearest_cors(middleware).is_some() {
            faults.push(CORS_OF_NODE.to_owned());
        }
        middleware.retain(|it| it.mark::<Arc<Cors>>().is_none());
        match rules {
            Setting::Value(rules) => Some(Arc::new(Cors::new(&rules))),
            Setting::Off => Some(Arc::new(Cors::off())),
            Setting::On | Setting::Inherit => None,
        }
    }

    /// Records the types of a route, and its checks that need the types of all
    /// routes.
    fn note_types(
        &mut self,
        doc: &mut RouteDescription,
        pattern: &Pattern,
        location: &'static Location<'static>,
    ) {
        self.known_types.add(doc);
        for check in doc.take_type_checks() {
            let label = format!("{} {}", doc.method(), pattern.as_str());
            self.type_checks.push((check, label, location));
        }
    }

    /// Runs the checks that need the types of all routes.
    fn check_types(&mut self) {
        if self.type_checks.is_empty() {
            return;
        }
        let types = self.known_types.marked(&self.common);
        for (check, label, location) in &self.type_checks {
            let faults = check.run(&types).into_iter();
            let faults = faults.map(|fault| ConfigIssue::new(fault).on(label).at(location));
            self.mistakes.extend(faults);
        }
    }

    pub(crate) fn finish(mut self, extras: Extras) -> Result<App, ConfigError> {
        let Extras { policy, documents_page, openers, commands, location, configurations } = extras;
        let stages = match self.options.stage_rules(self.page_lists.exposed()) {
            Ok(rules) => Some(Stages::new(rules)),
            Err(error) => {
                self.mistakes.extend(error.issues().iter().cloned());
                None
            }
        };
        self.check_types();
        let languages = self.options.languages.as_ref();
        self.mistakes.extend(languages.iter().flat_map(|it| self.problems.text_issues(it)));
        ConfigError::check(std::mem::take(&mut self.mistakes))?;
        // The error was returned above.
        let Some(stages) = stages else {
            return Err(ConfigIssue::new("cannot prepare the stages").into());
        };
        let mut settings = Settings::default();
        settings.expose_errors = self.options.host.expose_errors.unwrap_or_else(in_development);
        settings.problem_details = self.problems.is_on();
        settings.problem_base = self.problems.base;
        warn_if_exposed(settings);
        let (site, hosts) = built_sites(self.sites)?;
        let has_spellings = site.spelled.is_some()
            || hosts.iter().flat_map(|hosts| &hosts.sites).any(|site| site.spelled.is_some());
        let is_mount = |route: &Arc<Route>| route.endpoint.kind() == EndpointKind::Mount;
        let has_mounts = self.routes.iter().any(is_mount);
        let routes = Arc::new(RouteSet {
            has_ambiguous_raw_paths: has_spellings || has_mounts,
            has_mounts,
            site,
            hosts,
            enables_web_sockets: self.options.enable_web_sockets,
            has_own_cors: self.routes.iter().chain(&self.fallback).any(|it| it.cors.is_some()),
            fallback: self.fallback,
            states: self.states,
            endpoints: self.routes.iter().map(|route| Arc::clone(&route.endpoint)).collect(),
            all: self.routes,
            methods: self.methods,
            tools: self.tools.built(),
            names: self.names,
            method_not_allowed: self.options.method_not_allowed,
            trailing_slash: self.options.trailing_slash,
            completions: self.completions,
            documents_page,
            policy,
            openers,
            commands,
            location,
            configurations,
            web_socket_defaults: (
                self.options.ws_allowed_origins.clone(),
                self.options.ws_max_payload,
            ),
        });
        #[cfg(feature = "metrics")]
        web_socket::count(self.options, &self.web_socket_rules);
        let max_body = self.options.settings.endpoint.max_body.unwrap_or(u64::MAX);
        let error_handler = self.options.settings.error_handler().cloned();
        let expose_errors = self.options.host.expose_errors;
        let languages = self.options.languages.as_ref().map(|placed| placed.value.clone());
        let resolved = Resolved {
            routes,
            settings,
            expose_errors,
            error_handler,
            languages,
            stages,
            max_body,
            this: Weak::new(),
        };
        Ok(App { resolved: resolved.shared() })
    }
}

/// Returns the names of a route's parameters, first from its host. Each has a
/// flag that is true if the parameter may be absent.
fn names_of(entry: &RouteEntry, pattern: &Pattern) -> Vec<(String, bool)> {
    let host = entry.host.iter().flat_map(|host| host.value.labels().params());
    host.chain(pattern.params()).map(|(name, optional)| (name.to_owned(), optional)).collect()
}

/// Returns the configuration errors of parameters that are both in the host and
/// in the path.
fn host_faults(entry: &RouteEntry, pattern: &Pattern) -> Vec<String> {
    let host = entry.host.iter().flat_map(|host| host.value.params());
    let twice = host.filter(|name| pattern.params().any(|(param, _)| param == *name));
    twice
        .map(|name| {
            format!("the host and the path both have a parameter {name:?}: rename one of them")
        })
        .collect()
}

/// Returns the middleware of a return type, for the entry at `location`.
fn reply_middleware(
    doc: &mut RouteDescription,
    location: &'static Location<'static>,
) -> Vec<Middleware> {
    let mut middleware = doc.take_reply_middleware();
    middleware.iter_mut().for_each(|it| it.note_place(Level::Entry, location));
    middleware
}

/// Creates the middleware that applies the marks of an entry's types.
fn applying(marks: RouteMarks, location: &'static Location<'static>) -> Middleware {
    let mut middleware = marks.into_middleware();
    middleware.note_place(Level::Entry, location);
    middleware
}

/// The name of the fallback in configuration errors.
const FALLBACK: &str = "fallback";

/// Returns the configuration error in the status of a failed validation.
fn no_client_error(status: Option<u16>) -> Option<String> {
    let status = status.filter(|status| !(400..=499).contains(status))?;
    Some(format!("expected a `validation_status` from 400 to 499, found {status}"))
}

/// Returns the path of a mount itself, which the pattern for everything below
/// it does not match. Returns `None` if the pattern matches it, as at the root.
fn mount_path(entry: &RouteEntry, path: &str) -> Option<Pattern> {
    let own = path.strip_suffix("/**").filter(|own| entry.is_mount && !own.is_empty());
    // A part of a valid path is valid.
    own.and_then(|own| Pattern::parse(own).ok())
}

/// The error for a node that has both `cors` and `with_cors`.
const CORS_OF_NODE: &str = "the node's `cors` and the middleware `with_cors` are both set: \
                            remove one of them, or use the route's `cors`";

/// Returns the rules of the `with_cors` nearest to the handler, which apply to
/// the response.
pub(crate) fn nearest_cors(middleware: &[Middleware]) -> Option<&Arc<Cors>> {
    middleware.iter().rev().find_map(Middleware::mark)
}

/// Returns the configuration errors of a parameter schema with names that are
/// not in the path.
fn foreign_params(schema: Option<&Schema>, known: &[(String, bool)]) -> Vec<String> {
    let schema = schema.map(Schema::to_json_schema);
    let names = schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
    let names = names.into_iter().flat_map(serde_json::Map::keys);
    names
        .filter(|name| known.iter().all(|(param, _)| param != *name))
        .map(|name| format!("params: the path does not have a parameter `{name}`"))
        .collect()
}

/// Returns true unless all successful responses of a route are known and none
/// of them is a stream.
fn may_stream(doc: &RouteDescription) -> bool {
    streams(doc) || doc.facts().answers.iter().any(|it| matches!(it.body, BodyDoc::Unknown))
}

/// Returns true if a response of a route is known to be a stream.
fn streams(doc: &RouteDescription) -> bool {
    let is_stream = |media: &str| media.starts_with("text/event-stream") || media.contains('*');
    doc.has_writer()
        || doc.facts().answers.iter().any(|answer| match &answer.body {
            BodyDoc::Content(contents) => contents.iter().any(|it| is_stream(&it.media_type)),
            _ => false,
        })
}

/// Removes `run_to_completion` from a route if its response ends with its
/// client. Returns the configuration error if the route itself has the setting.
fn ends_with_client(
    own: &RouteSettings,
    settings: &mut RouteSettings,
    is_web_socket: bool,
    doc: &RouteDescription,
) -> Option<String> {
    let response = match is_web_socket {
        true => "a WebSocket",
        false if streams(doc) => "a streamed response",
        false => return None,
    };
    let setting = &mut settings.endpoint.run_to_completion;
    if time_to_complete(setting).is_some() {
        *setting = Setting::Inherit;
    }
    time_to_complete(&own.endpoint.run_to_completion)?;
    Some(format!("`run_to_completion` is set, but {response} ends when the client disconnects"))
}

/// Returns the declared host of a route; empty for any host.
fn host_text(entry: &RouteEntry) -> &str {
    entry.host.as_ref().map_or("", |host| host.value.as_str())
}

/// Returns the error handler of the levels around a route, for the errors that
/// its own handler does not receive. A route with `error_handling: false` does
/// not use it.
fn outer_error_handler<'s>(
    own: &RouteSettings,
    levels: [&'s RouteSettings; 2],
) -> Option<&'s ErrorHandler> {
    let own = &own.error_handling;
    if !own.is_inherited() && own.value().is_none() {
        return None;
    }
    levels.into_iter().find(|level| !level.error_handling.is_inherited())?.error_handler()
}

/// Removes `accepts` if a route does not have a body. Returns its configuration
/// error.
fn check_accepts(
    accepts: &mut Setting<Arc<Accepts>>,
    is_own: bool,
    is_bodiless: bool,
    doc: &RouteDescription,
) -> Option<String> {
    if is_bodiless {
        *accepts = Setting::Inherit;
        return is_own
            .then(|| format!("`accepts` is set, but {} requests have no body", doc.method()));
    }
    unreadable(accepts.value()?, doc)
}

/// Returns the configuration error if the handler cannot read any accepted
/// body.
fn unreadable(accepts: &Accepts, doc: &RouteDescription) -> Option<String> {
    let kind = doc.body().filter(|kind| !accepts.lets_read(*kind))?;
    let wanted = match kind {
        BodyKind::Multipart => "a form with files",
        _ => "JSON, a form or text",
    };
    Some(format!("the handler reads {wanted}, but `accepts` does not include it"))
}

/// Returns the description of a route for messages, with its source location.
fn place_of(endpoint: &Endpoint) -> String {
    let kind = match endpoint.kind() {
        EndpointKind::WebSocket => "WebSocket",
        _ => endpoint.method().as_str(),
    };
    let host = endpoint.host().unwrap_or_default();
    located(&format!("{kind} {host}{}", endpoint.pattern()), endpoint.location())
}

fn located(label: &str, location: &Location<'_>) -> String {
    format!("{label} ({}:{})", location.file(), location.line())
}

/// Returns true if `NODE_ENV` is `development`. Read once, when the router is
/// built.
// Spec: Errors › Response rules 3.
fn in_development() -> bool {
    let development = std::env::var_os("NODE_ENV").is_some_and(|value| value == "development");
    if development {
        log::warn!(target: "stockade", "NODE_ENV is development");
    }
    development
}

fn kind_of(is_web_socket: bool, is_mount: bool) -> EndpointKind {
    match is_web_socket {
        true => EndpointKind::WebSocket,
        false if is_mount => EndpointKind::Mount,
        false => EndpointKind::Http,
    }
}
