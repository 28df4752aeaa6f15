//! The macros of stockade: [`routes!`], the derives [`Schema`] and [`ApiError`], and the
//! attribute [`macro@middleware`].
//!
//! Each macro reports all mistakes in its input at once, with the caret on the
//! wrong word. It still expands the correct parts, so that editors keep working
//! and the compiler finds the mistakes in handlers too.
//!
//! The expansion names `::stockade::…` if the calling crate depends on the
//! facade, else the single crate: `stockade-routing` for `routes!`,
//! `stockade-core` for replies and middleware, `stockade-errors` for `ApiError`,
//! `stockade-validation` for `Schema`. A renamed dependency is found by its new
//! name.
//!
//! Spec: Route tree (object router); Handler contract; Errors.
//!
//! [`ApiError`]: macro@ApiError
//! [`Schema`]: macro@Schema

// Where things are:
// - `routes`: `routes!`; `parse`, `check` and `expand` in this order.
// - `schema`, `api_error`: the derives; `reply`: the reply that `Schema` also makes.
// - `schema_json`: the check of the keywords in `schema!`.
// - `middleware`: the attribute.
// - `paths`: the names of the crates in generated code.
// - `errors`, `suggest`: the collected mistakes, and "did you mean".

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

/// The kind of value of a keyword, in words.
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
        "a function, as the method of `Rule` takes it"
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
        "a text"
    };
    (TypeName) => {
        "the name of a type: `\"email\"`"
    };
}

/// The values that a keyword is about, in words.
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

/// The rows of the table in the documentation of `Schema`.
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

/// Makes a `RouteTree` from a tree as it is drawn.
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
///     // For everything at and below this node, a list or a single one.
///     middleware: [log],
///     "health": { GET: async || "ok" },
///     "users": {
///         // A method, in any case, with a handler …
///         get: list,
///         // … or with an entry, in which the handler may stand first without its key.
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
///         // Several segments in one key.
///         "flights/:from-:to": { GET: flights },
///     },
///     // All of another tree, as if it stood here.
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
/// | key | holds |
/// |---|---|
/// | `GET`, `POST`, `PUT`, `DELETE`, `PATCH`, `HEAD`, `OPTIONS` in any case | a handler `f`, or an entry `{ f, … }` |
/// | `ANY` in any case | the same, for every method that has no route of its own at this path |
/// | `mount` | a tower service for everything at and below this node, or an entry `{ service, … }` |
/// | `ws` | a WebSocket: a handler that takes it, or an entry; experimental |
/// | `"segment"`, also several: `"api/v1"` | the tree below it, `{ … }`; `r"users\:batch"` has a colon that is text |
/// | `middleware` | `[list]` or a single expression |
/// | each [setting](#settings) | the setting of all routes from here on |
/// | `host` | the host of the requests to all routes from here on: `"api.example.com"` or `":tenant.example.com"`; see `RouteTree::host` |
/// | `..` | another tree |
///
/// Other methods are registered with the router's `route`. Braces after a
/// method are an entry if they are empty, begin with `key:`, or hold a handler
/// and a comma, else a block that gives the handler.
///
/// HEAD goes to a route for HEAD, else to the route that GET would have. OPTIONS
/// goes to a route for OPTIONS, which then answers preflights too; else to a
/// route of any method, which gets no preflights; else it is answered with the
/// methods of the path. A path with a route of any method has no 405.
///
/// # Keys of an entry
///
/// | key | holds |
/// |---|---|
/// | `f`, as the first item | the request handler; the only item that an entry needs. The key form `handler: f` is valid too |
/// | `name` | the name for `generate_url` |
/// | `path` | a path that replaces that of the tree |
/// | `middleware` | `[list]` or a single expression, run after that of the tree |
/// | `validation`, `query`, `params` | the schemas of the body, of the query and of the parameters of the path |
/// | each [setting](#settings) | the setting of this route |
/// | `options`, `allowed_origins` | only of `ws`: its `WebSocketOptions`, or only the origins; `allowed_origins: false` for the same origin |
///
/// # Settings
///
/// A router, a group, a node and an entry have the same settings. A key is the method of
/// `RouteTree` and of `RouteEntry` that takes its value, and the documentation of the method
/// has the details. The setting of an entry counts instead of the setting of its node, and so
/// on to the router; only rate limits and concurrency limits add up. `auth` and `public` share one
/// slot: the innermost level that sets either of them counts. `false` switches a
/// setting off that has a value for it.
///
/// | key | holds |
/// |---|---|
/// | `max_body` | the limit of the body in bytes |
/// | `accepts` | the media types that the body may have: `["application/json"]`; `false` for every type that the handler reads |
/// | `max_json_values` | the limit of the values of a JSON body that are kept untyped |
/// | `validation_status` | the status of a failed validation, from 400 to 499: `422` |
/// | `validation_options` | the options for validation by schemas |
/// | `error_handling` | an `ErrorHandler` for errors, or a function `fn(&mut ErrorReply)` or `fn(&mut ErrorReply, &RequestHead)`; `false` for the default body |
/// | `rate_limit` | the limit of the requests of a client, of a node for all routes in it together: `10 / MINUTE`, or `RateLimit::by` for a quota per user; `false` for none at all |
/// | `concurrency_limit` | the limit of the requests in flight: `10`; `false` for none at all |
/// | `timeout` | the limit of the time until the response, a `Duration`, or `with_timeout` with a status |
/// | `run_to_completion` | handlers finish although their client disconnects or `timeout` responds: `true` for up to 30 s, a `Duration`, or `false` |
/// | `cors` | rules of CORS: an origin, a list, or `CorsOptions`; `false` for no headers of CORS |
/// | `auth` | how users are authenticated: an `Auth` or `&Auth`, such as `&token`; `token.optional()` does not require a user |
/// | `public` | the reason why routes need no login, a text; it removes the `auth` around it |
/// | `docs` | of a route `RouteDocs`, or only the summary; of a node `RouteDocs` without a summary, the defaults of its routes |
/// | `tag` | the group of the routes in documents: a name or a `Tag` |
/// | `deprecated_since`, `sunset` | the day from which routes should no longer be used, and the day from which they may be gone; `false` for none |
/// | `outlives_user` | the reason why WebSockets and event streams may outlive the login of their user, a text |
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
/// # What is checked
///
/// While compiling, wherever the text is a literal: that paths can be read, that
/// no parameter stands twice in a path and nothing after `**`, that a method and
/// an equivalent path, a key of a node and the name of a route stand only once.
/// Spread trees are looked at when the router is built.
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
/// Only calls of the public builder, one for each line, so that a tree that is
/// made at run time is made in the same way:
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
///
/// Spec: Route tree (object router); Route entry object.
#[proc_macro]
pub fn routes(input: TokenStream) -> TokenStream {
    routes::routes(input.into()).into()
}

