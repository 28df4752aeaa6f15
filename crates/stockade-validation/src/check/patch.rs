//! [`Patch`]: changes to a value that is borrowed during validation.

use std::convert::Infallible;

use serde_json::{Map, Value};

use crate::node::ObjectRules;

/// A change to a value.
#[derive(Clone, Debug)]
pub(super) enum Patch<'s> {
    /// Replaces the whole value.
    Set(Value),
    /// Changes to elements, by index.
    Array(Vec<(usize, Self)>),
    /// A change to the value of an object's only key.
    Only(Box<Self>),
    /// Changes to an object.
    Object(Box<ObjectPatch<'s>>),
}

#[derive(Clone, Debug)]
pub(super) struct ObjectPatch<'s> {
    /// The rules that define the order of the properties.
    pub(super) rules: &'s ObjectRules,
    /// Changes to listed properties, by index in the rules.
    pub(super) properties: Vec<(usize, Patch<'s>)>,
    /// Changes to unknown keys, by index among the unknown keys.
    pub(super) others: Vec<(usize, Patch<'s>)>,
    /// Defaults of absent properties, by index in the rules.
    pub(super) defaults: Vec<(usize, Value)>,
    /// Unknown keys to remove.
    pub(super) strip: Strip,
}

/// Unknown keys to remove from an object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) enum Strip {
    #[default]
    None,
    All,
    /// Sorted indexes among the unknown keys.
    Some(Vec<usize>),
}

impl Strip {
    /// Removes one more key.
    pub(super) fn add(&mut self, index: usize) {
        match self {
            Self::All => {}
            Self::None => *self = Self::Some(vec![index]),
            Self::Some(places) => {
                if let Err(place) = places.binary_search(&index) {
                    places.insert(place, index);
                }
            }
        }
    }

    fn has(&self, index: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(places) => places.binary_search(&index).is_ok(),
        }
    }
}

impl From<Infallible> for Patch<'_> {
    fn from(change: Infallible) -> Self {
        match change {}
    }
}

impl Patch<'_> {
    /// Applies the changes and moves the unchanged parts.
    pub(super) fn apply(self, value: Value) -> Value {
        match (self, value) {
            (Self::Array(patches), Value::Array(mut items)) => {
                for (index, patch) in patches {
                    if let Some(item) = items.get_mut(index) {
                        *item = patch.apply(item.take());
                    }
                }
                Value::Array(items)
            }
            (Self::Only(patch), Value::Object(mut map)) => {
                if let Some(value) = map.values_mut().next() {
                    *value = patch.apply(value.take());
                }
                Value::Object(map)
            }
            (Self::Object(patch), Value::Object(map)) => Value::Object(patch.apply(map)),
            (Self::Set(value), _) | (Self::Array(_) | Self::Only(_) | Self::Object(_), value) => {
                value
            }
        }
    }

    /// Returns the changed value for alternatives and conditions. It
    /// still contains all keys, but not the defaults.
    pub(super) fn preview_with_all_keys(&self, value: &Value) -> Value {
        let mut patch = self.clone();
        patch.drop_defaults();
        if let Self::Object(object) = &mut patch {
            object.strip = Strip::None;
        }
        patch.apply(value.clone())
    }

    /// Returns the changed value for `custom`, without defaults.
    pub(super) fn preview(&self, value: &Value) -> Value {
        let mut patch = self.clone();
        patch.drop_defaults();
        patch.apply(value.clone())
    }

    fn drop_defaults(&mut self) {
        match self {
            Self::Set(_) => {}
            Self::Array(patches) => {
                patches.iter_mut().for_each(|(_, patch)| patch.drop_defaults());
            }
            Self::Only(patch) => patch.drop_defaults(),
            Self::Object(object) => {
                object.defaults.clear();
                let patches = object.properties.iter_mut().chain(&mut object.others);
                patches.for_each(|(_, patch)| patch.drop_defaults());
            }
        }
    }
}

impl<'s> ObjectPatch<'s> {
    /// Creates a patch without changes.
    pub(super) fn new(rules: &'s ObjectRules) -> Self {
        Self {
            rules,
            properties: Vec::new(),
            others: Vec::new(),
            defaults: Vec::new(),
            strip: Strip::None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { properties, others, defaults, strip, .. } = self;
        properties.is_empty() && others.is_empty() && defaults.is_empty() && *strip == Strip::None
    }

    fn apply(self, map: Map<String, Value>) -> Map<String, Value> {
        let rules = self.rules;
        let mut listed: Vec<Option<(String, Value)>> = Vec::new();
        listed.resize_with(rules.listed, || None);
        let mut others = Vec::new();
        let mut hint = 0;
        for (name, value) in map {
            if let Some(index) = rules.find_listed(&name, hint) {
                // A property with an alias gets its own name.
                let is_own = rules.aliases.is_empty() || *rules.entries[index].name == *name;
                let name = if is_own { name } else { rules.entries[index].name.to_string() };
                listed[index] = Some((name, value));
                hint = index + 1;
            } else {
                others.push((name, value));
            }
        }

        for (index, patch) in self.properties {
            if let Some((_, value)) = &mut listed[index] {
                *value = patch.apply(value.take());
            }
        }
        for (index, patch) in self.others {
            if let Some((_, value)) = others.get_mut(index) {
                *value = patch.apply(value.take());
            }
        }
        for (index, value) in self.defaults {
            listed[index].get_or_insert_with(|| (rules.entries[index].name.to_string(), value));
        }
        let others = others.into_iter().enumerate();
        let kept = others.filter(|(index, _)| !self.strip.has(*index)).map(|(_, member)| member);
        listed.into_iter().flatten().chain(kept).collect()
    }
}
