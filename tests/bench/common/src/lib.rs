//! What all contestants share: the requests, their answers, the routes, and the
//! few words that a server and its caller exchange.

#[cfg(feature = "check")]
mod check;
#[cfg(feature = "check")]
pub mod client;
pub mod header;
pub mod mode;
pub mod route;
pub mod token;
#[cfg(feature = "check")]
pub mod usage;
#[cfg(feature = "user")]
pub mod user;
pub mod workload;

pub use mode::Mode;
