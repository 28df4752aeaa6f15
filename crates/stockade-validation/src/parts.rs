//! [`Parts`]: the rules inside a rule that apply under a condition, and their methods.
//!
//! Source: JSON Schema 2020-12, core, sections 10 and 11.

use serde_json::{Map, Value};

use crate::build::Kind;
use crate::inner::InnerRule;
use crate::rule::Rule;

/// The rules inside a rule that apply under a condition or to some parts of a
/// value. Most rules do not have such parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) all_of: Vec<Rule>,
    pub(crate) any_of: Vec<Rule>,
    pub(crate) one_of: Vec<Rule>,
    pub(crate) not: Option<Box<Rule>>,
    /// The keyword `if`.
    pub(crate) condition: Option<Box<Rule>>,
    pub(crate) then: Option<Box<Rule>>,
    /// The keyword `else`.
    pub(crate) otherwise: Option<Box<Rule>>,
    pub(crate) dependent_schemas: Vec<(String, Rule)>,
    /// The keyword `patternProperties`.
    pub(crate) patterns: Vec<(String, Rule)>,
    /// The keyword `propertyNames`.
    pub(crate) keys: Option<Box<Rule>>,
    pub(crate) contains: Option<Box<Rule>>,
    pub(crate) unevaluated_items: Option<Box<Rule>>,
    pub(crate) unevaluated_properties: Option<Box<Rule>>,
}

impl Parts {
    /// Returns all rules.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        let lists = self.all_of.iter().chain(&self.any_of).chain(&self.one_of);
        let named = self.dependent_schemas.iter().chain(&self.patterns).map(|(_, rule)| rule);
        let single = [
            &self.not,
            &self.condition,
            &self.then,
            &self.otherwise,
            &self.contains,
            &self.unevaluated_items,
            &self.unevaluated_properties,
        ];
        lists.chain(named).chain(single.into_iter().filter_map(|rule| rule.as_deref()))
    }
}

/// A boolean as a rule, for keywords that accept both.
impl From<bool> for Rule {
    /// Creates a rule that every value or no value matches.
    #[track_caller]
    fn from(allowed: bool) -> Self {
        if allowed { Self::any() } else { Self::never() }
    }
}

/// Alternatives and conditions.
///
/// The rules inside check the value after the outer rule has trimmed and converted it. They
/// never change it: they insert no defaults, convert no text and remove no keys. See
/// [Alternatives and conditions](crate#alternatives-and-conditions).
impl Rule {
    /// Requires that the value matches all of these rules: `allOf`.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let short = Rule::any().max_length(5);
    /// let lower = Rule::any().pattern("^[a-z]*$");
    /// let schema = Rule::string().all_of([short, lower]).build()?;
    /// let errors = schema.check(&json!("Marie Curie"), &ValidationOptions::new())?;
    /// assert_eq!(errors.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "allOf")]
    pub fn all_of(mut self, rules: impl IntoIterator<Item = Self>) -> Self {
        self.parts_mut().all_of.extend(rules);
        self
    }

