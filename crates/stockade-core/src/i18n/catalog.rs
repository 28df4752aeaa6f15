//! [`Catalog`]: the texts of one language.

use std::collections::BTreeSet;
use std::fmt;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use serde_json::Value;
use stockade_errors::{ApiError, FieldError, ParamValue};

use super::CatalogError;
use super::texts::{RULES, is_id, problem_id};

/// The texts of one language.
pub(super) struct Catalog {
    tag: String,
    bundle: FluentBundle<FluentResource>,
    ids: BTreeSet<String>,
    /// The ids that the application has added.
    own: BTreeSet<String>,
}

impl Catalog {
    pub(super) fn new(tag: &str) -> Result<Self, CatalogError> {
        let language = tag.parse().map_err(|_| CatalogError::new(tag, "the tag is malformed"))?;
        let mut bundle = FluentBundle::new_concurrent(vec![language]);
        bundle.set_use_isolating(false);
        Ok(Self { tag: tag.to_owned(), bundle, ids: BTreeSet::new(), own: BTreeSet::new() })
    }

    /// Adds texts, which replace texts with the same ids.
    pub(super) fn add(&mut self, source: String, is_own: bool) -> Result<(), CatalogError> {
        let fail = |reason: String| CatalogError::new(&self.tag, reason);
        let resource = FluentResource::try_new(source).map_err(|(_, errors)| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            fail(format!("the syntax is malformed: {}", errors.join("; ")))
        })?;
        let mut ids = BTreeSet::new();
        for line in resource.source().lines() {
            // An id begins at the start of a line, and no other line begins
            // with a letter.
            let Some((id, _)) = line.split_once('=') else { continue };
            let id = id.trim_end();
            if is_id(id) && !ids.insert(id.to_owned()) {
                return Err(fail(format!("duplicate id `{id}`")));
            }
        }
        self.bundle.add_resource_overriding(resource);
        for id in &ids {
            if self.bundle.get_message(id).is_none_or(|message| message.value().is_none()) {
                return Err(fail(format!("the id `{id}` does not have a message")));
            }
        }
        if is_own {
            self.own.extend(ids.iter().cloned());
        }
        self.ids.extend(ids);
        Ok(())
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn own_ids(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(String::as_str)
    }

    /// Returns true if this is English, the language of the default messages.
    pub(super) fn is_english(&self) -> bool {
        self.tag.eq_ignore_ascii_case("en")
    }

    /// Returns the message of a failed rule.
    pub(super) fn rule(&self, error: &FieldError) -> Option<String> {
        // An application may use an id as the message.
        let message = &*error.message;
        let is_rule = || RULES.iter().any(|(id, _)| *id == message);
        let in_message = || (self.own.contains(message) && !is_rule()).then_some(message);
        let id = error.text_id().or_else(in_message)?;
        // The message is already English.
        if self.is_english() && !self.own.contains(id) {
            return None;
        }
        let mut args = FluentArgs::new();
        args.set("field", name_of(&error.field));
        for (name, value) in error.params() {
            args.set(*name, value_of(value));
        }
        self.text(id, &args).ok()
    }

    /// Returns the message of an error with a problem type.
    pub(super) fn problem(&self, error: &ApiError) -> Option<String> {
        let id = problem_id(error.problem_type()?);
        if !self.has(&id) {
            return None;
        }
        let mut args = FluentArgs::new();
        for (name, value) in error.public_members() {
            args.set(name, json_value_of(value));
        }
        self.text(&id, &args).ok()
    }

    /// Formats a message, or returns its errors.
    fn text(&self, id: &str, args: &FluentArgs<'_>) -> Result<String, String> {
        let message = self.bundle.get_message(id).and_then(|message| message.value());
        let pattern = message.ok_or("it is missing")?;
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(args), &mut errors);
        match errors.first() {
            Some(error) => Err(error.to_string()),
            None if text.trim().is_empty() => Err("it is empty".to_owned()),
            None => Ok(text.into_owned()),
        }
    }

    /// Returns the configuration errors in the texts of the framework's rules.
    pub(super) fn rule_issues(&self) -> Vec<String> {
        let missing: Vec<&str> =
            RULES.iter().map(|(id, _)| *id).filter(|id| !self.has(id)).collect();
        let missing = (!missing.is_empty()).then(|| self.missing(&missing));
        let known = RULES.iter().filter(|(id, _)| self.own.contains(*id));
        let faults = known
            .filter_map(|(id, params)| self.fault(id, params.iter().copied().chain(["field"])));
        missing.into_iter().chain(faults).collect()
    }

    /// Returns the configuration error if a text uses unavailable variables.
    pub(super) fn fault<'n>(
        &self,
        id: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> Option<String> {
        let mut args = FluentArgs::new();
        let mut known = Vec::new();
        for name in names {
            args.set(name.to_owned(), FluentValue::from(2));
            known.push(format!("`${name}`"));
        }
        let fault = self.text(id, &args).err()?;
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Some(format!(
            "languages: the text `{id}` of {:?} cannot be formatted: {fault}; its variables are: \
             {known}",
            self.tag
        ))
    }

    /// Returns the configuration error for missing texts.
    pub(super) fn missing(&self, ids: &[&str]) -> String {
        let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
        format!(
            "languages: the language {:?} does not have a text for {}",
            self.tag,
            ids.join(", ")
        )
    }
}

/// Returns the last name of a path, such as `zip` for `address.zip`.
fn name_of(field: &str) -> &str {
    match field.rsplit_once('.') {
        Some((_, name)) if !name.ends_with(']') => name,
        _ => field,
    }
}

fn value_of(value: &ParamValue) -> FluentValue<'_> {
    match value {
        ParamValue::Number(number) => number_of(number),
        value => value.to_string().into(),
    }
}

fn json_value_of(value: &Value) -> FluentValue<'_> {
    match value {
        Value::Number(number) => number_of(number),
        Value::String(text) => text.as_str().into(),
        value => value.to_string().into(),
    }
}

/// Returns a number, or its digits as text if a float would lose some.
fn number_of(number: &serde_json::Number) -> FluentValue<'static> {
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

    match number.as_i64() {
        Some(whole) if whole.unsigned_abs() <= EXACT => whole.into(),
        None if number.is_f64() => number.as_f64().unwrap_or_default().into(),
        _ => number.to_string().into(),
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("tag", &self.tag).finish_non_exhaustive()
    }
}
