//! Upgraded connections.
//!
//! actix-web does not hand over connections. The client's bytes arrive as the
//! request payload, and the bytes to the client are the body of the 101. A pipe
//! combines both into one connection.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::ConnectionType;
use bytes::Bytes;
use stockade_core::Response;
use stockade_core::upgrade::{Switch, Upgraded};
use tokio::io::{
    AsyncRead as _, AsyncWriteExt as _, DuplexStream, ReadBuf, ReadHalf, WriteHalf, duplex, split,
};

use crate::request_body::next;
use crate::response;

/// Starts the new protocol, and returns the 101 with its output as body.
pub(crate) fn start(response: &Response, switch: Switch, payload: Payload) -> HttpResponse {
    let (ours, theirs) = duplex(PIPE_BYTES);
    let (sends, receives) = split(theirs);
    actix_web::rt::spawn(receive(payload, receives));
    actix_web::rt::spawn(switch.run(Upgraded::new(ours)));

    let mut head = response::head(response);
    head.head_mut().set_connection_type(ConnectionType::Upgrade);
    head.head_mut().no_chunking(true);
    head.set_body(BoxBody::new(PipeBody { sends, buffer: vec![0; PIECE_BYTES].into() }))
}

/// Copies the client's bytes into the pipe, until either ends.
async fn receive(mut payload: Payload, mut pipe: WriteHalf<DuplexStream>) {
    while let Some(Ok(piece)) = next(&mut payload).await {
        if pipe.write_all(&piece).await.is_err() {
            return;
        }
    }
    // The protocol then reads the end. An error means that it has already
    // ended, which needs no report.
    let _ = pipe.shutdown().await;
}

/// The output of the pipe as an actix-web body. Its end closes the connection.
struct PipeBody {
    sends: ReadHalf<DuplexStream>,
    buffer: Box<[u8]>,
}

impl MessageBody for PipeBody {
    type Error = std::io::Error;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, std::io::Error>>> {
        let Self { sends, buffer } = &mut *self;
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(sends).poll_read(cx, &mut buffer))?;
        let piece = buffer.filled();
        Poll::Ready((!piece.is_empty()).then(|| Ok(Bytes::copy_from_slice(piece))))
    }
}

/// The pipe's buffer size in each direction: 16 KiB.
const PIPE_BYTES: usize = 16_384;

/// The maximum size of a chunk to the client: 4 KiB.
const PIECE_BYTES: usize = 4_096;
