//! [`Answer`]: one answer of a route, as it is described.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;

use http::StatusCode;
use serde_json::Value;
use stockade_errors::ConfigError;
use stockade_validation::__internal::Marks;
use stockade_validation::{HasSchema, Rule, Schema};

/// One answer that a route may give.
///
/// ```
/// use stockade::description::{Answer, AnswerBody, AnswerStatus};
///
/// let answer = Answer::error(402).meaning("There is no credit left");
/// assert_eq!(answer.status, AnswerStatus::Exact(402));
/// assert!(matches!(answer.body, AnswerBody::Error));
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: AnswerStatus,
    /// Its body. Default: none.
    pub body: AnswerBody,
    /// The headers that belong to it. Default: none.
    pub headers: Vec<HeaderDoc>,
    /// The meaning, for people, such as "There is no such user". Default: empty,
    /// which stands for the standard text of the status.
    pub meaning: Cow<'static, str>,
    /// The part of the route that gives it: `handler`, or the name of a
    /// middleware. `RouteDoc::answers` sets it.
    pub by: Cow<'static, str>,
}

/// The status of an answer, as far as it is known before a request.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum AnswerStatus {
    /// This status.
    Exact(u16),
    /// Any status of a class, by its first digit: 2 for 200 to 299.
    Class(u8),
    /// Any other status.
    Default,
}

impl AnswerStatus {
    /// Returns true if an answer of this status is so described.
    ///
    /// ```
    /// use stockade::description::AnswerStatus;
    ///
    /// assert!(AnswerStatus::Class(4).covers(404) && AnswerStatus::Default.covers(404));
    /// assert!(!AnswerStatus::Exact(400).covers(404));
    /// ```
    #[must_use]
    pub fn covers(self, status: u16) -> bool {
        match self {
            Self::Exact(exact) => exact == status,
            Self::Class(class) => u16::from(class) == status / 100,
            Self::Default => true,
        }
    }

    /// Returns true for 200 to 299.
    #[must_use]
    pub fn is_success(self) -> bool {
        matches!(self, Self::Exact(200..=299) | Self::Class(2))
    }
}

impl From<u16> for AnswerStatus {
    fn from(status: u16) -> Self {
        Self::Exact(status)
    }
}

impl From<StatusCode> for AnswerStatus {
    fn from(status: StatusCode) -> Self {
        Self::Exact(status.as_u16())
    }
}

/// Shows it as OpenAPI writes it: `404`, `2XX`, `default`.
impl fmt::Display for AnswerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(status) => write!(f, "{status}"),
            Self::Class(class) => write!(f, "{class}XX"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The body of an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnswerBody {
    /// No body.
    None,
    /// The body of an error, in the form of the application.
    Error,
    /// The body of an error that lists the fields that failed.
    ValidationError,
    /// A body in one of these forms.
    Content(Vec<Content>),
    /// A body, or none: nothing is known.
    Unknown,
}

/// One form of a body: its media type, and what it holds.
#[derive(Clone, Debug)]
pub struct Content {
    /// The media type without parameters, such as `application/json`.
    pub media_type: Cow<'static, str>,
    /// The schema of what it holds.
    pub schema: ContentSchema,
}

impl Content {
    /// Makes a content of this media type.
    #[must_use]
    pub fn new(media_type: impl Into<Cow<'static, str>>, schema: ContentSchema) -> Self {
        Self { media_type: media_type.into(), schema }
    }
}

/// The schema of a content.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ContentSchema {
    /// Any value.
    Any,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A value of this type.
    Of(SchemaOf),
    /// A value of this schema, which the program made for it. Documents name the
    /// types in it as everywhere.
    Made(Schema),
    /// A JSON Schema.
    Json(Value),
}

/// The schema of a type, which is made when it is asked for.
///
/// It is a few pointers, so that a description costs next to nothing.
///
/// ```
/// use stockade::description::SchemaOf;
///
/// let schema = SchemaOf::reply::<Vec<u8>>();
/// assert_eq!(schema.schema()?.to_json_schema()["type"], "array");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
#[derive(Clone, Copy)]
pub struct SchemaOf {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
    schema: fn() -> Result<Schema, ConfigError>,
    rule: fn() -> Rule,
}

impl SchemaOf {
    /// Returns the schema by which values of `T` are written.
    #[must_use]
    pub fn reply<T: HasSchema>() -> Self {
        Self {
            id: TypeId::of::<T>,
            name: type_name::<T>,
            schema: T::reply_schema,
            rule: T::field_rule,
        }
    }

    /// Returns the identity of the type.
    #[must_use]
    pub fn type_id(&self) -> TypeId {
        (self.id)()
    }

    /// Makes the schema.
    ///
    /// # Errors
    /// When the schema of the type cannot work: every mistake in it.
    pub fn schema(&self) -> Result<Schema, ConfigError> {
        (self.schema)()
    }

