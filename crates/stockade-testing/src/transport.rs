//! Transports of requests: in process, or over a port.

use std::fmt;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use stockade_core::upgrade::{Io, Switch, Upgrade, Upgraded};
use stockade_core::{HttpBody, Request, Response};
use stockade_routing::App;
use url::Url;

use crate::TestError;

/// An upgraded connection.
pub(crate) type Connection = Box<dyn Io>;

/// The response, and the connection if it was upgraded.
pub(crate) type TransportResponse = (Response, Option<Connection>);

pub(crate) enum Transport {
    InProcess(App),
    Live(Live),
}

/// A running server.
pub(crate) struct Live {
    client: Client<HttpConnector, HttpBody>,
    authority: Authority,
    /// The prefix of each path, without a trailing slash.
    prefix: String,
}

impl Transport {
    /// Sends a request with a path as its target.
    pub(crate) async fn send(
        &self,
        request: http::Request<HttpBody>,
    ) -> Result<TransportResponse, TestError> {
        match self {
            Self::InProcess(app) => {
                app.start().await.map_err(|error| {
                    TestError::new("the application cannot start").caused_by(error)
                })?;
                Ok(in_process(app, request).await)
            }
            Self::Live(live) => live.send(request).await,
        }
    }

    /// Returns the URL for cookies. Like a browser, it trusts the local machine
    /// without TLS and sends it `Secure` cookies.
    pub(crate) fn url(&self, target: &str) -> Option<Url> {
        let base = match self {
            Self::InProcess(_) => "https://localhost".to_owned(),
            Self::Live(live) => {
                let host = live.authority.host();
                let here = host == "localhost" || host.starts_with("127.") || host == "[::1]";
                let scheme = if here { "https" } else { "http" };
                format!("{scheme}://{}{}", live.authority, live.prefix)
            }
        };
        Url::parse(&format!("{base}{target}")).ok()
    }
}

/// Calls the application as the server would.
async fn in_process(app: &App, request: http::Request<HttpBody>) -> TransportResponse {
    let (mut head, body) = request.into_parts();
    if !head.headers.contains_key(header::HOST) {
        head.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    }
    if let Some(length) = body.as_bytes().map(<[u8]>::len).filter(|length| *length > 0) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
    }
    if head.headers.contains_key(header::UPGRADE) {
        head.extensions.insert(Upgrade::http1());
    }
    let mut response = app.handle(Request::new(head, body)).await;
    let connection = Switch::take(&mut response).map(|switch| {
        let (client, server) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(switch.run(Upgraded::new(server)));
        Box::new(client) as Connection
    });
    (response, connection)
}

impl Live {
    /// Parses `http://host:port`, optionally with a path that prefixes all
    /// targets.
    pub(crate) fn new(address: &str) -> Result<Self, TestError> {
        let fault = |what: &str| {
            let example = "such as \"http://127.0.0.1:3000\"";
            TestError::new(format!("{address:?} {what}: use an address {example}"))
        };
        let uri: Uri = address
            .parse()
            .map_err(|error: http::uri::InvalidUri| fault("is not an address").caused_by(error))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(fault("requires TLS, which this client does not support")),
            _ => return Err(fault("does not begin with http://")),
        }
        if uri.query().is_some() {
            return Err(fault("has a query"));
        }
        let authority = uri.authority().cloned().ok_or_else(|| fault("does not have a host"))?;
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let client = Client::builder(TokioExecutor::new()).build_http();
        Ok(Self { client, authority, prefix })
    }

    async fn send(&self, request: http::Request<HttpBody>) -> Result<TransportResponse, TestError> {
        let (mut head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        if !target.starts_with('/') {
            return Err(TestError::new(format!("{target:?} is only possible in process")));
        }
        let uri = Uri::builder().scheme(Scheme::HTTP).authority(self.authority.clone());
        let uri = uri.path_and_query(format!("{}{target}", self.prefix)).build();
        head.uri = uri.map_err(|error| TestError::new("invalid target").caused_by(error))?;
        let sent = self.client.request(http::Request::from_parts(head, body)).await;
        let mut response = sent.map_err(|error| {
            TestError::new(format!("no response from http://{}", self.authority)).caused_by(error)
        })?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok((response.map(HttpBody::new), None));
        }
        let upgraded = hyper::upgrade::on(&mut response).await;
        let upgraded = upgraded
            .map_err(|error| TestError::new("the connection was not upgraded").caused_by(error))?;
        let connection = Box::new(TokioIo::new(upgraded)) as Connection;
        Ok((response.map(|_| HttpBody::empty()), Some(connection)))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProcess(app) => f.debug_tuple("InProcess").field(app).finish(),
            Self::Live(live) => write!(f, "Live(http://{}{})", live.authority, live.prefix),
        }
    }
}

/// The buffer size of an in-process WebSocket in each direction.
const PIPE_BYTES: usize = 65_536;
