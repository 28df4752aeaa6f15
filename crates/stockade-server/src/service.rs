//! One request: from hyper to the application and back.
//!
//! Hot: nothing is allocated here for a request without a body, and one box
//! for one with a body.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Version;
use http::header::{CONNECTION, HeaderValue};
use hyper::body::{Body, Incoming};
use hyper::upgrade::OnUpgrade;
use stockade_core::reply::EndsAtShutdown;
use stockade_core::upgrade::Switch;
use stockade_core::{HttpBody, PeerAddr, Request, Response};
use stockade_errors::ApiError;
use stockade_middleware::health::Readiness;
use stockade_routing::{App, CallOptions};
use tokio::sync::watch;

use crate::accept::Stage;
use crate::record::{InFlight, Record};
use crate::request_body::RequestBody;
use crate::response_body::{ResponseBody, until_shutdown};
use crate::{framing, host, upgraded};

/// What answers requests: an application, or a function in a test.
pub(crate) trait Answer: Send + Sync + 'static {
    fn answer(&self, request: Request) -> impl Future<Output = Response> + Send;

    /// The answer to a request that the application does not get to see.
    fn refuse(&self, request: &Request, error: ApiError) -> Response;

    /// A shutdown begins.
    fn leaving(&self) {}
}

/// An application with the options of its server.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) app: App,
    pub(crate) call: CallOptions,
}

impl Answer for Hosted {
    fn answer(&self, request: Request) -> impl Future<Output = Response> + Send {
        self.app.handle_with(request, &self.call)
    }

    #[cold]
    fn refuse(&self, request: &Request, error: ApiError) -> Response {
        self.app.refuse(request, error, &self.call)
    }

    fn leaving(&self) {
        if let Some(readiness) = self.app.state::<Readiness>() {
            readiness.set(false);
        }
    }
}

/// What the requests of one connection have in common.
///
/// One for each connection, so that counting its users does not make the cores
/// wait for each other.
pub(crate) struct Peer<A> {
    pub(crate) app: Arc<A>,
    pub(crate) record: Arc<Record>,
    pub(crate) address: SocketAddr,
    /// How far the server has come.
    pub(crate) stage: watch::Receiver<Stage>,
    /// Takes the connection out of what hyper gives for it.
    pub(crate) open: upgraded::Open,
    pub(crate) body_read_timeout: Duration,
    pub(crate) max_headers: usize,
}

impl<A> Peer<A> {
    /// Lets the connection go on as the answer says, if it says so.
    #[cold]
    fn give_away(&self, on_upgrade: OnUpgrade, response: &mut Response, http2: bool) {
        if let Some(switch) = Switch::take(response) {
            let (record, stage) = (Arc::clone(&self.record), self.stage.clone());
            tokio::spawn(upgraded::run(on_upgrade, switch, self.open, record, http2, stage));
        }
    }
}

/// Answers a request.
///
/// What can be done at once is done before the future is made, because hyper
/// moves the future.
pub(crate) fn serve<A: Answer>(
    peer: &Arc<Peer<A>>,
    mut request: http::Request<Incoming>,
) -> impl Future<Output = Result<http::Response<ResponseBody>, Infallible>> + Send + use<A> {
    let in_flight = InFlight::begin(&peer.record);
    let http2 = request.version() == Version::HTTP_2;
    let on_upgrade = upgraded::wanted(&mut request);
    let (head, body) = request.into_parts();
    let is_ended = body.is_end_stream();
    // In a box, because the future has room for it.
    let refusal = check(&head, http2, is_ended, peer).err().map(Box::new);
    let body = if is_ended {
        HttpBody::empty()
    } else {
        let record = Arc::clone(&peer.record);
        HttpBody::new(RequestBody::new(body, &head, peer.body_read_timeout, record))
    };
    let request = Request::framed(head, body).with_peer(PeerAddr(peer.address));
    let peer = Arc::clone(peer);
    async move {
        let mut response = match refusal {
            None => peer.app.answer(request).await,
            Some(error) => peer.app.refuse(&request, *error),
        };
        if let Some(on_upgrade) = on_upgrade {
            peer.give_away(on_upgrade, &mut response, http2);
        }
        // It is not known where the next request begins. HTTP/2 has no such
        // header; there hyper resets the stream.
        if !http2 && in_flight.record().closes_after() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if response.extensions().get::<EndsAtShutdown>().is_some() {
            response = response.map(|body| until_shutdown(body, peer.stage.clone()));
        }
        Ok(response.map(|body| ResponseBody::new(body, in_flight, http2)))
    }
}

/// What is refused before the application sees it.
fn check<A>(
    head: &http::request::Parts,
    http2: bool,
    is_ended: bool,
    peer: &Peer<A>,
) -> Result<(), ApiError> {
    // On HTTP/1 hyper has counted already.
    if http2 && head.headers.len() > peer.max_headers {
        return Err(ApiError::new(431, ""));
    }
    // With any transfer coding HTTP/1 has a body.
    if http2 || !is_ended {
        framing::check(&head.headers).map_err(|message| {
            // Where the next request begins is a matter of opinion.
            peer.record.close_after();
            ApiError::new(400, message)
        })?;
    }
    host::check(head).map_err(|message| ApiError::new(400, message))
}
