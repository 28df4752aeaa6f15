//! [`User`]: the authenticated user.

use serde::de::DeserializeOwned;
use stockade_errors::ApiError;

use super::OptionalFromRequest;
use crate::description::{HeaderDoc, ResponseDoc};
use crate::{FromRequest, Request, RouteDescription, escaped};

/// The authenticated user, deserialized into a type.
///
/// A request without a user gets a 401; take an `Option<User<T>>` if the user
/// is optional. A user that does not match `T` also gets a 401, and is logged
/// at debug level, because a valid token may contain any claims.
///
/// ```
/// use stockade::extract::User;
///
/// #[derive(serde::Deserialize)]
/// struct Account { name: String }
///
/// async fn own(User(account): User<Account>) -> String { account.name }
/// async fn greet(user: Option<User<Account>>) -> String {
///     user.map_or("stranger".into(), |User(account)| account.name)
/// }
///
/// # use stockade::auth::Secret;
/// # use stockade::middleware::{Auth, with_auth};
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// let secret = Secret::new("a secret of at least thirty-two bytes").unwrap();
/// router.use_(with_auth(Auth::secret(secret).required(false)));
/// router.get("/own", own);
/// router.get("/greet", greet);
/// let client = TestClient::new(router);
/// client.get("/own").await.assert_status(401);
/// client.get("/greet").await.assert_text("stranger");
/// # }
/// ```
///
/// A route with `User<T>` needs `with_auth`, or application middleware that may
/// set the user. Otherwise the build fails.
// Spec: Request object › user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct User<T>(pub T);

impl<T: DeserializeOwned> User<T> {
    fn read(req: &Request) -> Option<Result<Self, ApiError>> {
        let user = req.inner.user.read()?;
        let misfit = |error| {
            let error = escaped(error);
            log::debug!(target: "stockade::auth", "the user does not match its type: {error}");
            req.unauthorized()
        };
        Some(user.map(Self).map_err(misfit))
    }
}

impl<T: DeserializeOwned + Send> FromRequest for User<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Self::read(req).unwrap_or_else(|| Err(req.unauthorized()))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.takes_user();
        doc.responds(refusal());
    }
}

impl<T: DeserializeOwned + Send> OptionalFromRequest for User<T> {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Self::read(req).transpose()
    }

    fn describe_optional(doc: &mut RouteDescription) {
        doc.responds(refusal());
    }
}

/// Describes the 401 for a request without a user, or with a user that does not
/// match its type.
fn refusal() -> ResponseDoc {
    let challenge = HeaderDoc::new("WWW-Authenticate", "The supported authentication methods");
    ResponseDoc::error(401).meaning("The user does not exist").header(challenge)
}