    /// Requires that the value matches at least one of these rules: `anyOf`.
    ///
    /// If it matches none, the only error is the first error of the closest
    /// rule. The closest rule is chosen by these criteria, in order: it has the
    /// JSON type of the value, it has a constant that is equal, it has the
    /// fewest errors, it comes first.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::any().any_of([Rule::integer(), Rule::string().max_length(3)]).build()?;
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!(7))?.is_empty() && check(json!("abc"))?.is_empty());
    /// assert_eq!(check(json!("abcd"))?[0].message, "String must be at most 3 characters");
    /// assert_eq!(check(json!(true))?[0].message, "Expected integer or string, got boolean");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "anyOf")]
    pub fn any_of(mut self, rules: impl IntoIterator<Item = Self>) -> Self {
        let rules: Vec<Self> = rules.into_iter().collect();
        if rules.is_empty() {
            self.mistakes.push("`anyOf` must be a list of one or more schemas".to_owned());
        }
        let location = self.location;
        let parts = self.parts_mut();
        if parts.any_of.is_empty() {
            parts.any_of = rules;
        } else {
            parts.all_of.push(Self::at(location).any_of(rules));
        }
        self
    }

    /// Requires that the value matches exactly one of these rules: `oneOf`.
    ///
    /// If it matches none, the error is the same as for
    /// [`any_of`](Self::any_of). Use `any_of` if the rules exclude each other,
    /// because it stops at the first match.
    #[doc(alias = "oneOf")]
    pub fn one_of(mut self, rules: impl IntoIterator<Item = Self>) -> Self {
        let rules: Vec<Self> = rules.into_iter().collect();
        if rules.is_empty() {
            self.mistakes.push("`oneOf` must be a list of one or more schemas".to_owned());
        }
        let location = self.location;
        let parts = self.parts_mut();
        if parts.one_of.is_empty() {
            parts.one_of = rules;
        } else {
            parts.all_of.push(Self::at(location).one_of(rules));
        }
        self
    }

    /// Rejects values that match this rule: `not`.
    pub fn not(mut self, rule: Self) -> Self {
        let location = self.location;
        let parts = self.parts_mut();
        if parts.not.is_some() {
            parts.all_of.push(Self::at(location).not(rule));
        } else {
            parts.not = Some(Box::new(rule));
        }
        self
    }

    /// Requires that values matching `condition` also match `then`: `if` and
    /// `then`.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let is_company = Rule::object([("kind", Rule::any().constant("company"))])
    ///     .required_fields(["kind"]);
    /// let schema = Rule::object([("kind", Rule::string()), ("vat", Rule::string())])
    ///     .if_then(is_company, Rule::any().required_fields(["vat"]))
    ///     .build()?;
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!({ "kind": "person" }))?.is_empty());
    /// assert_eq!(check(json!({ "kind": "company" }))?[0].field, "vat");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "if")]
    pub fn if_then(self, condition: Self, then: Self) -> Self {
        self.with_condition(condition, Some(then), None)
    }

    /// Requires that values matching `condition` also match `then`, and that
    /// all other values match `otherwise`: `if`, `then` and `else`.
    #[doc(alias = "else")]
    pub fn if_then_else(self, condition: Self, then: Self, otherwise: Self) -> Self {
        self.with_condition(condition, Some(then), Some(otherwise))
    }

    fn with_condition(
        mut self,
        condition: Self,
        then: Option<Self>,
        otherwise: Option<Self>,
    ) -> Self {
        let location = self.location;
        let parts = self.parts_mut();
        if parts.condition.is_some() {
            parts.all_of.push(Self::at(location).with_condition(condition, then, otherwise));
        } else {
            parts.condition = Some(Box::new(condition));
            (parts.then, parts.otherwise) = (then.map(Box::new), otherwise.map(Box::new));
        }
        self
    }

    /// Requires this rule for the whole object if the property is present:
    /// `dependentSchemas`.
    #[doc(alias = "dependentSchemas")]
    pub fn dependent_schemas<N: Into<String>>(
        mut self,
        rules: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let rules = rules.into_iter().map(|(name, rule)| (name.into(), rule));
        self.parts_mut().dependent_schemas.extend(rules);
        self
    }

    /// Requires additional properties if a property is present:
    /// `dependentRequired`.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::kind("object").dependent_required([("card", ["address"])]).build()?;
    /// let errors = schema.check(&json!({ "card": "4111" }), &ValidationOptions::new())?;
    /// assert_eq!(errors[0].field, "address");
    /// assert_eq!(errors[0].message, "Field 'address' is required if 'card' is present");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "dependentRequired")]
    pub fn dependent_required<N: Into<String>, R: Into<String>>(
        self,
        names: impl IntoIterator<Item = (N, impl IntoIterator<Item = R>)>,
    ) -> Self {
        let mut all = match self.keywords.get("dependentRequired") {
            Some(Value::Object(all)) => all.clone(),
            _ => Map::new(),
        };
        for (name, required) in names {
            let required: Vec<String> = required.into_iter().map(Into::into).collect();
            all.insert(name.into(), required.into());
        }
        self.with("dependentRequired", all)
    }
}

/// Parts of arrays and objects.
impl Rule {
    /// Requires a separate rule for each of the first elements: `prefixItems`.
    /// The array may be shorter. [`items`](Self::items) applies to the elements
    /// after them.
    #[doc(alias = "prefixItems")]
    pub fn prefix_items(self, rules: impl IntoIterator<Item = Self>) -> Self {
        self.with_inner(InnerRule::Tuple(rules.into_iter().collect()))
    }

