//! [`AxumService`]: a whole application inside axum.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http_body::Body;
use stockade_core::Response;
use stockade_errors::{BoxError, ConfigError};
use stockade_routing::{App, HostOptions, ResponseFuture as AppFuture};
use tower_service::Service;

use crate::connection::{AxumResponseFuture, translate};

/// A whole application as an axum service. All stages and options of its router
/// apply. The client address comes from axum's `ConnectInfo`, and WebSocket
/// routes receive the connection.
///
/// ```
/// use stockade::axum::AxumService;
/// use stockade::{HostOptions, Router};
///
/// let app = Router::new().build()?;
/// let service = AxumService::new(app).with_options(HostOptions::new().max_body_size(1_024))?;
/// let router: axum::Router = axum::Router::new().fallback_service(service);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Use inside a host framework.
#[derive(Clone, Debug)]
pub struct AxumService {
    app: App,
}

impl AxumService {
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

impl<B> Service<http::Request<B>> for AxumService
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = AxumResponseFuture<AppFuture>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (request, on_upgrade) = translate(request, self.app.needs_original_uri());
        AxumResponseFuture::new(self.app.handle(request), on_upgrade)
    }
}
