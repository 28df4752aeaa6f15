//! Cross-origin requests, security headers and attacks.

mod cors_by_route;
mod cross_origin;
mod defences;
mod hardened;
mod observatory;
