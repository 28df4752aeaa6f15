//! Sessions: data of a client that is kept by the server, under an id in a cookie.
//!
//! [`Sessions`] begins, changes and ends them; [`Session`] is the one of a request, as
//! an argument of a handler. They lie in a [`SessionStore`]; the one in memory is
//! [`MemorySessionStore`]. The guide is the page `sessions` of the crate `stockade`.

// Where things are:
// - `sessions`: `Sessions`, all that a program does with them; `changes`: its calls that
//   read and write data; `user`: the user of a session.
// - `session`: `Session`, the one of a request.
// - `set_session`: `SetSession`, the part of a reply with the cookie.
// - `cache`: what a process has read a moment ago, if it may keep it.
// - `store`, `memory`: the trait of a store, and the one in memory.

mod cache;
mod changes;
mod memory;
mod session;
#[expect(clippy::module_inception, reason = "the type of the module")]
mod sessions;
mod set_session;
mod store;
mod user;

pub use memory::MemorySessionStore;
pub use session::Session;
pub use sessions::Sessions;
pub use set_session::SetSession;
pub use store::{
    NewSession, ReplacedSession, SessionKey, SessionStore, SessionWrite, StoredSession, Subject,
    SubjectKey,
};
