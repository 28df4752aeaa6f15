//! The table of route settings.

/// Calls `$callback!` with the settings of routers, groups, nodes, and routes.
///
/// This is the only list of these settings. It generates the structs of core
/// and of the router, their setters, the keys of `routes!` and the keys of a
/// configuration file. It is in this crate because this is the only crate that
/// the macros and the router share.
///
/// `endpoint` has the settings that core reads during a request. `routing` has
/// the settings that the router converts when it is built. A row is:
///
/// ```text
/// /// Documentation of the setting.
/// [attributes of serde for RouterOptions]
/// name(argument: its type) -> the type of the field { conversion } = default of a router;
/// ```
///
/// A row of `routing` may have one type parameter after its name: `name<M>(…)`.
///
/// The types are resolved in the crate of the callback. The field is an
/// `Option` or a `Setting`; a `Setting` also has a value for "off". The
/// conversion returns a `Result<_, ConfigError>`.
#[doc(hidden)]
#[macro_export]
macro_rules! __route_settings {
    ($callback:ident! $(($($context:tt)*))?) => {
        $callback! {
            ($($($context)*)?)
            endpoint {
                /// Sets the largest body of a request, in bytes, inclusive. A
                /// larger body gets 413, and 0 allows only empty bodies.
                /// Default: 1 MiB (1,048,576).
                ///
                /// A limit of a route or a node replaces the limit of the
                /// router and of [`HostOptions`](crate::HostOptions).
                ///
                /// You cannot switch it off, because a body without a limit
                /// could fill the memory. Set a larger number for a route that
                /// needs it.
                #[doc(alias = "maxBodySize")]
                [alias = "maxBody", alias = "max_body_size", alias = "maxBodySize"]
                max_body(bytes: u64) -> Option<u64> { Ok(Some(bytes)) } = Some(1_048_576);

                /// Sets the media types that the body of a request may have,
                /// such as `["application/json"]`. Any other body gets 415
                /// before middleware runs. An HTML form of another origin can
                /// then not reach the route. Default: every type that the
                /// handler reads.
                ///
                /// A request without a body passes, so any origin can still
                /// send such requests. GET routes, HEAD routes and WebSockets
                /// ignore an inherited list. See
                /// [`Accepts`](stockade_core::Accepts).
                ///
                /// `false` removes an inherited list for a route, and so does
                /// `true`, because the default is no list.
                [deserialize_with = "accepts_in_file"]
                accepts(types: impl IntoSetting<Vec<String>>) -> Setting<Arc<Accepts>> {
                    Accepts::of_setting(types.into_setting())
                } = Setting::Inherit;

                /// Sets the largest number of untyped values that a JSON body
                /// may contain. A body with more values gets 413. Default:
                /// 100,000.
                ///
                /// These values count:
                ///
                /// - the values of a body that becomes a `serde_json::Value`
                ///   for a handler, a schema of the route or middleware;
                /// - the values that a type holds as a `Value`;
                /// - the values that are validated without their type, because
                ///   the schema has functions, unions or unique items, or
                ///   because the body is invalid.
                ///
                /// Typed values are bounded by their schema and the size of the
                /// body. An element of a list uses the size of its type in
                /// memory, but its text may be as short as `{},`. A list of a
                /// large type therefore needs `max_items`.
                ///
                /// A `Value` uses up to 400 bytes of memory, and its text may
                /// be only two bytes long. The default therefore limits each
                /// copy of the body to 40 MB. There are two copies if a handler
                /// takes a `Value` that a schema or middleware has validated,
                /// and up to three for a moment if a tagged enum holds a
                /// `Value`.
                ///
                /// You cannot switch it off, because it bounds memory. Set a
                /// larger number for a route that needs it.
                #[doc(alias = "maxJsonValues")]
                [alias = "maxJsonValues"]
                max_json_values(values: usize) -> Option<usize> { Ok(Some(values)) } = Some(DEFAULT_MAX_JSON_VALUES);

                /// Sets the status of a failed validation, from 400 to 499,
                /// such as 422. Any other status is a configuration error.
                /// Default: 400.
                ///
                /// It applies to each response `Validation failed`: to bodies,
                /// queries and parameters that violate a schema of the route or
                /// of a type, and to an
                /// [`ApiError::validation`](stockade_core::ApiError::validation)
                /// that a handler returns. A body that is not JSON stays a 400.
                /// `400` restores the default for a route.
                #[doc(alias = "validationStatus")]
                [alias = "validationStatus"]
                validation_status(status: u16) -> Option<u16> { Ok(Some(status)) } = None;

                /// Lets handlers finish after their clients disconnect. A
                /// `Duration` limits the time for which a handler may continue;
                /// `true` means 30 s. `false` drops the handler with its
                /// client, even if the request has an idempotency key. Default:
                /// a handler is dropped if its client disconnects, except for a
                /// request with an idempotency key.
                ///
                /// Once the arguments of the handler are extracted, neither a
                /// disconnect nor `timeout` drops it. It continues in a
                /// separate task, without the middleware around it. At most
                /// 1,024 handlers of an application continue at a time; further
                /// handlers are dropped, with a warning in the log. During a
                /// shutdown, the server waits for them within its
                /// `shutdown_timeout`.
                ///
                /// Use it for handlers that must not stop halfway, such as a
                /// payment by another service. Event streams, other streams and
                /// WebSockets end with their clients: they ignore an inherited
                /// value, and setting it for such a route is a configuration
                /// error.
                [skip]
                run_to_completion(time: impl IntoSetting<Duration>) -> Setting<Duration> {
                    time_of(time.into_setting())
                } = Setting::Inherit;
            }
            routing {
                /// Sets the options for validation by the schemas of the
                /// routes, including the schemas of handler arguments. Default:
                /// the defaults of
                /// [`ValidationOptions`](stockade_validation::ValidationOptions).
                /// `ValidationOptions::new()` restores the defaults for a
                /// route.
                [skip]
                validation_options(options: ValidationOptions) -> Option<ValidationOptions> {
                    Ok(Some(options))
                } = None;

                /// Sends errors through a handler: a function that changes an
                /// [`ErrorReply`](stockade_core::ErrorReply), the options of a
                /// handler, or the result of `create_error_handler`. `false`
                /// removes an inherited handler, so the errors of the routes
                /// have the default body. `true` does the same, because it
                /// restores the default. Default: none.
                ///
                /// A function may also take the request's
                /// [`RequestHead`](stockade_core::RequestHead), which has the
                /// headers and the user: `fn problem(error: &mut ErrorReply,
                /// req: &RequestHead)`.
                ///
                /// The innermost handler counts: the handler of the route, then
                /// of the nearest node or group, then of the router. The
                /// handler of a router also receives the errors of requests
                /// without a route: unknown paths (404), wrong methods (405),
                /// and requests that the built-in server rejects, for instance
                /// because `Host` is missing. Malformed requests and requests
                /// with invalid framing keep their fixed response.
                ///
                /// The handler of a route runs before the route's own
                /// middleware, its limits and its timeout. It runs after the
                /// middleware of the router, its groups and the tree; the
                /// handler of the group, the tree or the router receives their
                /// errors. The handler also receives the errors that occur
                /// before all middleware: the 429 of the router, the 413 for an
                /// announced length above the limit, and the 415 for a media
                /// type that the route does not accept. On a route with
                /// [`auth`](Self::auth), the handler runs before
                /// authentication. It therefore also receives the 401, and the
                /// errors of middleware that runs after authentication.
                #[doc(alias = "errorHandling")]
                [skip]
                error_handling<M>(handler: impl IntoErrorHandling<M>)
                    -> Setting<Placed<ErrorHandler>> {
                    Ok(Placed::of(handler.into_error_handling(), Location::caller()))
                } = Setting::Inherit;

                /// Sets a rate limit, such as `10 / MINUTE`, or a
                /// [`RateLimit`](stockade_stages::RateLimit). A limit of a node
                /// or a route may choose the key and the quota for each request
                /// with [`RateLimit::by`](stockade_stages::RateLimit::by).
                /// Default: 100 requests per 60 s for each client, over all
                /// routes of the router.
                ///
                /// Limits add up: the limit of a group or a node counts the
                /// requests to all routes in it together. The limit of a route
                /// counts the requests to this route, in addition to the limit
                /// of the router. See
                /// [`with_rate_limit`](stockade_stages::with_rate_limit).
                ///
                /// `false` means no limit: the routes are not charged to the
                /// limit of the router either. All other limits still apply.
                /// `true` applies only the limit of the router, even if the
                /// node around the route has `false`.
                ///
                /// The limit of a group, a node or a route runs before its own
                /// middleware, and after the middleware around it. If the route
                /// has [`auth`](Self::auth), a limit by address runs before
                /// authentication. A limit from `RateLimit::by` runs after the
                /// middleware of its level and after authentication.
                #[doc(alias = "rateLimit")]
                [deserialize_with = "rate_limit_in_file", alias = "rateLimit"]
                rate_limit(limit: impl IntoRateLimit<Self>) -> Setting<Placed<RateLimit>> {
                    Ok(Placed::of(limit.into_rate_limit(), Location::caller()))
                } = Placed::of(Setting::Value(RateLimit::default()), Location::caller());

                /// Sets the largest number of requests in flight. A further
                /// request gets 503 at once. It is a number, or
                /// [`with_concurrency_limit`](stockade_stages::with_concurrency_limit).
                /// Choose the number of requests that the program can process
                /// at the same time, such as the number of connections in its
                /// pool. Default: none.
                ///
                /// Limits add up: the limit of a router, a group or a node
                /// counts the requests to all routes in it together. `false`
                /// exempts a route from all of these limits; the routes of
                /// [`health_routes`](crate::health_routes) are exempt. `true`
                /// applies only the limits around the route.
                ///
                /// The limit of a group, a node or a route runs before its own
                /// middleware, after its rate limit.
                [deserialize_with = "concurrency_limit_in_file", alias = "concurrencyLimit"]
                concurrency_limit(limit: impl IntoSetting<ConcurrencyLimit>)
                    -> Setting<Placed<ConcurrencyLimit>> {
                    Ok(Placed::of(limit.into_setting(), Location::caller()))
                } = Setting::Inherit;

                /// Limits the time until the head of the response: a
                /// `Duration`, after which the response is 503, or
                /// [`with_timeout`](stockade_stages::with_timeout) with another
                /// status. `false` removes the limit. Default: none.
                ///
                /// It runs before the route's own middleware and after its
                /// other limits. It runs after the middleware of the router,
                /// its groups and the tree, and does not count their time.
                [skip]
                timeout(limit: impl IntoSetting<Timeout>) -> Setting<Placed<Timeout>> {
                    Ok(Placed::of(limit.into_setting(), Location::caller()))
                } = Setting::Inherit;

                /// Sets the rules of CORS: an origin, a list of origins, or
                /// [`CorsOptions`](stockade_stages::CorsOptions). `false` sends
                /// no CORS headers, and `true` is the default, also in a
                /// configuration file. A malformed origin logs a warning and
                /// counts as unset. Default: see
                /// [`CorsOptions`](stockade_stages::CorsOptions).
                ///
                /// The rules of a route, a node or a group replace the rules of
                /// the router and an inherited `with_cors`, also for
                /// preflights. A `with_cors` below a node with `cors` is a
                /// configuration error.
                #[doc(alias = "enableCors")]
                [deserialize_with = "cors_in_file"]
                cors(rules: impl IntoSetting<CorsOptions>) -> Setting<Box<CorsOptions>> {
                    Ok(rules.into_setting().map(Box::new))
                } = Setting::Value(Box::default());

                /// Authenticates requests with an `Auth`, or with a reference
                /// to one. Default: no authentication.
                ///
                /// `auth` and [`public`](Self::public) share one slot: the
                /// innermost level that sets either of them counts. So `auth`
                /// of a route replaces the `auth` of its node, and `public`
                /// removes the inherited `auth`. A route may set both if its
                /// `auth` is optional, as in `auth: token.optional()`. `auth:
                /// false` does not compile. Use [`public`](Self::public), which
                /// requires a reason to open a route.
                ///
                /// On a router, it covers every route, mount and fallback. The
                /// only exceptions are the routes of
                /// [`health_routes`](crate::health_routes) and of OpenAPI
                /// documents, which declare their own access.
                ///
                /// It runs after the middleware of the router, and before the
                /// middleware of groups, nodes and routes. Rate limits by
                /// address of all these levels run before it, so attempts with
                /// wrong passwords count. A rate limit with a key generator
                /// runs after it, because the key may depend on the user.
                [skip]
                auth(auth: impl IntoAuthentication) -> Setting<Arc<Placed<Authentication>>> {
                    let placed = Placed::new(auth.into_authentication(), Location::caller());
                    Ok(Setting::Value(Arc::new(placed)))
                } = Setting::Inherit;

                /// Sets the reason why routes need no login. It removes the
                /// inherited [`auth`](Self::auth), but does not remove
                /// middleware such as `with_auth`. Policies and the map list
                /// the reason for each route, and
                /// [`Endpoint::public_reason`](stockade_core::Endpoint::public_reason)
                /// returns it. Default: none.
                ///
                /// An empty reason is a configuration error. So is a public
                /// route that requires a user, by `User<T>`, `with_auth`, or
                /// `auth` in addition to the reason.
                ///
                /// `false` removes an inherited reason for a route; then the
                /// nearest `auth` around the route counts, even if it is
                /// optional. Write `auth` to require a user.
                [skip]
                public(reason: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    reason_of("public", reason.into_setting())
                } = Setting::Inherit;

                /// Lets WebSockets and event streams outlive the login of their
                /// user, and sets the reason. By default, they end when the
                /// token expires or is revoked, when the session ends, and when
                /// the API key or the user is removed.
                /// [`Endpoint::outlives_user_reason`](stockade_core::Endpoint::outlives_user_reason)
                /// returns the reason, and policies list it for each route. An
                /// empty reason is a configuration error. `false` removes an
                /// inherited reason for a route. Default: none.
                [skip]
                outlives_user(reason: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    reason_of("outlives_user", reason.into_setting())
                } = Setting::Inherit;

                /// Sets the group that lists the routes in documents: its name,
                /// or a [`Tag`](stockade_core::Tag) with a description. The
                /// innermost tag counts; the
                /// [`tags`](stockade_core::RouteDocs#structfield.tags) of a
                /// route replace it. Default: the first literal segment of the
                /// path after the prefix.
                ///
                /// Two descriptions of one name are a configuration error. You
                /// cannot switch it off, because each documented route is in a
                /// group.
                [skip]
                tag(tag: impl Into<Tag>) -> Option<PlacedTag> {
                    Ok(Some(PlacedTag::new(tag.into())))
                } = None;

                /// Sets the documentation of a route:
                /// [`RouteDocs`](stockade_core::RouteDocs), or only its
                /// summary. [`Endpoint::docs`](stockade_core::Endpoint::docs)
                /// returns it. Default: none.
                ///
                /// The documentation of a router, a group or a node sets the
                /// defaults for its routes. You cannot switch it off. A route
                /// replaces individual parts, and omits responses and examples
                /// that it cannot have. A summary describes one route, so it is
                /// a configuration error at these levels: use
                /// [`tag`](Self::tag) to describe a group of routes.
                [skip]
                docs(docs: impl Into<RouteDocs>) -> DocsSetting {
                    Ok(DocsSetting::new(docs.into(), Location::caller()))
                } = DocsSetting::default();

                /// Deprecates routes as of a day, such as `2026-11-30`, or a
                /// moment (RFC 3339). Documents mark the routes as deprecated,
                /// and their responses have the header `Deprecation` (RFC
                /// 9745). `false` removes the day of a node for a route.
                /// Default: none.
                [skip]
                deprecated_since(date: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    Ok(date.into_setting().map(Arc::new))
                } = Setting::Inherit;

                /// Sets the day or the moment after which routes may be
                /// removed. Their responses have the header `Sunset` (RFC
                /// 8594). `false` removes the day of a node for a route.
                /// Default: none.
                [skip]
                sunset(date: impl IntoSetting<String>) -> Setting<Arc<String>> {
                    Ok(date.into_setting().map(Arc::new))
                } = Setting::Inherit;
            }
        }
    };
}
