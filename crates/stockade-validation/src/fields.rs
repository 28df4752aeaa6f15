//! The properties of an object rule, taken apart: for code that makes further
//! schemas of the schema of a type.

use serde_json::Value;

use crate::direction::{Direction, FieldPresence};
use crate::inner::InnerRule;
use crate::rule::Rule;

/// The properties of an object rule, such as the [`rule`](crate::HasSchema::rule)
/// of a struct, for further rules that are made of it. Unions have none.
impl Rule {
    /// Returns the names of the properties that are read, in their order, with
    /// those of flattened rules at the end.
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

    /// Returns the rule of one property alone, without a default, and not required;
    /// `None` if there is no such property. It has neither
    /// [`read_only`](Self::read_only) nor [`write_only`](Self::write_only), which say
    /// something of the property in its object.
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

    /// Removes properties, which are unknown keys afterwards.
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

    /// Changes the rule of one property, which stays where it is. Without such a property
    /// nothing changes.
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

    /// Makes the rule of a change of such an object, by RFC 7396 (JSON merge patch):
    /// each property may be absent, and null unless it is required. None has a default.
    /// Objects in it may have any parts.
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
            // Null removes a value, for which a default may stand in.
            let is_removable =
                !(is_marked || required.contains(name)) || property.default.is_some();
            // Of an object a part may come, at every level.
            let is_object = property.with_target(|rule| rule.properties.is_some());
            let mut whole = if is_object { Self::kind("object") } else { property.clone().alone() };
            whole.aliases.clone_from(&property.aliases);
            whole.typed = None;
            // An empty text counts as none.
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

    /// Returns the rule of a property as one that stands alone.
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

    /// Returns the rule that a reference refers to, or the rule itself.
    fn resolved(self) -> Self {
        match &self.inner {
            Some(InnerRule::Reference(reference)) => {
                let target = reference.rule().resolved();
                Self { direction: self.direction, ..target }
            }
            _ => self,
        }
    }

    /// Calls `look` with the rule that a reference refers to, or the rule itself.
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
