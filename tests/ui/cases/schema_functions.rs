//! Functions and values of the wrong type.

use stockade::serde_json::Value;
use stockade::validation::Schema;

fn is_even(number: u64) -> bool {
    number % 2 == 0
}

fn no_answer(_value: &Value, _field: &str, _root: &Value) -> u8 {
    0
}

#[derive(Schema)]
struct User {
    #[schema(custom = is_even)]
    age: u8,
    #[schema(custom = no_answer)]
    level: u8,
    #[schema(min_length = LEAST)]
    name: String,
    #[schema(with = is_even)]
    other: u8,
}

const LEAST: &str = "2";

fn main() {}
