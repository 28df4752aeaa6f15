//! Keywords that are unknown, have the wrong value, or are in the wrong place.

use stockade::validation::Schema;

#[derive(Schema)]
#[schema(required)]
struct User {
    #[schema(min_lenght = 2)]
    name: String,
    #[schema(min_length = "2", type = "email")]
    email: String,
    #[schema(kind = "emial")]
    other: String,
    #[schema(format = "datetime", trim = 1)]
    date: String,
    #[schema(maxItems = 3, items(min_length = -1))]
    tags: Vec<String>,
    #[schema(name = "b")]
    a: u8,
}

fn main() {}
