//! [`State`]: a value that the application provides (dependency injection).

use std::any::type_name;
use std::ops::Deref;
use std::sync::Arc;

use stockade_errors::ApiError;

use crate::{FromRequest, Request, RouteDescription};

/// A shared value that the application provides with `Router::state` or
/// `Router::state_at_start` (dependency injection).
///
/// It dereferences to `T`. The pattern `State(config)` returns the `Arc<T>`, so
/// `T` need not be `Clone`. A missing value is a configuration error at build
/// time rather than an error of the first request.
///
/// ```
/// use stockade::extract::State;
///
/// struct Config { greeting: String }
///
/// async fn greet(config: State<Config>) -> String { config.greeting.clone() }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new().state(Config { greeting: "hello".to_owned() });
/// router.get("/", greet);
/// TestClient::new(router).get("/").await.assert_text("hello");
///
/// let mut router = stockade::Router::new();
/// router.get("/", greet);
/// assert!(router.build().unwrap_err().to_string().contains("was not provided"));
/// # }
/// ```
#[doc(alias = "inject")]
#[derive(Debug)]
pub struct State<T>(pub Arc<T>);

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> FromRequest for State<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let missing = || {
            let name = type_name::<T>();
            let text = format!(
                "no state of type {name}: add `.state(…)` to the router, and start the app"
            );
            ApiError::new(500, text)
        };
        req.state().map(Self).ok_or_else(missing)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.needs_state::<T>();
    }
}
