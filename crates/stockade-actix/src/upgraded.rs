//! Upgraded connections.
//!
//! actix-web does not hand over its connections. The bytes of the client come as
//! the payload of the request, and the bytes for the client are the body of the
//! 101. A pipe makes one connection of both.

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

/// Starts the new protocol, and returns the 101 whose body is its output.
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

/// Puts the bytes of the client into the pipe, until one of the two ends.
async fn receive(mut payload: Payload, mut pipe: WriteHalf<DuplexStream>) {
    while let Some(Ok(piece)) = next(&mut payload).await {
        if pipe.write_all(&piece).await.is_err() {
            return;
        }
    }
    // The protocol reads the end then. An error means that it has ended
    // already, and needs no report.
    let _ = pipe.shutdown().await;
}

/// The output of the pipe as a body of actix-web, whose end closes the connection.
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

/// The bytes that the pipe holds in each direction: 16 KiB.
const PIPE_BYTES: usize = 16_384;

/// The bytes that one piece for the client has at most: 4 KiB.
const PIECE_BYTES: usize = 4_096;
