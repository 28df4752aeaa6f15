//! [`COMMON_TYPES`]: the code that reads the types which most programs have.
//!
//! In a debug build the generic code of a crate also serves the crates above it. If
//! nothing read a `String` here, each program would compile that again, or take it
//! from a crate that happens to have it, and so link that whole crate: without this
//! list, a program that has no OpenAPI document links all of `stockade-openapi`.

use serde::de::DeserializeOwned;

use super::reader::TypedReader;
use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// Functions that nothing calls; a linker leaves them out of an optimised program.
pub static COMMON_TYPES: &[fn(TypedReader<'_, '_>) -> Option<Rule>] = &[
    read::<String>,
    read::<bool>,
    read::<f64>,
    read::<i32>,
    read::<i64>,
    read::<u32>,
    read::<u64>,
    read::<usize>,
    read::<Option<String>>,
    read::<Vec<String>>,
];

fn read<T: DeserializeOwned + HasSchema>(reader: TypedReader<'_, '_>) -> Option<Rule> {
    let value = T::deserialize(reader).ok();
    value.is_some().then(T::field_rule)
}
