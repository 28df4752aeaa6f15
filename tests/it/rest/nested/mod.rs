//! Marks inside the fields of items: clients neither set a read-only value nor receive a
//! write-only one, at any depth, and a write keeps the stored values.

mod examples;
