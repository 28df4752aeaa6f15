//! Procedural macros of stockade: [`routes!`], the derives [`Schema`] and
//! [`ApiError`], and the attribute [`macro@middleware`].
//!
//! Each macro reports all errors in its input at once, at the exact token. It
//! still expands the valid parts, which keeps editors working and lets the
//! compiler check the handlers.
//!
//! The expansion refers to `::stockade::…` if the calling crate depends on the
//! facade. Otherwise it uses the individual crates: `stockade-routing` for
//! `routes!`, `stockade-core` for replies and middleware, `stockade-errors` for
//! `ApiError`, and `stockade-validation` for `Schema`. Renamed dependencies are
//! supported.
//!
//! [`ApiError`]: macro@ApiError
//! [`Schema`]: macro@Schema
// Spec: Route tree (object router); Handler contract; Errors.

// Modules:
// - `routes`: `routes!`; `parse`, `check` and `expand` in this order.
// - `schema`, `api_error`: the derives; `reply`: the `Reply` impl that `Schema`
//   also generates.
// - `schema_json`: the keyword check for `schema!`.
// - `middleware`: the attribute.
// - `paths`: the crate paths in generated code.
// - `errors`, `suggest`: the collected errors, and "did you mean" hints.

mod api_error;
mod errors;
mod middleware;
mod paths;
mod reply;
mod routes;
mod schema;
mod schema_json;
mod suggest;

use proc_macro::TokenStream;
use stockade_path::__internal::keywords;

/// Describes the value of a keyword.
macro_rules! held {
    (Any) => {
        "a value"
    };
    (Count) => {
        "a count"
    };
    (Examples) => {
        "a value; there may be several"
    };
    (Flag) => {
        "nothing"
    };
    (Format) => {
        "the name of a format: `\"date-time\"`"
    };
    (Function) => {
        "a function that the `Rule` method of this name accepts"
    };
    (Items) => {
        "keywords for the elements: `items(min_length = 3)`"
    };
    (List) => {
        "a list of values"
    };
    (Number) => {
        "a number"
    };
    (Required) => {
        "nothing"
    };
    (Rule) => {
        "a `Rule`"
    };
    (Rules) => {
        "a list of `Rule`s"
    };
    (Schema) => {
        "`false`, or a `Rule`"
    };
    (Text) => {
        "a string"
    };
    (TypeName) => {
        "the name of a type: `\"email\"`"
    };
}

/// Describes the values that a keyword applies to.
macro_rules! values {
    (ANY) => {
        "all values"
    };
    (LIST) => {
        "lists"
    };
    (MAP) => {
        "maps"
    };
    (NUMBER) => {
        "numbers"
    };
    (SIZED) => {
        "numbers, strings and lists"
    };
    (TEXT) => {
        "strings"
    };
}

