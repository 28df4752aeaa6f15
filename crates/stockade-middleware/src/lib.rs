//! The middleware that the specification names, one file for each helper.
//!
//! | helper | what it does |
//! |---|---|
//! | [`with_validation`] | checks the body by a schema |
//! | [`with_query_validation`] | checks the query by a schema |
//! | [`with_params_validation`] | checks the parameters of the path by a schema |
//! | [`with_input_validation`] | simple checks of the body's fields |
//!
//! Spec: Middleware helpers.

mod input_validation;
mod validation;

pub use input_validation::{InputRule, InputType, with_input_validation};
pub use validation::{SchemaCheck, with_params_validation, with_query_validation, with_validation};