    /// Returns the marked places of the values that are read, and of those that are
    /// written. A schema with mistakes has none.
    #[doc(hidden)]
    pub fn marks(&self) -> impl Iterator<Item = Marks> {
        let rule = (self.rule)();
        let schemas = [rule.clone().build(), rule.for_replies().build()];
        schemas.into_iter().flatten().map(|schema| Marks::of(&schema))
    }

    /// Makes the schema without the write-only places; `None` if the type has none.
    #[doc(hidden)]
    #[must_use]
    pub fn shown(&self) -> Option<Result<Schema, ConfigError>> {
        (self.rule)().shown().map(|rule| rule.for_replies().build())
    }
}

impl fmt::Debug for SchemaOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemaOf({})", (self.name)())
    }
}

/// A header of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeaderDoc {
    /// The name, as it is written in documents: `Retry-After`.
    pub name: Cow<'static, str>,
    /// The meaning, for people.
    pub meaning: Cow<'static, str>,
    /// True if each such answer has it. Default: true.
    pub always: bool,
}

impl HeaderDoc {
    /// Makes a header that each such answer has.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, meaning: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), meaning: meaning.into(), always: true }
    }

    /// Says that only some of the answers have it.
    #[must_use]
    pub fn sometimes(mut self) -> Self {
        self.always = false;
        self
    }
}

impl Answer {
    /// Makes an answer without a body.
    #[must_use]
    pub fn new(status: impl Into<AnswerStatus>) -> Self {
        Self {
            status: status.into(),
            body: AnswerBody::None,
            headers: Vec::new(),
            meaning: Cow::Borrowed(""),
            by: Cow::Borrowed(""),
        }
    }

    /// Makes an answer with the body of an error, in the form of the
    /// application.
    #[must_use]
    pub fn error(status: impl Into<AnswerStatus>) -> Self {
        Self { body: AnswerBody::Error, ..Self::new(status) }
    }

    /// Makes an answer with a value of type `T` as JSON.
    #[must_use]
    pub fn json<T: HasSchema>(status: impl Into<AnswerStatus>) -> Self {
        Self::json_of(status.into(), SchemaOf::reply::<T>())
    }

    /// Makes an answer with a value of a type as JSON. It is compiled once, and not
    /// for each type.
    #[doc(hidden)]
    #[must_use]
    pub fn json_of(status: AnswerStatus, schema: SchemaOf) -> Self {
        let content = Content::new("application/json", ContentSchema::Of(schema));
        Self::new(status).content(content)
    }

    /// Makes an answer of which nothing but the status is known.
    #[must_use]
    pub fn unknown(status: impl Into<AnswerStatus>) -> Self {
        Self { body: AnswerBody::Unknown, ..Self::new(status) }
    }

    /// Makes an answer with text of a media type.
    #[must_use]
    pub fn text(status: impl Into<AnswerStatus>, media_type: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status).content(Content::new(media_type, ContentSchema::Text))
    }

    /// Makes an answer with bytes of a media type.
    #[must_use]
    pub fn bytes(
        status: impl Into<AnswerStatus>,
        media_type: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(status).content(Content::new(media_type, ContentSchema::Bytes))
    }

    /// Makes an answer with any value as JSON.
    #[must_use]
    pub fn any_json(status: impl Into<AnswerStatus>) -> Self {
        Self::new(status).content(Content::new("application/json", ContentSchema::Any))
    }

    /// Sets [`meaning`](Self#structfield.meaning).
    #[must_use]
    pub fn meaning(mut self, meaning: impl Into<Cow<'static, str>>) -> Self {
        self.meaning = meaning.into();
        self
    }

    /// Adds a form of its body.
    #[must_use]
    pub fn content(mut self, content: Content) -> Self {
        match &mut self.body {
            AnswerBody::Content(contents) => contents.push(content),
            body => *body = AnswerBody::Content(vec![content]),
        }
        self
    }

    /// Sets [`status`](Self#structfield.status). With 204, 205 and 304 the body
    /// goes too.
    ///
    /// ```
    /// use stockade::description::{Answer, AnswerBody};
    ///
    /// let mut answer = Answer::text(200, "text/plain");
    /// answer.set_status(204);
    /// assert!(matches!(answer.body, AnswerBody::None));
    /// ```
    pub fn set_status(&mut self, status: impl Into<AnswerStatus>) {
        self.status = status.into();
        if matches!(self.status, AnswerStatus::Exact(204 | 205 | 304)) {
            self.body = AnswerBody::None;
        }
    }

    /// Returns true for an answer with the body of an error, and for one of any
    /// status.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.has_error_body() || self.status == AnswerStatus::Default
    }

    /// Returns true for an answer with the body of an error.
    #[must_use]
    pub fn has_error_body(&self) -> bool {
        matches!(self.body, AnswerBody::Error | AnswerBody::ValidationError)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, header: HeaderDoc) -> Self {
        self.headers.push(header);
        self
    }
}
