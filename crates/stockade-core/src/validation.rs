//! [`Validation`]: the validation of a route before its handler.
// Spec: Route entry object › validation; Middleware helpers.

use std::any::TypeId;

use serde_json::{Map, Value};
use stockade_errors::{ApiError, ConfigError};
use stockade_validation::read_internals::{ParamShape, TextSource};
use stockade_validation::{Rule, Schema, ValidationOptions, validate_against_schema};

use crate::Request;
use crate::boxed_or::StaticDefault;
use crate::description::InputFrom;
use crate::media::Media;
use crate::read::Payload;

/// The validation of a route before its handler: the path parameters, the query
/// and the body, in this order. The response to an invalid request is a 400 with
/// the failures of the first invalid part.
// Spec: Route entry object; Validation helpers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// The schema of the path parameters.
    pub params: Option<Schema>,
    /// The schema of the query.
    pub query: Option<Schema>,
    /// The schema of the body.
    pub body: Option<Schema>,
    /// The options for all parts. Parameters and queries are text, which is
    /// always converted to numbers and booleans if a schema requires it.
    pub options: ValidationOptions,
    /// The schemas of the handler's argument types.
    pub(crate) inputs: Vec<Input>,
}

/// The schema of a handler's argument type.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) source: InputFrom,
    pub(crate) type_id: TypeId,
    pub(crate) schema: Schema,
    pub(crate) shape: ParamShape,
    /// Reads a value of the type to find its errors.
    pub(crate) read: fn(&Request) -> Result<(), ApiError>,
}

impl StaticDefault for Validation {
    const COMMON: &'static Self = &Self::NONE;

    fn is_common(&self) -> bool {
        let Self { params, query, body, options, inputs } = self;
        let has_schema = params.is_some() || query.is_some() || body.is_some();
        !has_schema && inputs.is_empty() && *options == Self::NONE.options
    }
}

impl Default for Validation {
    fn default() -> Self {
        Self::NONE
    }
}

impl Validation {
    const NONE: Self = Self {
        params: None,
        query: None,
        body: None,
        options: ValidationOptions::new(),
        inputs: Vec::new(),
    };

    /// Creates the validation of a route that validates only the handler's
    /// argument types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the schema for a part of a request: the route's own schema, or
    /// the schema of the handler's argument type.
    pub(crate) fn schema(&self, from: InputFrom) -> Option<&Schema> {
        let own = match from {
            InputFrom::Params => &self.params,
            InputFrom::Query => &self.query,
            _ => &self.body,
        };
        let typed = || self.inputs.iter().find(|input| input.source == from);
        own.as_ref().or_else(|| typed().map(|input| &input.schema))
    }

    /// Returns the schema of a type, if the handler reads it from this source.
    pub(crate) fn input(&self, source: InputFrom, type_id: TypeId) -> Option<&Input> {
        self.inputs.iter().find(|input| input.source == source && input.type_id == type_id)
    }

    /// Returns the failure to report: the first failure among the handler's
    /// argument types in validation order, or `error` if there is none. This
    /// can differ from `error`, because the handler may list its arguments in
    /// another order, and the body may have its own schema.
    #[cold]
    pub(crate) fn first_failure(&self, req: &Request, error: ApiError) -> ApiError {
        if !matches!(error.status(), 400 | 415) {
            return error;
        }
        let failure = self.inputs.iter().find_map(|input| (input.read)(req).err());
        failure.unwrap_or(error)
    }

    /// Returns the first failure among the handler's parameters and query.
    #[cold]
    pub(crate) fn head_failure(&self, req: &Request) -> Option<ApiError> {
        let inputs = self.inputs.iter().filter(|input| input.source != InputFrom::Body);
        inputs.into_iter().find_map(|input| (input.read)(req).err())
    }

    /// Validates the parameters and the query, which arrive with the head of
    /// the request.
    pub(crate) fn validate_text(&self, req: &mut Request) -> Result<(), ApiError> {
        if let Some(schema) = &self.params {
            req.validate_params(schema, &self.options)?;
        }
        if let Some(schema) = &self.query {
            req.validate_query(schema, &self.options)?;
        }
        Ok(())
    }

    /// Validates the body.
    pub(crate) async fn validate_body(&self, req: &mut Request) -> Result<(), ApiError> {
        match &self.body {
            Some(schema) => req.validate_body(schema, &self.options).await,
            None => Ok(()),
        }
    }
}

/// Returns the options with the conversions for text.
pub(crate) fn as_text(options: &ValidationOptions) -> ValidationOptions {
    options.clone().coerce_types(true).list_from_one(true)
}

