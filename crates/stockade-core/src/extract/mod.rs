//! [`FromRequest`]: extractors, the arguments of handlers.
//!
//! | argument | content |
//! |---|---|
//! | [`Path<T>`] | the path parameters, as a value, a tuple or a struct |
//! | [`Path<FileName>`](FileName) | a path parameter that names a file |
//! | [`Query<T>`] | the query string |
//! | [`Body<T>`] | the body, parsed by its content type |
//! | `bytes::Bytes` | the raw bytes of the body |
//! | `Signed<T, S>` of `stockade::middleware` | the body of a webhook, after its signature was verified |
//! | [`HttpBody`](crate::HttpBody) | the body as a stream |
//! | `Multipart<T>` (feature `multipart`) | a form with files, as a type or as its parts |
//! | [`State<T>`] | a value that the application provides |
//! | [`Extension<T>`] | a value that middleware added to the request |
//! | [`User<T>`] | the authenticated user |
//! | [`UserLifetime`] | the end of the user's login |
//! | [`Headers`] | the headers |
//! | `TypedHeader<H>` (feature `typed-headers`) | one header as a type of the crate `headers` |
//! | [`LastEventId`] | the last event that a client of [`Sse`](crate::reply::Sse) received |
//! | `IfMatch` of `stockade::middleware` (feature `conditional`) | the version that the client wants to change |
//! | [`ClientIp`] | the client's address |
//! | [`PeerAddr`](crate::PeerAddr) | the other end of the connection |
//! | [`PeerCredentials`](crate::PeerCredentials) | the process at the other end of a Unix socket |
//! | [`ResponseWriter`](crate::reply::ResponseWriter) | a writer for the response |
//! | `http::Method`, `http::Uri`, `http::Version` | the parts of the head |
//! | [`Request`] | the whole request |
//!
//! The body is read once and stored, so several arguments may use it, in any
//! order. If an argument `A` may be missing, take `Option<A>`, which is then
//! `None` ([`OptionalFromRequest`]).
// Spec: Request object; Handler contract.

mod body;
mod connection;
#[cfg(feature = "multipart")]
mod disposition;
mod extension;
mod file_name;
#[cfg(feature = "multipart")]
mod multipart;
#[cfg(feature = "multipart")]
mod part_headers;
mod path;
mod query;
mod state;
mod typed;
#[cfg(feature = "typed-headers")]
mod typed_header;
mod user;

pub use body::Body;
pub use connection::{ClientIp, Headers, LastEventId};
pub use extension::Extension;
pub use file_name::{FileName, FileNameError};
#[cfg(feature = "multipart")]
pub use multipart::{FilePart, FileStream, Multipart, MultipartLimits, Part, Parts};
pub use path::Path;
pub use query::Query;
pub use state::State;
#[cfg(feature = "typed-headers")]
pub use typed_header::TypedHeader;

pub use crate::user_lifetime::UserLifetime;

/// The crate with the types for [`TypedHeader`].
#[cfg(feature = "typed-headers")]
#[doc(no_inline)]
pub use headers;
pub use user::User;

#[doc(hidden)]
pub use typed::COMMON_PARAMS;
pub(crate) use typed::{TypeInfo, know_schemas, taken_schemas};

use std::future::Future;

use stockade_errors::ApiError;

use crate::{Request, RouteDescription};

/// A type that can be an argument of a handler.
///
/// The [module docs](crate::extract) list stockade's types. An application type
/// reads the request, and may wait:
///
/// ```
/// use stockade::{ApiError, FromRequest, Request, RouteDescription};
///
/// struct Tenant(String);
///
/// impl FromRequest for Tenant {
///     async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
///         match req.headers().get("x-tenant").and_then(|value| value.to_str().ok()) {
///             Some(tenant) => Ok(Self(tenant.to_owned())),
///             None => Err(ApiError::new(400, "the header x-tenant is missing")),
///         }
///     }
///
///     // For the map of the routes and for documents.
///     fn describe(doc: &mut RouteDescription) {
///         doc.reads_header("X-Tenant", true);
///         doc.may_respond(400, "The header x-tenant is missing");
///     }
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/", async |tenant: Tenant| tenant.0);
/// let client = TestClient::new(router);
/// client.get("/").header("x-tenant", "acme").await.assert_text("acme");
/// client.get("/").await.assert_status(400).assert_error("the header x-tenant is missing");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `{Self}`",
    label = "this argument cannot be extracted from a request",
    note = "a handler takes Path<T>, Query<T>, Body<T>, State<T>, Headers, ClientIp, Bytes, Request, …",
    note = "in Path, Query and Body, T must derive serde::Deserialize and Schema, or be `Unchecked<T>`"
)]
pub trait FromRequest: Sized + Send {
    /// True if the argument consumes the whole request. Such an argument is
    /// extracted last.
    const TAKES_REQUEST: bool = false;

