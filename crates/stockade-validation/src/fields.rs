//! Access to the properties of an object rule, for code that derives further
//! schemas from the schema of a type.

use serde_json::Value;

use crate::direction::{Direction, FieldPresence};
use crate::inner::InnerRule;
use crate::rule::Rule;

/// The properties of an object rule, such as the
/// [`rule`](crate::HasSchema::rule) of a struct, as a base for further rules.
/// Unions do not have properties.
impl Rule {
    /// Returns the names of the input properties in order. Properties of
    /// flattened rules are at the end.
    ///
    /// ```
    /// use stockade_validation::{HasSchema, Rule};
    ///
    /// let rule = Rule::object([("id", Rule::integer()), ("name", Rule::string().required())]);
    /// assert_eq!(rule.property_names(), ["id", "name"]);
    /// assert!(Vec::<u8>::rule().property_names().is_empty());
    /// ```
    #[must_use]
    pub fn property_names(&self) -> Vec<String> {
        self.names(Direction::Read)
    }

    fn names(&self, direction: Direction) -> Vec<String> {
        self.with_target(|rule| {
            let own = rule.properties.iter().flatten();
            let own = own.filter(|(_, rule)| !rule.presence.is_none(direction));
            let own = own.map(|(name, _)| name.clone());
            own.chain(rule.flattened.iter().flat_map(|rule| rule.names(direction))).collect()
        })
    }

    /// Returns the rule of one property, without a default and not required, or
    /// `None` if the property does not exist. The rule does not include
    /// [`read_only`](Self::read_only) or [`write_only`](Self::write_only),
    /// which describe the property within its object.
    ///
    /// ```
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let rule = Rule::object([("age", Rule::integer().minimum(18).required())]);
    /// let age = rule.property_rule("age").expect("a property").build()?;
    /// assert_eq!(age.check(&7.into(), &ValidationOptions::new())?[0].rule, "minimum");
    /// assert!(rule.property_rule("name").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn property_rule(&self, name: &str) -> Option<Self> {
        self.with_target(|rule| {
            let mut own = rule.properties.iter().flatten();
            let own = own.find(|(known, _)| known == name).map(|(_, rule)| rule.clone().alone());
            let own = own.map(Self::unmarked);
            own.or_else(|| rule.flattened.iter().find_map(|rule| rule.property_rule(name)))
        })
    }

    /// Removes properties. Their names become unknown keys.
    ///
    /// ```
    /// use stockade_validation::Rule;
    ///
    /// let rule = Rule::object([("id", Rule::integer().required()), ("name", Rule::string())]);
    /// let rule = rule.without(&["id"]);
    /// assert_eq!(rule.property_names(), ["name"]);
    /// assert!(rule.build()?.to_json_schema().get("required").is_none());
    /// # Ok::<(), stockade_errors::ConfigError>(())
    /// ```
    pub fn without(self, names: &[impl AsRef<str>]) -> Self {
        let is_removed = |name: &String| names.iter().any(|removed| removed.as_ref() == name);
        let mut rule = self.resolved();
        if let Some(properties) = &mut rule.properties {
            properties.retain(|(name, _)| !is_removed(name));
        }
        rule.forget_required(&names.iter().map(|it| it.as_ref().to_owned()).collect::<Vec<_>>());
        let flattened = std::mem::take(&mut rule.flattened);
        rule.flattened = flattened.into_iter().map(|inner| inner.without(names)).collect();
        if let Some(written) = rule.written.take() {
            rule.written = Some(Box::new(written.without(names)));
        }
        rule
    }

    /// Changes the rule of one property without moving it. Does nothing if the
    /// property does not exist.
    #[doc(hidden)]
    pub fn change_property(self, name: &str, change: &dyn Fn(Self) -> Self) -> Self {
        let mut rule = self.resolved();
        for (known, property) in rule.properties.iter_mut().flatten() {
            if known == name {
                *property = change(property.clone());
            }
        }
        let flattened = std::mem::take(&mut rule.flattened);
        let inner = flattened.into_iter().map(|inner| inner.change_property(name, change));
        rule.flattened = inner.collect();
        rule
    }

    /// Converts the rule to a rule for changes to the object, in the format of
    /// JSON merge patch (RFC 7396). Each property may be absent, and null
    /// unless it is required. No property has a default. Nested objects may
    /// also be partial.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{Rule, ValidationOptions};
    ///
    /// let rule = Rule::object([
    ///     ("age", Rule::integer().minimum(18).required()),
    ///     ("note", Rule::string()),
    /// ]);
    /// let patch = rule.merge_patch().build()?;
    /// let check = |change| patch.check(&change, &ValidationOptions::new());
    /// assert!(check(json!({}))?.is_empty() && check(json!({ "note": null }))?.is_empty());
    /// assert_eq!(check(json!({ "age": 7 }))?[0].rule, "minimum");
    /// assert_eq!(check(json!({ "age": null }))?[0].rule, "type");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge_patch(self) -> Self {
        let mut rule = self.resolved();
        let mut required = std::mem::take(&mut rule.required_fields);
        let listed = rule.keywords.remove("required");
        let listed = listed.iter().filter_map(Value::as_array).flatten();
        required.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        for (name, property) in rule.properties.iter_mut().flatten() {
            let is_marked = property.keywords.get("required") == Some(&Value::Bool(true));
            // Null removes a value if a default can replace it.
            let is_removable =
                !(is_marked || required.contains(name)) || property.default.is_some();
            // Objects may be partial at every level.
            let is_object = property.with_target(|rule| rule.properties.is_some());
            let mut whole = if is_object { Self::kind("object") } else { property.clone().alone() };
            whole.aliases.clone_from(&property.aliases);
            whole.typed = None;
            // An empty text counts as missing.
            let is_text = whole.keywords.get("type") == Some(&Value::from("string"));
            if is_marked && is_text && !whole.keywords.contains_key("minLength") {
                whole = whole.min_length(1);
            }
            *property = if is_removable { whole.nullable() } else { whole };
        }
        rule.keywords.remove("minProperties");
        (rule.custom, rule.transform, rule.default) = (None, None, None);
        let flattened = std::mem::take(&mut rule.flattened);
        rule.flattened = flattened.into_iter().map(Self::merge_patch).collect();
        rule
    }

    /// Returns the rule of a property as an independent rule.
    fn alone(mut self) -> Self {
        self.keywords.remove("required");
        self.keywords.remove("default");
        self.default = None;
        self.presence = FieldPresence::AsRead;
        self
    }

    fn unmarked(mut self) -> Self {
        self.keywords.remove("readOnly");
        self.keywords.remove("writeOnly");
        self
    }

    /// Returns the referenced rule, or the rule itself if it is not a
    /// reference.
    fn resolved(self) -> Self {
        match &self.inner {
            Some(InnerRule::Reference(reference)) => {
                let target = reference.rule().resolved();
                Self { direction: self.direction, ..target }
            }
            _ => self,
        }
    }

    /// Calls `look` with the referenced rule, or with the rule itself if it is
    /// not a reference.
    fn with_target<R>(&self, look: impl FnOnce(&Self) -> R) -> R {
        match &self.inner {
            Some(InnerRule::Reference(reference)) => {
                let target = Self { direction: self.direction, ..reference.rule() };
                target.with_target(look)
            }
            _ => look(self),
        }
    }
}
