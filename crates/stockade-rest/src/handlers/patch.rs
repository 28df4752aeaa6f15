//! [`Patch`]: a change of a part of an item.

use serde_json::Value;
use stockade_core::Request;
use stockade_errors::ApiError;
use stockade_validation::ValidationOptions;

#[cfg(feature = "json-patch")]
use super::json_patch::JsonPatch;
use super::merge_patch::merge;
use crate::core::Core;

/// A change of a part of an item.
pub(super) enum Patch {
    Merge(Value),
    #[cfg(feature = "json-patch")]
    Json(JsonPatch),
}

impl Patch {
    /// Reads the body of a request by its content type, which the route accepts.
    pub(super) fn of(core: &Core, req: &Request, mut body: Value) -> Result<Self, ApiError> {
        #[cfg(feature = "json-patch")]
        if is_json_patch(req) {
            return JsonPatch::of(body, req.max_body()).map(Self::Json);
        }
        let _: &Request = req;
        // By itself, whether there is an item or not. What comes out of it is judged too.
        core.schemas.change.drop_others(&mut body);
        let errors = core.schemas.patch.check(&body, &ValidationOptions::new())?;
        if errors.is_empty() { Ok(Self::Merge(body)) } else { Err(ApiError::validation(errors)) }
    }

    /// Applies it to the JSON of an item.
    #[cfg_attr(
        not(feature = "json-patch"),
        expect(clippy::unnecessary_wraps, reason = "a JSON patch may fail")
    )]
    pub(super) fn applied(&self, core: &Core, present: &Value) -> Result<Value, ApiError> {
        let _: &Core = core;
        let mut changed = present.clone();
        match self {
            // It reads nothing, so that it may go by hidden fields too.
            Self::Merge(patch) => merge(&mut changed, patch.clone()),
            #[cfg(feature = "json-patch")]
            Self::Json(patch) => {
                core.hide(&mut changed);
                patch.apply(&mut changed, &core.hidden)?;
                keep_hidden(&core.hidden, patch, present, &mut changed);
            }
        }
        Ok(changed)
    }
}

/// Puts the present values of hidden fields back, of which no operation has spoken.
#[cfg(feature = "json-patch")]
fn keep_hidden(hidden: &[String], patch: &JsonPatch, present: &Value, changed: &mut Value) {
    let Value::Object(changed) = changed else { return };
    for name in hidden.iter().filter(|name| !patch.changes(name)) {
        // A patch of the whole may have set it.
        if let Some(value) = present.get(name)
            && !changed.contains_key(name)
        {
            changed.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(feature = "json-patch")]
fn is_json_patch(req: &Request) -> bool {
    let content_type = req.headers().get(http::header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(super::JSON_PATCH))
}
