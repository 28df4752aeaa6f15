//! [`run`]: runs the middleware, the validation and the handler of an endpoint.
//!
//! Hot: a request without asynchronous middleware makes only one allocation
//! here, for the handler's future. Each asynchronous middleware adds one.
// Spec: Middleware contract.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Method;
use http::uri::PathAndQuery;
use stockade_errors::ApiError;
use stockade_errors::panic::catch_panic;

use super::{Endpoint, ErrorContext};
use crate::error_settings::Settings;
use crate::kept_head::KeptHead;
use crate::languages::AcceptLanguage;
use crate::login_end::end_with_user;
use crate::middleware::{Run, Step};
use crate::reply::FailedReply;
use crate::{BoxFuture, Control, Middleware, Next, Request, Response, bug, upgrade};

/// Runs the middleware and the handler. Errors and panics become responses.
///
/// The caller must first assign the request to `endpoint` with
/// [`Request::set_route`]. A body with an unaccepted type is rejected before
/// anything else. Synchronous middleware runs immediately, and the rest runs
/// when the future is polled.
pub fn run(endpoint: Arc<Endpoint>, mut req: Request) -> RunningHandler {
    let (settings, id) = (req.inner.settings, req.shared_id());
    let (method, target) = (req.method().clone(), req.uri().path_and_query().cloned());
    let mut head = req.keep_head(endpoint.context.error_handler.as_ref());
    let accept_language = AcceptLanguage::of(req.headers(), endpoint.context.languages.as_ref());
    let accepts = endpoint.accepts().filter(|_| req.has_body());
    let refusal = accepts.and_then(|accepts| accepts.refuse(req.method(), req.headers()));
    let chain = match refusal {
        Some(error) => {
            head = req.keep_head(endpoint.context.first_error_handler());
            Chain { endpoint, at: 0, state: ChainState::failed(error) }
        }
        None => Chain::start(endpoint, 0, req),
    };
    RunningHandler { chain, settings, method, target, id, head, accept_language }
}

/// Runs an endpoint from the middleware at index `at`, for a part of a request.
/// The earlier middleware has already run for the whole request.
///
/// The caller must first assign the request to `endpoint` with
/// [`Request::set_part`].
pub fn run_from(endpoint: Arc<Endpoint>, at: usize, mut req: Request) -> RunningHandler {
    let (settings, id) = (req.inner.settings, req.shared_id());
    let (method, target) = (req.method().clone(), req.uri().path_and_query().cloned());
    let head = req.keep_head(endpoint.context.error_handler.as_ref());
    let accept_language = AcceptLanguage::of(req.headers(), endpoint.context.languages.as_ref());
    let chain = Chain::start(endpoint, at, req);
    RunningHandler { chain, settings, method, target, id, head, accept_language }
}

/// The future of [`run`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct RunningHandler {
    chain: Chain,
    // The fields of an `ErrorContext`, which is created only if needed.
    settings: Settings,
    method: Method,
    target: Option<PathAndQuery>,
    id: Option<Arc<str>>,
    head: Option<Arc<KeptHead>>,
    accept_language: Option<Box<AcceptLanguage>>,
}

impl RunningHandler {
    /// Polls the chain, and writes the response to `slot`. A return value would
    /// be moved at each level, which would be the largest part of the cost.
    pub fn poll_into(&mut self, cx: &mut Context<'_>, slot: &mut Poll<Response>) {
        if let Some(error) = self.chain.poll_into(cx, slot) {
            *slot = Poll::Ready(self.context().answer(error));
            return;
        }
        match slot {
            Poll::Pending => {}
            Poll::Ready(response) if (200..=599).contains(&response.status().as_u16()) => {
                if response.status().is_server_error() {
                    self.log_failed_reply(response);
                }
                response.body_mut().log_to(|| self.context());
            }
            Poll::Ready(response) => self.refuse_interim(response),
        }
    }

    /// Logs a 5xx response that the handler returned as an error, with the
    /// standard text of its status.
    #[cold]
    fn log_failed_reply(&self, response: &Response) {
        if response.extensions().get::<FailedReply>().is_some() {
            self.context().log(&ApiError::new(response.status().as_u16(), ""));
        }
    }

    /// Replaces a response with a status that a handler must not return: an
    /// interim response, or a status above 599.
    #[cold]
    fn refuse_interim(&self, response: &mut Response) {
        if !upgrade::switches(response) {
            let status = response.status().as_u16();
            let error = ApiError::new(500, format!("{status} is not a final status"));
            *response = self.context().answer(error);
        }
    }

    #[cold]
    fn context(&self) -> ErrorContext {
        let mut context = ErrorContext {
            handler: self.chain.endpoint.context.error_handler.clone(),
            settings: self.settings,
            method: self.method.clone(),
            target: self.target.clone(),
            route: Some(Arc::clone(&self.chain.endpoint.context)),
            id: self.id.clone(),
            head: self.head.clone(),
            languages: self.chain.endpoint.context.languages.clone(),
            accept_language: self.accept_language.clone(),
        };
        // The route rejected the body's type before any middleware ran.
        if self.chain.at == 0 {
            context.handle_early(None);
        }
        context
    }
}

impl Future for RunningHandler {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        self.poll_into(cx, &mut slot);
        slot
    }
}

/// The middleware that has not run yet, followed by the handler.
///
/// Written by hand, because an `async fn` would contain the request once for
/// each state, and every connection reserves that space.
///
/// A panic becomes an error of the chain, so outer style B middleware runs to
/// its end.
pub(crate) struct Chain {
    endpoint: Arc<Endpoint>,
    /// The index of the next middleware.
    at: usize,
    state: ChainState,
}

