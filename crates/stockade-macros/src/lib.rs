//! The macros of stockade: [`routes!`] and the derives [`Reply`] and
//! [`ApiError`].
//!
//! Each reports all mistakes in its input at once, with the caret on the word
//! that is wrong, and still expands what is right, so that editors keep working
//! and the compiler finds the mistakes in handlers too.
//!
//! What they expand to names `::stockade::…` if the calling crate depends on
//! the facade, else the single crate: `stockade-routing` for `routes!`,
//! `stockade-core` for `Reply`, `stockade-errors` for `ApiError`. A renamed
//! dependency is found by its new name.
//!
//! # Where things are
//!
//! - `routes`: `routes!`; `parse`, `check` and `expand` in this order.
//! - `reply`, `api_error`: the derives.
//! - `paths`: the names of the crates in generated code.
//! - `errors`, `suggest`: the collected mistakes, and "did you mean".
//!
//! Spec: Route tree (object router); Handler contract; Errors.
//!
//! [`Reply`]: macro@Reply
//! [`ApiError`]: macro@ApiError

mod api_error;
mod errors;
mod paths;
mod reply;
mod routes;
mod suggest;

use proc_macro::TokenStream;

/// Makes a `RouteTree` from a tree as it is drawn.
///
/// ```
/// use stockade_core::extract::Path;
/// use stockade_core::{FieldError, Next, Request, Response};
/// use stockade_macros::routes;
/// use stockade_routing::RouteTree;
///
/// async fn list() -> &'static str { "all users" }
/// async fn create() -> &'static str { "created" }
/// async fn show(Path(id): Path<u64>) -> String { format!("user {id}") }
/// async fn flights(Path((from, to)): Path<(String, String)>) -> String { from + &to }
///
/// fn log(_req: &mut Request) {}
/// async fn timed(req: Request, next: Next) -> Response { next.run(req).await }
/// fn check_user(_body: &serde_json::Value) -> Vec<FieldError> { Vec::new() }
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
///         // … or with an entry.
///         POST: {
///             handler: create,
///             name: "users.create",
///             middleware: [timed],
///             validation: check_user,
///             max_body: 64 * 1024,
///         },
///         ":id": { GET: { handler: show, name: "users.show" } },
///         // Several segments in one key.
///         "flights/:from-:to": { GET: flights },
///     },
///     // All of another tree, as if it stood here.
///     ..teams(),
/// };
/// # let _: RouteTree = api;
/// ```
///
/// # Keys of a tree
///
/// | key | holds |
/// |---|---|
/// | `GET`, `POST`, `PUT`, `DELETE`, `PATCH` in any case | a handler, or an entry `{ handler: … }` |
/// | `"segment"`, also several: `"api/v1"` | the tree below it, `{ … }` |
/// | `middleware` | `[list]` or a single expression |
/// | `..` | another tree |
///
/// Other methods are registered with the router's methods. Braces after a
/// method are an entry if they are empty or begin with `key:`, else a block that
/// gives the handler.
///
/// # Keys of an entry
///
/// | key | holds |
/// |---|---|
/// | `handler` | the handler; the only key that must be there |
/// | `name` | the name for `generate_url` |
/// | `path` | a path that replaces that of the tree |
/// | `middleware` | `[list]` or a single expression, run after that of the tree |
/// | `validation` | what checks the body |
/// | `max_body` | the limit of the body in bytes |
///
/// # What is checked
///
/// While compiling, wherever the text is a literal: that paths can be read, that
/// no parameter stands twice in a path and nothing after `**`, that a method and
/// an equivalent path, a key of a node and the name of a route stand only once.
/// Spread trees are looked at when the router is built.
///
/// ```compile_fail
/// use stockade_macros::routes;
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
/// # fn log(_req: &mut stockade_core::Request) {}
/// use stockade_routing::{Method, RouteEntry, RouteTree};
///
/// let api = RouteTree::new().segment(
///     "users",
///     RouteTree::new().method(Method::GET, RouteEntry::new(list).middleware(log).name("users")),
/// );
/// # let _ = api;
/// ```
///
/// Spec: Route tree (object router); Route entry object.
#[proc_macro]
pub fn routes(input: TokenStream) -> TokenStream {
    routes::routes(input.into()).into()
}

/// Makes a serialisable type a reply: 200 with its JSON.
///
/// ```
/// use stockade_macros::Reply;
///
/// #[derive(serde::Serialize, Reply)]
/// struct User {
///     id: u64,
/// }
///
/// #[derive(serde::Serialize, Reply)]
/// struct Page<T> {
///     items: Vec<T>,
/// }
///
/// async fn show() -> User { User { id: 7 } }
/// async fn list() -> Page<User> { Page { items: vec![User { id: 7 }] } }
///
/// use stockade_core::Reply as _;
/// let response = Page { items: vec![User { id: 7 }] }.into_response()?;
/// assert_eq!(response.status(), 200);
/// assert_eq!(response.body().as_bytes(), Some(&br#"{"items":[{"id":7}]}"#[..]));
/// # let _ = (show, list);
/// # Ok::<(), stockade_core::ApiError>(())
/// ```
///
/// A generic type is a reply whenever it is `Serialize`. For another status
/// return `(StatusCode, User)`; for a type of another crate, `Json<T>`.
///
/// Spec: Handler contract, rule 1.
#[proc_macro_derive(Reply)]
pub fn derive_reply(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    reply::reply(&input).into()
}

/// Makes an own error type an `ApiError`, so that handlers can return it and `?`
/// converts it.
///
/// Each variant has a status from 400 to 599, and a message in the notation of
/// `format!` that shows fields by name, or by position in a tuple:
///
/// ```
/// use serde_json::json;
/// use stockade_macros::ApiError;
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
/// use stockade_errors::ApiError;
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
/// ```
///
/// # What is written
///
/// - With a message on every variant: `Display`, `std::error::Error`, and
///   `From<Self> for ApiError`.
/// - With a message on none: only `From<Self> for ApiError`, which takes the
///   text from the `Display` of the type. So it works together with another
///   derive that writes `Display` and `Error`.
///
/// The `ApiError` keeps the value as its source, so that middleware and the log
/// can look at it: `error.source()?.downcast_ref::<ShopError>()`. Where the
/// text of a cause only repeats the message, the log leaves it out.
///
/// # Attributes
///
/// | on | attribute | meaning |
/// |---|---|---|
/// | a variant, or a struct | `#[status(404)]`, `#[status(404, "…")]` | the status, and the message |
/// | a field | `#[details]` | sent as `details` if the status is below 500: any `Serialize`; an absent `Option` is left out |
/// | a field | `#[source]` | the cause; a field named `source` is one without it |
/// | the only field | `#[from]` | the cause, which becomes the variant by `From` |
///
/// `#[source]` and `#[from]` belong to the derive with messages. Without the
/// facade, `#[details]` needs `serde_json` among the dependencies.
///
/// Spec: Errors › Error classes.
#[proc_macro_derive(ApiError, attributes(status, details, source, from))]
pub fn derive_api_error(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    api_error::api_error(&input).into()
}
