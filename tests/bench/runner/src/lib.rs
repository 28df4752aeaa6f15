//! The parts of the runner that `scenarios` needs too: building, starting, placing.

pub mod median;
pub mod place;
pub mod server;
pub mod turns;

/// The result of a step; an error is a text for whoever reads the terminal.
pub type Outcome<T = ()> = Result<T, String>;