/// Generates the rows of the keyword table in the documentation of `Schema`.
macro_rules! rows_of_keywords {
    (
        ()
        keywords { $(
            $(#[$doc:meta])*
            $in_schema:literal: $kind:ident $([$classes:ident $places:ident])? $($flag:ident)*
                => $name:ident $(($($argument:tt)*) = $value:expr)?;
        )* }
        pairs { $($pairs:tt)* }
    ) => {
        concat!($($("| `", stringify!($name), "` | ", held!($kind), " | ", values!($classes), " |\n",)?)*)
    };
}

/// Builds a `RouteTree` from nested paths, methods and handlers.
///
/// ```
/// use stockade::extract::Path;
/// use stockade::validation::{ValidationOptions, schema};
/// use stockade::{Next, Request, Response, RouteTree, routes};
///
/// async fn list() -> &'static str { "all users" }
/// async fn create() -> &'static str { "created" }
/// async fn show(Path(id): Path<u64>) -> String { format!("user {id}") }
/// async fn flights(Path((from, to)): Path<(String, String)>) -> String { from + &to }
///
/// fn log(_req: &mut Request) {}
/// async fn timed(req: Request, next: Next) -> Response { next.run(req).await }
///
/// fn teams() -> RouteTree {
///     routes! { "teams": { GET: async || "all teams" } }
/// }
///
/// let api = routes! {
///     // Applies to this node and everything below it. A list or a single value.
///     middleware: [log],
///     "health": { GET: async || "ok" },
///     "users": {
///         // A method in any case, with a handler …
///         get: list,
///         // … or with route options. The handler can come first, without its key.
///         POST: {
///             create,
///             name: "users.create",
///             middleware: [timed],
///             validation: schema!({ "name": { "type": "string", "required": true } }),
///             query: schema!({ "notify": { "type": "boolean", "default": true } }),
///             validation_options: ValidationOptions::new().strip_unknown(true),
///             max_body: 64 * 1024,
///         },
///         ":id": { GET: { show, name: "users.show" } },
///         // One key can contain several segments.
///         "flights/:from-:to": { GET: flights },
///     },
///     // Inserts another tree at this position.
///     ..teams(),
/// };
/// let app = stockade::create_router(api, stockade::RouterOptions::new()).build()?;
/// assert_eq!(app.routes().len(), 6);
/// assert_eq!(app.generate_url("users.show", [("id", 7)])?, "/users/7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keys of a tree
///
/// | key | value |
/// |---|---|
/// | `GET`, `POST`, `PUT`, `DELETE`, `PATCH`, `HEAD`, `OPTIONS` in any case | a handler `f`, or route options `{ f, … }` |
/// | `ANY` in any case | a handler or route options for every method without a route at this path |
/// | `mount` | a tower service for this node and everything below it, or route options `{ service, … }` |
/// | `ws` | a WebSocket handler, or route options; experimental |
/// | `"segment"`, or several: `"api/v1"` | the subtree `{ … }`; `r"users\:batch"` contains a literal colon |
/// | `middleware` | `[list]` or a single expression |
/// | each [setting](#settings) | the setting for all routes below |
/// | `host` | the request host for all routes below: `"api.example.com"` or `":tenant.example.com"`; see `RouteTree::host` |
/// | `..` | another tree |
///
/// Register other methods with the router's `route`. Braces after a method
/// contain route options if they are empty, begin with `key:`, or contain a
/// handler and a comma. Otherwise they are a block that returns the handler.
///
/// A HEAD request uses the HEAD route, or the route for GET if there is none.
/// An OPTIONS request uses the OPTIONS route, which then also receives
/// preflights. Otherwise it uses a route for any method, which does not receive
/// preflights. If neither exists, the router responds with the methods of the
/// path. A path with a route for any method never responds with 405.
///
/// # Route options
///
/// | key | value |
/// |---|---|
/// | `f`, as the first item | the request handler, the only required item; `handler: f` also works |
/// | `name` | the route name for `generate_url` |
/// | `path` | a path that replaces the path in the tree |
/// | `middleware` | `[list]` or a single expression; runs after the middleware of the tree |
/// | `validation`, `query`, `params` | the schemas of the body, the query and the path parameters |
/// | `tool` | the description of the route for AI agents, or a `Tool`; needs the feature `mcp` |
/// | each [setting](#settings) | the setting for this route |
/// | `options`, `allowed_origins` | for `ws` only: its `WebSocketOptions`, or only the origins; `allowed_origins: false` allows only the same origin |
///
/// # Settings
///
/// Routers, groups, nodes and routes share the same settings. Each key is the
/// name of a method of `RouteTree` and `RouteEntry`, which documents the
/// details. The innermost level that sets a value wins. Only rate limits and
/// concurrency limits add up. `auth` and `public` share one slot: the innermost
/// level that sets either of them wins. `false` turns off a setting that has a
/// value.
///
/// | key | value |
/// |---|---|
/// | `max_body` | the maximum body size in bytes |
/// | `accepts` | the accepted media types of the body: `["application/json"]`; `false` accepts every type that the handler reads |
/// | `max_json_values` | the maximum number of untyped values in a JSON body |
/// | `validation_status` | the status for invalid input, from 400 to 499: `422` |
/// | `validation_options` | the options for schema validation |
/// | `error_handling` | an `ErrorHandler`, or a function `fn(&mut ErrorReply)` or `fn(&mut ErrorReply, &RequestHead)`; `false` uses the default error body |
/// | `rate_limit` | the request limit for each client: `10 / MINUTE`, or `RateLimit::by` for a quota for each user; on a node, it covers all its routes together; `false` removes all rate limits |
/// | `concurrency_limit` | the maximum number of requests in flight: `10`; `false` removes all limits |
/// | `timeout` | the maximum time until the response, a `Duration`, or `with_timeout` with a status |
/// | `run_to_completion` | handlers finish even if the client disconnects or `timeout` responds: `true` for up to 30 s, a `Duration`, or `false` |
/// | `cors` | the CORS rules: an origin, a list, or `CorsOptions`; `false` sends no CORS headers |
/// | `auth` | how users are authenticated: an `Auth` or `&Auth`, such as `&token`; `token.optional()` makes the user optional |
/// | `public` | the reason why routes need no login, a string; it removes the enclosing `auth` |
/// | `docs` | on a route: `RouteDocs`, or only the summary; on a node: `RouteDocs` without a summary, as the defaults for its routes |
/// | `tag` | the group of the routes in API documents: a name or a `Tag` |
/// | `deprecated_since`, `sunset` | the date when routes become deprecated, and the date when they may disappear; `false` clears it |
/// | `outlives_user` | the reason why WebSockets and event streams may outlive the user's login, a string |
///
/// ```
/// # use stockade::routes;
/// # async fn list() {}
/// # async fn show() {}
/// # async fn import() {}
/// let api = routes! {
///     "products": {
///         public: "everybody may look around",
///         max_body: 64 * 1024,
///         GET: list,
///         ":id": { GET: show },
///         "import": { POST: { import, max_body: 4 << 20, public: false } },
///     },
/// };
/// let app = stockade::create_router(api, stockade::RouterOptions::new()).build()?;
/// assert_eq!(app.routes()[1].public_reason(), Some("everybody may look around"));
/// assert_eq!(app.routes()[2].public_reason(), None);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// # Compile-time checks
///
/// The macro checks literals at compile time. It rejects malformed paths,
/// duplicate parameters in a path, and segments after `**`. It also rejects
/// duplicate keys in a node, duplicate route names, and routes with the same
/// method and an equivalent path. Spread trees are checked when the router is
/// built.
///
/// ```compile_fail
/// use stockade::routes;
///
/// async fn create() {}
///
/// let api = routes! {
///     "users": { PSOT: create }, // unknown key `PSOT`, did you mean `POST`?
/// };
/// ```
///
/// # Expansion
///
/// The macro expands only to calls of the public builder, one for each line.
/// You can build the same tree at run time:
///
/// ```
/// # async fn list() {}
/// # fn log(_req: &mut stockade::Request) {}
/// use stockade::routing::Method;
/// use stockade::{RouteEntry, RouteTree};
///
/// let api = RouteTree::new().segment(
///     "users",
///     RouteTree::new().method(Method::GET, RouteEntry::new(list).middleware(log).name("users")),
/// );
/// let app = stockade::create_router(api, stockade::RouterOptions::new()).build()?;
/// assert_eq!(app.routes().len(), 1);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Route tree (object router); Route entry object.
#[proc_macro]
pub fn routes(input: TokenStream) -> TokenStream {
    routes::routes(input.into()).into()
}

/// Reports unknown keywords in the JSON of `stockade_validation::schema!`,
/// which calls this macro. Not part of the stable API.
#[doc(hidden)]
#[proc_macro]
pub fn check_schema(input: TokenStream) -> TokenStream {
    schema_json::check(input.into()).into()
}

/// Documents middleware at its definition.
///
/// The function becomes a function without arguments that creates the
/// middleware. Use its name in middleware lists:
///
/// ```
/// use stockade::extract::Path;
/// use stockade::{ApiError, Request, RouterOptions, create_router, routes};
///
/// /// Rejects requests from outside the organization.
/// #[stockade::middleware(may_respond(404, "No such organization"))]
/// async fn in_org(Path(org): Path<String>, _req: &mut Request) -> Result<(), ApiError> {
///     if org == "acme" { Ok(()) } else { Err(ApiError::new(404, "No such organization")) }
/// }
///
/// let api = routes! { "orgs/:org": { middleware: in_org, GET: async || "an organization" } };
/// let app = create_router(api, RouterOptions::new()).build()?;
/// let described = &app.route_map().routes[0].answers;
/// assert!(described.iter().any(|it| it.status == 404 && it.meaning == "No such organization"));
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// Each `may_respond(status, meaning)` declares an error response of the
/// middleware, with a status from 400 to 599. By default, API documents list
/// the statuses of the error type `E` in `Result<…, E>`. `may_respond` replaces
/// all of them. Extractors add their own responses.
///
/// The function must have one of the three forms described in
/// `stockade::middleware`. It may be generic: use `in_org::<T>` in a list.
// Spec: Middleware contract.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, item: TokenStream) -> TokenStream {
    middleware::middleware(options.into(), &item.into()).into()
}