/// Reports unknown keywords in the JSON of `stockade_validation::schema!`, which calls it.
/// It carries no promise of stability.
#[doc(hidden)]
#[proc_macro]
pub fn check_schema(input: TokenStream) -> TokenStream {
    schema_json::check(input.into()).into()
}

/// Documents middleware at its definition.
///
/// The function becomes a function without arguments that makes the middleware. Lists
/// take its name:
///
/// ```
/// use stockade::extract::Path;
/// use stockade::{ApiError, Request, RouterOptions, create_router, routes};
///
/// /// Lets only members of the organization pass.
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
/// Each `may_respond(status, meaning)` is an error that the middleware may respond with, 400
/// to 599. Without `may_respond`, documents list the statuses of the error type `E` of a
/// `Result<…, E>`; `may_respond` replaces all of them. Extractors add their own responses.
///
/// The function has one of the three forms of the page `stockade::middleware`. It may be
/// generic: a list takes `in_org::<T>` then.
///
/// Spec: Middleware contract.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, item: TokenStream) -> TokenStream {
    middleware::middleware(options.into(), &item.into()).into()
}

/// Makes an error type of the application an `ApiError`, so that handlers can
/// return it and `?` converts it.
///
/// Each variant has a status from 400 to 599, and a message in the notation of
/// `format!` that shows fields by name, or by position in a tuple:
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
/// // A message of 5xx is logged with its causes and not sent.
/// let error = ApiError::from(pay().unwrap_err());
/// assert_eq!(error.body(false), json!({ "error": "Bad Gateway" }));
///
/// // A transparent variant is answered as the error within it.
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
/// # What is written
///
/// - With a message on every variant: `Display`, `std::error::Error`, and
///   `From<Self> for ApiError`.
/// - Also `IntoError`, so that handlers and middleware may return the type as an
///   error. A crate that depends on `stockade-errors` alone gets no `IntoError`.
/// - With a message on none: only `From<Self> for ApiError`, which takes the
///   text from the `Display` of the type. So it works together with another
///   derive that writes `Display` and `Error`.
///
/// A transparent variant goes with both, and has no message of its own. A type
/// with no other variants counts as one without messages.
///
/// The `ApiError` of a transparent variant is that of its field, with status,
/// message, details, headers and source. Any other keeps the value as its source, so that middleware and the log
/// can look at it: `error.source()?.downcast_ref::<ShopError>()`. Where the
/// text of a cause only repeats the message, the log leaves it out.
///
/// # Attributes
///
/// | on | attribute | meaning |
/// |---|---|---|
/// | a variant, or a struct | `#[status(404)]`, `#[status(404, "…")]` | the status, and the message |
/// | a variant, or a struct | `#[status(transparent)]` | the answer is that of the only field, which is an `Into<ApiError>`; `Display` and `Error::source` are those of the field too |
/// | a variant, or a struct | `#[status(404, "…", type = "no-product")]` | also the problem type |
/// | a field | `#[member]`, `#[member("orderId")]` | a member of the body if the status is below 500: any `Serialize` with `Schema`; an absent `Option` is left out |
/// | a field | `#[details]` | sent as `details` if the status is below 500: any `Serialize`; an absent `Option` is left out |
/// | a field | `#[source]` | the cause; a field named `source` is one without it |
/// | the only field | `#[from]` | the cause, which becomes the variant by `From` |
///
/// `#[source]` and `#[from]` belong to the derive with messages. Without the
/// facade, `#[details]` and `#[member]` need `serde_json` among the dependencies.
///
/// # Problem types
///
/// With `type = "…"` a variant has a problem type (RFC 9457), by which clients recognize it:
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
/// The type is an absolute URI, or a relative path that resolves against the base of
/// `RouterOptions::problem_details`. It is never made of the name of the variant, so you can
/// rename variants. Without problem details the body has the members, but not the type.
///
/// `#[member]` needs a `type`, which defines the members. Their names cannot be `type`,
/// `status`, `title`, `detail`, `instance`, `error` or `details`. All variants with one type
/// have the same members; a router rejects others. Documents have a component for each type,
/// and `routes.lock` records it: to remove a type is a breaking change.
///
/// Spec: Errors › Error classes. Source: RFC 9457, section 3.
#[proc_macro_derive(ApiError, attributes(status, details, member, source, from))]
pub fn derive_api_error(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    api_error::api_error(&input).into()
}