/// A type that converts to a schema: a [`Schema`](struct@Schema), a [`Rule`],
/// JSON in either notation, or a result of `schema!` or `T::schema()`.
// Spec: Validation schemas.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a schema",
    label = "not a schema",
    note = "a schema is the result of `schema!({{ … }})` or `T::schema()`, a `Schema`, a `Rule`, or a `serde_json::Value` in either notation"
)]
pub trait IntoSchema {
    /// Compiles the schema.
    ///
    /// # Errors
    /// Fails with all errors in the schema.
    fn into_schema(self) -> Result<Schema, ConfigError>;
}

impl IntoSchema for Schema {
    fn into_schema(self) -> Result<Schema, ConfigError> {
        Ok(self)
    }
}

impl IntoSchema for &Schema {
    fn into_schema(self) -> Result<Schema, ConfigError> {
        Ok(self.clone())
    }
}

impl IntoSchema for Result<Schema, ConfigError> {
    fn into_schema(self) -> Result<Schema, ConfigError> {
        self
    }
}

impl IntoSchema for Rule {
    fn into_schema(self) -> Result<Schema, ConfigError> {
        self.build()
    }
}

impl IntoSchema for Value {
    #[track_caller]
    fn into_schema(self) -> Result<Schema, ConfigError> {
        Schema::from_value(&self)
    }
}

/// Validation with schemas. The result replaces the data, with defaults, trims,
/// transforms and conversions applied.
impl Request {
    /// Validates the path parameters. Text is converted to numbers and booleans
    /// if `schema` requires it. [`param`](Self::param),
    /// [`param_values`](Self::param_values) and `Path<T>` return the result.
    ///
    /// # Errors
    /// 400 with the failures, or 500 if a function of the schema fails.
    // Spec: Middleware helpers › `withParamsValidation`.
    pub fn validate_params(
        &mut self,
        schema: &Schema,
        options: &ValidationOptions,
    ) -> Result<(), ApiError> {
        let mut data = validate(schema, self.param_values().into(), &as_text(options))?;
        let names = self.path_names().map(str::to_owned);
        // In path order rather than schema order, because a tuple depends on
        // it.
        let mut params: Map<_, _> =
            names.filter_map(|name| data.shift_remove_entry(&name)).collect();
        params.extend(data);
        self.set_params(params);
        Ok(())
    }

    /// Validates the query. Text is converted to numbers and booleans, and a
    /// single value to a list, if `schema` requires it. [`query`](Self::query)
    /// and `Query<T>` return the result.
    ///
    /// # Errors
    /// 400 with the failures or for more than 1,000 pairs, or 500 if a function
    /// of the schema fails.
    // Spec: Middleware helpers › `withQueryValidation`.
    pub fn validate_query(
        &mut self,
        schema: &Schema,
        options: &ValidationOptions,
    ) -> Result<(), ApiError> {
        let options = as_text(options);
        let mut query = self.query_for(schema)?.into();
        schema.fill_texts(&mut query, &options, TextSource::Query);
        let data = validate(schema, query, &options)?;
        self.set_query(data);
        Ok(())
    }

    /// Validates the parsed body. [`body`](Self::body) and `Body<T>` return the
    /// result, and the original bytes stay the same. A form is read like in
    /// `Body<T>`: text is converted to numbers and booleans, an unchecked
    /// checkbox is false, and an empty optional field is absent.
    ///
    /// # Errors
    /// 400 with the failures, 500 if a function of the schema fails, and the
    /// errors of [`body`](Self::body).
    // Spec: Middleware helpers › `withValidation`.
    pub async fn validate_body(
        &mut self,
        schema: &Schema,
        options: &ValidationOptions,
    ) -> Result<(), ApiError> {
        let is_form = Media::of(self.headers()) == Media::Form;
        let is_text = is_form && !matches!(self.inner.payload, Payload::Replaced(_));
        let body = self.body().await?;
        let options = if is_text { &as_text(options) } else { options };
        let mut data = body.take();
        if is_text {
            schema.fill_texts(&mut data, options, TextSource::Form);
        }
        let outcome = validate_against_schema(schema, data, options)?;
        *body = outcome.data;
        if outcome.errors.is_empty() { Ok(()) } else { Err(ApiError::validation(outcome.errors)) }
    }
}

/// Validates an object, and returns it with the changes of the schema.
fn validate(
    schema: &Schema,
    object: Value,
    options: &ValidationOptions,
) -> Result<Map<String, Value>, ApiError> {
    match validate_against_schema(schema, object, options)?.into_result()? {
        Value::Object(data) => Ok(data),
        other => {
            Err(ApiError::new(500, format!("expected an object from the schema, found {other}")))
        }
    }
}
