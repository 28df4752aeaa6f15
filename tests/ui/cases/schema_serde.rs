//! What serde can read and a schema cannot say.

use stockade::validation::Schema;

#[derive(Schema)]
#[serde(tag = "kind")]
enum Shape {
    Pair(u8, u8),
    #[serde(other)]
    Other,
}

#[derive(Schema)]
union Bits {
    int: u32,
    float: f32,
}

fn main() {}
