//! [`ResponseInfo`]: a response of a route.
//!
//! `S` is the type of schemas: [`ContentSchema`] while the route is described,
//! and JSON in a map.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use stockade_validation::HasSchema;

use crate::ProblemInfo;
use crate::description::{Content, ContentSchema, ProblemDoc, ResponseDoc, SchemaOf};

/// A response that a route may send.
///
/// ```
/// use stockade::description::{BodyDoc, ResponseDoc, StatusDoc};
///
/// let answer = ResponseDoc::error(402).meaning("There is no credit left");
/// assert_eq!(answer.status, StatusDoc::Exact(402));
/// assert!(matches!(answer.body, BodyDoc::Error));
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResponseInfo<S = Value> {
    /// Its status.
    pub status: StatusDoc,
    /// Its body. Default: none.
    pub body: BodyDoc<S>,
    /// Its headers. Default: none.
    pub headers: Vec<HeaderDoc>,
    /// Its meaning, for readers, such as "There is no such user". Default:
    /// empty, which means the standard text of the status.
    pub meaning: Cow<'static, str>,
    /// The problem type of an error (RFC 9457), with its members. Default:
    /// unknown.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub problem: Option<Box<ProblemInfo<S>>>,
    /// The part of the route that sends it: `handler`, the name of a
    /// middleware, or a stage such as `validation`.
    /// `RouteDescription::responds` sets it.
    pub by: Cow<'static, str>,
}

/// The status of a response, as far as it is known before a request.
///
/// Its text, also for serde, is the notation of OpenAPI: `404`, `2XX`,
/// `default`. Statuses compare in the order of these texts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StatusDoc {
    /// This status.
    Exact(u16),
    /// Any status of a class, by its first digit: 2 for 200 to 299.
    Class(u8),
    /// Any other status.
    Default,
}

impl StatusDoc {
    /// Returns true if a response with `status` matches.
    ///
    /// ```
    /// use stockade::description::StatusDoc;
    ///
    /// assert!(StatusDoc::Class(4).covers(404) && StatusDoc::Default.covers(404));
    /// assert!(!StatusDoc::Exact(400).covers(404));
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

    /// Returns the exact status, if it is known.
    #[must_use]
    pub fn exact(self) -> Option<u16> {
        match self {
            Self::Exact(status) => Some(status),
            _ => None,
        }
    }
}

impl From<u16> for StatusDoc {
    fn from(status: u16) -> Self {
        Self::Exact(status)
    }
}

impl From<StatusCode> for StatusDoc {
    fn from(status: StatusCode) -> Self {
        Self::Exact(status.as_u16())
    }
}

impl fmt::Display for StatusDoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(status) => write!(f, "{status}"),
            Self::Class(class) => write!(f, "{class}XX"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl FromStr for StatusDoc {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        match text.strip_suffix("XX") {
            _ if text == "default" => Ok(Self::Default),
            Some(class) => class.parse().map(Self::Class).map_err(|_| UnknownStatus),
            None => text.parse().map(Self::Exact).map_err(|_| UnknownStatus),
        }
    }
}

/// An error for text that is not a status such as `404`, `2XX` or `default`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownStatus;

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a status such as 404, 2XX or default")
    }
}

impl std::error::Error for UnknownStatus {}

impl PartialEq<str> for StatusDoc {
    fn eq(&self, text: &str) -> bool {
        text.parse() == Ok(*self)
    }
}

impl PartialEq<&str> for StatusDoc {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

impl PartialEq<u16> for StatusDoc {
    fn eq(&self, status: &u16) -> bool {
        *self == Self::Exact(*status)
    }
}

impl Ord for StatusDoc {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // 200 < 299 < 2XX < 300 < default.
        let key = |status: &Self| match status {
            Self::Exact(status) => (*status, false),
            Self::Class(class) => (u16::from(*class) * 100 + 99, true),
            Self::Default => (u16::MAX, true),
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for StatusDoc {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for StatusDoc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StatusDoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The body of a response.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BodyDoc<S = Value> {
    /// No body.
    None,
    /// The body of an error, in the format of the application.
    Error,
    /// The body of an error that lists the failing fields.
    ValidationError,
    /// A body in one of these representations.
    Content(Vec<ContentInfo<S>>),
    /// An unknown body, or none.
    Unknown,
}

/// A representation of a body: its media type, and the schema of its values.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContentInfo<S = Value> {
    /// The media type without parameters, such as `application/json`; `*/*` for any.
    pub media_type: Cow<'static, str>,
    /// The schema of its values. In a map, this is the JSON Schema, which is
    /// `true` for any value.
    pub schema: S,
}

impl<S> ContentInfo<S> {
    /// Creates a representation with this media type.
    #[must_use]
    pub fn new(media_type: impl Into<Cow<'static, str>>, schema: S) -> Self {
        Self { media_type: media_type.into(), schema }
    }
}

/// A header of a response.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeaderDoc {
    /// The name, as documents show it: `Retry-After`.
    pub name: Cow<'static, str>,
    /// The meaning, for readers.
    pub meaning: Cow<'static, str>,
    /// True if every such response has it. Default: true.
    pub always: bool,
}

impl HeaderDoc {
    /// Creates a header that every such response has.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, meaning: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), meaning: meaning.into(), always: true }
    }

    /// Marks the header as absent from some of the responses.
    #[must_use]
    pub fn sometimes(mut self) -> Self {
        self.always = false;
        self
    }
}

impl<S> BodyDoc<S> {
    /// Returns the representations of the body, if its content is described.
    #[must_use]
    pub fn contents(&self) -> &[ContentInfo<S>] {
        match self {
            Self::Content(contents) => contents,
            _ => &[],
        }
    }

