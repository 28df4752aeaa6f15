//! OpenAPI documents and the descriptions they are generated from.

mod components;
mod described;
mod description_size;
mod descriptions;
mod documents;
mod json_schema;
mod node_docs;
pub(crate) mod official;
mod small_apis;
mod tags;
mod version_3_0;
