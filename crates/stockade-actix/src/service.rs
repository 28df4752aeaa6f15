//! [`ActixService`]: a whole application inside actix-web.

use std::fmt;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::dev::{Payload, Service, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::{Error, HttpRequest};
use stockade_core::upgrade::Switch;
use stockade_core::{ErrorContext, Request, Response};
use stockade_errors::ConfigError;
use stockade_routing::{App, HostOptions};

use crate::host_error::HostError;
use crate::{path, request, response, upgraded};

/// A whole application as an actix-web service. All stages and options of its
/// router apply. The client address is the peer address of the connection, and
/// WebSocket routes receive the HTTP/1.1 connection.
///
/// ```
/// use stockade::actix::ActixService;
/// use stockade::{HostOptions, Router};
///
/// let app = Router::new().build()?;
/// let service = ActixService::new(app).with_options(HostOptions::new().max_body_size(1_024))?;
/// let scope = actix_web::web::scope("/api").default_service(service);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Use inside a host framework.
#[derive(Clone, Debug)]
pub struct ActixService {
    app: App,
}

impl ActixService {
    /// Creates a service from an application.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self { app }
    }

    /// Sets options that override the router's options; see
    /// [`App::with_options`].
    ///
    /// # Errors
    /// Fails if the options are invalid.
    pub fn with_options(self, options: HostOptions) -> Result<Self, ConfigError> {
        Ok(Self { app: self.app.with_options(options)? })
    }

    /// Returns the application, for example to list its routes.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }
}

impl ServiceFactory<ServiceRequest> for ActixService {
    type Response = ServiceResponse;
    type Error = Error;
    type Config = ();
    type Service = Self;
    type InitError = ();
    type Future = Ready<Result<Self, ()>>;

    fn new_service(&self, (): ()) -> Self::Future {
        ready(Ok(self.clone()))
    }
}

impl Service<ServiceRequest> for ActixService {
    type Response = ServiceResponse;
    type Error = Error;
    type Future = ActixResponseFuture;

    fn poll_ready(&self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&self, request: ServiceRequest) -> ActixResponseFuture {
        let (theirs, payload) = request.into_parts();
        let matched = theirs.match_info();
        let whole = matched.as_str();
        // The whole path always ends with the unprocessed part; otherwise
        // nothing would count as matched.
        let taken = whole.strip_suffix(matched.unprocessed()).unwrap_or_default();
        let path = path::after(theirs.uri().path(), taken).to_owned();
        let app = self.app.clone();
        let has_mounts = app.needs_original_uri();
        answer(theirs, &path, payload, (false, has_mounts), move |request| app.handle(request))
    }
}

/// The future of a service inside actix-web.
#[must_use = "futures do nothing unless polled"]
pub struct ActixResponseFuture {
    future: Pin<Box<dyn Future<Output = ServiceResponse>>>,
}

impl Future for ActixResponseFuture {
    type Output = Result<ServiceResponse, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ActixResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ActixResponseFuture")
    }
}

/// Responds to an actix-web request. Errors become actix-web errors if `throws`
/// is true. For `has_mounts`, see `translate`.
pub(crate) fn answer<F>(
    theirs: HttpRequest,
    path: &str,
    payload: Payload,
    (throws, has_mounts): (bool, bool),
    handle: impl FnOnce(Request) -> F + 'static,
) -> ActixResponseFuture
where
    F: Future<Output = Response> + 'static,
{
    let translated = request::translate(&theirs, path, payload, has_mounts);
    let future = Box::pin(async move {
        let (mut ours, connection) = match translated {
            Ok((request, connection)) => (handle(request).await, connection),
            Err(error) => {
                let nothing = Request::from(http::Request::new(()));
                (ErrorContext::of(&nothing).answer(error), None)
            }
        };
        if let Some(payload) = connection
            && let Some(switch) = Switch::take(&mut ours)
        {
            return ServiceResponse::new(theirs, upgraded::start(&ours, switch, payload));
        }
        let is_head = *theirs.method() == Method::HEAD;
        match throws.then(|| HostError::of(&ours, is_head)).flatten() {
            Some(error) => ServiceResponse::from_err(error, theirs),
            None => ServiceResponse::new(theirs, response::translate(ours, is_head)),
        }
    });
    ActixResponseFuture { future }
}
