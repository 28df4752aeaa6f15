//! Upgraded connections: each runs in a separate task, and still takes part in
//! the shutdown.
//!
//! An upgraded HTTP/1 connection counts against `max_connections` until it
//! ends. The sweep ignores it; the end of a shutdown cuts it off. On HTTP/2 it
//! is a request of its connection and ends with it at the latest.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use stockade_core::upgrade::requested_upgrade;
use stockade_core::upgrade::{Io, Switch, TlsConnection, Upgraded};
use tokio::sync::watch;

use crate::accept::{Stage, reached};
use crate::connection::{Http1Io, until_told};
use crate::connection_record::{Command, ConnectionRecord, InFlight};

/// A function that extracts the connection from hyper's type.
pub(crate) type Unwrap = fn(hyper::upgrade::Upgraded) -> Upgraded;

/// Extracts a connection of type `T` from hyper's type.
pub(crate) fn open<T: Io>(upgraded: hyper::upgrade::Upgraded) -> Upgraded {
    match upgraded.downcast::<Http1Io<T>>() {
        Ok(parts) => {
            let (io, read) = parts.io.into_inner().into_inner().into_parts(parts.read_buf);
            Upgraded::new(io).with_read(read)
        }
        // An HTTP/2 stream.
        Err(upgraded) => Upgraded::new(TokioIo::new(upgraded)),
    }
}

/// Returns hyper's promise of the connection if the request asks for an
/// upgrade, and records this in the extensions of the request.
pub(crate) fn wanted<B>(request: &mut http::Request<B>, is_tls: bool) -> Option<OnUpgrade> {
    // hyper adds an extension to every request that asks for an upgrade.
    if request.extensions().is_empty() {
        return None;
    }
    #[cfg(feature = "http2")]
    let protocol = request.extensions().get::<hyper::ext::Protocol>().map(|it| it.as_str());
    #[cfg(not(feature = "http2"))]
    let protocol = None;
    let upgrade = requested_upgrade(request.method(), request.headers(), protocol)?;
    let on_upgrade = hyper::upgrade::on(&mut *request);
    request.extensions_mut().insert(upgrade);
    if is_tls {
        request.extensions_mut().insert(TlsConnection);
    }
    Some(on_upgrade)
}

/// Runs the new protocol on a connection after the response is sent.
pub(crate) async fn run(
    on_upgrade: OnUpgrade,
    switch: Switch,
    open: Unwrap,
    record: Arc<ConnectionRecord>,
    http2: bool,
    mut stage: watch::Receiver<Stage>,
) {
    // An HTTP/2 connection is busy while this runs.
    let _in_flight = http2.then(|| InFlight::begin(&record));
    let upgraded = match on_upgrade.await {
        Ok(upgraded) => open(upgraded),
        Err(error) => {
            log::debug!(target: "stockade::server", "an upgrade failed: {error}");
            return;
        }
    };
    let shutdown = async move { reached(&mut stage, Stage::Finishing).await };
    let running = switch.run(upgraded.with_shutdown(shutdown));
    if http2 {
        running.await;
    } else {
        until_told(&record, Command::Close, running).await;
    }
}
