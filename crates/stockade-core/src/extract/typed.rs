//! Typed values from what comes as text, judged by the schema of their type.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stockade_errors::{ApiError, FieldError};
use stockade_validation::{
    HasSchema, ReadError, Schema, ValidationOptions, validate_against_schema,
};

use crate::read::invalid_json;
use crate::route_description::ParamShape;
use crate::text::{from_data, shape_of};
use crate::validation::{Input, Source, as_text};
use crate::{Request, RouteDoc};

/// The schema of a type that a handler takes, and how it judges.
pub(super) struct Judge {
    pub(super) schema: Schema,
    pub(super) options: ValidationOptions,
    shape: ParamShape,
}

impl Judge {
    /// What the router compiled for the route of `req`; made anew for a type
    /// that has not described itself to a router.
    pub(super) fn of<T>(req: &Request, source: Source) -> Result<Self, ApiError>
    where
        T: HasSchema + DeserializeOwned,
    {
        let validation = req.inner.endpoint.as_deref().map(crate::Endpoint::validation);
        // Where no route has taken the request, the defaults hold.
        let options = validation.map(|validation| validation.options.clone()).unwrap_or_default();
        if let Some(input) = validation.and_then(|validation| validation.input::<T>(source)) {
            return Ok(Self { schema: input.schema.clone(), options, shape: input.shape });
        }
        let schema = T::schema().map_err(ApiError::internal)?;
        Ok(Self { schema, options, shape: shape_of::<T>() })
    }

    /// Reads a query or a form.
    pub(super) fn read_object<T: DeserializeOwned>(
        &self,
        object: Map<String, Value>,
    ) -> Result<T, ApiError> {
        let data = match self.shape {
            ParamShape::List => pairs_of(object),
            _ => object.into(),
        };
        from_data("", &self.judge(data, |field| field)?)
    }

    /// Reads the parameters of a path, as the type asks for them.
    pub(super) fn read_params<T: DeserializeOwned>(&self, req: &Request) -> Result<T, ApiError> {
        let params = req.param_values();
        let names: Vec<&str> = req.path_names().collect();
        // A type may ask for more than the path has: what is not there has no name and
        // is null, which the schema judges as missing. So is what `set_params` left out.
        let named = |index: usize| names.get(index).copied().unwrap_or_default();
        let mut values = names.iter().map(|name| params.get(*name).cloned().unwrap_or_default());
        match self.shape {
            ParamShape::Single => {
                let value = values.next().unwrap_or_default();
                from_data(named(0), &self.judge(value, |_| named(0).to_owned())?)
            }
            ParamShape::Tuple(_) | ParamShape::List => {
                let name = |field: String| {
                    let index = field.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    let name = index.and_then(|index| index.parse().ok()).map_or("", named);
                    if name.is_empty() { field } else { name.to_owned() }
                };
                from_data("", &self.judge(values.collect(), name)?)
            }
            ParamShape::Fields(_) | ParamShape::Any => {
                from_data("", &self.judge(params.clone().into(), |field| field)?)
            }
        }
    }

    /// Reads JSON, as the rules of the request have it.
    pub(super) fn read_json<T: DeserializeOwned>(
        &self,
        req: &Request,
        text: &[u8],
    ) -> Result<T, ApiError> {
        let read = self.schema.read_json_within(text, &self.options, req.max_json_values());
        read.map_err(|error| match error {
            ReadError::Syntax(error) => invalid_json(&error, req.inner.settings.expose_errors),
            other => other.into(),
        })
    }

    /// Reads a value that was parsed already.
    pub(super) fn read_value<T: DeserializeOwned>(&self, value: &Value) -> Result<T, ApiError> {
        Ok(self.schema.read_value(value, &self.options)?)
    }

    /// Reads one text.
    pub(super) fn read_text<T: DeserializeOwned>(&self, text: &str) -> Result<T, ApiError> {
        from_data("", &self.judge(text.into(), |field| field)?)
    }

    fn judge(&self, data: Value, name: impl Fn(String) -> String) -> Result<Value, ApiError> {
        let outcome = validate_against_schema(&self.schema, data, &as_text(&self.options))?;
        if outcome.valid() {
            return Ok(outcome.data);
        }
        let named = |mut error: FieldError| {
            error.field = name(std::mem::take(&mut error.field));
            error
        };
        let errors: Vec<FieldError> = outcome.errors.into_iter().map(named).collect();
        Err(ApiError::validation(errors))
    }
}

/// An object as the list of its pairs, for a type that wants a list.
fn pairs_of(object: Map<String, Value>) -> Value {
    let pairs = object.into_iter().flat_map(|(name, value)| match value {
        Value::Array(values) => values.into_iter().map(|value| json!([name, value])).collect(),
        value => vec![json!([name, value])],
    });
    pairs.collect()
}

/// Compiles the schema of `T` for a route that reads it from `source`.
pub(super) fn describe<T: HasSchema + DeserializeOwned>(
    doc: &mut RouteDoc,
    source: Source,
    read: fn(&Request) -> Result<(), ApiError>,
) {
    match T::schema() {
        Ok(schema) => doc.inputs.push(Input::new::<T>(source, schema, read)),
        Err(error) => doc.schema_mistakes(std::any::type_name::<T>(), &error),
    }
}
