//! Typed values from text, validated by the schema of their type.
//!
//! This code is compiled only once rather than for each type: it accesses a
//! type through its [`TypeInfo`].

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::collections::HashMap;

use http::Extensions;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stockade_errors::{ApiError, ConfigError};
#[cfg(feature = "multipart")]
use stockade_validation::read_internals::PartRule;
use stockade_validation::read_internals::{
    Field, PairsKind, ParamShape, Slot, TextSource, nothing_read, read_nothing, read_texts_into,
    shape_of,
};
use stockade_validation::{
    HasSchema, ReadError, Schema, ValidationOptions, validate_against_schema,
};

use crate::description::InputFrom;
use crate::media::Media;
use crate::read::{Payload, invalid_json, text_of, unsupported};
use crate::validation::{Input, as_text};
use crate::{BodyError, BodyKind, Request, RouteDescription};

/// The type of a handler argument, and the target for its value.
pub(crate) struct TypeInfo<'t> {
    pub(crate) type_id: TypeId,
    pub(crate) schema: fn() -> Result<Schema, ConfigError>,
    pub(crate) target: &'t mut dyn Slot,
}

impl<'t> TypeInfo<'t> {
    pub(crate) fn of<T: HasSchema + DeserializeOwned>(slot: &'t mut Option<T>) -> Self {
        Self { type_id: TypeId::of::<T>(), schema: T::schema, target: slot }
    }
}

impl Input {
    pub(crate) fn new(
        source: InputFrom,
        info: &mut TypeInfo<'_>,
        schema: Schema,
        read: fn(&Request) -> Result<(), ApiError>,
    ) -> Self {
        Self { source, type_id: info.type_id, schema, shape: shape_of(info.target), read }
    }
}