enum ChainState {
    /// A step before the handler: middleware or validation.
    Step(Step),
    /// Style B middleware, which runs the rest of the chain itself.
    Around(BoxFuture<'static, Result<Option<Response>, ApiError>>),
    /// The handler.
    Handler(BoxFuture<'static, Result<Response, ApiError>>),
    /// The outcome is known, or `None` after it was returned. Boxed, because
    /// most requests do not need this space.
    Ready(Option<Result<Box<Response>, ApiError>>),
}

impl ChainState {
    fn failed(error: ApiError) -> Self {
        Self::Ready(Some(Err(error)))
    }
}

impl Chain {
    /// Starts with the middleware at index `at`.
    pub(crate) fn start(endpoint: Arc<Endpoint>, at: usize, req: Request) -> Self {
        let mut chain = Self { endpoint, at, state: ChainState::Ready(None) };
        if let Err(error) = catch_panic(|| chain.advance(req)) {
            chain.state = ChainState::failed(error);
        }
        chain
    }

    /// Continues until it must wait.
    fn advance(&mut self, mut req: Request) {
        let endpoint = &self.endpoint;
        while let Some(middleware) = endpoint.parts.middleware.get(self.at) {
            self.at += 1;
            match &middleware.run {
                Run::Sync(check) => match check(&mut req) {
                    Ok(Control::Continue) => {}
                    Ok(Control::Respond(mut response)) => {
                        end_with_user(&mut response, &mut req);
                        self.state = ChainState::Ready(Some(Ok(Box::new(response))));
                        return;
                    }
                    Err(error) => {
                        self.state = ChainState::failed(error);
                        return;
                    }
                },
                Run::Before(before) => {
                    self.state = ChainState::Step(before(req));
                    return;
                }
                Run::Around(around) => {
                    let next = Next { endpoint: Arc::clone(endpoint), at: self.at };
                    self.state = ChainState::Around(around(req, next));
                    return;
                }
            }
        }
        // Validation runs once, after the last middleware.
        let is_first = self.at == endpoint.parts.middleware.len();
        self.at += 1;
        let checks = endpoint.context.validation.own().filter(|_| is_first);
        self.state = match checks.map(|checks| checks.validate_text(&mut req)) {
            Some(Err(error)) => ChainState::failed(error),
            Some(Ok(())) if checks.is_some_and(|checks| checks.body.is_some()) => {
                ChainState::Step(validate_body(Arc::clone(endpoint), req))
            }
            _ => ChainState::Handler(endpoint.parts.handler.call(req)),
        };
    }

    /// Polls the chain. Writes a response to `slot`, and returns an error.
    fn poll_into(&mut self, cx: &mut Context<'_>, slot: &mut Poll<Response>) -> Option<ApiError> {
        let polled = catch_panic(|| match self.poll_chain(cx) {
            Poll::Ready(Err(error)) => Some(error),
            Poll::Ready(Ok(response)) => {
                *slot = Poll::Ready(response);
                None
            }
            Poll::Pending => {
                *slot = Poll::Pending;
                None
            }
        });
        polled.unwrap_or_else(Some)
    }

    fn poll_chain(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response, ApiError>> {
        loop {
            match &mut self.state {
                ChainState::Handler(handler) => return handler.as_mut().poll(cx),
                ChainState::Step(step) => {
                    let (mut req, flow) = ready!(step.as_mut().poll(cx));
                    match flow? {
                        Control::Continue => self.advance(req),
                        Control::Respond(mut response) => {
                            end_with_user(&mut response, &mut req);
                            return Poll::Ready(Ok(response));
                        }
                    }
                }
                ChainState::Around(around) => {
                    let response = ready!(around.as_mut().poll(cx))?;
                    return Poll::Ready(response.ok_or_else(|| self.unanswered()));
                }
                ChainState::Ready(outcome) => {
                    return Poll::Ready(match outcome.take() {
                        Some(outcome) => outcome.map(|response| *response),
                        None => Err(bug("a finished response was polled again")),
                    });
                }
            }
        }
    }

    /// Returns the error for style B middleware that did not return a response.
    #[cold]
    fn unanswered(&self) -> ApiError {
        let index = self.at.checked_sub(1);
        let middleware = index.and_then(|index| self.endpoint.parts.middleware.get(index));
        let name = middleware.map_or("?", Middleware::name);
        ApiError::new(
            500,
            format!("middleware `{name}` neither called next nor returned a response"),
        )
    }
}

impl Future for Chain {
    type Output = Result<Response, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        catch_panic(|| self.poll_chain(cx)).unwrap_or_else(|error| Poll::Ready(Err(error)))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Validates the body, and replaces it with the validated data.
fn validate_body(endpoint: Arc<Endpoint>, mut req: Request) -> Step {
    Box::pin(async move {
        let outcome = match has_body_to_validate(&endpoint, &mut req).await {
            Ok(true) => endpoint.context.validation.validate_body(&mut req).await,
            other => other.map(drop),
        };
        let outcome = outcome.map_err(|error| req.first_failure(error));
        (req, outcome.map(|()| Control::Continue))
    })
}

/// Returns false if the method does not have a body, on a route for any method.
/// A body that is sent anyway is validated and therefore rejected, because the
/// service of a mount would read it.
async fn has_body_to_validate(endpoint: &Endpoint, req: &mut Request) -> Result<bool, ApiError> {
    let is_bodiless = matches!(*req.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        && req.method() != endpoint.method();
    Ok(!is_bodiless || !req.bytes().await?.is_empty())
}
