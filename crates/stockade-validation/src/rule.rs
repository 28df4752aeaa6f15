//! [`Rule`]: the builder of a schema.
//!
//! Spec: Validation schemas › Field-rule keywords.

use std::panic::Location;
use std::sync::Arc;

use serde_json::{Map, Value};
use stockade_errors::ConfigError;

use crate::Schema;
use crate::build;
use crate::canonical::CanonicalText;
use crate::direction::{Direction, FieldPresence};
use crate::format::Format;
use crate::function::{Custom, CustomOutcome, Default, Transform, TransformOutcome};
use crate::inner::InnerRule;
use crate::text_form::TextForm;

/// A rule in the making; [`build`](Self::build) makes a
/// [`Schema`](struct@Schema) of it.
///
/// The methods are the keywords of the specification in snake case, by plain
/// names where Rust has a keyword of that name: `kind` for `type`, `one_of` for
/// `enum`, `constant` for `const`. A mistake is reported by `build`, with the
/// file and line where the rule was begun.
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{Rule, ValidationOptions};
///
/// let schema = Rule::object([
///     ("name", Rule::string().trim().min_length(2).required()),
///     ("tags", Rule::array(Rule::string()).max_items(3)),
///     ("even", Rule::integer().custom(|value, _, _| value.as_i64().is_some_and(|n| n % 2 == 0))),
/// ])
/// .build()?;
///
/// let errors = schema.check(&json!({ "name": "A", "even": 3 }), &ValidationOptions::new())?;
/// let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
/// assert_eq!(messages, ["String must be at least 2 characters", "even is invalid"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: Validation schemas.
#[derive(Clone, Debug)]
#[must_use = "a rule does nothing until it is built"]
pub struct Rule {
    /// The keywords with plain values, unchecked.
    pub(crate) keywords: Map<String, Value>,
    /// `true` or `false` as a schema.
    pub(crate) boolean: Option<bool>,
    pub(crate) properties: Option<Vec<(String, Self)>>,
    pub(crate) required_fields: Vec<String>,
    pub(crate) additional: Option<Additional>,
    pub(crate) items: Option<Box<Self>>,
    pub(crate) inner: Option<InnerRule>,
    /// The rules whose properties are added to those of this one.
    pub(crate) flattened: Vec<Self>,
    pub(crate) form: Option<TextForm>,
    pub(crate) canonical: Option<CanonicalText>,
    pub(crate) custom: Option<Custom>,
    pub(crate) transform: Option<Transform>,
    pub(crate) default: Option<Default>,
    /// Keywords for documents alone, of what the type itself judges.
    pub(crate) documented: Map<String, Value>,
    /// The rule of what is written, where that is another one.
    pub(crate) written: Option<Box<Self>>,
    /// The presence of the property that the rule is of.
    pub(crate) presence: FieldPresence,
    /// Null stays a value when a property is left out instead of being null.
    pub(crate) keeps_null: bool,
    /// The direction in which `build` compiles it.
    pub(crate) direction: Direction,
    /// The mistakes that were found when the rule was read.
    pub(crate) mistakes: Vec<String>,
    pub(crate) location: &'static Location<'static>,
}

/// The keyword `additionalProperties`: yes, no, or a rule for each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Additional {
    /// Unknown keys are allowed, or refused.
    Allowed(bool),
    /// The values of unknown keys follow this rule.
    Rule(Box<Rule>),
}

impl From<bool> for Additional {
    fn from(allowed: bool) -> Self {
        Self::Allowed(allowed)
    }
}

impl From<Rule> for Additional {
    fn from(rule: Rule) -> Self {
        Self::Rule(Box::new(rule))
    }
}

impl Rule {
    /// Returns the rule that `value` describes, in either notation: see
    /// [`Schema::from_value`].
    #[track_caller]
    pub fn from_value(value: &Value) -> Self {
        build::read(value, Location::caller())
    }

    pub(crate) fn at(location: &'static Location<'static>) -> Self {
        Self {
            keywords: Map::new(),
            boolean: None,
            properties: None,
            required_fields: Vec::new(),
            additional: None,
            items: None,
            inner: None,
            flattened: Vec::new(),
            form: None,
            canonical: None,
            custom: None,
            transform: None,
            default: None,
            documented: Map::new(),
            written: None,
            presence: FieldPresence::AsRead,
            keeps_null: false,
            direction: Direction::Read,
            mistakes: Vec::new(),
            location,
        }
    }

    /// Adds keywords of JSON Schema to documents. They say what the type judges
    /// where it is read, so that no keyword of the rule judges it again.
    pub(crate) fn documented(mut self, keywords: Value) -> Self {
        if let Value::Object(keywords) = keywords {
            self.documented.extend(keywords);
        }
        self
    }

