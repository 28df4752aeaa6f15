//! A resource without its types, shared by the request handlers of all its
//! routes.

use std::sync::Arc;

use serde_json::Value;
use stockade_core::description::SchemaOf;
use stockade_core::{BoxFuture, Request};
use stockade_errors::{ApiError, ErrorText, FieldError};
use stockade_validation::{Schema, ValidationOptions, validate_against_schema};

use crate::access::Operation;
use crate::canonical::Canonical;
use crate::erased::{BoxItem, ErasedStore};
use crate::failure::invalid;
use crate::marked::Marked;
use crate::store::{Op, RawDraft, RowFilter};

/// A function that returns the scope of a user.
pub(crate) type FindScope =
    Arc<dyn Fn(Option<&Value>) -> Result<RowFilter, ApiError> + Send + Sync>;

/// A function that changes or rejects a draft.
pub(crate) type Before = Arc<
    dyn Fn(Option<Value>, RawDraft) -> BoxFuture<'static, Result<RawDraft, ApiError>> + Send + Sync,
>;

/// A function that changes an item before it is sent, or returns an error.
pub(crate) type After = Arc<
    dyn Fn(Option<Value>, BoxItem) -> BoxFuture<'static, Result<BoxItem, ApiError>> + Send + Sync,
>;

/// A resource without its types.
pub(crate) struct Core {
    pub(crate) store: Box<dyn ErasedStore>,
    pub(crate) id: &'static str,
    /// The schema of the item type, including the hidden fields.
    pub(crate) entity: SchemaOf,
    pub(crate) schemas: Schemas,
    pub(crate) canonical: Canonical,
    pub(crate) filters: Vec<FilterField>,
    pub(crate) sorts: Vec<SortField>,
    /// The names of all parameters of a list.
    pub(crate) parameters: Vec<String>,
    pub(crate) hidden: Vec<String>,
    pub(crate) marked: Marked,
    pub(crate) scope: Option<FindScope>,
    pub(crate) before: Vec<(Operation, Before)>,
    pub(crate) after: Vec<(Operation, After)>,
    pub(crate) settings: Settings,
}

/// The schemas of a resource.
pub(crate) struct Schemas {
    /// The path parameters with the id, and the id itself.
    pub(crate) params: Schema,
    pub(crate) id: Schema,
    /// The parameters of a list, for validation and for documentation.
    pub(crate) query: Schema,
    pub(crate) told_query: Schema,
    /// A new item, and the full replacement of an existing item.
    pub(crate) create: Input,
    pub(crate) change: Input,
    /// A partial change, by RFC 7396.
    pub(crate) patch: Schema,
    /// The responses with one item and with a page.
    pub(crate) item: Answered,
    pub(crate) page: Answered,
}

/// The values that a client may write.
pub(crate) struct Input {
    pub(crate) schema: Schema,
    pub(crate) fields: Arc<[String]>,
    /// The other fields of an item: server fields, and the id of an existing
    /// item. A client may send them back, with no effect.
    pub(crate) others: Vec<String>,
}

/// The schema of a response, for documentation.
#[derive(Clone)]
pub(crate) enum Answered {
    /// The schema of a type.
    Of(SchemaOf),
    /// The schema of a type without its hidden fields.
    Without(Schema),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) requires_if_match: bool,
    pub(crate) put_creates: bool,
    pub(crate) counts: bool,
}

/// A field that clients can filter by, with one comparison.
pub(crate) struct FilterField {
    /// The name of the parameter: `price[lt]`.
    pub(crate) parameter: String,
    pub(crate) field: String,
    pub(crate) op: Op,
}

/// A field that clients can sort by.
pub(crate) struct SortField {
    pub(crate) field: String,
    /// The schema of a key in a cursor.
    pub(crate) schema: Schema,
}

impl Input {
    /// Validates client data and creates a draft from it.
    pub(crate) fn draft_of(&self, marked: &Marked, mut sent: Value) -> Result<RawDraft, ApiError> {
        self.drop_others(marked, &mut sent);
        let names: Vec<String> = match &sent {
            Value::Object(sent) => sent.keys().filter(|name| self.has(name)).cloned().collect(),
            _ => Vec::new(),
        };
        let options = ValidationOptions::new();
        let validated = validate_against_schema(&self.schema, sent, &options)?.into_result()?;
        let Value::Object(mut values) = validated else {
            return Err(invalid("", ErrorText::new("object", "Must be an object"), "type"));
        };
        values.retain(|name, _| self.has(name));
        Ok(RawDraft { values, writable: Arc::clone(&self.fields), sent: names })
    }

