//! A handwritten hyper server without a router or a framework. It is the
//! baseline for all other servers.

mod answer;
mod limit;
mod token;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bench_common::mode::{BACKLOG, MAX_BODY};
use bench_common::{Mode, route, user, workload};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};

use crate::answer::{Answer, json, not_found, protect};
use crate::limit::Limiter;
use crate::token::Tokens;

/// Binds a free local port.
///
/// # Errors
/// Returns an error if no port is free.
pub fn bind() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    socket.listen(BACKLOG)
}

/// Serves forever.
///
/// # Errors
/// Returns an error if connections can no longer be accepted.
pub async fn serve(listener: TcpListener, mode: Mode) -> io::Result<()> {
    let site = Arc::new(Site::default());
    loop {
        let (stream, peer) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let site = &site;
                async move {
                    Ok::<_, Infallible>(match mode {
                        Mode::Full => full(site, peer.ip(), request).await,
                        _ => bare(request).await,
                    })
                }
            });
            // An error only ends its own connection.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// State that the connections share in full mode.
#[derive(Default)]
struct Site {
    limiter: Limiter,
    tokens: Tokens,
}

async fn bare(request: Request<Incoming>) -> Answer {
    match (request.method(), request.uri().path()) {
        (&Method::GET, route::JSON) => message(),
        (&Method::POST, route::PEOPLE) => echo(request).await,
        (&Method::GET, path) => get(path),
        _ => not_found(),
    }
}

async fn full(site: &Site, client: IpAddr, request: Request<Incoming>) -> Answer {
    let origin = request.headers().get(ORIGIN).cloned();
    let charge = site.limiter.charge(client);
    let mut answer = if charge.allowed { inner(site, request).await } else { limit::refusal() };
    let headers = answer.headers_mut();
    protect(headers, origin);
    charge.describe(headers);
    answer
}

async fn inner(site: &Site, request: Request<Incoming>) -> Answer {
    match (request.method(), request.uri().path()) {
        (&Method::GET, route::JSON) => message(),
        (&Method::POST, route::PEOPLE) => echo(request).await,
        (&Method::GET, path) if path.starts_with("/users/") && path.contains("/posts/") => {
            let header = request.headers().get(AUTHORIZATION);
            if header.is_some_and(|header| site.tokens.verify(header)) {
                return get(path);
            }
            let mut answer = json(StatusCode::UNAUTHORIZED, workload::UNAUTHORIZED);
            let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            answer
        }
        (&Method::GET, path) => get(path),
        _ => not_found(),
    }
}

fn get(path: &str) -> Answer {
    if let Some((user, post)) = two_parameters(path) {
        let post = serde_json::to_vec(&Post { user, post }).unwrap_or_default();
        return json(StatusCode::OK, post);
    }
    if path.starts_with("/repos/") && path.ends_with("/requested_reviewers") {
        return message();
    }
    not_found()
}

fn two_parameters(path: &str) -> Option<(u32, u32)> {
    let (user, post) = path.strip_prefix("/users/")?.split_once("/posts/")?;
    Some((user.parse().ok()?, post.parse().ok()?))
}

fn message() -> Answer {
    json(StatusCode::OK, workload::MESSAGE)
}

async fn echo(request: Request<Incoming>) -> Answer {
    let limit = usize::try_from(MAX_BODY).unwrap_or(usize::MAX);
    let Ok(body) = Limited::new(request.into_body(), limit).collect().await else {
        return json(StatusCode::PAYLOAD_TOO_LARGE, r#"{"error":"Payload Too Large"}"#);
    };
    match user::echo(&body.to_bytes()) {
        Ok(user) => json(StatusCode::OK, user),
        Err(refused) => json(StatusCode::BAD_REQUEST, refused.body()),
    }
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}
