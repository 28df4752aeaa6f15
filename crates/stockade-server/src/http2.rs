//! The settings of hyper's part of an HTTP/2 connection.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::TokioTimer;

use crate::ServerOptions;
use crate::connection_record::ConnectionRecord;
use crate::streams::Streams;

/// Returns the builder of hyper's part of an HTTP/2 connection.
pub(crate) fn builder(
    options: &ServerOptions,
    record: &Arc<ConnectionRecord>,
) -> http2::Builder<Streams> {
    let streams = Streams::new(Arc::clone(record), options.write_terms());
    let mut http2 = http2::Builder::new(streams);
    http2
        .timer(TokioTimer::new())
        .enable_connect_protocol()
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT)
        .initial_stream_window_size(HTTP2_WINDOW)
        .initial_connection_window_size(HTTP2_WINDOW)
        .max_send_buf_size(HTTP2_SEND_BUFFER)
        .max_concurrent_streams(options.http2_max_streams)
        .max_header_list_size(options.max_header_bytes)
        .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
        .max_local_error_reset_streams(MAX_LOCAL_RESET_STREAMS);
    http2
}

/// A silent HTTP/2 client gets a ping after this time.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);

/// The time for the client to answer the ping.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);

/// The number of request body bytes that a client may send before the
/// application reads them, for all its requests together: 1 MiB.
const HTTP2_WINDOW: u32 = 1_048_576;

/// The number of response bytes that hyper buffers for the socket: 128 KiB.
const HTTP2_SEND_BUFFER: usize = 131_072;

/// The maximum number of streams that a client may reset before they are
/// accepted. More end the connection (CVE-2023-44487, "rapid reset").
const MAX_RESET_STREAMS: usize = 20;

/// The maximum number of streams reset because of the client's errors. More end
/// the connection (CVE-2025-8671, "made you reset").
const MAX_LOCAL_RESET_STREAMS: usize = 256;
