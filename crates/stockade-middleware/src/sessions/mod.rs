//! Sessions: client data that the server stores under an id in a cookie.
//!
//! [`Sessions`] begins, changes and ends them; [`Session`] is the session of a
//! request, as a handler argument. They are in a [`SessionStore`], such as the
//! in-memory [`MemorySessionStore`]. `book/src/how-to/sessions.md` has a
//! complete example.

// Files:
// - `sessions`: `Sessions`, the entry point; `changes`: its methods that read
//   and write data; `user`: the user of a session.
// - `session`: `Session`, the session of a request.
// - `set_session`: `SetSession`, the part of a response with the cookie.
// - `cache`: the cache of recently read sessions.
// - `store`, `memory`: the store trait and the in-memory store.

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
