//! The description of a route: what its parts say about it.
//!
//! While a router is built, and when somebody asks for its map, the middleware,
//! the extractors and the reply of each route describe themselves to a
//! `RouteDoc`. The types of this module are their words.
//! A request costs nothing for them.
//!
//! ```
//! use stockade::description::Answer;
//! use stockade::{ApiError, Middleware, Request, RouteDoc};
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
//!     .describing(|doc: &mut RouteDoc| {
//!         doc.reads_header("x-credit", true);
//!         doc.may_answer(402, "There is no credit left");
//!         doc.answers(Answer::new(304).meaning("Nothing new"));
//!     });
//! assert_eq!(paid.name(), "has_credit");
//! ```

mod answer;
mod around;
mod facts;
mod security;
mod web_socket;

pub use answer::{Answer, AnswerBody, AnswerStatus, Content, ContentSchema, HeaderDoc, SchemaOf};
pub use around::{AddedHeader, ErrorForm, InputFact, InputFrom};
pub use facts::{
    GraphQlFact, IdempotencyFact, MiddlewareFact, Permission, QuotaFact, ReadField, ReadFrom,
    RouteFacts, TimeoutFact, UserFact,
};
pub use security::{SecurityScheme, UserMethod};
pub use web_socket::WebSocketFact;