/// Reads a value of a type from a request.
///
/// # Errors
/// Fails like `read`.
pub(super) fn read<T: HasSchema + DeserializeOwned>(
    req: &Request,
    read: fn(&Request, TypeInfo<'_>) -> Result<(), ApiError>,
) -> Result<T, ApiError> {
    let mut slot = None;
    match read(req, TypeInfo::of::<T>(&mut slot)) {
        Ok(()) => match slot {
            Some(value) => Ok(value),
            None => Err(nothing_read()),
        },
        Err(error) => Err(error),
    }
}

/// Reads a value like [`read`], but only for its error.
///
/// # Errors
/// Fails like `read`.
pub(super) fn probe<T: HasSchema + DeserializeOwned>(
    req: &Request,
    read: fn(&Request, TypeInfo<'_>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    read(req, TypeInfo::of::<T>(&mut None))
}

/// Reads integer path parameters without the schema.
#[inline]
pub(super) fn plain_params<T: HasSchema>(req: &Request) -> Option<T> {
    if req.replaced_params().is_some() {
        return None;
    }
    // Integers do not have escapes; otherwise, the schema validates the value.
    let texts = &mut req.inner.params.raw_values(req.path());
    T::from_plain_texts(texts).filter(|_| texts.next().is_none())
}

/// An uncalled function that makes the compiler generate the shared code of
/// `plain_params` in this crate; see `COMMON_TYPES` in `stockade-validation`.
pub static COMMON_PARAMS: fn(&Request) -> Option<u64> = plain_params::<u64>;

/// Reads the path parameters.
pub(super) fn params(req: &Request, info: TypeInfo<'_>) -> Result<(), ApiError> {
    if req.replaced_params().is_none()
        && let Some((input, options)) = described(req, InputFrom::Params, info.type_id)
    {
        let params = req.inner.params.iter(req.path());
        let fields = &mut params.map(|(name, value)| Field::new(name.into(), value));
        if input.schema.read_pairs_into(fields, PairsKind::Ordered, options, info.target) {
            return Ok(());
        }
    }
    Validator::of(req, InputFrom::Params, info)?.read_params(req)
}

/// Reads the query string.
pub(super) fn query(req: &Request, info: TypeInfo<'_>) -> Result<(), ApiError> {
    if req.replaced_query().is_none()
        && let Some((input, options)) = described(req, InputFrom::Query, info.type_id)
        && !input.schema.has_text_styles()
    {
        // An absent query is read as empty.
        let pairs = crate::query::pairs(req.uri().query().unwrap_or_default())?;
        let fields = &mut Field::group(pairs).into_iter();
        if input.schema.read_pairs_into(fields, PairsKind::Named, options, info.target) {
            return Ok(());
        }
    }
    let validator = Validator::of(req, InputFrom::Query, info)?;
    let query = req.query_for(&validator.schema)?;
    validator.read_object(query, TextSource::Query)
}

/// Returns the schema and options that the router compiled for a type of the
/// request's route.
#[inline]
fn described(
    req: &Request,
    source: InputFrom,
    type_id: TypeId,
) -> Option<(&Input, &ValidationOptions)> {
    let validation = &*req.inner.route.as_deref()?.validation;
    validation.input(source, type_id).map(|input| (input, &validation.options))
}

/// Reads a body that is already in memory.
pub(super) fn body(req: &Request, info: TypeInfo<'_>) -> Result<(), ApiError> {
    if req.has_no_body() {
        return absent(info.target);
    }
    let validator = Validator::of(req, InputFrom::Body, info)?;
    let media = Media::of(req.headers());
    match &req.inner.payload {
        // The body was empty, and no default replaced it.
        Payload::Parsed { value: Value::Object(object), bytes }
            if bytes.is_empty() && object.is_empty() =>
        {
            validator.read_nothing(media)
        }
        Payload::Parsed { value: Value::Object(form), .. } if media == Media::Form => {
            validator.read_object(form.clone(), TextSource::Form)
        }
        Payload::Parsed { value: Value::String(text), bytes }
            if media == Media::Text && !bytes.is_empty() =>
        {
            validator.read_text(text)
        }
        Payload::Parsed { value, .. } | Payload::Replaced(value) => validator.read_value(value),
        Payload::Bytes(bytes) if bytes.is_empty() => validator.read_nothing(media),
        Payload::Bytes(bytes) => match media {
            Media::Json => validator.read_json(req, bytes),
            Media::Form => {
                validator.read_object(crate::query::object(text_of(bytes)?)?, TextSource::Form)
            }
            Media::Text => validator.read_text(text_of(bytes)?),
            Media::Other | Media::ForeignCharset => Err(unsupported()),
        },
        // Not reachable, because the caller has read the body. An error is
        // safer than a panic.
        Payload::Unread(_) | Payload::Failed(_) => Err(BodyError::Broken.into()),
    }
}

/// Returns the rules of the parts of a form with files.
#[cfg(feature = "multipart")]
pub(super) fn part_rules(req: &Request, info: &TypeInfo<'_>) -> Result<Vec<PartRule>, ApiError> {
    match described(req, InputFrom::Body, info.type_id) {
        Some((input, _)) => Ok(input.schema.part_rules()),
        None => Ok((info.schema)().map_err(ApiError::internal)?.part_rules()),
    }
}

/// Reads a form with files after its parts were read.
#[cfg(feature = "multipart")]
pub(super) fn form(
    req: &Request,
    data: Map<String, Value>,
    info: TypeInfo<'_>,
) -> Result<(), ApiError> {
    Validator::of(req, InputFrom::Body, info)?.read_object(data, TextSource::Form)
}

fn absent(target: &mut dyn Slot) -> Result<(), ApiError> {
    if read_nothing(target) { Ok(()) } else { Err(ApiError::new(400, "Request body is required")) }
}

/// A type with its schema and validation options.
struct Validator<'r, 't> {
    schema: Cow<'r, Schema>,
    options: Cow<'r, ValidationOptions>,
    shape: ParamShape,
    target: &'t mut dyn Slot,
}

impl<'r, 't> Validator<'r, 't> {
    /// Finds the schema that the router compiled for the request's route.
    /// Compiles it if the type did not describe itself to a router.
    fn of(req: &'r Request, source: InputFrom, info: TypeInfo<'t>) -> Result<Self, ApiError> {
        let TypeInfo { type_id, schema, target } = info;
        if let Some((input, options)) = described(req, source, type_id) {
            let (schema, options) = (Cow::Borrowed(&input.schema), Cow::Borrowed(options));
            return Ok(Self { schema, options, shape: input.shape, target });
        }
        let validation = req.inner.route.as_deref().map(|route| &*route.validation);
        // A request without a route uses the defaults.
        let options = validation.map_or_else(Cow::default, |it| Cow::Borrowed(&it.options));
        let shape = shape_of(target);
        let schema = Cow::Owned(schema().map_err(ApiError::internal)?);
        Ok(Self { schema, options, shape, target })
    }

    /// Reads an empty body. A browser sends one for a form with nothing checked
    /// or filled in.
    fn read_nothing(self, media: Media) -> Result<(), ApiError> {
        match media {
            Media::Form if read_nothing(self.target) => Ok(()),
            Media::Form => self.read_object(Map::new(), TextSource::Form),
            _ => absent(self.target),
        }
    }

    /// Reads a query or a form.
    fn read_object(self, object: Map<String, Value>, source: TextSource) -> Result<(), ApiError> {
        let mut data = match self.shape {
            ParamShape::List => pairs_of(object),
            _ => object.into(),
        };
        self.schema.fill_texts(&mut data, &as_text(&self.options), source);
        self.read_validated("", data, |field| field)
    }

    /// Reads the path parameters in the shape of the type.
    fn read_params(self, req: &Request) -> Result<(), ApiError> {
        let params = req.param_values();
        let names: Vec<&str> = req.path_names().collect();
        // A type may have more parameters than the path. Such a parameter has
        // an empty name and is null, which the schema rejects as missing. The
        // same applies if `set_params` omitted a parameter.
        let named = |index: usize| names.get(index).copied().unwrap_or_default();
        let mut values = names.iter().map(|name| params.get(*name).cloned().unwrap_or_default());
        match self.shape {
            ParamShape::Single => {
                let value = values.next().unwrap_or_default();
                self.read_validated(named(0), value, |_| named(0).to_owned())
            }
            ParamShape::Tuple(_) | ParamShape::List => {
                let name = |field: String| {
                    let index = field.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    let name = index.and_then(|index| index.parse().ok()).map_or("", named);
                    if name.is_empty() { field } else { name.to_owned() }
                };
                self.read_validated("", values.collect(), name)
            }
            _ => self.read_validated("", params.clone().into(), |field| field),
        }
    }

    /// Reads JSON under the limits and options of the request.
    fn read_json(self, req: &Request, text: &[u8]) -> Result<(), ApiError> {
        let most = req.max_json_values();
        let read = self.schema.read_json_into(text, &self.options, most, self.target);
        read.map_err(|error| match error {
            ReadError::Syntax(error) => invalid_json(&error, req.inner.settings.expose_errors),
            other => other.into(),
        })
    }

    /// Reads a value that is already parsed.
    fn read_value(self, value: &Value) -> Result<(), ApiError> {
        Ok(self.schema.read_value_into(value, &self.options, self.target)?)
    }

    /// Reads one text.
    fn read_text(self, text: &str) -> Result<(), ApiError> {
        self.read_validated("", text.into(), |field| field)
    }

    /// Validates text data, and reads the value from the result. `name` is the
    /// value's name in type errors, and `rename` changes the names in all
    /// errors.
    fn read_validated(
        self,
        name: &str,
        data: Value,
        rename: impl Fn(String) -> String,
    ) -> Result<(), ApiError> {
        let outcome = validate_against_schema(&self.schema, data, &as_text(&self.options))?;
        let mut errors = if outcome.valid() {
            match read_texts_into(name, &outcome.data, self.target) {
                // Valid data may still not fit the type, such as an integer
                // beyond `i64`.
                Err(ReadError::Invalid(errors)) => errors,
                read => return Ok(read?),
            }
        } else {
            outcome.errors
        };
        for error in &mut errors {
            error.field = rename(std::mem::take(&mut error.field));
        }
        Err(ApiError::validation(errors))
    }
}

/// Returns the pairs of an object as a list, for a type that expects a list.
fn pairs_of(object: Map<String, Value>) -> Value {
    let pairs = object.into_iter().flat_map(|(name, value)| match value {
        Value::Array(values) => values.into_iter().map(|value| json!([name, value])).collect(),
        value => vec![json!([name, value])],
    });
    pairs.collect()
}

/// Compiles the schema of `T` for a route that reads it from `source`.
pub(super) fn describe<T: HasSchema + DeserializeOwned>(
    doc: &mut RouteDescription,
    source: InputFrom,
    read: fn(&Request) -> Result<(), ApiError>,
) {
    describe_type(doc, source, TypeInfo::of::<T>(&mut None), type_name::<T>(), read);
}

fn describe_type(
    doc: &mut RouteDescription,
    source: InputFrom,
    mut info: TypeInfo<'_>,
    type_name: &str,
    read: fn(&Request) -> Result<(), ApiError>,
) {
    let known = doc.common_mut().get_or_insert_default::<TypeSchemas>();
    match known.schema(&info) {
        Ok(schema) => {
            let mistakes = match source {
                InputFrom::Query => schema.query_mistakes(),
                _ => Vec::new(),
            };
            let is_form = doc.body() == Some(BodyKind::Multipart);
            let misplaced = schema.has_files() && !(source == InputFrom::Body && is_form);
            let misplaced = misplaced.then(|| MISPLACED_FILE.to_owned());
            for mistake in mistakes.into_iter().chain(misplaced) {
                doc.issue(format!("{type_name}: {mistake}"));
            }
            doc.inputs.push(Input::new(source, &mut info, schema, read));
        }
        Err(error) => doc.schema_issues(type_name, &error),
    }
}

const MISPLACED_FILE: &str =
    "only `Multipart<T>` reads files: use it instead of `Body<T>`, `Query<T>` or `Path<T>`";

/// The schemas of the argument types of a router's routes, compiled once and
/// shared.
#[derive(Clone, Default)]
struct TypeSchemas(HashMap<TypeId, Schema>);

impl TypeSchemas {
    /// Returns the schema of a type.
    fn schema(&mut self, info: &TypeInfo<'_>) -> Result<Schema, ConfigError> {
        if let Some(schema) = self.0.get(&info.type_id) {
            return Ok(schema.clone());
        }
        let schema = (info.schema)()?;
        self.0.insert(info.type_id, schema.clone());
        Ok(schema)
    }
}

/// Returns the schemas of the argument types of a router's routes, from the
/// values that their descriptions share.
pub(crate) fn taken_schemas(common: &Extensions) -> impl Iterator<Item = &Schema> {
    common.get::<TypeSchemas>().into_iter().flat_map(|known| known.0.values())
}

/// Adds the schemas of a compiled route to a description, for the types to
/// describe themselves with.
pub(crate) fn know_schemas(doc: &mut RouteDescription, inputs: &[Input]) {
    let known = doc.common_mut().get_or_insert_default::<TypeSchemas>();
    known.0.extend(inputs.iter().map(|input| (input.type_id, input.schema.clone())));
}
