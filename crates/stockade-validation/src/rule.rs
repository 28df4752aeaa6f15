//! [`Rule`]: the builder for schemas.
// Spec: Validation schemas › Field-rule keywords.

use std::panic::Location;
use std::sync::Arc;

use serde_json::{Map, Value};
use stockade_errors::ConfigError;
use stockade_path::__internal::keywords;

use crate::Schema;
use crate::build;
use crate::canonical::CanonicalText;
use crate::direction::{Direction, FieldPresence};
use crate::format::Format;
use crate::function::{Custom, CustomOutcome, Default, Transform, TransformOutcome};
use crate::inner::InnerRule;
use crate::parts::Parts;
use crate::text_form::TextForm;

/// A builder for rules. [`build`](Self::build) compiles it to a
/// [`Schema`](struct@Schema).
///
/// The methods are the keywords of the specification in snake case. Keywords of
/// Rust have other names: `kind` for `type`, `values` for `enum`, `constant`
/// for `const`, `if_then` for `if`. `keys` is `propertyNames`. `build` reports
/// configuration errors with the file and line of the rule.
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
// Spec: Validation schemas.
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
    /// Alternatives, conditions and rules for some parts of the value.
    pub(crate) parts: Option<Box<Parts>>,
    /// The rules of `$defs`, to report their configuration errors. References
    /// resolve through the document.
    pub(crate) definitions: Vec<(String, Self)>,
    /// The rules that add their properties to this rule.
    pub(crate) flattened: Vec<Self>,
    /// The rule of the type, if the program added keywords to it.
    pub(crate) typed: Option<Box<Self>>,
    /// Aliases of the property.
    pub(crate) aliases: Vec<String>,
    pub(crate) form: Option<TextForm>,
    pub(crate) canonical: Option<CanonicalText>,
    pub(crate) custom: Option<Custom>,
    pub(crate) transform: Option<Transform>,
    pub(crate) default: Option<Default>,
    /// Document-only keywords for the constraints of the type itself.
    pub(crate) documented: Map<String, Value>,
    /// The rule for output, if it differs.
    pub(crate) written: Option<Box<Self>>,
    /// The presence of the property with this rule.
    pub(crate) presence: FieldPresence,
    /// True if null remains a value when a property is omitted instead of null.
    pub(crate) keeps_null: bool,
    /// The direction that `build` compiles.
    pub(crate) direction: Direction,
    /// The configuration errors found while reading the rule.
    pub(crate) mistakes: Vec<String>,
    /// The location of the rule in its document, as a JSON pointer.
    pub(crate) pointer: Option<Box<str>>,
    pub(crate) location: &'static Location<'static>,
}

/// The keyword `additionalProperties`: a boolean, or a rule for the values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Additional {
    /// Unknown keys are allowed (true) or rejected (false).
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
    /// Returns the rule that `value` describes in either notation; see
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
            parts: None,
            definitions: Vec::new(),
            flattened: Vec::new(),
            typed: None,
            aliases: Vec::new(),
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
            pointer: None,
            location,
        }
    }

    /// Adds JSON Schema keywords to documents. They describe constraints that
    /// the type checks when it is read, so the rule does not check them again.
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

/// Defines the method for a keyword with one value.
macro_rules! method {
    ($(#[$doc:meta])* $keyword:literal $name:ident) => {};
    (
        $(#[$doc:meta])*
        $keyword:literal $name:ident($($argument:ident: $type:ty)?) = $value:expr
    ) => {
        $(#[$doc])*
        pub fn $name(self $(, $argument: $type)?) -> Self {
            self.with($keyword, $value)
        }
    };
}

macro_rules! methods {
    (
        ()
        keywords { $(
            $(#[$doc:meta])*
            $keyword:literal: $kind:ident $([$($derive:ident)*])? $($flag:ident)*
                => $name:ident $(($($method:tt)*) = $value:expr)?;
        )* }
        pairs { $($pairs:tt)* }
    ) => {
        /// Keywords with one value, in the order of the specification.
        impl Rule { $(
            method! { $(#[$doc])* $keyword $name $(($($method)*) = $value)? }
        )* }
    };
}

keywords!(methods!);

/// Functions and defaults.
impl Rule {
    /// Changes the value before it is checked. It is called for null, but not
    /// for an absent property. An error or panic becomes a 500.
    pub fn transform<R: TransformOutcome>(
        mut self,
        transform: impl Fn(Value) -> R + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(Transform::new(transform));
        self
    }

    /// Sets the function that returns the canonical form of a text, such as a
    /// UUID in lower case, or `None` for a text without a canonical form.
    /// Default: the form that serde writes for types of other crates, and the
    /// form of `format` otherwise.
    ///
    /// Validation does not change a text. Stores save and compare the canonical
    /// form, so two spellings of a value are equal there. The type must be able
    /// to read its canonical form.
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

    /// Checks the value after all other checks. It is not called for null or
    /// after a type error.
    ///
    /// The function receives the value, its path, and the whole original input.
    /// An error or panic becomes a 500.
    pub fn custom<R: CustomOutcome>(
        mut self,
        check: impl Fn(&Value, &str, &Value) -> R + Send + Sync + 'static,
    ) -> Self {
        self.custom = Some(Custom::new(check));
        self
    }

    /// Sets the default for an absent property. It is inserted after
    /// validation, unchecked.
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(Default::Value(value.into()));
        self
    }

    /// Sets a default like [`default`](Self::default), but creates the value
    /// with a function for each use.
    pub fn default_with(mut self, make: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.default = Some(Default::Function(Arc::new(make)));
        self
    }
}

/// Keywords with several values or with rules for parts of the value.
impl Rule {
    /// Requires one of these values. The specification calls this keyword
    /// `enum`.
    #[doc(alias = "enum")]
    pub fn values<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.with("enum", values.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// Requires that every element matches this rule.
    pub fn items(mut self, items: Self) -> Self {
        self.items = Some(Box::new(items));
        self
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

    /// Requires the presence of these properties; null and empty text pass.
    pub fn required_fields<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.required_fields.extend(names.into_iter().map(Into::into));
        self
    }

    /// Allows or rejects unlisted keys, or sets a rule for their values.
    pub fn additional_properties(mut self, additional: impl Into<Additional>) -> Self {
        self.additional = Some(additional.into());
        self
    }

    /// Limits the media types of a file in `multipart/form-data`: `image/png`,
    /// or `image/*` for all images. The client states the media type, so the
    /// actual content may differ.
    pub fn media_types<V: Into<Value>>(self, types: impl IntoIterator<Item = V>) -> Self {
        self.with("mediaTypes", types.into_iter().map(Into::into).collect::<Vec<Value>>())
    }

    /// Sets examples of valid values, for documents.
    pub fn examples<V: Into<Value>>(self, examples: impl IntoIterator<Item = V>) -> Self {
        self.with("examples", examples.into_iter().map(Into::into).collect::<Vec<Value>>())
    }
}

impl Rule {
    /// Compiles the rule.
    ///
    /// # Errors
    /// Fails if the schema is invalid. The error lists every configuration
    /// error with the path of its field, and the file and line of its rule.
    pub fn build(self) -> Result<Schema, ConfigError> {
        build::compile(self).map(Schema::of)
    }
}