    /// Removes values without effect before validation, because a schema may
    /// reject unknown names.
    pub(crate) fn drop_others(&self, marked: &Marked, sent: &mut Value) {
        if let Value::Object(sent) = sent {
            sent.retain(|name, _| !self.others.contains(name));
        }
        marked.drop_read_only(sent);
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|name| name == field)
    }
}

impl Core {
    /// Returns the scope of the request's user.
    pub(crate) fn scope_of(&self, req: &Request) -> Result<RowFilter, ApiError> {
        let Some(scope) = &self.scope else { return Ok(RowFilter::all()) };
        scope(req.user()).map(|scope| self.canonical.scope(&scope).into_owned())
    }

    /// Parses and validates the id in the path.
    pub(crate) fn id_of(&self, req: &Request) -> Result<Value, ApiError> {
        // The path of an item always contains it.
        let text = req.param(self.id).unwrap_or_default();
        let options = ValidationOptions::new().coerce_types(true);
        // The common case, without copies.
        if let Some(number) = plain_number(&text) {
            let number = Value::from(number);
            if self.schemas.id.check(&number, &options)?.is_empty() {
                return Ok(number);
            }
        }
        let sent = Value::String(text.to_string());
        let validated = validate_against_schema(&self.schemas.id, sent, &options)?;
        if validated.valid() {
            let is_canonical = match &validated.data {
                Value::String(id) => *id == text,
                id => id.to_string() == text,
            };
            // Caches and middleware treat each path as a separate resource.
            let text = ErrorText::new("id-form", "An id must have its canonical form");
            return if is_canonical {
                // An upper-case UUID is accepted: clients expect that, and it
                // identifies the same item.
                Ok(self.canonical.value(self.id, validated.data))
            } else {
                Err(invalid(self.id, text, "pattern"))
            };
        }
        let named = validated.errors.into_iter().map(|mut error| {
            self.id.clone_into(&mut error.field);
            error
        });
        Err(ApiError::validation(named.collect::<Vec<_>>()))
    }

    pub(crate) fn is_hidden(&self, field: &str) -> bool {
        // An error may use a path to identify a part of a field.
        let first = field.split(['.', '[']).next().unwrap_or(field);
        self.hidden.iter().any(|name| name == first) || self.marked.hides(field)
    }

    /// Rejects a draft outside the scope, and fills in missing values from the
    /// scope.
    pub(crate) fn place(draft: &mut RawDraft, scope: &RowFilter) -> Result<(), ApiError> {
        for (field, expected) in scope.conditions() {
            // Nothing is equal to null, so the scope would be empty.
            if expected.is_null() {
                return Err(ApiError::authorization());
            }
            match draft.values.get(field) {
                Some(value) if value == expected => {}
                Some(_) => return Err(ApiError::authorization()),
                None => drop(draft.values.insert(field.clone(), expected.clone())),
            }
        }
        Ok(())
    }

    /// Runs the hooks before a write.
    pub(crate) async fn before(
        &self,
        operation: Operation,
        user: Option<&Value>,
        mut draft: RawDraft,
    ) -> Result<RawDraft, ApiError> {
        for (_, before) in self.before.iter().filter(|(of, _)| *of == operation) {
            draft = before(user.cloned(), draft).await?;
        }
        Ok(draft)
    }

    /// Runs the hooks after an operation.
    pub(crate) async fn after(
        &self,
        operation: Operation,
        user: Option<&Value>,
        mut item: BoxItem,
    ) -> Result<BoxItem, ApiError> {
        for (_, after) in self.after.iter().filter(|(of, _)| *of == operation) {
            item = after(user.cloned(), item).await?;
        }
        Ok(item)
    }

    pub(crate) fn has_after(&self, operation: Operation) -> bool {
        self.after.iter().any(|(of, _)| *of == operation)
    }

    /// Returns true if an item can have hidden values.
    pub(crate) fn hides(&self) -> bool {
        !self.hidden.is_empty() || self.marked.hides_inside
    }

    /// Removes the hidden values of an item, at every depth.
    pub(crate) fn hide(&self, item: &mut Value) {
        self.hide_fields(item);
        self.marked.hide_inside(item);
    }

    /// Removes the hidden fields of an item.
    pub(crate) fn hide_fields(&self, item: &mut Value) {
        if let Value::Object(item) = item {
            self.hidden.iter().for_each(|name| drop(item.shift_remove(name)));
        }
    }

    /// Removes the errors about hidden fields.
    pub(crate) fn visible(&self, mut errors: Vec<FieldError>) -> Vec<FieldError> {
        errors.retain(|error| !self.is_hidden(&error.field));
        errors
    }
}

/// Parses a number, or returns `None` if it has a sign or leading zeros.
fn plain_number(text: &str) -> Option<u64> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    if is_plain { text.parse().ok() } else { None }
}
