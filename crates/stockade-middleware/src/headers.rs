//! Header functions that several helpers share.

pub(crate) use stockade_core::headers::{add_vary, has_token};
