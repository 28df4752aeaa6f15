//! The checks of `stockade::testing`: contracts, properties, policies, locks and stores.

mod conformance;
mod contract;
mod lock;
mod policy;
mod properties;
