//! Rules composed of other rules: type references, unions, tuples and
//! flattening.
// Spec: Validation schemas.

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use serde_json::Value;

use crate::direction::FieldPresence;
use crate::has_schema::HasSchema;
use crate::marks::View;
use crate::rule::Rule;

/// The part of a rule in addition to its keywords.
#[derive(Clone, Debug)]
pub(crate) enum InnerRule {
    Reference(Reference),
    Tagged(TaggedRule),
    Variants(VariantsRule),
    Tuple(Vec<Rule>),
    FirstOf(FirstOfRule),
}

/// An object with a tag that names its variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaggedRule {
    pub(crate) tag: String,
    pub(crate) variants: Vec<(String, Rule)>,
    /// The rule of an object with any other tag, if other tags are allowed.
    pub(crate) other: Option<Box<Rule>>,
    /// The rule of an object without the tag, if the tag may be absent.
    pub(crate) absent: Option<Box<Rule>>,
}

/// The name of a variant, or an object with this name as its only key.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariantsRule {
    pub(crate) variants: Vec<(String, Option<Rule>)>,
    /// True if any other name is a variant without content.
    pub(crate) has_other: bool,
}

/// A list of rules. The first rule with matching types and required properties applies.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstOfRule {
    pub(crate) variants: Vec<Rule>,
    pub(crate) choice: Option<Choice>,
    /// Names of properties. An object has at most one of them.
    pub(crate) keys: Vec<String>,
}

/// A function that returns the index of the variant that serde builds from a
/// value, or `None` if serde does not read the value.
#[derive(Clone)]
pub(crate) struct Choice(Arc<Choose>);

type Choose = dyn Fn(&Value) -> Option<usize> + Send + Sync;

impl Choice {
    pub(crate) fn new(choose: impl Fn(&Value) -> Option<usize> + Send + Sync + 'static) -> Self {
        Self(Arc::new(choose))
    }

    pub(crate) fn of(&self, value: &Value) -> Option<usize> {
        (self.0)(value)
    }

    /// Hides these members of an object from serde. If no variant matches, the choice is
    /// `otherwise`.
    pub(crate) fn without(self, names: Vec<String>, otherwise: Option<usize>) -> Self {
        Self::new(move |value| {
            let Value::Object(members) = value else { return self.of(value) };
            let mut members = members.clone();
            members.retain(|name, _| !names.contains(name));
            self.of(&Value::Object(members)).or(otherwise)
        })
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choice")
    }
}

/// A lazily created rule, created once per schema.
#[derive(Clone)]
pub(crate) struct Reference {
    pub(crate) key: Key,
    /// The preferred name of the definition, used if it is free.
    pub(crate) name: String,
    /// The type name as the compiler spells it, with modules. Empty for a
    /// definition of a document.
    pub(crate) type_name: &'static str,
    /// True if the author of the type set the name.
    pub(crate) is_pinned: bool,
    make: Arc<dyn Fn() -> Rule + Send + Sync>,
}

/// The functions of a type that a reference calls.
#[derive(Clone, Copy)]
struct TypeFunctions {
    name: fn() -> Cow<'static, str>,
    is_pinned: fn() -> bool,
    rule: fn() -> Rule,
}

/// The identity of a reference.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Key {
    Type(TypeId),
    /// A view of another rule by its marks.
    View(Box<Self>, View),
    /// A definition of a document, identified by its address. The reference
    /// keeps the document alive.
    Document(usize, String),
}

impl Reference {
    pub(crate) fn new(
        key: Key,
        name: String,
        make: impl Fn() -> Rule + Send + Sync + 'static,
    ) -> Self {
        Self { key, name, type_name: "", is_pinned: false, make: Arc::new(make) }
    }

    /// Creates the reference to a type. This function is compiled only once,
    /// rather than for each type.
    fn to_type(id: TypeId, type_name: &'static str, functions: TypeFunctions) -> Self {
        let TypeFunctions { name, is_pinned, rule } = functions;
        let reference = Self::new(Key::Type(id), name().into_owned(), rule);
        Self { type_name, is_pinned: is_pinned(), ..reference }
    }

