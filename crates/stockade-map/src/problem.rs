//! [`ProblemInfo`]: the problem type of an error (RFC 9457), with its members.

use std::borrow::Cow;
use std::panic::Location;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stockade_errors::problem_internals::type_of_status;
use stockade_validation::HasSchema;

use crate::description::{ContentSchema, ProblemDoc, SchemaOf};

/// The problem type of an error, with its extension members.
///
/// `#[derive(ApiError)]` describes the types of its variants. A hand-written
/// `IntoError` or middleware uses
/// [`ResponseInfo::problem`](crate::ResponseInfo::problem):
///
/// ```
/// use stockade::description::{ProblemDoc, ResponseDoc};
///
/// let problem = ProblemDoc::new("sold-out").member::<String>("sku");
/// let answer = ResponseDoc::error(409).meaning("The product is sold out").problem(problem);
/// assert_eq!(answer.problem.unwrap().type_uri, "sold-out");
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProblemInfo<S = Value> {
    /// The problem type. In the map of a router with problem details, this is
    /// the URI that responses contain. Otherwise, it is the text that the
    /// program sets.
    #[serde(rename = "type")]
    pub type_uri: Cow<'static, str>,
    /// The extension members. Empty for a 5xx, because they are withheld.
    #[serde(default = "Vec::new")]
    pub members: Vec<MemberInfo<S>>,
    /// The source location of the declaration. `None` in a map, and for types
    /// of the framework.
    #[serde(skip)]
    place: Option<&'static Location<'static>>,
    #[serde(skip)]
    is_of_framework: bool,
}

/// An extension member of a problem type.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemberInfo<S = Value> {
    /// The name.
    pub name: Cow<'static, str>,
    /// True if every such error has it.
    pub required: bool,
    /// The schema of its value. In a map, this is the JSON Schema.
    pub schema: S,
}

impl<S> ProblemInfo<S> {
    fn of(type_uri: Cow<'static, str>, is_of_framework: bool) -> Self {
        Self { type_uri, members: Vec::new(), place: None, is_of_framework }
    }

    /// Converts the schemas to another form.
    pub(crate) fn with_schemas<T>(self, form: &mut impl FnMut(S) -> T) -> ProblemInfo<T> {
        let members = self.members.into_iter().map(|member| MemberInfo {
            name: member.name,
            required: member.required,
            schema: form(member.schema),
        });
        ProblemInfo { members: members.collect(), ..ProblemInfo::of(self.type_uri, false) }
    }

    /// Returns the source location of the declaration. Returns `None` in a map,
    /// and for types of the framework.
    #[doc(hidden)]
    #[must_use]
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.place
    }

    /// Returns true for a problem type of the framework. It applies only if the
    /// router has a base URI.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_framework(&self) -> bool {
        self.is_of_framework
    }
}

impl ProblemDoc {
    /// Creates the description of a problem type: an absolute URI, or a
    /// relative path such as `sold-out`. A relative path is a configuration
    /// error if the router sends problem details without a base; the error
    /// names the caller of this function.
    #[must_use]
    #[track_caller]
    pub fn new(type_uri: impl Into<Cow<'static, str>>) -> Self {
        Self { place: Some(Location::caller()), ..Self::of(type_uri.into(), false) }
    }

    /// Adds an extension member that every such error has.
    #[must_use]
    pub fn member<T: HasSchema>(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(name.into(), true, SchemaOf::reply::<T>())
    }

    /// Adds an extension member that some such errors have.
    #[must_use]
    pub fn optional_member<T: HasSchema>(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(name.into(), false, SchemaOf::reply::<T>())
    }

    fn with(mut self, name: Cow<'static, str>, required: bool, schema: SchemaOf) -> Self {
        self.members.push(MemberInfo { name, required, schema: ContentSchema::Of(schema) });
        self
    }

    /// Creates the description of a problem type of the framework, such as
    /// `validation-failed`.
    #[doc(hidden)]
    #[must_use]
    pub fn of_framework(type_uri: &'static str) -> Self {
        Self::of(type_uri.into(), true)
    }

    /// Creates the description of the framework's type for errors with a
    /// status.
    #[doc(hidden)]
    #[must_use]
    pub fn of_status(status: u16) -> Option<Self> {
        type_of_status(status).map(Self::of_framework)
    }
}
