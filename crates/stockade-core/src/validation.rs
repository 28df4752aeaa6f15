//! [`Validation`]: the checks of a route before its handler runs.
//!
//! Spec: Route entry object › validation; Middleware helpers.

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

/// The checks of a route before its handler runs: the parameters of the path,
/// the query, and the body, in this order. The first of them that fails is
/// answered with 400 and reported alone.
///
/// Spec: Route entry object; Validation helpers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// The schema of the parameters of the path.
    pub params: Option<Schema>,
    /// The schema of the query.
    pub query: Option<Schema>,
    /// The schema of the body.
    pub body: Option<Schema>,
    /// The options of all checks. Parameters and queries are text, which always
    /// becomes numbers and booleans where a schema wants those.
    pub options: ValidationOptions,
    /// The schemas of the types that the handler takes.
    pub(crate) inputs: Vec<Input>,
}

/// The schema of a type that a handler takes.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) source: InputFrom,
    pub(crate) type_id: TypeId,
    pub(crate) schema: Schema,
    pub(crate) shape: ParamShape,
    /// Reads a value of the type, to find its mistakes.
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

    /// Makes the checks of a route that judges only the types that its handler
    /// takes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the schema by which a part of a request is judged: the own one, or
    /// that of the type which the handler takes.
    pub(crate) fn schema(&self, from: InputFrom) -> Option<&Schema> {
        let own = match from {
            InputFrom::Params => &self.params,
            InputFrom::Query => &self.query,
            _ => &self.body,
        };
        let typed = || self.inputs.iter().find(|input| input.source == from);
        own.as_ref().or_else(|| typed().map(|input| &input.schema))
    }

    /// Returns the schema of a type, if the handler takes it from there.
    pub(crate) fn input(&self, source: InputFrom, type_id: TypeId) -> Option<&Input> {
        self.inputs.iter().find(|input| input.source == source && input.type_id == type_id)
    }

    /// Returns the failure to report: that of the first source, in the order in
    /// which sources are judged, that a type of the handler refuses; `error` if
    /// there is none. A later source may have failed first, because the handler
    /// names it first or because the body has a schema of its own.
    #[cold]
    pub(crate) fn first_failure(&self, req: &Request, error: ApiError) -> ApiError {
        if !matches!(error.status(), 400 | 415) {
            return error;
        }
        let failure = self.inputs.iter().find_map(|input| (input.read)(req).err());
        failure.unwrap_or(error)
    }

    /// Returns the failure of the parameters and the query that the handler takes.
    #[cold]
    pub(crate) fn head_failure(&self, req: &Request) -> Option<ApiError> {
        let inputs = self.inputs.iter().filter(|input| input.source != InputFrom::Body);
        inputs.into_iter().find_map(|input| (input.read)(req).err())
    }

    /// Checks the parameters and the query, which come with the head of the
    /// request.
    pub(crate) fn validate_text(&self, req: &mut Request) -> Result<(), ApiError> {
        if let Some(schema) = &self.params {
            req.validate_params(schema, &self.options)?;
        }
        if let Some(schema) = &self.query {
            req.validate_query(schema, &self.options)?;
        }
        Ok(())
    }

    /// Checks the body.
    pub(crate) async fn validate_body(&self, req: &mut Request) -> Result<(), ApiError> {
        match &self.body {
            Some(schema) => req.validate_body(schema, &self.options).await,
            None => Ok(()),
        }
    }
}

/// Returns the options with the conversions that text needs.
pub(crate) fn as_text(options: &ValidationOptions) -> ValidationOptions {
    options.clone().coerce_types(true).list_from_one(true)
}

/// A type that a schema can be made of: a [`Schema`](struct@Schema), a
/// [`Rule`], JSON in either notation, or a result of `schema!` and
/// `T::schema()`.
///
/// Spec: Validation schemas.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a schema",
    label = "not a schema",
    note = "a schema is what `schema!({{ … }})` or `T::schema()` give, a `Schema`, a `Rule`, or a `serde_json::Value` in either notation"
)]
pub trait IntoSchema {
    /// Compiles the schema.
    ///
    /// # Errors
    /// Every mistake in it.
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

/// Checks by schemas. The outcome replaces the checked data, with defaults,
/// trims, transforms and conversions applied.
impl Request {
    /// Checks the parameters of the path: text becomes numbers and booleans where
    /// `schema` asks for them.
    /// [`param`](Self::param), [`param_values`](Self::param_values) and
    /// `Path<T>` give the outcome.
    ///
    /// # Errors
    /// 400 with the mistakes; 500 when a function of the schema fails.
    ///
    /// Spec: Middleware helpers › `withParamsValidation`.
    pub fn validate_params(
        &mut self,
        schema: &Schema,
        options: &ValidationOptions,
    ) -> Result<(), ApiError> {
        let mut data = validate(schema, self.param_values().into(), &as_text(options))?;
        let names = self.path_names().map(str::to_owned);
        // In the order of the path, and not of the schema: a tuple is read by it.
        let mut params: Map<_, _> =
            names.filter_map(|name| data.shift_remove_entry(&name)).collect();
        params.extend(data);
        self.set_params(params);
        Ok(())
    }

    /// Checks the query: text becomes numbers and booleans where `schema` asks
    /// for them, and a single value a list where it asks for one.
    /// [`query`](Self::query) and `Query<T>` give the outcome.
    ///
    /// # Errors
    /// 400 with the mistakes, or for more than 1,000 pairs; 500 when a
    /// function of the schema fails.
    ///
    /// Spec: Middleware helpers › `withQueryValidation`.
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

    /// Checks the parsed body. [`body`](Self::body) and `Body<T>` give the
    /// outcome; the bytes stay as they were sent. A form is read as `Body<T>` reads
    /// it: text becomes numbers and booleans, an unchecked checkbox is false, and an
    /// empty optional field is absent.
    ///
    /// # Errors
    /// 400 with the mistakes; those of [`body`](Self::body); 500 when a
    /// function of the schema fails.
    ///
    /// Spec: Middleware helpers › `withValidation`.
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

/// Judges an object, and returns it with the changes of the schema.
fn validate(
    schema: &Schema,
    object: Value,
    options: &ValidationOptions,
) -> Result<Map<String, Value>, ApiError> {
    match validate_against_schema(schema, object, options)?.into_result()? {
        Value::Object(data) => Ok(data),
        other => Err(ApiError::new(500, format!("the schema made {other} of an object"))),
    }
}
