//! The parts of the runner that `scenarios` also uses: builds, servers and
//! processor pinning.

pub mod median;
pub mod place;
pub mod server;
pub mod turns;

/// The result of a step; an error is a text for the terminal.
pub type Outcome<T = ()> = Result<T, String>;
