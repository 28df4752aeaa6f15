//! Paths, methods and the tree: which route responds, and how it is declared.

mod any;
mod by_host;
mod construction;
mod entries;
mod fallback;
mod handlers;
mod hosts;
mod map;
mod options;
mod paths;
mod routes_macro;
mod run_to_completion;
mod settings;
mod spellings;
mod state;
mod tower;
mod trailing_slash;
