//! [`COMMON_TYPES`]: compiles the code that reads the types of most programs.
//!
//! In a debug build, dependent crates reuse the generic code of a crate. If
//! nothing here read a `String`, each program would compile that code itself,
//! or reuse the code of any crate that contains it and link that whole crate.
//! For example, a program without an OpenAPI document would link all of
//! `stockade-openapi`.

use serde::de::DeserializeOwned;

use super::reader::TypedReader;
use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// Functions that are never called. The linker removes them from an optimized
/// program.
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
