//! Shared code of all contestants: requests, responses, routes, and the
//! protocol between a server and the program that starts it.

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
