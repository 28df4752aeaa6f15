//! Shared code of the servers and the runner: the scenarios, their bytes, the
//! certificate, and the start of a server.

pub mod content;
pub mod scenario;
pub mod start;
pub mod tls;

pub use scenario::Scenario;
pub use start::Start;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
