//! [`TokenError`] and [`IssueError`]: the errors of verifying and issuing
//! tokens.

use std::fmt;

use stockade_errors::ApiError;

use super::TokenAlgorithm;

/// The reason why a token is not valid, for the log of the program that refuses
/// it.
///
/// A client does not get the reason: the specification answers each of them
/// with the same null, as [`verify_token`](crate::verify_token) does.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TokenError {
    /// The header names another algorithm than those of the keys and the verifier.
    Algorithm,
    /// The audience is not one of the required ones.
    Audience,
    /// `exp` is in the past.
    Expired,
    /// The issuer is not one of the required ones.
    Issuer,
    /// The token is not three parts of base64url with a supported header and an
    /// object of claims, each name once, with numbers as times. With secrets, the
    /// signature must also have the length of an accepted algorithm.
    Malformed,
    /// A required claim is missing.
    MissingClaim {
        /// The claim's name.
        claim: String,
    },
    /// `nbf` is in the future.
    NotYetValid,
    /// No key made this signature.
    Signature,
    /// The token is longer than the limit. Nothing else was checked.
    TooLong,
    /// No key of a JWK set has the name (`kid`) in the header, and none without
    /// a name verifies the token. The set may be older than the key.
    UnknownKey,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Algorithm => "the token has another algorithm",
            Self::Audience => "the token is for another audience",
            Self::Expired => "the token has expired",
            Self::Issuer => "the token is from another issuer",
            Self::Malformed => "the token is malformed",
            Self::MissingClaim { claim } => return write!(f, "the token has no claim {claim:?}"),
            Self::NotYetValid => "the token is not valid yet",
            Self::Signature => "the signature of the token is wrong",
            Self::TooLong => "the token is too long",
            Self::UnknownKey => "no key fits the token",
        })
    }
}

impl std::error::Error for TokenError {}

/// The reason why a token was not made: it could never be verified.
///
/// As an [`ApiError`] it is a 500, because the payload is the program's.
#[derive(Debug)]
#[non_exhaustive]
pub enum IssueError {
    /// A secret cannot sign by this algorithm, because it needs a private key.
    Algorithm {
        /// The algorithm.
        algorithm: TokenAlgorithm,
    },
    /// The secret is too short for the algorithm. RFC 7518, section 3.2.
    ShortSecret {
        /// The algorithm.
        algorithm: TokenAlgorithm,
        /// The fewest bytes of its secrets.
        bytes: usize,
    },
    /// The system's clock says that it is before 1970.
    UnixClock,
    /// The payload is not a JSON object.
    NotAnObject,
    /// The payload's `nbf` is not a time.
    NotBefore,
    /// The payload is nested deeper than readers accept, 127 levels.
    TooDeep,
    /// The token would be longer than the limit.
    TooLong {
        /// The length it would have, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The payload cannot be turned into JSON.
    Unserializable(serde_json::Error),
}

impl fmt::Display for IssueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Algorithm { algorithm } => {
                write!(f, "a secret cannot sign a token by {algorithm}; use HS256, HS384 or HS512")
            }
            Self::ShortSecret { algorithm, bytes } => {
                write!(f, "{algorithm} needs a secret of at least {bytes} bytes")
            }
            Self::UnixClock => f.write_str("the clock is before 1970"),
            Self::NotAnObject => f.write_str("the payload of a token must be an object"),
            Self::NotBefore => f.write_str("`nbf` must be a number of seconds since 1970"),
            Self::TooDeep => f.write_str("the payload of a token is nested too deep"),
            Self::TooLong { bytes, limit } => {
                write!(f, "a token of {bytes} bytes is above the limit of {limit}")
            }
            Self::Unserializable(_) => f.write_str("the payload of a token cannot become JSON"),
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
