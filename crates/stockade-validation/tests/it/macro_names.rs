//! Checks that the macro and the validation know the same formats and types.

use serde_json::json;
use stockade_validation::__internal::{FORMATS, TEXT_TYPES};
use stockade_validation::Schema;

/// The macro's table. The macro is expanded before the validation crate is
/// compiled, so it cannot use that crate's table.
#[path = "../../../stockade-macros/src/schema/keyword/names.rs"]
mod names;

#[test]
fn formats_and_types_match_the_validation_crate() {
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    assert_eq!(names::FORMATS, formats);
    let forms = TEXT_TYPES.iter().map(|form| form.name());
    assert!(forms.clone().all(|name| names::KINDS.contains(&name)));
    // The others are the seven JSON types.
    assert_eq!(names::KINDS.len(), 7 + forms.count());
    for kind in names::KINDS {
        assert!(Schema::rule(&json!({ "type": kind })).is_ok(), "{kind}");
    }
}
