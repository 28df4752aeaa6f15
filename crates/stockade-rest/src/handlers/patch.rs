//! [`Patch`]: a change of a part of an item.

use serde_json::Value;
use stockade_core::Request;
use stockade_errors::ApiError;

#[cfg(feature = "json-patch")]
use super::json_patch::JsonPatch;
use super::merge_patch::merge;

/// A change of a part of an item.
pub(super) enum Patch {
    Merge(Value),
    #[cfg(feature = "json-patch")]
    Json(JsonPatch),
}

impl Patch {
    /// Reads the body of a request by its content type, which the route accepts.
    #[cfg_attr(
        not(feature = "json-patch"),
        expect(clippy::unnecessary_wraps, reason = "a JSON patch may be none")
    )]
    pub(super) fn of(req: &Request, body: Value) -> Result<Self, ApiError> {
        #[cfg(feature = "json-patch")]
        if is_json_patch(req) {
            return JsonPatch::of(body, req.max_body()).map(Self::Json);
        }
        let _: &Request = req;
        Ok(Self::Merge(body))
    }

    /// Applies it to the JSON of an item.
    #[cfg_attr(
        not(feature = "json-patch"),
        expect(clippy::unnecessary_wraps, reason = "a JSON patch may fail")
    )]
    pub(super) fn apply(&self, item: &mut Value) -> Result<(), ApiError> {
        match self {
            Self::Merge(patch) => merge(item, patch.clone()),
            #[cfg(feature = "json-patch")]
            Self::Json(patch) => patch.apply(item)?,
        }
        Ok(())
    }
}

#[cfg(feature = "json-patch")]
fn is_json_patch(req: &Request) -> bool {
    let content_type = req.headers().get(http::header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(super::JSON_PATCH))
}
