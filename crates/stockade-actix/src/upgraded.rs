//! A connection that leaves HTTP.
//!
//! actix-web gives no connection away: what the client sends comes as the
//! payload of the request, what is sent to it is the body of the 101. A pipe
//! makes one connection of both.

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

/// The answer that gives the connection away, and what is to run on it, which
/// begins.
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

/// Puts what the client sends into the pipe, until one of them ends.
async fn receive(mut payload: Payload, mut pipe: WriteHalf<DuplexStream>) {
    while let Some(Ok(piece)) = next(&mut payload).await {
        if pipe.write_all(&piece).await.is_err() {
            return;
        }
    }
    // The other end then reads an end; if it is gone, nothing is left to tell.
    let _ = pipe.shutdown().await;
}

/// What comes out of the pipe, as a body of actix-web. It ends the connection.
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

/// 16 KiB in each direction.
const PIPE_BYTES: usize = 16_384;

/// 4 KiB at a time to the client.
const PIECE_BYTES: usize = 4_096;
