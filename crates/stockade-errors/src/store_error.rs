//! [`StoreError`]: the error of a store.

use std::fmt;
use std::time::Duration;

use crate::{ApiError, BoxError, FieldError};

/// The error of a store for resources, sessions, idempotency keys or rate
/// limits.
///
/// A failed call has written nothing. A handler may return the error: it
/// converts to an [`ApiError`] with a status, and the client does not see the
/// source.
///
/// | error | status |
/// |---|---|
/// | [`Missing`](Self::Missing) | 404 |
/// | [`Changed`](Self::Changed) | 409; a resource responds with 412 if the client named a version |
/// | [`Taken`](Self::Taken) | 409, with the field; a resource omits a hidden field |
/// | [`Referenced`](Self::Referenced) | 409 |
/// | [`Invalid`](Self::Invalid) | 400, with the fields; a resource omits hidden fields |
/// | [`Full`](Self::Full) | 503 with `Retry-After: 1` |
/// | [`Busy`](Self::Busy) | 503 with `Retry-After`, in whole seconds; the source is logged |
/// | [`Failed`](Self::Failed) | 500; the source is logged |
///
/// The example needs the feature `rest` of the crate `stockade`.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Entity, MemoryStore, NewRow, Store, StoreError};
/// # use stockade::testing::TestClient;
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct User {
///     id: i64,
///     email: String,
/// }
///
/// impl Entity for User {
///     type Id = i64;
/// }
///
/// type Users = MemoryStore<User>;
///
/// async fn sign_up(
///     State(users): State<Users>,
///     Body(email): Body<String>,
/// ) -> Result<Json<User>, StoreError> {
///     let made = users.create(NewRow::new([("email", json!(email))])).await?;
///     Ok(Json(made.value))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let api = routes! { "users": { POST: sign_up } };
/// let router = create_router(api, RouterOptions::new()).state(Users::new().unique("email"));
/// let client = TestClient::new(router);
/// client.post("/users").json("ada@example.org").await.assert_status(200);
/// let taken = client.post("/users").json("ada@example.org").await;
/// taken.assert_status(409).assert_field_error("email", "unique");
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The scope does not contain the item.
    Missing,
    /// The item does not have the expected version.
    Changed,
    /// Another item has the same value in a unique field.
    Taken {
        /// The name of the field. Empty if it is unknown, or if there are
        /// several.
        field: String,
    },
    /// Other items refer to the item to delete.
    Referenced,
    /// The store rejects values that the schema allows.
    Invalid(Vec<FieldError>),
    /// The store is full.
    Full,
    /// The store is unavailable or overloaded.
    Busy {
        /// The delay before a client may retry.
        retry_after: Duration,
        /// The reason, for the log.
        source: BoxError,
    },
    /// The store failed for another reason.
    Failed(BoxError),
}

impl StoreError {
    /// Creates the error for a duplicate value in a unique field.
    #[must_use]
    pub fn taken(field: impl Into<String>) -> Self {
        Self::Taken { field: field.into() }
    }

    /// Creates the error of an unavailable store. The client may retry after
    /// one second.
    ///
    /// ```
    /// use stockade::{ApiError, StoreError};
    ///
    /// let error = ApiError::from(StoreError::unavailable("connection reset by db-7"));
    /// assert_eq!(error.status(), 503);
    /// assert_eq!(error.body(false).to_string(), r#"{"error":"Service Unavailable"}"#);
    /// ```
    #[must_use]
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::busy(Duration::from_secs(1), source)
    }

    /// Creates the error of an unavailable or overloaded store.
    #[must_use]
    pub fn busy(retry_after: Duration, source: impl Into<BoxError>) -> Self {
        Self::Busy { retry_after, source: source.into() }
    }

    /// Creates the error of a store that failed for another reason.
    #[must_use]
    pub fn failed(source: impl Into<BoxError>) -> Self {
        Self::Failed(source.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the item does not exist"),
            Self::Changed => f.write_str("the item has a different version"),
            Self::Taken { field } if field.is_empty() => {
                f.write_str("a unique value is already in use")
            }
            Self::Taken { field } => write!(f, "the value of {field} is already in use"),
            Self::Referenced => f.write_str("other items refer to the item"),
            Self::Invalid(errors) => {
                let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
                write!(f, "the store rejects values: {}", fields.join(", "))
            }
            Self::Full => f.write_str("the store is full"),
            Self::Busy { source, .. } => write!(f, "the store is busy: {source}"),
            Self::Failed(source) => write!(f, "the store failed: {source}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Busy { source, .. } | Self::Failed(source) => Some(&**source),
            _ => None,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing => Self::not_found(),
            StoreError::Changed => Self::conflict().with_message("The item has changed"),
            StoreError::Taken { field } => {
                let conflict = Self::conflict().with_message("A value is already in use");
                if field.is_empty() {
                    return conflict;
                }
                let message = format!("{field} is already in use");
                let error = FieldError::new(field, message, "unique").with_text_id("unique");
                conflict.with_field_errors(vec![error])
            }
            StoreError::Referenced => {
                Self::conflict().with_message("Other items refer to this item")
            }
            StoreError::Invalid(errors) if errors.is_empty() => {
                Self::new(400, "The values are invalid")
            }
            StoreError::Invalid(errors) => Self::validation(errors),
            StoreError::Full => Self::new(503, "the store is full").with_header("Retry-After", "1"),
            StoreError::Busy { retry_after, source } => {
                // Rounded up: a client must not retry too early.
                let seconds = retry_after.as_millis().div_ceil(1000).max(1);
                let busy = Self::new(503, format!("the store is busy: {source}"));
                busy.with_header("Retry-After", seconds.to_string()).with_source(source)
            }
            StoreError::Failed(source) => Self::internal(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: StoreError, status: u16, retry_after: Option<&str>) {
        let text = error.to_string();
        let error = ApiError::from(error);
        assert_eq!(error.status(), status, "{text}");
        let header = error.headers().find(|(name, _)| *name == "Retry-After");
        assert_eq!(header.map(|(_, value)| value), retry_after, "{text}");
        assert!(!error.public_message(false).contains("secret"), "{error}");
    }

    #[test]
    fn each_failure_has_its_status_and_hides_its_source() {
        check(StoreError::Missing, 404, None);
        check(StoreError::Changed, 409, None);
        check(StoreError::taken("name"), 409, None);
        check(StoreError::taken(""), 409, None);
        check(StoreError::Referenced, 409, None);
        check(StoreError::Invalid(vec![]), 400, None);
        check(StoreError::Invalid(vec![FieldError::new("name", "No", "database")]), 400, None);
        check(StoreError::Full, 503, Some("1"));
        check(StoreError::unavailable("secret"), 503, Some("1"));
        check(StoreError::failed("secret"), 500, None);
        let busy = |milliseconds| StoreError::busy(Duration::from_millis(milliseconds), "secret");
        for (milliseconds, seconds) in [(0, "1"), (1, "1"), (1_000, "1"), (2_001, "3")] {
            check(busy(milliseconds), 503, Some(seconds));
        }
    }
}
