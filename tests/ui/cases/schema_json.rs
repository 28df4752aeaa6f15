//! Unknown keywords in `schema!`, and a keyword among the fields of a field map.

use stockade::prelude::*;

fn main() {
    let _ = schema!({ "title": { "type": "string", "maxLenght": 40 } });
    let _ = schema!({ "anyOf": [{ "type": "string", "colour": 1 }] });
    let _ = schema!({ "title": { "type": "string" }, "not": { "min": 1 } });
}
