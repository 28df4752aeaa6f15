//! [`with_validation`] and its two siblings: validate a part of the request
//! with a schema.
// Spec: Middleware helpers.

use std::sync::Arc;

use stockade_core::description::InputFrom;
use stockade_core::middleware::form;
use stockade_core::{Control, IntoMiddleware, IntoSchema, Middleware, Request, RouteDescription};
use stockade_errors::__internal::setters;
use stockade_errors::ConfigError;
use stockade_validation::{Schema, ValidationOptions};

use crate::described::{TOO_MANY_PAIRS, fails_validation, needs_readable_body, reads_parsed_body};

/// Validates the body with a schema. An invalid body gets a 400. A valid body
/// is replaced by the result, with defaults and conversions applied.
///
/// An error in the schema is a configuration error.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_validation;
/// use stockade::validation::{ValidationOptions, schema};
///
/// let check = with_validation(schema!({ "name": { "type": "string", "required": true } }))
///     .options(ValidationOptions::new().strip_unknown(true));
/// assert_eq!(Middleware::new(check).name(), "with_validation");
/// ```
// Spec: Middleware helpers › `withValidation`.
#[doc(alias = "withValidation")]
#[track_caller]
pub fn with_validation(schema: impl IntoSchema) -> SchemaCheck {
    SchemaCheck::new(RequestPart::Body, schema.into_schema())
}

/// Validates the query with a field map. Texts are converted to numbers and
/// booleans as the schema requires, and the results replace the query values.
// Spec: Middleware helpers › `withQueryValidation`.
#[doc(alias = "withQueryValidation")]
#[track_caller]
pub fn with_query_validation(schema: impl IntoSchema) -> SchemaCheck {
    SchemaCheck::new(RequestPart::Query, schema.into_schema())
}

/// Validates the path parameters with a field map. Texts are converted to
/// numbers and booleans as the schema requires, and the results replace the
/// parameters.
// Spec: Middleware helpers › `withParamsValidation`.
#[doc(alias = "withParamsValidation")]
#[track_caller]
pub fn with_params_validation(schema: impl IntoSchema) -> SchemaCheck {
    SchemaCheck::new(RequestPart::Params, schema.into_schema())
}

/// Middleware that validates a part of the request with a schema.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct SchemaCheck {
    part: RequestPart,
    schema: Result<Schema, ConfigError>,
    options: ValidationOptions,
}

#[derive(Clone, Copy, Debug)]
enum RequestPart {
    Body,
    Query,
    Params,
}

impl SchemaCheck {
    fn new(part: RequestPart, schema: Result<Schema, ConfigError>) -> Self {
        Self { part, schema, options: ValidationOptions::new() }
    }

    setters! {
        /// Sets the options of the validation.
        options: ValidationOptions;
    }
}

impl IntoMiddleware<form::Ready> for SchemaCheck {
    fn into_middleware(self) -> Middleware {
        let Self { part, schema, options } = self;
        let name = part.helper();
        match schema {
            Ok(schema) => {
                let check = Arc::new((schema, options));
                let described = Arc::clone(&check);
                let describe = move |doc: &mut RouteDescription| part.describe(&described, doc);
                part.middleware(check).named(name).describing(describe)
            }
            // This middleware never runs, because the build of the router
            // fails.
            Err(mistakes) => Middleware::new(|_: &mut Request| {})
                .named(name)
                .describing(move |doc| doc.schema_issues(name, &mistakes)),
        }
    }
}

impl RequestPart {
    fn helper(self) -> &'static str {
        match self {
            Self::Body => "with_validation",
            Self::Query => "with_query_validation",
            Self::Params => "with_params_validation",
        }
    }

    fn middleware(self, check: Arc<(Schema, ValidationOptions)>) -> Middleware {
        match self {
            Self::Body => Middleware::before(move |mut req: Request| {
                let check = Arc::clone(&check);
                async move {
                    let outcome = req.validate_body(&check.0, &check.1).await;
                    (req, outcome.map(|()| Control::Continue))
                }
            }),
            Self::Query => {
                Middleware::new(move |req: &mut Request| req.validate_query(&check.0, &check.1))
            }
            Self::Params => {
                Middleware::new(move |req: &mut Request| req.validate_params(&check.0, &check.1))
            }
        }
    }

    fn describe(self, (schema, options): &(Schema, ValidationOptions), doc: &mut RouteDescription) {
        match self {
            Self::Body => {
                doc.checks(InputFrom::Body, schema, options);
                reads_parsed_body(doc, self.helper());
                needs_readable_body(doc);
                fails_validation(doc, "The body does not match its schema");
            }
            Self::Query => {
                for mistake in schema.query_mistakes() {
                    doc.issue(format!("{}: {mistake}", self.helper()));
                }
                doc.checks(InputFrom::Query, schema, options);
                doc.may_respond(400, TOO_MANY_PAIRS);
                fails_validation(doc, "The query does not match its schema");
            }
            Self::Params => {
                doc.checks(InputFrom::Params, schema, options);
                fails_validation(doc, "A path parameter does not match its schema");
            }
        }
    }
}
