//! Rate limits, load shedding and allocations.

mod by_request;
mod load;
mod rate_limits;