/// Derives conversion to `ApiError` for an application's error type. Handlers
/// can return the type, and `?` converts it.
///
/// Each variant has a status from 400 to 599. Its message uses `format!` syntax
/// and can refer to fields by name, or by position in a tuple:
///
/// ```
/// use stockade::ApiError;
/// use stockade::serde_json::json;
///
/// #[derive(ApiError, Debug)]
/// enum ShopError {
///     #[status(404, "no product {id}")]
///     NoProduct { id: u64 },
///     #[status(409, "{0} is sold out")]
///     SoldOut(String),
///     #[status(422, "the order cannot be filled")]
///     Order {
///         #[details]
///         missing: Vec<u64>,
///     },
///     #[status(502, "the bank did not answer")]
///     Bank(#[from] std::io::Error),
/// }
///
/// fn pay() -> Result<(), ShopError> {
///     Err(std::io::Error::other("connection reset"))?
/// }
///
/// let error = ApiError::from(ShopError::NoProduct { id: 7 });
/// assert_eq!(error.status(), 404);
/// assert_eq!(error.body(false), json!({ "error": "no product 7" }));
///
/// let error = ApiError::from(ShopError::Order { missing: vec![7] });
/// assert_eq!(error.body(false)["details"], json!([7]));
///
/// // The message of a 5xx error is logged with its causes, but not sent.
/// let error = ApiError::from(pay().unwrap_err());
/// assert_eq!(error.body(false), json!({ "error": "Bad Gateway" }));
///
/// // A transparent variant produces the response of its inner error.
/// #[derive(ApiError, Debug)]
/// enum AppError {
///     #[status(transparent)]
///     Shop(#[from] ShopError),
///     #[status(401, "who are you?")]
///     Stranger,
/// }
/// let error = ApiError::from(AppError::from(ShopError::SoldOut("coat".into())));
/// assert_eq!((error.status(), error.message()), (409, "coat is sold out"));
/// # let _ = AppError::Stranger;
/// ```
///
/// # Generated impls
///
/// - If every variant has a message: `Display`, `std::error::Error`, and
///   `From<Self> for ApiError`.
/// - If no variant has a message: only `From<Self> for ApiError`, which uses
///   the type's `Display` text. This works together with another derive that
///   implements `Display` and `Error`.
/// - In both cases: `IntoError`, which lets handlers and middleware return the
///   type as an error. This impl is missing if the crate depends only on
///   `stockade-errors`.
///
/// Transparent variants do not have a message and can be used in both cases. A
/// type with only transparent variants counts as a type without messages.
///
/// A transparent variant returns its field's `ApiError`, including the status,
/// message, details, headers and source. All other variants keep the value as
/// the source for middleware and the log:
/// `error.source()?.downcast_ref::<ShopError>()`. The log omits a cause if its
/// text only repeats the message.
///
/// # Attributes
///
/// | on | attribute | meaning |
/// |---|---|---|
/// | a variant, or a struct | `#[status(404)]`, `#[status(404, "…")]` | the status, and the message |
/// | a variant, or a struct | `#[status(transparent)]` | forwards the response, `Display` and `Error::source` to the only field, which must be `Into<ApiError>` |
/// | a variant, or a struct | `#[status(404, "…", type = "no-product")]` | also the problem type |
/// | a field | `#[member]`, `#[member("orderId")]` | a member of the body if the status is below 500: any `Serialize` with `Schema`; an absent `Option` is omitted |
/// | a field | `#[details]` | sent as `details` if the status is below 500: any `Serialize`; an absent `Option` is omitted |
/// | a field | `#[source]` | the cause; a field named `source` does not need the attribute |
/// | the only field | `#[from]` | the cause, with a `From` impl that creates the variant |
///
/// `#[source]` and `#[from]` require messages. `#[details]` and `#[member]`
/// require a dependency on `serde_json` unless the crate uses the facade.
///
/// # Problem types
///
/// `type = "…"` gives a variant a problem type (RFC 9457), which lets clients
/// recognize it:
///
/// ```
/// use stockade::ProblemBase;
/// use stockade::prelude::*;
///
/// #[derive(ApiError, Debug)]
/// enum OrderError {
///     #[status(409, "{sku} is sold out", type = "sold-out")]
///     SoldOut {
///         #[member]
///         sku: String,
///         #[member("restockedOn")]
///         restocked_on: Option<String>,
///     },
/// }
///
/// let error = ApiError::from(OrderError::SoldOut { sku: "7".into(), restocked_on: None });
/// let base = ProblemBase::new("https://shop.example/problems/")?;
/// assert_eq!(
///     error.problem_at(Some(base), false),
///     json!({
///         "type": "https://shop.example/problems/sold-out",
///         "title": "Conflict",
///         "status": 409,
///         "detail": "7 is sold out",
///         "sku": "7",
///     }),
/// );
/// assert_eq!(error.body(false), json!({ "error": "7 is sold out", "sku": "7" }));
/// # Ok::<(), stockade::InvalidProblemBase>(())
/// ```
///
/// The type is an absolute URI, or a relative path that resolves against the
/// base of `RouterOptions::problem_details`. It does not depend on the
/// variant's name, so you can rename variants. If problem details are disabled,
/// the body contains the members but not the type.
///
/// `#[member]` requires a `type`, which defines the members. Member names
/// cannot be `type`, `status`, `title`, `detail`, `instance`, `error` or
/// `details`. All variants with one type must have the same members; otherwise
/// the router reports a configuration error. API documents have a component for
/// each type. `routes.lock` records the types, and removing one is a breaking
/// change.
// Spec: Errors › Error classes. Source: RFC 9457, section 3.
#[proc_macro_derive(ApiError, attributes(status, details, member, source, from))]
pub fn derive_api_error(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    api_error::api_error(&input).into()
}