    /// Requires an element that matches this rule.
    /// [`min_contains`](Self::min_contains) and
    /// [`max_contains`](Self::max_contains) change the number.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::array(Rule::any()).contains(Rule::integer()).max_contains(2).build()?;
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!(["a", 1]))?.is_empty());
    /// assert_eq!(check(json!(["a"]))?[0].rule, "contains");
    /// assert_eq!(check(json!([1, 2, 3]))?[0].rule, "maxContains");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains(mut self, rule: Self) -> Self {
        self.parts_mut().contains = Some(Box::new(rule));
        self
    }

    /// Requires this rule for elements that no other keyword describes,
    /// including keywords in alternatives: `unevaluatedItems`. `false` rejects
    /// such elements.
    #[doc(alias = "unevaluatedItems")]
    pub fn unevaluated_items(mut self, rule: impl Into<Self>) -> Self {
        self.parts_mut().unevaluated_items = Some(Box::new(rule.into()));
        self
    }

    /// Requires a rule for the values of all keys that match a pattern:
    /// `patternProperties`. Such keys are not unknown.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let schema = Rule::object([("name", Rule::string())])
    ///     .pattern_properties([("^x-", Rule::integer())])
    ///     .additional_properties(false)
    ///     .build()?;
    /// let data = json!({ "name": "a", "x-size": "1", "y": 2 });
    /// let errors = schema.check(&data, &ValidationOptions::new())?;
    /// let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
    /// assert_eq!(fields, ["x-size", "y"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "patternProperties")]
    pub fn pattern_properties<P: Into<String>>(
        mut self,
        rules: impl IntoIterator<Item = (P, Self)>,
    ) -> Self {
        let rules = rules.into_iter().map(|(pattern, rule)| (pattern.into(), rule));
        self.parts_mut().patterns.extend(rules);
        self
    }

    /// Requires this rule for each key of the object, as text: `propertyNames`.
    #[doc(alias = "propertyNames")]
    pub fn keys(mut self, rule: Self) -> Self {
        self.parts_mut().keys = Some(Box::new(rule));
        self
    }

    /// Requires this rule for the values of keys that no other keyword
    /// describes, including keywords in alternatives: `unevaluatedProperties`.
    /// `false` rejects such keys.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let card = Rule::object([("card", Rule::string().required())]);
    /// let invoice = Rule::object([("vat", Rule::string().required())]);
    /// let schema = Rule::object([("total", Rule::integer())])
    ///     .any_of([card, invoice])
    ///     .unevaluated_properties(false)
    ///     .build()?;
    /// let check = |data| schema.check(&data, &ValidationOptions::new());
    /// assert!(check(json!({ "total": 1, "card": "4111" }))?.is_empty());
    /// assert_eq!(check(json!({ "card": "4111", "tip": 1 }))?[0].field, "tip");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "unevaluatedProperties")]
    pub fn unevaluated_properties(mut self, rule: impl Into<Self>) -> Self {
        self.parts_mut().unevaluated_properties = Some(Box::new(rule.into()));
        self
    }

    fn parts_mut(&mut self) -> &mut Parts {
        self.parts.get_or_insert_default()
    }

    /// Reads a keyword with inner rules. Returns false if it is another
    /// keyword, or if its value has the wrong kind. `read` creates the rule of
    /// a value at these steps below the keyword.
    pub(crate) fn read_part(
        &mut self,
        keyword: &str,
        value: &Value,
        read: &dyn Fn(&[&str], &Value) -> Self,
    ) -> bool {
        let list = |items: &[Value]| -> Vec<Self> {
            let items = items.iter().enumerate();
            items.map(|(index, item)| read(&[&index.to_string()], item)).collect()
        };
        let named = |map: &Map<String, Value>| -> Vec<(String, Self)> {
            map.iter().map(|(name, item)| (name.clone(), read(&[name], item))).collect()
        };
        match value {
            Value::Array(items) if Kind::Rules.fits(value) => {
                if keyword == "prefixItems" {
                    self.inner = Some(InnerRule::Tuple(list(items)));
                    return true;
                }
                if !matches!(keyword, "allOf" | "anyOf" | "oneOf") {
                    return false;
                }
                let parts = self.parts_mut();
                match keyword {
                    "allOf" => parts.all_of.extend(list(items)),
                    "anyOf" => parts.any_of = list(items),
                    _ => parts.one_of = list(items),
                }
            }
            Value::Object(map) if matches!(keyword, "dependentSchemas" | "patternProperties") => {
                let parts = self.parts_mut();
                match keyword {
                    "dependentSchemas" => parts.dependent_schemas = named(map),
                    _ => parts.patterns = named(map),
                }
            }
            Value::Object(_) | Value::Bool(_) => {
                let Some(place) = self.part_mut(keyword) else { return false };
                *place = Some(Box::new(read(&[], value)));
            }
            _ => return false,
        }
        true
    }

    /// Returns the slot of a keyword with one rule.
    fn part_mut(&mut self, keyword: &str) -> Option<&mut Option<Box<Self>>> {
        const ONE: [&str; 8] = [
            "not",
            "if",
            "then",
            "else",
            "propertyNames",
            "contains",
            "unevaluatedItems",
            "unevaluatedProperties",
        ];
        if !ONE.contains(&keyword) {
            return None;
        }
        let parts = self.parts_mut();
        Some(match keyword {
            "not" => &mut parts.not,
            "if" => &mut parts.condition,
            "then" => &mut parts.then,
            "else" => &mut parts.otherwise,
            "propertyNames" => &mut parts.keys,
            "contains" => &mut parts.contains,
            "unevaluatedItems" => &mut parts.unevaluated_items,
            _ => &mut parts.unevaluated_properties,
        })
    }
}
