//! Attributes that change the form of a type in a way that a schema cannot follow.

use stockade::validation::Schema;

#[derive(Schema)]
#[serde(field_identifier)]
enum Name {
    First,
    Second,
}

#[derive(Schema)]
#[serde(variant_identifier)]
enum Variant {
    First,
}

#[derive(Schema)]
struct Unknown {
    #[serde(flatten_deeply = "yes", bound = "", borrow)]
    name: String,
}

#[derive(Schema)]
struct Shifting(u8, #[serde(skip_serializing_if = "Option::is_none")] Option<u8>, u8);

fn main() {}