/// Derives `HasSchema` from the definition of a type. A type that also
/// implements `Serialize` becomes a [reply](#replies).
///
/// The schema follows serde's attributes, the field types, and the keywords in
/// `#[schema(…)]`:
///
/// ```
/// use stockade::serde_json::json;
/// use stockade::validation::{HasSchema, Schema, ValidationOptions};
///
/// #[derive(serde::Deserialize, Schema)]
/// #[serde(rename_all = "camelCase")]
/// struct CreateUser {
///     #[schema(trim, min_length = 2, max_length = 50)]
///     user_name: String,
///     #[schema(kind = "email")]
///     email: String,
///     age: Option<u8>,
///     /// Search terms.
///     #[serde(default)]
///     #[schema(max_items = 3, items(min_length = 2))]
///     tags: Vec<String>,
/// }
///
/// let schema = CreateUser::schema()?;
/// let data = json!({ "userName": "A", "email": "a@b.example", "age": 300, "tags": ["x"] });
/// let errors = schema.check(&data, &ValidationOptions::new())?;
/// let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
/// assert_eq!(fields, ["userName", "age", "tags[0]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Fields
///
/// A field is required, but it may be empty text. It is optional if it is an
/// `Option` or has a default, from serde or the schema. A `Patch` may be absent
/// or null and distinguishes the two. An `Optional` may be absent but not null.
/// `required` also rejects empty text.
///
/// A field with `alias` has several names. A request with two of these names gets a 400. Validated
/// data and documents contain only the name of the field.
///
/// A type may have lifetimes. A value with any lifetime can be a response. Request handlers read
/// only types that own their data. In other code, validate the data before you read it:
///
/// ```
/// use stockade::serde_json;
/// use stockade::validation::{HasSchema, Schema, ValidationOptions};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Event<'a> {
///     #[schema(max_length = 20)]
///     name: &'a str,
/// }
///
/// let text = r#"{ "name": "start" }"#;
/// let data = serde_json::from_str(text)?;
/// assert!(Event::schema()?.check(&data, &ValidationOptions::new())?.is_empty());
/// let event: Event<'_> = serde_json::from_str(text)?;
/// assert_eq!(event.name, "start");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `bound`, `borrow`, `crate`, `expecting`, `getter` and `remote` do not affect
/// the schema. Any serde attribute not listed here is a compile error.
/// `#[serde_as]` and `#[skip_serializing_none]` from `serde_with` must be above
/// `#[derive(Schema)]`.
///
/// The schema is a configuration error if the type's handwritten `impl` or
/// another derive, such as `DeserializeFromStr`, reads a different JSON type
/// than the schema describes. In this case, declare the form with
/// `#[schema(kind = "…")]` or `#[schema(with = path)]` on the type.
///
/// Features named after other crates add schemas for their types; see
/// `HasSchema` for the list. For any other type, `#[schema(opaque)]` accepts
/// every value that serde reads. More keywords may narrow it:
///
/// ```
/// use stockade::validation::{HasSchema, Schema, ValidationOptions};
///
/// /// A type from another crate.
/// #[derive(serde::Deserialize)]
/// struct Point(f64, f64);
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Order {
///     #[schema(opaque)]
///     at: Point,
/// }
///
/// let (schema, options) = (Order::schema()?, ValidationOptions::new());
/// assert!(schema.read_json::<Order>(br#"{ "at": [1, 2] }"#, &options).is_ok());
/// assert!(schema.read_json::<Order>(br#"{ "at": true }"#, &options).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Enums
///
/// An enum without fields is a list of names. With `#[repr(u8)]` or another
/// integer type, it is a list of numbers if serde reads or writes numbers, as
/// with the `serde_repr` derives.
///
/// All forms of serde are supported: the name of the variant as the key, `tag`, `tag` and
/// `content`, and `untagged` on the enum or on variants. A variant with `other` accepts all unknown
/// names. You can flatten an enum, or an `Option` of an enum, into a struct. Such an `Option` is
/// `None` only if the tag is absent. A wrong variant is an error, although serde would ignore it.
///
/// # Untagged enums
///
/// Like serde, the schema chooses the first variant with matching types and required fields. It
/// then checks the other keywords of this variant. A later variant therefore never accepts a value
/// that serde reads as an earlier variant. A type may also reject values that match its rule, for
/// example with `try_from`. serde itself chooses the variant in this case.
///
/// If no variant matches, validation reports the errors of the closest variant.
/// The order of preference is: a matching JSON type, an equal constant, the
/// fewest errors (wrong types, missing fields and unlisted fields), and the
/// first position.
///
/// ```
/// use stockade::serde_json::json;
/// use stockade::validation::{HasSchema, Schema, ValidationOptions};
///
/// #[derive(serde::Deserialize, Schema)]
/// #[serde(untagged)]
/// enum Payment {
///     Card {
///         token: String,
///     },
///     Invoice {
///         #[schema(max_length = 20)]
///         vat_id: String,
///     },
/// }
///
/// let errors = Payment::schema()?.check(&json!({ "vat_id": 7 }), &ValidationOptions::new())?;
/// assert_eq!(errors.len(), 1);
/// assert_eq!(errors[0].field, "vat_id");
/// assert_eq!(errors[0].message, "Expected string, got number");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Documents have `oneOf` if no value can match two variants, and `anyOf` otherwise. Documents
/// cannot express that the order of the variants in `anyOf` matters. Put variants with more
/// required fields first.
///
/// The rule `schemaLimit` rejects values with nested unions that serde would read in exponential
/// time.
///
/// # Replies
///
/// `reply_schema` describes serde's output in API documents. It uses the
/// serialization attributes, and a property is required if the field is always
/// written. It omits `trim`, `default` and rules that reject unknown keys. A
/// field written by a function (`with`, `serialize_with`) may contain any
/// value, unless `#[schema(with = path)]` defines it. A field that is never
/// read may also contain any value if its type does not have a schema.
///
/// ```
/// use stockade::serde_json::json;
/// use stockade::validation::{HasSchema, Schema};
///
/// #[derive(serde::Deserialize, serde::Serialize, Schema)]
/// #[serde(rename_all(serialize = "camelCase"))]
/// struct Account {
///     #[serde(default)]
///     user_name: String,
///     #[serde(skip_serializing)]
///     password: String,
///     #[serde(skip_serializing_if = "Option::is_none")]
///     age: Option<u8>,
/// }
///
/// let schema = Account::reply_schema()?.to_json_schema();
/// assert_eq!(schema["properties"]["userName"], json!({ "type": "string" }));
/// assert_eq!(schema["properties"].get("password"), None);
/// assert_eq!(schema["required"], json!(["userName"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keywords
///
/// | keyword | value | for |
/// |---|---|---|
/// | `with` | a function without arguments that returns the `Rule` | all values |
/// | `opaque` | nothing; on a field: accepts any value that serde reads, without a schema for its type | all values |
/// | `name` | on a type: its name in API documents | all values |
/// | `no_reply` | nothing; on a type: the type is not a reply, or has its own `impl Reply` | all values |
#[doc = keywords!(rows_of_keywords!)]
///
/// A doc comment becomes the `description`. `read_only` means that clients do
/// not send the field; `write_only` means that they do not receive it.
/// Resources and JSON-RPC methods enforce both keywords. `Body<T>` and
/// `Json<T>` only document them.
///
/// # Replies
///
/// A handler can return any `Serialize` type with a schema. The response is 200
/// with the value as JSON, and API documents show the schema.
///
/// ```
/// use stockade::Reply;
/// use stockade::validation::Schema;
///
/// #[derive(serde::Serialize, Schema)]
/// struct User {
///     id: u64,
/// }
///
/// #[derive(serde::Serialize, Schema)]
/// struct Page<T> {
///     items: Vec<T>,
/// }
///
/// async fn show() -> User { User { id: 7 } }
/// async fn list() -> Page<User> { Page { items: vec![User { id: 7 }] } }
///
/// let response = Page { items: vec![User { id: 7 }] }.into_response()?;
/// assert_eq!(response.status(), 200);
/// assert_eq!(response.body().as_bytes(), Some(&br#"{"items":[{"id":7}]}"#[..]));
/// # let _ = (show, list);
/// # Ok::<(), stockade::ApiError>(())
/// ```
///
/// Return `(StatusCode, User)` for another status, and `Json<T>` for a type
/// from another crate. Use `#[schema(no_reply)]` to implement `Reply` yourself:
///
/// ```
/// use stockade::validation::Schema;
/// use stockade::{ApiError, Reply, Response};
///
/// #[derive(serde::Serialize, Schema)]
/// #[schema(no_reply)]
/// struct Csv {
///     rows: Vec<String>,
/// }
///
/// impl Reply for Csv {
///     fn into_response(self) -> Result<Response, ApiError> {
///         ([("content-type", "text/csv")], self.rows.join("\n")).into_response()
///     }
/// }
///
/// let response = Csv { rows: vec!["a,b".to_owned()] }.into_response()?;
/// assert_eq!(response.headers()["content-type"], "text/csv");
/// # Ok::<(), ApiError>(())
/// ```
///
/// A crate that depends on `stockade-validation` but not on `stockade` gets
/// only the schema.
///
/// Invalid keywords are compile errors: unknown names, values of the wrong
/// kind, keywords for a different type, and contradictory bounds.
// Spec: Validation schemas.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    schema::schema(&input).into()
}
