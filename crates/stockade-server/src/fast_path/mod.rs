//! Everything that depends on hyper internals.
//!
//! | optimization | saves | file |
//! |---|---|---|
//! | headers as text after the status line | 3,400 of 4,600 instructions per response with the default headers | `head_writer` |
//! | idle connections without hyper's part (parking) | about 10 KiB per idle connection | `parking`, `exchanges` |
//! | a peek instead of a read, to notice disconnected clients | a tenth of a request | `TrackedStream::watch` |
//!
//! They rely on rules that hyper follows but does not promise. Each rule is an
//! [`Assumption`]. A program may be linked with a hyper that is newer than this
//! crate. The first server of a process therefore checks the rules on the
//! linked hyper ([`is_usable`]): `probe` runs exchanges on a `probe_socket`,
//! and an `observer` finds broken rules.
//!
//! If a rule is broken, servers use the plain path, which needs none of this:
//! hyper writes all headers and reads to notice disconnected clients, and no
//! connection is parked. Clients can distinguish the two paths only by time and
//! by the order of headers. `ServerOptions::hyper_fast_path(false)` also
//! selects the plain path.

mod assumption;
#[cfg(test)]
mod broken_hyper;
pub(crate) mod exchanges;
pub(crate) mod head_writer;
mod observer;
pub(crate) mod parking;
mod probe;
mod probe_socket;
#[cfg(test)]
mod recording_socket;

use std::sync::OnceLock;

pub(crate) use assumption::Assumption;

/// Returns true if the linked hyper follows each [`Assumption`].
///
/// The first call in a process checks them, and logs a warning if one is
/// broken.
pub(crate) fn is_usable() -> bool {
    static IS_USABLE: OnceLock<bool> = OnceLock::new();
    *IS_USABLE.get_or_init(|| {
        let broken = probe::broken_assumptions();
        if let Some(warning) = assumption::warning(&broken) {
            log::warn!(target: "stockade::server", "{warning}");
        }
        broken.is_empty()
    })
}
