//! The validation of a route by the argument types of its handler.

use stockade_errors::__internal::sort_by;

use crate::description::InputFrom;
use crate::validation::Validation;
use crate::{RouteDescription, RouteDocs};

impl Validation {
    /// Adds the schemas of the handler's argument types from `doc`. A value is
    /// not validated a second time by the schema of its type.
    #[must_use]
    pub fn with_handler(mut self, doc: &RouteDescription) -> Self {
        self.inputs.clone_from(&doc.inputs);
        // Sort in validation order.
        sort_by(&mut self.inputs, |one, other| one.source.cmp(&other.source));
        for input in &self.inputs {
            let own = match input.source {
                InputFrom::Params => &mut self.params,
                InputFrom::Query => &mut self.query,
                _ => &mut self.body,
            };
            own.take_if(|schema| schema.rust_type() == Some(input.type_id));
        }
        self
    }
}

/// Returns the configuration errors of a body example, which must pass the
/// validation of its route: lower case, no full stop.
#[must_use]
pub fn example_issues(
    validation: &Validation,
    doc: &RouteDescription,
    docs: &RouteDocs,
) -> Vec<String> {
    let Some(example) = &docs.example else { return Vec::new() };
    let typed = validation.inputs.iter().filter(|input| input.source == InputFrom::Body);
    let schemas = typed.map(|input| &input.schema).chain(&validation.body);
    let mut mistakes = Vec::new();
    let mut is_validated = doc.body().is_some();
    for schema in schemas {
        is_validated = true;
        match schema.check(example, &validation.options) {
            Ok(errors) => mistakes.extend(errors.iter().map(|error| {
                // The field is empty if the error concerns the whole body.
                let field = if error.field.is_empty() { "body" } else { error.field.as_str() };
                format!("docs: the example is invalid: {field}: {}", error.message)
            })),
            Err(error) => mistakes.push(format!("docs: the example cannot be validated: {error}")),
        }
    }
    if !is_validated {
        mistakes
            .push("docs: `example` describes a body, but the route does not read one".to_owned());
    }
    mistakes
}
