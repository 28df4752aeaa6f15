//! What serde can read and a schema cannot say.

use stockade::validation::Schema;

#[derive(Schema)]
#[serde(untagged)]
enum Id {
    Number(u64),
    Text(String),
}

#[derive(Schema)]
#[serde(tag = "kind")]
enum Shape {
    Pair(u8, u8),
    #[serde(other)]
    Other,
}

#[derive(Schema)]
struct User {
    #[serde(alias = "username")]
    name: String,
}

#[derive(Schema)]
struct Borrowed<'a> {
    name: &'a str,
}

#[derive(Schema)]
union Bits {
    int: u32,
    float: f32,
}

fn main() {}