    pub(crate) fn rule(&self) -> Rule {
        (self.make)()
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reference({})", self.name)
    }
}

/// Rules composed of other rules.
impl Rule {
    /// Returns a reference to the rule of a type. The rule is created once per
    /// schema, regardless of the number of references, and may refer to itself.
    ///
    /// Documents contain the rule as an entry of `$defs`.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{HasSchema, Rule, ValidationOptions};
    ///
    /// struct Comment;
    ///
    /// impl HasSchema for Comment {
    ///     fn rule() -> Rule {
    ///         Rule::object([
    ///             ("text", Rule::string().required()),
    ///             ("replies", Rule::array(Rule::of::<Comment>())),
    ///         ])
    ///     }
    /// }
    ///
    /// let schema = Comment::schema()?;
    /// let data = json!({ "text": "a", "replies": [{ "text": "b", "replies": [{}] }] });
    /// let errors = schema.check(&data, &ValidationOptions::new())?;
    /// assert_eq!(errors[0].field, "replies[0].replies[0].text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn of<T: HasSchema>() -> Self {
        let functions =
            TypeFunctions { name: T::schema_name, is_pinned: T::is_name_pinned, rule: T::rule };
        Self::of_type(TypeId::of::<T>(), std::any::type_name::<T>(), functions)
    }

    #[track_caller]
    fn of_type(id: TypeId, type_name: &'static str, functions: TypeFunctions) -> Self {
        let reference = Reference::to_type(id, type_name, functions);
        Self::any().with_inner(InnerRule::Reference(reference))
    }

    /// Creates a rule for an object with a `tag` property that names its
    /// variant. Each variant has a rule for the whole object.
    ///
    /// The rules of the variants need not list the tag. If the tag is missing
    /// or unknown, that is the only error.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::tagged("kind", [
    ///     ("circle", Rule::object([("radius", Rule::number().required())])),
    ///     ("square", Rule::object([("side", Rule::number().required())])),
    /// ])
    /// .build()?;
    ///
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!({ "kind": "circle", "radius": 2 }))?.is_empty());
    /// assert_eq!(check(json!({ "kind": "square" }))?[0].field, "side");
    /// let errors = check(json!({ "kind": "star" }))?;
    /// assert_eq!(errors[0].message, r#"Must be one of: "circle", "square""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Beyond the spec
    ///
    /// Errors of the tag have the rule `required` or `enum`.
    #[track_caller]
    pub fn tagged<N: Into<String>>(
        tag: impl Into<String>,
        variants: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let variants = variants.into_iter().map(|(name, rule)| (name.into(), rule)).collect();
        let tagged = TaggedRule { tag: tag.into(), variants, ..TaggedRule::default() };
        Self::kind("object").with_inner(InnerRule::Tagged(tagged))
    }

    /// Creates a rule for an object with two properties: `tag` names the
    /// variant, and `content` holds its value. `None` is a variant without
    /// content.
    ///
    /// The content is required unless its rule is nullable.
    #[track_caller]
    pub fn tagged_content<N: Into<String>>(
        tag: impl Into<String>,
        content: impl Into<String>,
        variants: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Self {
        let content = content.into();
        let location = Location::caller();
        let holder = |rule: Option<Self>| {
            let is_nullable = |rule: &Self| rule.keywords.get("nullable") == Some(&true.into());
            let required = rule.as_ref().is_some_and(|rule| !is_nullable(rule));
            let rule = rule.unwrap_or_else(|| Self {
                presence: FieldPresence::ReadOnly,
                ..Self::at(location).with("type", "null")
            });
            let holder = Self::at(location).with("type", "object");
            holder
                .property(content.clone(), rule)
                .required_fields(required.then(|| content.clone()))
        };
        Self::tagged(tag, variants.into_iter().map(|(name, rule)| (name, holder(rule))))
    }

    /// Creates a rule for one of several named variants. A variant with a rule
    /// is an object with the name as its only key and a value that follows the
    /// rule. A variant without a rule is only the name.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::variants([("anyone", None), ("user", Some(Rule::integer()))]).build()?;
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!("anyone"))?.is_empty());
    /// assert!(check(json!({ "user": 7 }))?.is_empty());
    /// assert_eq!(check(json!({ "user": "Ada" }))?[0].field, "user");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Beyond the spec
    ///
    /// The error of an unknown name has the rule `enum`. More or fewer than one
    /// key is an error of `maxProperties` or `minProperties`.
    #[track_caller]
    pub fn variants<N: Into<String>>(
        variants: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Self {
        let variants: Vec<(String, Option<Self>)> =
            variants.into_iter().map(|(name, rule)| (name.into(), rule)).collect();
        let has_names = variants.iter().any(|(_, rule)| rule.is_none());
        let has_objects = variants.iter().any(|(_, rule)| rule.is_some());
        let rule = match (has_names, has_objects) {
            (true, true) => Self::kinds(["string", "object"]),
            (false, true) => Self::kind("object"),
            (_, false) => {
                return Self::string().values(variants.into_iter().map(|(name, _)| name));
            }
        };
        rule.with_inner(InnerRule::Variants(VariantsRule { variants, has_other: false }))
    }

    /// Creates a rule for a union without a tag. The first variant with matching types and required
    /// fields applies, as in an untagged enum of serde. Its other keywords are checked afterwards.
    ///
    /// If no variant matches, the errors are the errors of the closest variant.
    /// The closest variant is chosen by these criteria, in order: it has the
    /// JSON type of the value, it has a constant that is equal, it has the
    /// fewest wrong types, missing fields and unlisted fields, it comes first.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let card = Rule::object([("token", Rule::string().required())]);
    /// let invoice = Rule::object([("vat_id", Rule::string().max_length(20).required())]);
    /// let schema = Rule::first_of([card, invoice]).build()?;
    /// let errors = schema.check(&json!({ "vat_id": 7 }), &ValidationOptions::new())?;
    /// assert_eq!(errors[0].field, "vat_id");
    /// assert_eq!(errors[0].message, "Expected string, got number");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Documents have `oneOf` if no value can match two variants, and `anyOf` otherwise.
    #[track_caller]
    pub fn first_of(variants: impl IntoIterator<Item = Self>) -> Self {
        let variants = variants.into_iter().collect();
        let union = FirstOfRule { variants, ..FirstOfRule::default() };
        Self::any().with_inner(InnerRule::FirstOf(union))
    }

    /// Creates a rule for an array with exactly these elements.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::tuple([Rule::string(), Rule::integer()]).build()?;
    /// let errors = schema.check(&json!(["a", "b"]), &ValidationOptions::new())?;
    /// assert_eq!(errors[0].field, "[1]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn tuple(elements: impl IntoIterator<Item = Self>) -> Self {
        let elements: Vec<Self> = elements.into_iter().collect();
        let count = elements.len();
        let rule = Self::kind("array").min_items(count).max_items(count);
        rule.with_inner(InnerRule::Tuple(elements))
    }

    /// Adds the properties of another object rule to this rule.
    ///
    /// The other rule may be a map rule; it then applies to the unlisted keys.
    /// It may also be a [`tagged`](Self::tagged) rule. Its setting to reject
    /// unknown keys has no effect here.
    pub fn flatten(mut self, other: Self) -> Self {
        self.flattened.push(other);
        self
    }

    pub(crate) fn with_inner(self, inner: InnerRule) -> Self {
        Self { inner: Some(inner), ..self }
    }

    /// Returns the type that the rule names, if any.
    pub(crate) fn type_name(&self) -> Option<&Value> {
        self.keywords.get("type")
    }
}
