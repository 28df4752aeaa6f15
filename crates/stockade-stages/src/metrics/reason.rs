//! [`Reason`]: the reason for a rejection, as a label.

use std::error::Error as _;

use http::StatusCode;
use stockade_core::endpoint_internals::Overloaded;
use stockade_core::{ApiError, Response, error_of};
use stockade_errors::ErrorKind;
use tokio::time::error::Elapsed;

/// Generates the enum, its list and its labels from one table.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $label:literal,)*) => {
        /// The reason for the rejection of a request. The set is closed, so the
        /// number of labels cannot grow.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// All reasons, in the order of their declaration.
            pub(super) const ALL: [Self; [$($label),*].len()] = [$(Self::$reason),*];

            pub(super) fn label(self) -> &'static str {
                match self {
                    $(Self::$reason => $label,)*
                }
            }
        }
    };
}

reasons! {
    BadRequest = "bad_request",
    Validation = "validation",
    Unauthorized = "unauthorized",
    Forbidden = "forbidden",
    NotFound = "not_found",
    MethodNotAllowed = "method_not_allowed",
    /// The client was too slow (408), or the route exceeded its `timeout`.
    Timeout = "timeout",
    Conflict = "conflict",
    PreconditionFailed = "precondition_failed",
    BodyTooLarge = "body_too_large",
    UnsupportedMediaType = "unsupported_media_type",
    RateLimit = "rate_limit",
    HeadersTooLarge = "headers_too_large",
    /// Any other 4xx.
    Other = "other",
    /// The limit of requests in flight was reached.
    Overload = "overload",
    ServerError = "server_error",
}

impl Reason {
    /// Returns the reason for the rejection by a response, or `None` for a
    /// success.
    pub(crate) fn of(response: &Response) -> Option<Self> {
        let reason = Self::of_status(response.status())?;
        Some(error_of(response).and_then(Self::of_error).unwrap_or(reason))
    }

    /// Returns the reason that follows from the status.
    pub(super) fn of_status(status: StatusCode) -> Option<Self> {
        Some(match status.as_u16() {
            ..400 => return None,
            400 => Self::BadRequest,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            405 => Self::MethodNotAllowed,
            408 => Self::Timeout,
            409 => Self::Conflict,
            412 => Self::PreconditionFailed,
            413 => Self::BodyTooLarge,
            415 => Self::UnsupportedMediaType,
            429 => Self::RateLimit,
            431 => Self::HeadersTooLarge,
            500.. => Self::ServerError,
            _ => Self::Other,
        })
    }

    /// Returns the reason that an error provides in addition to its status.
    fn of_error(error: &ApiError) -> Option<Self> {
        if error.kind() == ErrorKind::Validation {
            return Some(Self::Validation);
        }
        match error.status() {
            400 if error.details().is_some() => Some(Self::Validation),
            503 | 504 if error.source().is_some_and(|source| source.is::<Elapsed>()) => {
                Some(Self::Timeout)
            }
            503 if error.source().is_some_and(|source| source.is::<Overloaded>()) => {
                Some(Self::Overload)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stockade_core::{ErrorContext, Request};

    use super::*;

    #[track_caller]
    fn check(error: ApiError, expected: &str) {
        let req = Request::from(http::Request::new(()));
        let response = ErrorContext::of(&req).answer(error);
        assert_eq!(Reason::of(&response).map(Reason::label), Some(expected));
    }

    #[test]
    fn the_kind_of_an_error_determines_its_reason() {
        check(ApiError::validation(&[]), "validation");
        check(ApiError::validation(&[]).with_status(422), "validation");
        check(ApiError::new(422, ""), "other");
        check(ApiError::new(400, "").with_details(json!(["a is required"])), "validation");
        check(ApiError::new(400, "Invalid JSON body"), "bad_request");
        check(ApiError::new(413, ""), "body_too_large");
        check(ApiError::new(418, ""), "other");
        check(ApiError::new(429, ""), "rate_limit");
        check(ApiError::new(503, ""), "server_error");
        assert_eq!(Reason::of(&Response::default()), None);
    }

    #[tokio::test]
    async fn a_slow_route_is_a_timeout() {
        let never = std::future::pending::<()>();
        let elapsed = tokio::time::timeout(std::time::Duration::ZERO, never).await.unwrap_err();
        check(ApiError::new(503, "").with_source(elapsed), "timeout");
    }

    #[test]
    fn each_reason_has_its_index() {
        for (place, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }
}
