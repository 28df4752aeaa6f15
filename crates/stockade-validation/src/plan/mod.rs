//! A schema arranged for the answer "yes, as it is".
//!
//! Most data is right and needs no change. A [`Plan`] says so without paths,
//! errors or patches; whatever it cannot settle, it does not accept, and then
//! [`check`](crate::check) judges with all its words. So a plan never says
//! "no", and it never says "yes" where `check` would find or change anything.
//!
//! - `tree`: [`Plan`] and its parts.
//! - `compile`: from [`Node`](crate::node::Node) to plan, or to none.
//! - `judge`: the questions of one value.
//! - `value`: a parsed value, as a whole.

mod compile;
mod judge;
mod tree;
mod value;

pub(crate) use judge::{Unknown, same};
pub(crate) use tree::{ANY, Accept, ArrayPlan, ObjectPlan, Plan};
