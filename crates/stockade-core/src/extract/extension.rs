//! [`Extension`]: a value that middleware added to the request.

use std::any::type_name;
use std::ops::Deref;

use stockade_errors::ApiError;

use super::OptionalFromRequest;
use crate::{FromRequest, Request, RouteDescription};

/// A value that middleware added to the request. Its type identifies it.
///
/// Middleware adds it with `req.extensions_mut().insert(value)`. The router
/// cannot check this at build time. If the value is missing, the client gets a
/// 500 and the log names the type. Take an `Option<Extension<T>>` if it may be
/// missing.
///
/// ```
/// use stockade::Request;
/// use stockade::extract::Extension;
///
/// #[derive(Clone)]
/// struct Tenant(String);
///
/// fn find_tenant(req: &mut Request) {
///     req.extensions_mut().insert(Tenant("acme".to_owned()));
/// }
///
/// async fn name(Extension(tenant): Extension<Tenant>) -> String { tenant.0 }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/", name).middleware(find_tenant);
/// TestClient::new(router).get("/").await.assert_text("acme");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Extension<T>(pub T);

impl<T> Deref for Extension<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone + Send + Sync + 'static> FromRequest for Extension<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let missing = || {
            let name = type_name::<T>();
            ApiError::new(500, format!("no middleware has added a `{name}` to the request"))
        };
        req.extensions().get().cloned().map(Self).ok_or_else(missing)
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl<T: Clone + Send + Sync + 'static> OptionalFromRequest for Extension<T> {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Ok(req.extensions().get().cloned().map(Self))
    }

    fn describe_optional(_doc: &mut RouteDescription) {}
}