    pub(crate) fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if let Some(written) = self.written.take() {
            self.written = Some(Box::new(written.with(keyword, value.clone())));
        }
        self.keywords.insert(keyword.to_owned(), value);
        self
    }
}

/// Keywords for every value.
impl Rule {
    /// Requires the property: it must be there, and be neither null nor empty
    /// text.
    pub fn required(self) -> Self {
        self.with("required", true)
    }

    /// Allows null, for which nothing else is checked.
    pub fn nullable(self) -> Self {
        self.with("nullable", true)
    }

    /// Requires one of these values. It is `enum` in the specification.
    #[doc(alias = "enum")]
    pub fn one_of<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.with("enum", values.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// Requires this value. It is `const` in the specification.
    #[doc(alias = "const")]
    pub fn constant(self, value: impl Into<Value>) -> Self {
        self.with("const", value)
    }

    /// Replaces the default messages of this rule.
    pub fn message(self, message: impl Into<String>) -> Self {
        self.with("message", message.into())
    }

    /// Changes the value before it is checked; called with null too, not for
    /// an absent property. Its failure or panic is a 500.
    pub fn transform<R: TransformOutcome>(
        mut self,
        transform: impl Fn(Value) -> R + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(Transform::new(transform));
        self
    }

    /// Sets the function that returns the canonical form of a text, such as a UUID in lower
    /// case; `None` for a text that has no canonical form. Default: the form that serde
    /// writes for the types of other crates, and the form of `format` otherwise.
    ///
    /// Validation does not change a text. Stores keep and compare the canonical form, so two
    /// spellings of a value are equal there. The type must read its canonical form.
    ///
    /// ```
    /// use stockade_validation::{HasSchema, Rule};
    ///
    /// /// A product number, which clients write in upper or lower case.
    /// struct Sku(String);
    ///
    /// impl HasSchema for Sku {
    ///     fn rule() -> Rule {
    ///         let rule = Rule::string().pattern("^[A-Za-z]{2}-[0-9]{4}$");
    ///         rule.canonical(|text| Some(text.to_ascii_uppercase()))
    ///     }
    /// }
    /// # assert!(Sku::schema().is_ok());
    /// ```
    pub fn canonical(self, canonical: fn(&str) -> Option<String>) -> Self {
        Self { canonical: Some(canonical), ..self }
    }

    /// Checks the value last: not null, and not after a type failure.
    ///
    /// The function gets the value, its path, and the whole input as it came.
    /// Its failure or panic is a 500.
    pub fn custom<R: CustomOutcome>(
        mut self,
        check: impl Fn(&Value, &str, &Value) -> R + Send + Sync + 'static,
    ) -> Self {
        self.custom = Some(Custom::new(check));
        self
    }

    /// Sets the default, which is put in for an absent property after
    /// validation, unchecked.
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(Default::Value(value.into()));
        self
    }

    /// Sets a default as [`default`](Self::default) does, which is made anew
    /// each time.
    pub fn default_with(mut self, make: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.default = Some(Default::Function(Arc::new(make)));
        self
    }
}

/// Keywords for strings, numbers and counts.
impl Rule {
    /// Requires at least this many Unicode code points.
    pub fn min_length(self, length: usize) -> Self {
        self.with("minLength", length)
    }

    /// Allows at most this many Unicode code points.
    pub fn max_length(self, length: usize) -> Self {
        self.with("maxLength", length)
    }

    /// Requires that the text contains a match of this regular expression.
    ///
    /// Patterns have the syntax and meaning of JavaScript (ECMA-262) with the flag
    /// `u`, as JSON Schema requires: `\d`, `\w` and `\b` know only ASCII, and
    /// `\p{L}` is any letter. Some spellings of Rust are translated for documents:
    /// `\A`, `\z`, `(?P<name>…)`, `(?i)` and `(?s)`, `\x{…}`, `\pL`. Other syntax,
    /// such as `a++`, `(?x)` and `[[:alpha:]]`, is a configuration error.
    ///
    /// Most patterns take linear time. Back references, and look-around with
    /// hundreds of alternatives, have a limit of steps that grows with the length of
    /// the text. A text that reaches the limit fails with the rule `patternLimit`
    /// instead of `pattern`.
    pub fn pattern(self, pattern: &str) -> Self {
        self.with("pattern", pattern)
    }

    /// Requires this format of the text.
    pub fn format(self, format: Format) -> Self {
        self.with("format", format.name())
    }

    /// Removes white space at both ends of a string before it is checked.
    pub fn trim(self) -> Self {
        self.with("trim", true)
    }

    /// Requires a number of at least `bound`.
    pub fn minimum(self, bound: impl Into<Value>) -> Self {
        self.with("minimum", bound)
    }

