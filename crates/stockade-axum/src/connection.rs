//! Converts the connection of an axum request to core types: the peer address
//! and the protocol upgrade.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::connect_info::MockConnectInfo;
use axum::extract::{ConnectInfo, OriginalUri};
use http::uri::PathAndQuery;
use http::{Extensions, Uri};
use http_body::Body;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use stockade_core::upgrade::requested_upgrade;
use stockade_core::upgrade::{Switch, Upgraded};
use stockade_core::{HttpBody, PeerAddr, Request, Response};
use stockade_errors::BoxError;
use tokio::runtime::Handle;

/// Converts a request. Also returns hyper's upgrade future if the request asks
/// for an upgrade. If a service may be mounted, the target before `nest` is
/// recorded for it.
pub(crate) fn translate<B>(
    mut request: http::Request<B>,
    has_mounts: bool,
) -> (Request, Option<OnUpgrade>)
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    if let Some(address) = peer(request.extensions()) {
        request.extensions_mut().insert(PeerAddr(address));
    }
    if let Some(uri) = with_lost_slash(request.uri(), request.extensions()) {
        *request.uri_mut() = uri;
    }
    if has_mounts {
        note_original(&mut request);
    }
    let on_upgrade = upgrade(&mut request);
    let (head, body) = request.into_parts();
    (Request::new(head, HttpBody::new(body)), on_upgrade)
}

/// Records the target before `nest` removed a prefix from it.
fn note_original<B>(request: &mut http::Request<B>) {
    let original = request.extensions().get().map(|OriginalUri(original)| original.clone());
    if let Some(original) = original.filter(|original| original != request.uri()) {
        request.extensions_mut().insert(stockade_routing::OriginalUri(original));
    }
}

/// Returns the address from axum, unless a layer has set `PeerAddr`.
fn peer(extensions: &Extensions) -> Option<SocketAddr> {
    if extensions.get::<PeerAddr>().is_some() {
        return None;
    }
    let real = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| *address);
    let mock = || extensions.get().map(|MockConnectInfo(address)| *address);
    real.or_else(mock)
}

/// Restores the slash that `nest` removes in addition to the prefix: below
/// `/api`, axum turns `/api//x` into `/x`, but `//x` is correct. Returns `None`
/// if no slash was removed.
fn with_lost_slash(uri: &Uri, extensions: &Extensions) -> Option<Uri> {
    let OriginalUri(original) = extensions.get()?;
    let prefix = original.path().strip_suffix(uri.path())?;
    if !prefix.ends_with('/') {
        return None;
    }
    let mut parts = uri.clone().into_parts();
    let target = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
    parts.path_and_query = Some(format!("/{target}").parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Returns hyper's upgrade future if the request asks for an upgrade and the
/// host supports it. Also records this in the extensions of the request.
fn upgrade<B>(request: &mut http::Request<B>) -> Option<OnUpgrade> {
    let protocol = request.extensions().get::<hyper::ext::Protocol>().map(|it| it.as_str());
    let upgrade = requested_upgrade(request.method(), request.headers(), protocol)?;
    let on_upgrade = request.extensions_mut().remove::<OnUpgrade>()?;
    request.extensions_mut().insert(upgrade);
    Some(on_upgrade)
}

/// The future of a service inside axum.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct AxumResponseFuture<F> {
    future: F,
    on_upgrade: Option<OnUpgrade>,
}

impl<F> AxumResponseFuture<F> {
    pub(crate) fn new(future: F, on_upgrade: Option<OnUpgrade>) -> Self {
        Self { future, on_upgrade }
    }
}

impl<F: Future<Output = Response> + Unpin> Future for AxumResponseFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response = ready!(Pin::new(&mut self.future).poll(cx));
        if let Some(on_upgrade) = self.on_upgrade.take()
            && let Some(switch) = Switch::take(&mut response)
        {
            // axum serves only on tokio. A call outside of tokio does not have
            // a connection to wait for.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(run(on_upgrade, switch));
            }
        }
        Poll::Ready(Ok(response))
    }
}

/// Runs the new protocol on a connection after the response was sent.
async fn run(on_upgrade: OnUpgrade, switch: Switch) {
    match on_upgrade.await {
        Ok(upgraded) => switch.run(Upgraded::new(TokioIo::new(upgraded))).await,
        Err(error) => log::debug!(target: "stockade::server", "an upgrade failed: {error}"),
    }
}
