//! The description of a route by its parts.
//!
//! When a router is built or its map is requested, the middleware, the
//! extractors and the return type of each route describe themselves to a
//! `RouteDescription`, with the types of this module. Requests do not pay for
//! this.
//!
//! ```
//! use stockade::description::ResponseDoc;
//! use stockade::{ApiError, Middleware, Request, RouteDescription};
//!
//! fn has_credit(req: &mut Request) -> Result<(), ApiError> {
//!     match req.headers().get("x-credit") {
//!         Some(_) => Ok(()),
//!         None => Err(ApiError::new(402, "No credit")),
//!     }
//! }
//!
//! let paid = Middleware::new(has_credit)
//!     .named("has_credit")
//!     .describing(|doc: &mut RouteDescription| {
//!         doc.reads_header("x-credit", true);
//!         doc.may_respond(402, "There is no credit left");
//!         doc.responds(ResponseDoc::new(304).meaning("Nothing new"));
//!     });
//! assert_eq!(paid.name(), "has_credit");
//! ```

mod around;
mod route;
mod schema;
mod security;

pub use crate::{
    BodyDoc, CookieInfo, CrossOriginInfo, GraphQlInfo, HeaderDoc, IdempotencyInfo, MethodInfo,
    MethodKind, QuotaInfo, RevocationCheck, SessionInfo, SignatureInfo, StatusDoc, TokenInfo,
    WebSocketInfo,
};
pub use around::{AddedHeader, ErrorForm, InputFact, InputFrom};
pub use route::DescribedRoute;
pub use schema::{ContentSchema, SchemaOf};
pub use security::{SecurityScheme, UserMethod};

/// A response in the description of a route.
pub type ResponseDoc = crate::ResponseInfo<ContentSchema>;

/// A problem type in the description of a route.
pub type ProblemDoc = crate::ProblemInfo<ContentSchema>;

/// A representation of a body in the description of a route.
pub type Content = crate::ContentInfo<ContentSchema>;
