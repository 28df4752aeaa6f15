//! The table of the settings of routes.

/// Calls `$callback!` with the settings that a router, a group, a node, and a route have.
///
/// This is the only list of these settings. The struct of core, the struct of the router,
/// their setters, the keys of `routes!` and the keys of a configuration file are made from
/// it. It is in this crate because the macros and the router share no other crate.
///
/// `endpoint` has the settings that core reads while a request runs. `routing` has the
/// settings that the router turns into something else when it is built. A row is:
///
/// ```text
/// /// Documentation of the setter.
/// [attributes of serde for RouterOptions]
/// name(argument: its type) -> the type of the field { conversion } = default of a router;
/// ```
///
/// A row of `routing` may have one type parameter after its name: `name<M>(…)`.
///
/// The types are resolved in the crate of the callback. The field is an `Option` or a
/// `Setting`; the second has a value for "off". The conversion gives a
/// `Result<_, ConfigError>`.
#[doc(hidden)]
#[macro_export]
macro_rules! __route_settings {
    ($callback:ident! $(($($context:tt)*))?) => {
        $callback! {
            ($($($context)*)?)
            endpoint {
                /// Sets the largest body of a request, in bytes, inclusive. A larger body
                /// gets 413, and 0 allows only empty bodies. Default: 1 MiB (1,048,576).
                ///
                /// A limit of a route or a node counts instead of the limit of the router
                /// and of [`HostOptions`](crate::HostOptions).
                ///
                /// It cannot be switched off, because a body without a limit could fill the
                /// memory. Set a larger number for a route that needs it.
                #[doc(alias = "maxBodySize")]
                [alias = "maxBody", alias = "max_body_size", alias = "maxBodySize"]
                max_body(bytes: u64) -> Option<u64> { Ok(Some(bytes)) } = Some(1_048_576);

                /// Sets the media types that the body of a request may have, such as
                /// `["application/json"]`. Any other body gets 415 before middleware runs.
                /// An HTML form of another origin can then not reach the route. Default:
                /// every type that the handler reads.
                ///
                /// A request without a body passes, and every page can send one. Routes
                /// for GET and HEAD and WebSockets ignore a list that they inherit. See
                /// [`Accepts`](stockade_core::Accepts).
                ///
                /// `false` removes the list of a node, a group or a router for a route, and so
                /// does `true`, because the default is no list.
                [deserialize_with = "accepts_in_file"]
                accepts(types: impl IntoSetting<Vec<String>>) -> Setting<Arc<Accepts>> {
                    Accepts::of_setting(types.into_setting())
                } = Setting::Inherit;

                /// Sets the largest number of values in a JSON body that are kept whatever
                /// their type is. A body with more values gets 413. Default: 100,000.
                ///
                /// These values count: the values of a body that becomes a
                /// `serde_json::Value` for a handler, a schema of the route or middleware;
                /// the values that a type holds as a `Value`; and the values that are
                /// validated without their type, because the schema has functions, unions
                /// or unique items, or because the body is invalid. Typed values are
                /// bounded by their schema and the size of the body. An element of a list
                /// takes the size of its type, and its text may be as short as `{},`, so a
                /// list of large types needs `max_items`.
                ///
                /// A `Value` takes up to 400 bytes, and its text as few as two. The default
                /// is at most 40 MB for each copy of the body. There are two copies if a
                /// handler takes a `Value` that a schema or middleware has validated, and
                /// up to three for a moment if a tagged enum holds one.
                ///
                /// It cannot be switched off, because it bounds memory. Set a larger number for
                /// a route that needs it.
                #[doc(alias = "maxJsonValues")]
                [alias = "maxJsonValues"]
                max_json_values(values: usize) -> Option<usize> { Ok(Some(values)) } = Some(DEFAULT_MAX_JSON_VALUES);

                /// Sets the status of a failed validation, from 400 to 499, such as 422.
                /// Another status is a configuration error. Default: 400.
                ///
                /// It applies to each response `Validation failed`: of a body, a query or
                /// parameters, by a schema of the route or of a type, and to an
                /// [`ApiError::validation`](stockade_core::ApiError::validation) of a
                /// handler. A body that is not JSON stays a 400. `400` restores the default for
                /// a route.
                #[doc(alias = "validationStatus")]
                [alias = "validationStatus"]
                validation_status(status: u16) -> Option<u16> { Ok(Some(status)) } = None;

                /// Lets handlers finish without their clients. `true` is 30 s, and a
                /// `Duration` is the time for which a handler may continue. `false` drops the
                /// handler with its client, also for a request with an idempotency key. Default:
                /// a handler is dropped if its client disconnects, except for a request with
                /// an idempotency key.
                ///
                /// Once the arguments of the handler are extracted, neither a disconnect nor
                /// `timeout` drops it. It continues in a separate task, without the
                /// middleware around it. At most 1,024 handlers of an application continue at a
                /// time; further ones are dropped, with a warning in the log. A server that
                /// shuts down waits for them within its `shutdown_timeout`.
                ///
                /// Use it for handlers whose work must not stop halfway, such as a payment
                /// by another service. Event streams, other streams and WebSockets end with
                /// their clients: the setting is a configuration error there, and they
                /// ignore it if they inherit it.
                [skip]
                run_to_completion(time: impl IntoSetting<Duration>) -> Setting<Duration> {
                    time_of(time.into_setting())
                } = Setting::Inherit;
            }
            routing {
                /// Sets the options for validation by the schemas of the routes, including
                /// the schemas of the types that handlers take. Default: the defaults of
                /// [`ValidationOptions`](stockade_validation::ValidationOptions).
                /// `ValidationOptions::new()` restores the defaults for a route.
                [skip]
                validation_options(options: ValidationOptions) -> Option<ValidationOptions> {
                    Ok(Some(options))
                } = None;

                /// Sends errors through a handler: a function that changes an
                /// [`ErrorReply`](stockade_core::ErrorReply), the options of a handler, or
                /// the outcome of `create_error_handler`. `false` removes the handler: the errors of
                /// the routes have the default body, although a level around them has a
                /// handler. `true` is the default too. Default: none.
                ///
                /// A function may also take the request's
                /// [`RequestHead`](stockade_core::RequestHead), which has the headers and
                /// the user: `fn problem(error: &mut ErrorReply, req: &RequestHead)`.
                ///
                /// The innermost handler counts: the handler of the route, of the nearest
                /// node or group, of the router. The handler of a router also gets the
                /// errors of requests without a route: unknown paths (404), wrong methods
                /// (405), and requests that the built-in server rejects, for instance
                /// because `Host` is missing. Requests that cannot be read at all, and
                /// requests in the wrong framing, keep their fixed response.
                ///
                /// The handler of a route runs before the route's own middleware, its
                /// limits and its timeout, and after the middleware of the router, its
                /// groups and the tree, whose errors go to the handler of the group, the
                /// tree or the router. It also gets the errors that come before all
                /// middleware: the 429 of the router, and a body that is announced too
                /// large or of another type. On a route with [`auth`](Self::auth) it runs
                /// before authentication, so it also gets the 401, and errors of middleware
                /// that runs after authentication.
                #[doc(alias = "errorHandling")]
                [skip]
                error_handling<M>(handler: impl IntoErrorHandling<M>)
                    -> Setting<Placed<ErrorHandler>> {
                    Ok(Placed::of(handler.into_error_handling(), Location::caller()))
                } = Setting::Inherit;

                /// Sets a rate limit, such as `10 / MINUTE`, or a
                /// [`RateLimit`](stockade_stages::RateLimit). A limit of a node or a route may
                /// choose key and quota for each request, by
                /// [`RateLimit::by`](stockade_stages::RateLimit::by). Default: 100 requests per
                /// 60 s for each client, over all routes of the router.
                ///
                /// Limits add up: the limit of a group or a node counts the requests to all
                /// routes in it together, and the limit of a route counts the requests to
                /// this route, in addition to the limit of the router. See
                /// [`with_rate_limit`](stockade_stages::with_rate_limit).
                ///
                /// `false` means no limit: the routes are not charged to the limit of the
                /// router either. All other bounds stay. `true` is the limit of the router
                /// only, also for a route in a node that has `false`.
                ///
                /// The limit of a group, a node or a route runs before its own middleware,
                /// and after the middleware around it. If the route has [`auth`](Self::auth),
                /// a limit by address runs before authentication. A limit by the request runs after
                /// its own middleware and after authentication.
                #[doc(alias = "rateLimit")]
                [deserialize_with = "rate_limit_in_file", alias = "rateLimit"]
                rate_limit(limit: impl IntoRateLimit<Self>) -> Setting<Placed<RateLimit>> {
                    Ok(Placed::of(limit.into_rate_limit(), Location::caller()))
                } = Placed::of(Setting::Value(RateLimit::default()), Location::caller());

                /// Sets the largest number of requests in flight. A further request gets
                /// 503 at once. It is a number, or
                /// [`with_concurrency_limit`](stockade_stages::with_concurrency_limit).
                /// Choose what the program can work on at one time, such as the number of
                /// connections in its pool. Default: none.
                ///
                /// Limits add up: the limit of a router, a group or a node counts the
                /// requests to all routes in it together. `false` takes a route out of all
                /// of these limits, as the routes of
                /// [`health_routes`](crate::health_routes) are. `true` is only the limits
                /// around it.
                ///
                /// The limit of a group, a node or a route runs before its own middleware,
                /// after its rate limit.
                [deserialize_with = "concurrency_limit_in_file", alias = "concurrencyLimit"]
                concurrency_limit(limit: impl IntoSetting<ConcurrencyLimit>)
                    -> Setting<Placed<ConcurrencyLimit>> {
                    Ok(Placed::of(limit.into_setting(), Location::caller()))
                } = Setting::Inherit;

                /// Limits the time until the head of the response: a `Duration`, after which
                /// the response is 503, or
                /// [`with_timeout`](stockade_stages::with_timeout) with another status.
                /// `false` removes the limit. Default: none.
                ///
                /// It runs before the route's own middleware, after its other limits, and
                /// after the middleware of the router, its groups and the tree. The time of
                /// that middleware does not count.
                [skip]
                timeout(limit: impl IntoSetting<Timeout>) -> Setting<Placed<Timeout>> {
                    Ok(Placed::of(limit.into_setting(), Location::caller()))
                } = Setting::Inherit;

                /// Sets the rules of CORS: an origin, a list of origins, or
                /// [`CorsOptions`](stockade_stages::CorsOptions). `false` sends no CORS
                /// headers, and `true` is the default, also in a configuration file. A
                /// malformed origin logs a warning and counts as unset. Default: see
                /// [`CorsOptions`](stockade_stages::CorsOptions).
                ///
                /// The rules of a route, a node or a group replace the rules of the router,
                /// and the `with_cors` that the route inherits, for its preflights too. A
                /// `with_cors` below a node with `cors` is a configuration error.
                #[doc(alias = "enableCors")]
                [deserialize_with = "cors_in_file"]
                cors(rules: impl IntoSetting<CorsOptions>) -> Setting<Box<CorsOptions>> {
                    Ok(rules.into_setting().map(Box::new))
                } = Setting::Value(Box::default());

                /// Authenticates requests by an `Auth`, or by a reference to one. Default: no
                /// authentication.
                ///
                /// `auth` and [`public`](Self::public) share one slot: the innermost level that
                /// sets either of them counts. So `auth` of a route replaces the `auth` of its
                /// node, and `public` removes the `auth` that the route would inherit. A route
                /// may set both if its `auth` is optional, as by `auth: token.optional()`.
                /// `auth: false` does not compile: use [`public`](Self::public), so that no route
                /// opens without a reason.
                ///
                /// At a router, it covers every route, mount and fallback. Only the routes of
                /// [`health_routes`](crate::health_routes) and of OpenAPI documents are
                /// excepted; they declare their own access.
                ///
                /// It runs after the middleware of the router, and before the middleware of
                /// groups, nodes and routes. Rate limits by address of all these levels run
                /// before it, so wrong passwords count. A rate limit with a key generator runs
                /// after it, because the key may depend on the user.
                [skip]
                auth(auth: impl IntoAuthentication) -> Setting<Arc<Placed<Authentication>>> {
                    let placed = Placed::new(auth.into_authentication(), Location::caller());
                    Ok(Setting::Value(Arc::new(placed)))
                } = Setting::Inherit;

                /// Sets the reason why routes need no login. It removes the
                /// [`auth`](Self::auth) that they inherit, but no middleware, such as
                /// `with_auth`. Policies and the map list the reason for each route, and
                /// [`Endpoint::public_reason`](stockade_core::Endpoint::public_reason) returns
                /// it. Default: none.
                ///
                /// An empty reason is a configuration error. So is a public route that requires
                /// a user, by `User<T>`, `with_auth`, or `auth` beside the reason.
                ///
                /// `false` removes the reason of a node, a group or a router for a route; then
                /// the nearest `auth` around the route counts, also if it is optional. Write
                /// `auth` to require a user.
                [skip]
                public(reason: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    reason_of("public", reason.into_setting())
                } = Setting::Inherit;

                /// Lets WebSockets and event streams outlive the login of their user, and
                /// sets the reason for it. By default they end when the token expires or is
                /// revoked, when the session ends, and when the API key or the user is
                /// removed.
                /// [`Endpoint::outlives_user_reason`](stockade_core::Endpoint::outlives_user_reason)
                /// returns the reason, and a policy lists it for each route. An empty
                /// reason is a configuration error. `false` removes the reason of a node for
                /// a route. Default: none.
                [skip]
                outlives_user(reason: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    reason_of("outlives_user", reason.into_setting())
                } = Setting::Inherit;

                /// Lists routes in a group of the documents: its name, or a
                /// [`Tag`](stockade_core::Tag) with a description. The innermost tag counts;
                /// the [`tags`](stockade_core::RouteDocs#structfield.tags) of a route count
                /// instead. Default: the first literal segment of the path behind the prefix.
                ///
                /// Two descriptions of one name are a configuration error. It cannot be switched
                /// off, because each documented route is in a group.
                [skip]
                tag(tag: impl Into<Tag>) -> Option<PlacedTag> {
                    Ok(Some(PlacedTag::new(tag.into())))
                } = None;

                /// Sets the documentation of a route: [`RouteDocs`](stockade_core::RouteDocs), or
                /// only its summary. [`Endpoint::docs`](stockade_core::Endpoint::docs) returns it.
                /// Default: none.
                ///
                /// The documentation of a router, a group or a node has the defaults of its
                /// routes. It cannot be switched off; a route replaces single parts. A route omits
                /// responses and examples that it cannot have. A summary
                /// describes one route, so it is a configuration error at these levels: use
                /// [`tag`](Self::tag) to describe a group of routes.
                [skip]
                docs(docs: impl Into<RouteDocs>) -> DocsSetting {
                    Ok(DocsSetting::new(docs.into(), Location::caller()))
                } = DocsSetting::default();

                /// Deprecates routes as of a day, such as
                /// `2026-11-30`, or a moment (RFC 3339). Documents mark them as deprecated,
                /// and their responses have the header `Deprecation` (RFC 9745). `false`
                /// removes the day of a node for a route. Default: none.
                [skip]
                deprecated_since(date: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    Ok(date.into_setting().map(Arc::new))
                } = Setting::Inherit;

                /// Sets the day or the moment when routes may be removed. Their responses
                /// have the header `Sunset` (RFC 8594). `false` removes the day of a node for
                /// a route. Default: none.
                [skip]
                sunset(date: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    Ok(date.into_setting().map(Arc::new))
                } = Setting::Inherit;
            }
        }
    };
}
