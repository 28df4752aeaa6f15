//! Authentication, authorization, sessions and logout.

mod algorithms;
mod logged_out;
mod logged_out_attacks;
mod logged_out_sockets;
mod lookups;
mod revoked_issuers;
mod sessions;
mod setting;
mod users;
