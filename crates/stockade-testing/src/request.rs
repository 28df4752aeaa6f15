//! [`TestRequest`]: a request of a test.

use std::fmt::{self, Display};
use std::future::IntoFuture;
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use serde::Serialize;
use stockade_core::{HttpBody, PeerAddr};
use stockade_errors::BoxError;
use stockade_hardening::exchange::{Exchange, SentRequest};
use stockade_hardening::fail::{fail, or_fail};
use stockade_hardening::header::{bearer_value, header_of};

use crate::transport::Connection;
use crate::{MultipartForm, TestClient, TestError, TestResponse, TestStream};

/// A request builder; `.await` sends the request.
///
/// Each method panics at the line of its caller if its argument is not valid in
/// a request.
#[must_use = "a request is not sent until it is awaited"]
pub struct TestRequest {
    client: TestClient,
    method: Method,
    target: String,
    headers: HeaderMap,
    cookies: Vec<(String, String)>,
    body: HttpBody,
    peer: SocketAddr,
    location: &'static Location<'static>,
}

impl TestRequest {
    pub(crate) fn new(
        client: TestClient,
        method: Method,
        target: &str,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            method,
            target: target.to_owned(),
            headers: HeaderMap::new(),
            cookies: Vec::new(),
            body: HttpBody::empty(),
            peer: client.peer,
            location,
            client,
        }
    }

    /// Adds a header. It replaces the client's header with this name. A
    /// `Content-Type` also replaces the one from [`json`](Self::json),
    /// [`form`](Self::form) and similar methods.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, value) = header_of(name.as_ref(), value.as_ref());
        if name == header::CONTENT_TYPE {
            self.headers.insert(name, value);
        } else {
            self.headers.append(name, value);
        }
        self
    }

    /// Sets `Authorization: Bearer …`.
    ///
    /// # Panics
    /// Panics if the token is not a valid header value.
    #[track_caller]
    pub fn bearer(mut self, token: impl AsRef<str>) -> Self {
        self.headers.insert(header::AUTHORIZATION, bearer_value(token.as_ref()));
        self
    }

    /// Sends a cookie, which replaces a cookie with this name in the client's
    /// jar.
    ///
    /// # Panics
    /// Panics if the cookie is not valid in a header.
    #[track_caller]
    pub fn cookie(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, value) = (name.as_ref(), value.as_ref());
        drop(header_of("cookie", &format!("{name}={value}")));
        self.cookies.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds pairs to the query, from a struct, a map, or a list of pairs. A
    /// list value becomes a repeated key.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized as pairs.
    #[track_caller]
    pub fn query(mut self, pairs: impl Serialize) -> Self {
        let pairs = form_of(&pairs);
        let separator = if self.target.contains('?') { '&' } else { '?' };
        if !pairs.is_empty() {
            self.target = format!("{}{separator}{pairs}", self.target);
        }
        self
    }

    /// Sends a value as JSON.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized as JSON.
    #[track_caller]
    pub fn json(self, value: impl Serialize) -> Self {
        match serde_json::to_vec(&value) {
            Ok(bytes) => self.typed("application/json").body(bytes),
            Err(error) => fail(format_args!("cannot serialize the value as JSON: {error}")),
        }
    }

    /// Sends a form from a struct, a map, or a list of pairs.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized as pairs.
    #[track_caller]
    pub fn form(self, pairs: impl Serialize) -> Self {
        let pairs = form_of(&pairs);
        self.typed("application/x-www-form-urlencoded").body(pairs)
    }

    /// Sends a multipart form.
    pub fn multipart(mut self, form: MultipartForm) -> Self {
        let (content_type, body) = form.encode();
        if let Ok(value) = HeaderValue::try_from(content_type) {
            self.headers.insert(header::CONTENT_TYPE, value);
        }
        self.body(body)
    }

    /// Sends these bytes. Set the `Content-Type` with [`header`](Self::header).
    pub fn body(mut self, bytes: impl Into<Bytes>) -> Self {
        self.body = bytes.into().into();
        self
    }

    /// Sends the chunks of a stream, without announcing its length.
    pub fn body_stream<S, D, E>(mut self, stream: S) -> Self
    where
        S: Stream<Item = Result<D, E>> + Send + 'static,
        D: Into<Bytes> + 'static,
        E: Into<BoxError> + 'static,
    {
        self.body = HttpBody::stream(stream);
        self
    }

    /// Sets the client address of the request, such as `203.0.113.7`, with or
    /// without a port.
    ///
    /// # Panics
    /// Panics if the address is malformed, or if the client was created with
    /// [`TestClient::live`], which uses the real address.
    #[track_caller]
    pub fn peer(mut self, address: impl Display) -> Self {
        self.peer = self.client.peer_of(&address.to_string());
        self
    }

    /// Sends the request and reads the whole response. `.await` does the same.
    ///
    /// # Panics
    /// Panics if the response is missing or incomplete; see [`TestError`].
    pub async fn send(self) -> TestResponse {
        or_fail(self.try_send().await)
    }

    /// Sends the request and reads the whole response.
    ///
    /// # Errors
    /// Fails if the response is missing or incomplete: no server is listening,
    /// the body ends early, or the timeout expires.
    pub async fn try_send(self) -> Result<TestResponse, TestError> {
        self.try_stream().await?.try_into_response().await
    }

    /// Sends the request and returns the response as soon as its head arrives.
    /// Read the body by chunk or by event.
    ///
    /// # Panics
    /// Panics if the response is missing; see [`TestError`].
    pub async fn stream(self) -> TestStream {
        or_fail(self.try_stream().await.and_then(TestStream::checked))
    }

    async fn try_stream(self) -> Result<TestStream, TestError> {
        let (stream, _) = self.sent().await?;
        Ok(stream)
    }

    /// Sends the request and waits for the response head. Also returns the
    /// connection if it was upgraded.
    pub(crate) async fn sent(self) -> Result<(TestStream, Option<Connection>), TestError> {
        let request = self.completed();
        let (client, asked) = (request.client.clone(), request.asked());
        let sent = client.in_time("response", request.exchange()).await;
        sent.and_then(|sent| sent).map_err(|error| error.in_exchange(&asked))
    }

    /// Adds the headers and the cookies of the client.
    fn completed(mut self) -> Self {
        self.client.complete(&self.target, &mut self.headers, &self.cookies);
        self.cookies.clear();
        self
    }

    /// Sends the completed request. Returns the head, the body source, and the
    /// connection if it was upgraded.
    async fn exchange(self) -> Result<(TestStream, Option<Connection>), TestError> {
        let asked = self.asked();
        let Self { client, method, target, headers, body, peer, .. } = self;
        let uri: Uri = target.parse().map_err(|error: http::uri::InvalidUri| {
            TestError::new(format!("{target:?} is not a request target")).caused_by(error)
        })?;
        if uri.authority().is_some() || !(target.starts_with('/') || target == "*") {
            let what = "is not a path: use a path that begins with `/`, because the client \
                        already has the address";
            return Err(TestError::new(format!("{target:?} {what}")));
        }
        let mut request = http::Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        request.extensions_mut().insert(PeerAddr(peer));
        let (response, connection) = client.transport.send(request).await?;
        client.keep_cookies(&target, response.headers());
        let (head, body) = response.into_parts();
        let exchange =
            Exchange { asked, status: head.status, headers: head.headers, body: Bytes::new() };
        Ok((TestStream::new(client, exchange, body), connection))
    }

    /// Returns the request for error messages.
    fn asked(&self) -> Arc<SentRequest> {
        Arc::new(SentRequest {
            method: self.method.clone(),
            target: self.target.clone(),
            headers: self.headers.clone(),
            body: self.body.as_bytes().map(Bytes::copy_from_slice),
            location: self.location,
        })
    }

    pub(crate) fn client(&self) -> &TestClient {
        &self.client
    }

    fn typed(mut self, content_type: &'static str) -> Self {
        let value = HeaderValue::from_static(content_type);
        self.headers.entry(header::CONTENT_TYPE).or_insert(value);
        self
    }
}

impl IntoFuture for TestRequest {
    type Output = TestResponse;
    type IntoFuture = Pin<Box<dyn Future<Output = TestResponse> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl fmt::Debug for TestRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.asked(), f)
    }
}

#[track_caller]
fn form_of(pairs: impl Serialize) -> String {
    match serde_html_form::to_string(pairs) {
        Ok(pairs) => pairs,
        Err(error) => fail(format_args!("cannot serialize the value as key-value pairs: {error}")),
    }
}
