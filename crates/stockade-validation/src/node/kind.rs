//! The JSON types as bits.

pub(crate) const STRING: u8 = 1;
pub(crate) const NUMBER: u8 = 1 << 1;
pub(crate) const INTEGER: u8 = 1 << 2;
pub(crate) const BOOLEAN: u8 = 1 << 3;
pub(crate) const ARRAY: u8 = 1 << 4;
pub(crate) const OBJECT: u8 = 1 << 5;
pub(crate) const NULL: u8 = 1 << 6;

/// The JSON types, in the order of the specification.
pub(crate) const NAMES: [(&str, u8); 7] = [
    ("string", STRING),
    ("number", NUMBER),
    ("boolean", BOOLEAN),
    ("object", OBJECT),
    ("array", ARRAY),
    ("integer", INTEGER),
    ("null", NULL),
];
