//! [`user_after`]: the user that one middleware leaves in a request, for tests.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use stockade_errors::locks::lock;

use super::{Chain, Endpoint, EndpointParts};
use crate::{Control, HttpBody, Middleware, Request, Response};

/// The effect of a middleware on the user of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UserAfter {
    /// It responded itself, so no later part sees the request.
    Ended,
    /// The request continues with this user.
    User(Option<Value>),
}

/// Runs only the middleware at an index of an endpoint, and returns the user of
/// the request after it. The request begins with the given user. No other
/// middleware, no validation and no handler runs.
///
/// The caller must first assign the request to `endpoint` with
/// [`Request::set_route`].
pub async fn user_after(
    endpoint: &Endpoint,
    index: usize,
    user: Option<Value>,
    mut req: Request,
) -> UserAfter {
    let Some(middleware) = endpoint.parts.middleware.get(index) else { return UserAfter::Ended };
    let found = Arc::new(Mutex::new(UserAfter::Ended));
    let sink = Arc::clone(&found);
    let last = Middleware::new(move |req: &mut Request| {
        *lock(&sink) = UserAfter::User(req.user().cloned());
        Control::Respond(Response::new(HttpBody::empty()))
    });
    let parts = EndpointParts {
        middleware: [middleware.clone(), last].into(),
        ..EndpointParts::new(endpoint.parts.method.clone(), endpoint.parts.handler.clone())
    };
    let context = Arc::clone(&endpoint.context);
    if user.is_some() {
        req.set_user(user);
    }
    // The response does not matter: only the last middleware sees the user.
    drop(Chain::start(Arc::new(Endpoint { parts, context }), 0, req).await);
    lock(&found).clone()
}

#[cfg(test)]
mod tests {
    use http::Method;
    use serde_json::json;

    use super::*;
    use crate::route_context::RouteContext;
    use crate::{ApiError, Handler, Next};

    fn endpoint(middleware: Vec<Middleware>) -> Endpoint {
        let handler = Handler::new(async || -> &'static str { panic!("a handler runs") });
        let mut parts = EndpointParts::new(Method::GET, handler);
        parts.middleware = middleware.into();
        parts.build(RouteContext::new("/"))
    }

    #[tokio::test]
    async fn returns_the_user_after_one_middleware() {
        let refuses = |_: &mut Request| Err::<(), _>(ApiError::new(401, "no user"));
        let trusts = |req: &mut Request| {
            let name = req.headers().get("x-name").map(|_| json!("admin"));
            if name.is_some() {
                req.set_user(name);
            }
        };
        let passes = async |req: Request, next: Next| next.run(req).await;
        let endpoint = endpoint(vec![
            Middleware::new(refuses),
            Middleware::new(trusts),
            Middleware::new(passes),
        ]);
        let sent = |name: bool| {
            let request = http::Request::get("/");
            let request = if name { request.header("x-name", "a") } else { request };
            Request::from(request.body(()).unwrap())
        };
        let ada = || Some(json!("ada"));
        let after = async |index, user, name| user_after(&endpoint, index, user, sent(name)).await;
        assert_eq!(after(0, ada(), true).await, UserAfter::Ended);
        assert_eq!(after(1, None, false).await, UserAfter::User(None));
        assert_eq!(after(1, None, true).await, UserAfter::User(Some(json!("admin"))));
        assert_eq!(after(1, ada(), true).await, UserAfter::User(Some(json!("admin"))));
        assert_eq!(after(2, ada(), true).await, UserAfter::User(ada()));
        assert_eq!(after(3, ada(), true).await, UserAfter::Ended);
    }
}
