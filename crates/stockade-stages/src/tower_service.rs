//! [`TowerService`]: the tower services for mounts, layers and servers.

use std::future::poll_fn;

use http_body::Body;
use stockade_core::lent_request::{into_body, service_error};
use stockade_core::{HttpBody, Response};
use stockade_errors::{ApiError, BoxError};
use tower_service::Service;

/// A tower service that responds to requests with an [`HttpBody`]: every type
/// with these bounds.
///
/// - `Service<http::Request<HttpBody>>`, with a future that is `Send`, and an
///   error that is `Into<BoxError>`;
/// - its response is an `http::Response<B>` with a `Send` body `B` and an error
///   that is `Into<BoxError>`;
/// - `Clone`, `Send`, `Sync` and `'static`: each request gets a clone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tower service that stockade can call",
    label = "not a `Clone + Send + Sync + 'static` service of `http::Request<HttpBody>`",
    note = "its response must be an `http::Response<B>` with a body `B`, its future `Send`, and its error `Into<BoxError>`",
    note = "use layers of `tower::ServiceBuilder` to change the body of the request, and `BoxCloneSyncService` to erase a type"
)]
pub trait TowerService: Clone + Send + Sync + 'static {
    /// Returns the response to a request when the service is ready.
    ///
    /// An [`ApiError`] of the service is used unchanged, and an error of the
    /// request's body has its own status. Any other error is a 500.
    #[doc(hidden)]
    fn answer(
        self,
        request: http::Request<HttpBody>,
    ) -> impl Future<Output = Result<Response, ApiError>> + Send;
}

impl<S, B> TowerService for S
where
    S: Service<http::Request<HttpBody>, Response = http::Response<B>>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    async fn answer(mut self, request: http::Request<HttpBody>) -> Result<Response, ApiError> {
        let failed = |error: S::Error| service_error(error.into());
        poll_fn(|cx| self.poll_ready(cx)).await.map_err(failed)?;
        Ok(self.call(request).await.map_err(failed)?.map(into_body))
    }
}