/// Writes the schema of a type: `HasSchema`. A type that is also `Serialize` becomes a
/// [reply](#replies).
///
/// The schema follows serde's attributes, the types of the fields, and the
/// keywords of `#[schema(…)]`:
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
///     /// Words to be found by.
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
/// A field must be there, though it may be empty text, unless it is an `Option`
/// or has a default, of serde or of the schema. A `Patch` may be absent or null
/// and tells the two apart; an `Optional` may be absent and must not be null. With `required` it must not be
/// empty text either. A field that a function reads (`with`,
/// `deserialize_with`) may hold anything, unless `#[schema(with = path)]` names
/// a function that gives its rule. `skip`, `rename`, `rename_all`, `flatten`,
/// `deny_unknown_fields`, `transparent`, `from`, `try_from` and `into` are
/// followed. An element of a tuple struct that has
/// a default may be absent, if all behind it are absent.
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
/// `bound`, `borrow`, `crate`, `expecting`, `getter` and `remote` do not change the
/// form of a type. An attribute of serde that is not listed here does not compile.
/// `#[serde_as]` and `#[skip_serializing_none]` of `serde_with` must be above
/// `#[derive(Schema)]`.
///
/// If an `impl` by hand or another derive, such as `DeserializeFromStr`, reads the
/// type from another kind of value than the schema describes, the schema is a
/// configuration error. Declare the form by `#[schema(kind = "…")]` or
/// `#[schema(with = path)]` on the type.
///
/// Types of other crates have a schema by a feature of the crate's name: the
/// docs of `HasSchema` list them. For any other type `#[schema(opaque)]` takes
/// each value that serde reads, and more keywords may narrow it:
///
/// ```
/// use stockade::validation::{HasSchema, Schema, ValidationOptions};
///
/// /// A type of another crate.
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
/// Variants without fields are a list of names. With a `#[repr(u8)]`, or another
/// integer, they are a list of numbers if serde reads or writes these, as with the
/// derives of `serde_repr`.
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
/// If no variant fits, the errors are the errors of the closest variant. The closest variant has
/// the JSON type of the value, then a constant that is equal, then the fewest wrong types, missing
/// fields and unlisted fields, then the first position.
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
/// `reply_schema` is the schema of what serde writes, for documents: by its
/// attributes for writing, with a required property for each field that is
/// always written. `trim`, `default` and what refuses unknown keys are not in
/// it. A field that a function writes (`with`, `serialize_with`) may hold
/// anything, unless `#[schema(with = path)]` says otherwise; so may one of a
/// type without a schema that is written and never read.
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
/// | keyword | holds | for |
/// |---|---|---|
/// | `with` | a function without arguments that gives the `Rule` | all values |
/// | `opaque` | nothing; on a field: any value that serde reads, and no schema of its type | all values |
/// | `name` | on a type: its name in documents | all values |
/// | `no_reply` | nothing; on a type: the type is not a reply, or has its own `impl Reply` | all values |
#[doc = keywords!(rows_of_keywords!)]
///
/// A doc comment is the `description`. `read_only` means that clients do not send the field,
/// and `write_only` that they do not receive it. Resources and JSON-RPC methods apply these
/// two; with `Body<T>` and `Json<T>` they are only for documents.
///
/// # Replies
///
/// A handler can return a type with `Serialize` and a schema: the response is 200 with the
/// JSON of the value, and documents show the schema.
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
/// Return `(StatusCode, User)` for another status, and `Json<T>` for a type of another
/// crate. `#[schema(no_reply)]` leaves `Reply` to you:
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
/// A crate that depends on `stockade-validation`, and not on `stockade`, gets only the
/// schema.
///
/// An impossible schema is an error at the keyword: unknown names, values of
/// the wrong kind, keywords for another type, bounds that contradict each
/// other.
///
/// Spec: Validation schemas.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    schema::schema(&input).into()
}