    /// Converts the schemas of the body to another form.
    fn with_schemas<T>(self, form: &mut impl FnMut(S) -> T) -> BodyDoc<T> {
        match self {
            Self::None => BodyDoc::None,
            Self::Error => BodyDoc::Error,
            Self::ValidationError => BodyDoc::ValidationError,
            Self::Content(contents) => {
                let contents = contents.into_iter();
                let contents = contents.map(|it| ContentInfo::new(it.media_type, form(it.schema)));
                BodyDoc::Content(contents.collect())
            }
            Self::Unknown => BodyDoc::Unknown,
        }
    }
}

impl<S> ResponseInfo<S> {
    /// Converts the schemas of the response to another form.
    #[must_use]
    pub fn with_schemas<T>(self, mut form: impl FnMut(S) -> T) -> ResponseInfo<T> {
        let Self { status, body, headers, meaning, problem, by } = self;
        let problem = problem.map(|problem| Box::new(problem.with_schemas(&mut form)));
        ResponseInfo { status, body: body.with_schemas(&mut form), headers, meaning, problem, by }
    }

    /// Returns true for a response with the body of an error.
    #[must_use]
    pub fn has_error_body(&self) -> bool {
        matches!(self.body, BodyDoc::Error | BodyDoc::ValidationError)
    }

    /// Creates a response with this body, without headers or a meaning.
    #[must_use]
    pub fn with_body(status: impl Into<StatusDoc>, body: BodyDoc<S>) -> Self {
        let (headers, meaning, by) = (Vec::new(), Cow::Borrowed(""), Cow::Borrowed(""));
        Self { status: status.into(), body, headers, meaning, problem: None, by }
    }
}

impl ResponseDoc {
    /// Creates a response without a body.
    #[must_use]
    pub fn new(status: impl Into<StatusDoc>) -> Self {
        Self::with_body(status, BodyDoc::None)
    }

    /// Creates a response with the body of an error, in the format of the application.
    #[must_use]
    pub fn error(status: impl Into<StatusDoc>) -> Self {
        Self::with_body(status, BodyDoc::Error)
    }

    /// Creates a response with a value of type `T` as JSON.
    #[must_use]
    pub fn json<T: HasSchema>(status: impl Into<StatusDoc>) -> Self {
        Self::json_of(status.into(), SchemaOf::reply::<T>())
    }

    /// Creates a response with a value of a type as JSON. Not generic, so it is
    /// compiled only once.
    #[doc(hidden)]
    #[must_use]
    pub fn json_of(status: StatusDoc, schema: SchemaOf) -> Self {
        let content = Content::new("application/json", ContentSchema::Of(schema));
        Self::new(status).content(content)
    }

    /// Creates a response with an unknown body.
    #[must_use]
    pub fn unknown(status: impl Into<StatusDoc>) -> Self {
        Self::with_body(status, BodyDoc::Unknown)
    }

    /// Creates a response with text of a media type.
    #[must_use]
    pub fn text(status: impl Into<StatusDoc>, media_type: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status).content(Content::new(media_type, ContentSchema::Text))
    }

    /// Creates a response with bytes of a media type.
    #[must_use]
    pub fn bytes(status: impl Into<StatusDoc>, media_type: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status).content(Content::new(media_type, ContentSchema::Bytes))
    }

    /// Creates a response with any value as JSON.
    #[must_use]
    pub fn any_json(status: impl Into<StatusDoc>) -> Self {
        Self::new(status).content(Content::new("application/json", ContentSchema::Any))
    }

    /// Sets [`meaning`](Self#structfield.meaning).
    #[must_use]
    pub fn meaning(mut self, meaning: impl Into<Cow<'static, str>>) -> Self {
        self.meaning = meaning.into();
        self
    }

    /// Sets [`problem`](Self#structfield.problem).
    #[must_use]
    pub fn problem(mut self, problem: ProblemDoc) -> Self {
        self.problem = Some(Box::new(problem));
        self
    }

    /// Adds a representation of the body.
    #[must_use]
    pub fn content(mut self, content: Content) -> Self {
        match &mut self.body {
            BodyDoc::Content(contents) => contents.push(content),
            body => *body = BodyDoc::Content(vec![content]),
        }
        self
    }

    /// Sets [`status`](Self#structfield.status). Removes the body if the status
    /// is 204, 205 or 304.
    ///
    /// ```
    /// use stockade::description::{BodyDoc, ResponseDoc};
    ///
    /// let mut answer = ResponseDoc::text(200, "text/plain");
    /// answer.set_status(204);
    /// assert!(matches!(answer.body, BodyDoc::None));
    /// ```
    pub fn set_status(&mut self, status: impl Into<StatusDoc>) {
        self.status = status.into();
        if matches!(self.status, StatusDoc::Exact(204 | 205 | 304)) {
            self.body = BodyDoc::None;
        }
    }

    /// Returns true for a response with the body of an error, and for the
    /// response with the status `default`.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.has_error_body() || self.status == StatusDoc::Default
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, header: HeaderDoc) -> Self {
        self.headers.push(header);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_sort_and_print_as_text() {
        let texts = ["101", "200", "299", "2XX", "300", "404", "4XX", "default"];
        let statuses: Vec<StatusDoc> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert!(statuses.is_sorted());
        let back: Vec<String> = statuses.iter().map(StatusDoc::to_string).collect();
        assert_eq!(back, texts);
        for text in ["", "x", "XX", "2xx", "-1", "Default"] {
            assert_eq!(text.parse::<StatusDoc>(), Err(UnknownStatus), "{text}");
        }
    }
}
