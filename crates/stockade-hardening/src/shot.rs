//! [`Shot`]: a request of an attack.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::{self, Location};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use stockade_core::upgrade::Upgrade;
use stockade_core::{HttpBody, PeerAddr, Request};
use stockade_errors::ApiError;

use crate::Credentials;
use crate::exchange::SentRequest;

/// A request of an attack. Its target may be invalid, unlike the target of a
/// test request.
#[derive(Clone, Debug)]
pub(crate) struct Shot {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ShotBody,
    /// The client address. `None` selects an unused address.
    pub(crate) peer: Option<SocketAddr>,
    /// True if the request gets a unique idempotency key.
    pub(crate) has_new_key: bool,
    /// Records how much of the body the application reads.
    pub(crate) probe: Option<BodyProbe>,
    /// The sender that signs the request, as an index of the test's keys.
    pub(crate) signer: Option<usize>,
}

/// Records how much of a body was read. Clones share the record.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyProbe {
    inner: Arc<ProbeState>,
}

#[derive(Debug, Default)]
struct ProbeState {
    is_polled: AtomicBool,
    /// The number of bytes.
    read: AtomicU64,
}

impl BodyProbe {
    /// Returns true if the body was polled, even if it is empty.
    pub(crate) fn is_polled(&self) -> bool {
        self.inner.is_polled.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that were read.
    pub(crate) fn read(&self) -> u64 {
        self.inner.read.load(Ordering::Relaxed)
    }

    /// Returns the record of the last request and resets it.
    pub(crate) fn take(&self) -> Self {
        let taken = Self::default();
        let is_polled = self.inner.is_polled.swap(false, Ordering::Relaxed);
        taken.inner.is_polled.store(is_polled, Ordering::Relaxed);
        taken.inner.read.store(self.inner.read.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        taken
    }

    /// Wraps a body to record the bytes that are read from it.
    fn watch(&self, body: HttpBody) -> HttpBody {
        let (probe, mut body) = (self.clone(), body);
        HttpBody::stream(stream::poll_fn(move |cx| {
            probe.inner.is_polled.store(true, Ordering::Relaxed);
            let chunk = std::task::ready!(pin!(body.chunk()).poll(cx)).transpose();
            if let Some(Ok(bytes)) = &chunk {
                probe.inner.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            Poll::Ready(chunk)
        }))
    }
}

/// The body of a request.
#[derive(Clone, Debug)]
pub(crate) enum ShotBody {
    Whole(Bytes),
    /// A stream without an announced length. It starts with `beginning` and
    /// continues with the letter `a` up to `length` bytes.
    Stream {
        beginning: &'static str,
        length: u64,
    },
    /// A stream that panics with this error when it is read.
    Panicking(Box<ApiError>),
}

impl Shot {
    pub(crate) fn new(method: Method, target: impl Into<String>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        Self {
            method,
            target: target.into(),
            headers,
            body: ShotBody::Whole(Bytes::new()),
            peer: None,
            has_new_key: false,
            probe: None,
            signer: None,
        }
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    /// Adds a header and keeps other headers with this name. Ignores a value
    /// that is invalid in a header, because no client can send it.
    pub(crate) fn add(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_ref())) {
            self.headers.append(name, value);
        }
        self
    }

    /// Sets a header and replaces all headers with this name.
    pub(crate) fn set(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.remove(name);
        self.add(name, value)
    }

    /// Sets whether the request gets a unique idempotency key in addition to
    /// explicitly added keys.
    pub(crate) fn new_key(mut self, has_new_key: bool) -> Self {
        self.has_new_key = has_new_key;
        self
    }

    /// Adds the credentials of a user.
    pub(crate) fn of(mut self, user: &Credentials) -> Self {
        self.headers.extend(user.headers().clone());
        self
    }

    pub(crate) fn without_body(mut self) -> Self {
        self.headers.remove(header::CONTENT_TYPE);
        self.body = ShotBody::Whole(Bytes::new());
        self
    }

    pub(crate) fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = ShotBody::Whole(body.into());
        self.set("content-type", content_type)
    }

    pub(crate) fn stream(
        mut self,
        content_type: &str,
        beginning: &'static str,
        length: u64,
    ) -> Self {
        self.body = ShotBody::Stream { beginning, length };
        self.set("content-type", content_type)
    }

    /// Sets a body that panics when it is read, like a bug in the program.
    pub(crate) fn panicking(mut self, error: ApiError) -> Self {
        self.body = ShotBody::Panicking(Box::new(error));
        self
    }

    /// Records in `probe` how much of the body is read.
    pub(crate) fn probed(mut self, probe: &BodyProbe) -> Self {
        self.probe = Some(probe.clone());
        self
    }

    pub(crate) fn peer(mut self, peer: SocketAddr) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Returns the request for messages, with the line of the test.
    pub(crate) fn sent(&self, location: &'static Location<'static>) -> SentRequest {
        SentRequest {
            method: self.method.clone(),
            target: self.target.clone(),
            headers: self.headers.clone(),
            body: self.body.shown(),
            location,
        }
    }

    /// Creates the request as the server would. Returns `None` if the target is
    /// not a valid HTTP target.
    pub(crate) fn request(&self, peer: SocketAddr) -> Option<Request> {
        let uri: Uri = self.target.parse().ok()?;
        let body = self.body.to_http();
        let body = match &self.probe {
            Some(probe) => probe.watch(body),
            None => body,
        };
        let mut request = http::Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        if let ShotBody::Whole(bytes) = &self.body
            && !bytes.is_empty()
        {
            let headers = request.headers_mut();
            headers.entry(header::CONTENT_LENGTH).or_insert(bytes.len().into());
        }
        if self.headers.contains_key(header::UPGRADE) {
            request.extensions_mut().insert(Upgrade::http1());
        }
        request.extensions_mut().insert(PeerAddr(peer));
        Some(request.into())
    }
}

impl ShotBody {
    fn to_http(&self) -> HttpBody {
        match self {
            Self::Whole(bytes) => bytes.clone().into(),
            Self::Stream { beginning, length } => {
                let beginning = Bytes::from_static(beginning.as_bytes());
                let letters = Bytes::from_static(&[b'a'; PIECE]);
                let mut missing = length.saturating_sub(beginning.len() as u64);
                let rest = std::iter::from_fn(move || {
                    // A piece always fits into memory.
                    let piece = usize::try_from(missing).unwrap_or(PIECE).min(PIECE);
                    missing -= piece as u64;
                    (piece > 0).then(|| letters.slice(..piece))
                });
                let pieces = std::iter::once(beginning).chain(rest);
                HttpBody::stream(stream::iter(pieces.map(Ok::<_, Infallible>)))
            }
            Self::Panicking(error) => {
                let error = error.clone();
                HttpBody::stream(stream::poll_fn(move |_| -> Poll<Option<Piece>> {
                    // Unlike `panic!`, this does not call the panic hook, which
                    // would print the message.
                    panic::resume_unwind(error.clone())
                }))
            }
        }
    }

    /// Returns the bytes for messages; `None` for a stream.
    fn shown(&self) -> Option<Bytes> {
        match self {
            Self::Whole(bytes) => Some(bytes.clone()),
            Self::Stream { .. } | Self::Panicking(_) => None,
        }
    }
}

type Piece = Result<Bytes, Infallible>;

/// The maximum size of one piece of a long body.
const PIECE: usize = 16_384;
