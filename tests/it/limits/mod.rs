//! Rate limits, load shedding and allocations.

mod load;
mod rate_limits;