    /// Requires a number of at most `bound`.
    pub fn maximum(self, bound: impl Into<Value>) -> Self {
        self.with("maximum", bound)
    }

    /// Requires a number greater than `bound`.
    pub fn exclusive_minimum(self, bound: impl Into<Value>) -> Self {
        self.with("exclusiveMinimum", bound)
    }

    /// Requires a number less than `bound`.
    pub fn exclusive_maximum(self, bound: impl Into<Value>) -> Self {
        self.with("exclusiveMaximum", bound)
    }

    /// Requires at least `bound` for the number, the length of the string, or
    /// the count of the array.
    pub fn min(self, bound: impl Into<Value>) -> Self {
        self.with("min", bound)
    }

    /// Allows at most `bound` for the number, the length of the string, or the
    /// count of the array.
    pub fn max(self, bound: impl Into<Value>) -> Self {
        self.with("max", bound)
    }
}

/// Keywords for arrays and objects.
impl Rule {
    /// Requires that every element follows this rule.
    pub fn items(mut self, items: Self) -> Self {
        self.items = Some(Box::new(items));
        self
    }

    /// Requires at least this many elements.
    pub fn min_items(self, count: usize) -> Self {
        self.with("minItems", count)
    }

    /// Allows at most this many elements.
    pub fn max_items(self, count: usize) -> Self {
        self.with("maxItems", count)
    }

    /// Requires that no two elements are equal.
    pub fn unique_items(self) -> Self {
        self.with("uniqueItems", true)
    }

    /// Adds properties.
    pub fn properties<N: Into<String>>(
        mut self,
        properties: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let properties = properties.into_iter().map(|(name, rule)| (name.into(), rule));
        self.properties.get_or_insert_default().extend(properties);
        self
    }

    /// Adds a property.
    pub fn property(self, name: impl Into<String>, rule: Self) -> Self {
        self.properties([(name, rule)])
    }

    /// Requires that these properties are there; null and empty text pass.
    pub fn required_fields<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.required_fields.extend(names.into_iter().map(Into::into));
        self
    }

    /// Allows or refuses keys that are not listed, or gives their values a rule.
    pub fn additional_properties(mut self, additional: impl Into<Additional>) -> Self {
        self.additional = Some(additional.into());
        self
    }

    /// Requires at least this many keys.
    pub fn min_properties(self, count: usize) -> Self {
        self.with("minProperties", count)
    }

    /// Allows at most this many keys.
    pub fn max_properties(self, count: usize) -> Self {
        self.with("maxProperties", count)
    }
}

/// Words for documents; they check nothing.
impl Rule {
    /// Sets a name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into())
    }

    /// Sets a description for people.
    pub fn description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into())
    }

    /// Sets a name for `$ref` in documents.
    pub fn id(self, id: impl Into<String>) -> Self {
        self.with("$id", id.into())
    }

    /// Sets a remark for those who maintain the schema.
    pub fn comment(self, comment: impl Into<String>) -> Self {
        self.with("$comment", comment.into())
    }

    /// Values that fit.
    pub fn examples<V: Into<Value>>(self, examples: impl IntoIterator<Item = V>) -> Self {
        self.with("examples", examples.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// Marks the value as one that should not be used any more.
    pub fn deprecated(self) -> Self {
        self.with("deprecated", true)
    }

    /// Marks the value as one that clients read and do not send: `readOnly`.
    ///
    /// Validation accepts such a value as any other and does not remove it, so a route with
    /// `Body<T>` receives the value if a client sends it: the mark is only for documents
    /// there. Resources of `stockade-rest` and methods of `stockade-rpc` ignore such values
    /// in their inputs, at every depth. `stockade-graphql` reports an input that accepts
    /// one.
    pub fn read_only(self) -> Self {
        self.with("readOnly", true)
    }

    /// Marks the value as one that clients send and do not get: `writeOnly`.
    ///
    /// A route that returns `Json<T>` sends such a value as any other: the mark is only for
    /// documents there, as [`read_only`](Self::read_only) is. Resources of `stockade-rest`
    /// and methods of `stockade-rpc` remove such values from their responses, at every
    /// depth. `stockade-graphql` reports an object that shows one. A field that serde never
    /// writes is not in the schemas of responses.
    pub fn write_only(self) -> Self {
        self.with("writeOnly", true)
    }
}

impl Rule {
    /// Compiles the rule.
    ///
    /// # Errors
    /// When the schema cannot work: every mistake, with the path of its field
    /// and the file and line where its rule was begun.
    pub fn build(self) -> Result<Schema, ConfigError> {
        build::compile(self).map(Schema::of)
    }
}
