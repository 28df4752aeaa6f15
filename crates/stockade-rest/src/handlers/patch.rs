//! Partial changes of an item.

#[cfg(feature = "json-patch")]
use json_patch::jsonptr::Pointer;
use serde_json::Value;
use stockade_core::Request;
use stockade_errors::ApiError;
use stockade_validation::ValidationOptions;
use stockade_validation::marks::Mark;

#[cfg(feature = "json-patch")]
use super::json_patch::JsonPatch;
use super::merge_patch::merge;
use crate::core::Core;

/// A partial change of an item.
pub(super) enum Patch {
    Merge(Value),
    #[cfg(feature = "json-patch")]
    Json(JsonPatch),
}

impl Patch {
    /// Reads the body of a request by its content type. The route accepts only
    /// supported types.
    pub(super) fn of(core: &Core, req: &Request, mut body: Value) -> Result<Self, ApiError> {
        #[cfg(feature = "json-patch")]
        if is_json_patch(req) {
            return JsonPatch::of(body, req.max_body()).map(Self::Json);
        }
        let _: &Request = req;
        // Validate the patch itself, even if the item is missing. The result is
        // validated later.
        let whole = core.marked.keeps_inside.then(|| body.clone());
        core.schemas.change.drop_others(&core.marked, &mut body);
        let errors = core.schemas.patch.check(&body, &ValidationOptions::new())?;
        if !errors.is_empty() {
            return Err(ApiError::validation(errors));
        }
        // The read-only values of the patch have no effect, but they identify
        // list elements.
        Ok(Self::Merge(whole.unwrap_or(body)))
    }

    /// Applies the patch to the JSON of an item.
    #[cfg_attr(
        not(feature = "json-patch"),
        expect(clippy::unnecessary_wraps, reason = "a JSON patch may fail")
    )]
    pub(super) fn applied(&self, core: &Core, present: &Value) -> Result<Changed, ApiError> {
        match self {
            Self::Merge(patch) => Ok(merged(core, present, patch)),
            #[cfg(feature = "json-patch")]
            Self::Json(patch) => patched(core, present, patch),
        }
    }
}

/// A patched item, including its hidden values.
pub(super) struct Changed {
    pub(super) value: Value,
    /// The original item, aligned with the structure of the changed item.
    pub(super) aligned: Value,
}

fn merged(core: &Core, present: &Value, patch: &Value) -> Changed {
    let merge_into = |mut value: Value| {
        merge(&mut value, patch.clone());
        value
    };
    // A merge patch reads nothing, so it may change hidden values.
    let mut value = merge_into(present.clone());
    let marks = &core.marked.read;
    if !core.marked.is_inside() {
        return Changed { value, aligned: Value::Null };
    }
    let mut visible = present.clone();
    core.hide(&mut visible);
    marks.replace_switched(present, &mut value, &merge_into(visible));
    let aligned = marks.aligned(present, &value);
    marks.restore(Mark::WriteOnly, &aligned, &mut value, Some(patch));
    Changed { value, aligned }
}

#[cfg(feature = "json-patch")]
fn patched(core: &Core, present: &Value, patch: &JsonPatch) -> Result<Changed, ApiError> {
    let marked = core.marked.with_origins();
    let mut stored = present.clone();
    // An item that the program stored may contain a map key with the internal
    // name of an origin.
    marked.remove_origins(&mut stored);
    marked.add_origins(&mut stored);
    let mut value = stored.clone();
    core.hide_fields(&mut value);
    marked.hide_inside(&mut value);
    patch.apply(&mut value, &mut stored, &|item, place| core.is_hidden_at(item, place))?;
    let mut aligned = marked.read.aligned(&stored, &value);
    marked.read.restore(Mark::WriteOnly, &aligned, &mut value, None);
    marked.remove_origins(&mut value);
    marked.remove_origins(&mut aligned);
    Ok(Changed { value, aligned })
}

#[cfg(feature = "json-patch")]
impl Core {
    /// Returns true if a position in an item is hidden.
    fn is_hidden_at(&self, item: &Value, place: &Pointer) -> bool {
        let steps: Vec<_> = place.tokens().map(|token| token.decoded().into_owned()).collect();
        let is_field = |name: &String| self.hidden.iter().any(|hidden| hidden == name);
        let is_hidden_field = steps.len() == 1 && steps.first().is_some_and(is_field);
        let steps = steps.iter().map(String::as_str);
        is_hidden_field || self.marked.written.is_marked_at(Mark::WriteOnly, item, steps)
    }
}

#[cfg(feature = "json-patch")]
fn is_json_patch(req: &Request) -> bool {
    let content_type = req.headers().get(http::header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(super::JSON_PATCH))
}
