//! [`HttpBody`]: the bytes of a message, buffered or streamed.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures_core::Stream;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use stockade_errors::{ApiError, BoxError};

/// The body of a request or a response: empty, bytes, or a stream.
///
/// An empty body and bytes need no extra allocation. A stream is boxed once.
///
/// Read it with [`chunk`](Self::chunk), as a `Stream` of its data, or as an
/// `http_body::Body`, which also has trailers.
///
/// ```
/// use stockade::{ApiError, HttpBody};
///
/// async fn count(mut body: HttpBody) -> Result<String, ApiError> {
///     let mut length = 0;
///     while let Some(chunk) = body.chunk().await? {
///         length += chunk.len();
///     }
///     Ok(format!("{length} bytes"))
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.post("/", count);
/// TestClient::new(router).post("/").body("four").await.assert_text("4 bytes");
/// # }
/// ```
pub struct HttpBody {
    kind: Kind,
}

enum Kind {
    Empty,
    Bytes(Bytes),
    Stream(BoxStream),
}

pub(crate) type BoxStream = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

impl HttpBody {
    /// Creates an empty body.
    #[must_use]
    pub const fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    /// Wraps a body of another type, such as a host's body.
    ///
    /// A body that has already ended costs nothing. Chunks are copied unless
    /// they are [`Bytes`].
    pub fn new<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            return Self::empty();
        }
        Self { kind: Kind::Stream(Box::pin(Foreign { body })) }
    }

    /// Creates a body that sends each chunk when the stream produces it.
    ///
    /// A stream error closes the connection, which tells the client that data
    /// is missing.
    pub fn stream<S, D, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<D, E>> + Send + 'static,
        D: Into<Bytes> + 'static,
        E: Into<BoxError> + 'static,
    {
        let stream = StreamBody { stream, pieces: PhantomData };
        Self { kind: Kind::Stream(Box::pin(stream)) }
    }

    /// Returns the next chunk, or `None` at the end. Trailers are skipped.
    ///
    /// # Errors
    /// For a request body: 413 above the limit of the route, 408 if it does not
    /// arrive in time, and 400 if it ends early. Every other error is a 500.
    /// Further calls after an error are unspecified.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ApiError>>> {
        loop {
            let frame = match ready!(Pin::new(&mut *self).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            };
            if let Ok(data) = frame.into_data() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }

    /// Returns the bytes, or `None` for a stream.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Empty => Some(&[]),
            Kind::Bytes(bytes) => Some(bytes),
            Kind::Stream(_) => None,
        }
    }

    /// Replaces the stream, if the body is a stream.
    pub(crate) fn map_stream(&mut self, change: impl FnOnce(BoxStream) -> BoxStream) {
        if let Kind::Stream(_) = self.kind
            && let Kind::Stream(stream) = std::mem::replace(&mut self.kind, Kind::Empty)
        {
            self.kind = Kind::Stream(change(stream));
        }
    }
}

pin_project! {
    /// A body of another type. Unlike a mapped body, it keeps its length.
    struct Foreign<B> {
        #[pin]
        body: B,
    }
}

impl<B: Body> Body for Foreign<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // Does not copy if the data is already `Bytes`.
        let whole = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        self.project().body.poll_frame(cx).map(|polled| {
            polled.map(|frame| frame.map(|frame| frame.map_data(whole)).map_err(Into::into))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Default for HttpBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Bytes> for HttpBody {
    fn from(bytes: Bytes) -> Self {
        Self { kind: if bytes.is_empty() { Kind::Empty } else { Kind::Bytes(bytes) } }
    }
}

impl From<Vec<u8>> for HttpBody {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for HttpBody {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static str> for HttpBody {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl From<&'static [u8]> for HttpBody {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<()> for HttpBody {
    fn from((): ()) -> Self {
        Self::empty()
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Bytes(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Stream(stream) => stream.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Bytes(_) => false,
            Kind::Stream(stream) => stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(stream) => stream.size_hint(),
        }
    }
}

/// The data of the body, like [`chunk`](HttpBody::chunk).
impl Stream for HttpBody {
    type Item = Result<Bytes, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_chunk(cx)
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Empty => f.write_str("HttpBody::Empty"),
            Kind::Bytes(bytes) => write!(f, "HttpBody::Bytes({} bytes)", bytes.len()),
            Kind::Stream(_) => f.write_str("HttpBody::Stream"),
        }
    }
}

pin_project! {
    /// A stream of chunks as a body without trailers.
    struct StreamBody<S, D, E> {
        #[pin]
        stream: S,
        pieces: PhantomData<fn() -> (D, E)>,
    }
}

impl<S, D, E> Body for StreamBody<S, D, E>
where
    S: Stream<Item = Result<D, E>>,
    D: Into<Bytes>,
    E: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.project().stream.poll_next(cx).map(|item| {
            item.map(|piece| piece.map(|data| Frame::data(data.into())).map_err(Into::into))
        })
    }
}
