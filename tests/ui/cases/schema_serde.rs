//! Types that serde can read but a schema cannot describe.

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