    /// Extracts the argument from the request.
    ///
    /// # Errors
    /// Fails if the request does not contain the argument. The error becomes
    /// the response.
    fn from_request(req: &mut Request) -> impl Future<Output = Result<Self, ApiError>> + Send;

    /// Describes the requirements and the error responses of the argument to
    /// the router at build time. An extractor that contains others calls their
    /// `describe`; only then are the schemas of their types compiled once
    /// rather than for each request.
    ///
    /// The default makes the extractor opaque: it may reject a request with any
    /// status, which documents show as `default`. An empty function means that
    /// it never rejects a request.
    fn describe(doc: &mut RouteDescription) {
        doc.takes_opaque_argument::<Self>();
    }
}

/// An optional argument: `Option<A>` is a handler argument if `A` implements
/// this trait.
///
/// `None` means that the request does not contain the argument. An invalid
/// argument is an error, so a client's error does not look like a missing
/// argument.
///
/// ```
/// use stockade::extract::OptionalFromRequest;
/// use stockade::{ApiError, Request, RouteDescription};
///
/// struct Tenant(String);
///
/// impl OptionalFromRequest for Tenant {
///     async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
///         let Some(value) = req.headers().get("x-tenant") else { return Ok(None) };
///         let wrong = |_| ApiError::new(400, "the header x-tenant is no text");
///         Ok(Some(Self(value.to_str().map_err(wrong)?.to_owned())))
///     }
///
///     fn describe_optional(doc: &mut RouteDescription) {
///         doc.reads_header("X-Tenant", false);
///         doc.may_respond(400, "The header x-tenant is no text");
///     }
/// }
///
/// async fn name(tenant: Option<Tenant>) -> String {
///     tenant.map_or("nobody".into(), |Tenant(name)| name)
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/", name);
/// let client = TestClient::new(router);
/// client.get("/").await.assert_text("nobody");
/// client.get("/").header("x-tenant", "acme").await.assert_text("acme");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `Option<{Self}>`",
    label = "this argument cannot be absent",
    note = "implement OptionalFromRequest for it, to define when it is absent",
    note = "for Path, Query and Body, put the Option inside, as in Body<Option<T>>"
)]
pub trait OptionalFromRequest: Sized + Send {
    /// Extracts the argument from the request, or returns `None` if it is
    /// missing.
    ///
    /// # Errors
    /// Fails if the argument is present but invalid. The error becomes the
    /// response.
    fn from_request_optional(
        req: &mut Request,
    ) -> impl Future<Output = Result<Option<Self>, ApiError>> + Send;

    /// Describes the requirements and the error responses of the argument, like
    /// [`FromRequest::describe`].
    fn describe_optional(doc: &mut RouteDescription) {
        doc.takes_opaque_argument::<Option<Self>>();
    }
}

impl<T: OptionalFromRequest> FromRequest for Option<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        T::from_request_optional(req).await
    }

    fn describe(doc: &mut RouteDescription) {
        T::describe_optional(doc);
    }
}

/// Never an argument. It directs users who write `Json<T>`, as in other
/// frameworks, to `Body<T>`.
#[doc(hidden)]
impl<T: JsonArgument + Send> FromRequest for crate::reply::Json<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        // No type implements this trait.
        T::never(req)
    }

    fn describe(_doc: &mut RouteDescription) {}
}

/// A trait without implementations, for the compiler's message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a handler takes a JSON body as `Body<{Self}>`, not as `Json<{Self}>`",
    label = "`Json<T>` is a response; the argument is `Body<T>`",
    note = "in Body, T must derive serde::Deserialize and Schema, or be `Unchecked<T>`"
)]
pub trait JsonArgument: Sized {
    /// Fails.
    ///
    /// # Errors
    /// Always fails.
    fn never<T>(req: &Request) -> Result<T, ApiError>;
}

impl FromRequest for Request {
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.take())
    }

    fn describe(_doc: &mut RouteDescription) {}
}
