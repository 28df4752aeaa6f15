//! [`read()`]: reads a header from a connection.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::header::{MAX_LENGTH, Parsed, Source, parse};

/// Reads the header of a connection, and no byte after it.
///
/// Bytes that follow in the same segment stay in the socket. TLS and HTTP read
/// them as on any other connection, and a connection with a header has no
/// further cost. The price is a few more reads for version 1, which does not
/// announce its length.
///
/// The caller limits the time: a header has the time of the first request head.
///
/// # Errors
/// Fails if the header is malformed, or if the connection ends within the
/// header.
pub(crate) async fn read<T: AsyncRead + Unpin>(io: &mut T) -> io::Result<Source> {
    let mut seen = [0; MAX_LENGTH];
    let mut length = 0;
    std::future::poll_fn(|cx| {
        loop {
            let missing = match parse(&seen[..length]) {
                Ok(Parsed::Complete(source)) => return Poll::Ready(Ok(source)),
                Ok(Parsed::Incomplete { missing }) => missing,
                Err(reason) => {
                    let error = io::Error::new(ErrorKind::InvalidData, reason);
                    return Poll::Ready(Err(error));
                }
            };
            let mut rest = ReadBuf::new(&mut seen[length..length + missing]);
            ready!(Pin::new(&mut *io).poll_read(cx, &mut rest))?;
            let count = rest.filled().len();
            if count == 0 {
                let error = io::Error::new(ErrorKind::UnexpectedEof, "the header is incomplete");
                return Poll::Ready(Err(error));
            }
            length += count;
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::header::tests::valid;
    use super::*;

    #[tokio::test]
    async fn leaves_the_bytes_after_the_header() {
        for (header, expected) in valid() {
            let all = [&header[..], b"GET / HTTP/1.1\r\n"].concat();
            let mut io = &all[..];
            assert_eq!(read(&mut io).await.unwrap(), expected, "{header:?}");
            assert_eq!(io, b"GET / HTTP/1.1\r\n", "{header:?}");
        }
    }

    #[tokio::test]
    async fn reads_headers_in_any_two_pieces() {
        for (header, expected) in valid() {
            for at in 1..header.len() {
                let (one, other) = header.split_at(at);
                let mut io = one.chain(other).chain(&b"rest"[..]);
                assert_eq!(read(&mut io).await.unwrap(), expected, "{header:?} at {at}");
                let mut rest = String::new();
                io.read_to_string(&mut rest).await.unwrap();
                assert_eq!(rest, "rest", "{header:?} at {at}");
            }
        }
    }

    #[tokio::test]
    async fn reads_headers_byte_by_byte() {
        for (header, expected) in valid() {
            // A pipe with room for one byte.
            let (mut client, mut server) = tokio::io::duplex(1);
            let send = async { client.write_all(&header).await.unwrap() };
            let ((), source) = tokio::join!(send, read(&mut server));
            assert_eq!(source.unwrap(), expected, "{header:?}");
        }
    }

    #[tokio::test]
    async fn fails_if_the_connection_ends_within_a_header() {
        for (header, _) in valid() {
            for length in 0..header.len() {
                let error = read(&mut &header[..length]).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{header:?} to {length}");
            }
        }
    }
}
