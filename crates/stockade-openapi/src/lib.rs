//! OpenAPI documents, generated from the routes.
//!
//! Nothing needs to be declared twice: the document is derived from the route
//! map. The extractors, the return type and the middleware of each route
//! describe themselves for the map.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: What the service does › `withOpenApi`, `createApiRouter` (names without behaviour).
// Source: OpenAPI 3.1.1.

mod document;
mod example;
mod options;
mod page;
mod serve;
mod to_3_0;

pub use document::{document, open_api};
pub use options::{ApiInfo, Logo, OpenApiOptions, Webhook};
pub use serve::{WithOpenApi, create_api_router, with_open_api};
#[doc(inline)]
pub use stockade_map::lock;
pub use to_3_0::to_3_0;
