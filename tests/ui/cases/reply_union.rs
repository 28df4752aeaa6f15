//! `Reply` of a union.

use stockade::prelude::*;

#[derive(Reply)]
union Bits {
    _int: u32,
    _float: f32,
}

fn main() {}
