//! [`TokenError`] and [`IssueError`]: the errors of verifying and issuing
//! tokens.

use std::fmt;

use stockade_errors::ApiError;

use super::TokenAlgorithm;

/// The reason why a token is invalid, for the log of the program that rejects
/// it.
///
/// The reason is not sent to clients: the specification requires the same null
/// for all of them, as [`verify_token`](crate::verify_token) returns.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TokenError {
    /// The keys or the verifier do not allow the algorithm in the header.
    Algorithm,
    /// The audience is not a required one.
    Audience,
    /// `exp` is in the past.
    Expired,
    /// The issuer is not a required one.
    Issuer,
    /// The life of the token is longer than the verifier accepts.
    Lifetime,
    /// The token is malformed. A token consists of three base64url parts, with
    /// a supported header and an object of claims. Names must be unique and
    /// times must be numbers. With secrets, the signature must also have the
    /// length of an accepted algorithm.
    Malformed,
    /// A required claim is missing.
    MissingClaim {
        /// The name of the claim.
        claim: String,
    },
    /// `nbf` is in the future.
    NotYetValid,
    /// No key verifies the signature.
    Signature,
    /// The token exceeds the maximum length. Nothing else was checked.
    TooLong,
    /// The JWK set does not contain the `kid` in the header, and no key without
    /// a name verifies the token. The set may be older than the key.
    UnknownKey,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Algorithm => "the token has the wrong algorithm",
            Self::Audience => "the token has the wrong audience",
            Self::Expired => "the token has expired",
            Self::Issuer => "the token has the wrong issuer",
            Self::Lifetime => "the token is valid for too long",
            Self::Malformed => "the token is malformed",
            Self::MissingClaim { claim } => {
                return write!(f, "the token does not have the claim {claim:?}");
            }
            Self::NotYetValid => "the token is not valid yet",
            Self::Signature => "the token signature is invalid",
            Self::TooLong => "the token is too long",
            Self::UnknownKey => "no key matches the token",
        })
    }
}

impl std::error::Error for TokenError {}

/// The reason why a token was not issued: it could never be verified.
///
/// As an [`ApiError`] it is a 500, because the program provides the payload.
#[derive(Debug)]
#[non_exhaustive]
pub enum IssueError {
    /// A secret cannot sign with this algorithm, which needs a private key.
    Algorithm {
        /// The algorithm.
        algorithm: TokenAlgorithm,
    },
    /// The secret is too short for the algorithm. RFC 7518, section 3.2.
    ShortSecret {
        /// The algorithm.
        algorithm: TokenAlgorithm,
        /// The minimum length of a secret, in bytes.
        bytes: usize,
    },
    /// The system clock is before 1970.
    UnixClock,
    /// The payload is not a JSON object.
    NotAnObject,
    /// The payload's `nbf` is not a time.
    NotBefore,
    /// The payload is nested deeper than 127 levels, the limit of readers.
    TooDeep,
    /// The token would exceed the maximum length.
    TooLong {
        /// The length of the token, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The payload cannot be serialized as JSON.
    Unserializable(serde_json::Error),
}

impl fmt::Display for IssueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Algorithm { algorithm } => {
                write!(
                    f,
                    "a secret cannot sign a token with {algorithm}; use HS256, HS384 or HS512"
                )
            }
            Self::ShortSecret { algorithm, bytes } => {
                write!(f, "{algorithm} needs a secret of at least {bytes} bytes")
            }
            Self::UnixClock => f.write_str("the clock is before 1970"),
            Self::NotAnObject => f.write_str("the token payload must be an object"),
            Self::NotBefore => f.write_str("`nbf` must be a number of seconds since 1970"),
            Self::TooDeep => f.write_str("the token payload is nested too deeply"),
            Self::TooLong { bytes, limit } => {
                write!(f, "a token must have at most {limit} bytes, found {bytes}")
            }
            Self::Unserializable(_) => {
                f.write_str("the token payload cannot be serialized as JSON")
            }
        }
    }
}

impl std::error::Error for IssueError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unserializable(error) => Some(error),
            _ => None,
        }
    }
}

impl From<IssueError> for ApiError {
    fn from(error: IssueError) -> Self {
        Self::internal(error)
    }
}
