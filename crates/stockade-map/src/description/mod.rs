//! The description of a route: what its parts say about it.
//!
//! While a router is built, and when somebody asks for its map, the middleware,
//! the extractors and the reply of each route describe themselves to a
//! `RouteDescription`. The types of this module are their words.
//! A request costs nothing for them.
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
    BodyDoc, GraphQlInfo, HeaderDoc, IdempotencyInfo, QuotaInfo, StatusDoc, WebSocketInfo,
};
pub use around::{AddedHeader, ErrorForm, InputFact, InputFrom};
pub use route::DescribedRoute;
pub use schema::{ContentSchema, SchemaOf};
pub use security::{SecurityScheme, UserMethod};

/// A response while its route is described.
pub type ResponseDoc = crate::ResponseInfo<ContentSchema>;

/// A problem type while a route with it is described.
pub type ProblemDoc = crate::ProblemInfo<ContentSchema>;

/// A form of a body while its route is described.
pub type Content = crate::ContentInfo<ContentSchema>;
