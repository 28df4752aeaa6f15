//! [`State`]: a value that the application provided.

use std::any::type_name;
use std::ops::Deref;
use std::sync::Arc;

use stockade_errors::ApiError;

use crate::{FromRequest, Request, RouteDescription};

/// A value that the application provided with `Router::state` or
/// `Router::state_at_start`, shared: dependency injection.
///
/// It dereferences to `T`; the pattern `State(config)` gives the `Arc<T>` that
/// holds the value, so that `T` need not be `Clone`. A value that the
/// application does not provide is a mistake that is found when the router is
/// built, not at the first request.
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
            let text = format!("no state of type {name}: is it provided, and was the app started?");
            ApiError::new(500, text)
        };
        req.state().map(Self).ok_or_else(missing)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.needs_state::<T>();
    }
}
