//! Keywords for another type, and bounds that contradict each other.

use stockade::validation::Schema;

#[derive(Schema)]
struct User {
    #[schema(min_length = 2)]
    active: bool,
    #[schema(pattern = "^[0-9]+$")]
    age: Option<u8>,
    #[schema(minimum = 5, maximum = 3)]
    level: u8,
    #[schema(min_items = 3, max_items = 2, items(trim))]
    tags: Vec<u8>,
}

fn main() {}
