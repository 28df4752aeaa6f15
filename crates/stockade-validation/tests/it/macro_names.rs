//! The names of formats and types that the macro knows are those of the validation.

use serde_json::json;
use stockade_validation::__internal::{FORMATS, TEXT_TYPES};
use stockade_validation::Schema;

/// The macro's own table: it is expanded before the validation is compiled, and cannot
/// read that of the validation.
#[path = "../../../stockade-macros/src/schema/keyword/names.rs"]
mod names;

#[test]
fn formats_and_types_are_those_of_the_validation() {
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    assert_eq!(names::FORMATS, formats);
    let forms = TEXT_TYPES.iter().map(|form| form.name());
    assert!(forms.clone().all(|name| names::KINDS.contains(&name)));
    // The others are the seven types of JSON.
    assert_eq!(names::KINDS.len(), 7 + forms.count());
    for kind in names::KINDS {
        assert!(Schema::rule(&json!({ "type": kind })).is_ok(), "{kind}");
    }
}
