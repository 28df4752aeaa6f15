//! Sessions: data of a client that is kept by the server, under an id in a cookie.
//!
//! They lie in a [`SessionStore`]; the one in memory is [`MemorySessionStore`].

// Where things are:
// - `store`, `memory`: the trait of a store, and the one in memory.

mod memory;
mod store;

pub use memory::MemorySessionStore;
pub use store::{
    NewSession, ReplacedSession, SessionKey, SessionStore, SessionStoreError, SessionWrite,
    StoredSession, SubjectKey,
};
