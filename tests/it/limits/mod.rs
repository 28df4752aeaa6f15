//! Rate limits, load shedding and allocations.

mod allocations;
mod load;
mod rate_limits;
