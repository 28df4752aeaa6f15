//! [`OutgoingError`]: the reasons to reject an address.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;

/// The reason why a request must not be sent. The text does not contain
/// resolved addresses, so it may be shown to the user who chose the URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutgoingError {
    /// The text is not an absolute URL in the accepted form.
    Malformed,
    /// The scheme is not `https`, nor `http` if it is allowed.
    Scheme,
    /// The URL contains a user name or a password.
    UserInfo,
    /// The port is not allowed.
    Port(u16),
    /// The name does not have an address, or the resolver failed or took too
    /// long.
    Unresolved,
    /// An address of the host is not public.
    NotPublic(IpAddr),
    /// There were too many redirects.
    TooManyRedirects,
}

impl fmt::Display for OutgoingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "The URL is malformed",
            Self::Scheme => "The scheme of the URL is not allowed",
            Self::UserInfo => "The URL must not contain a user name or a password",
            Self::Port(port) => return write!(f, "The port {port} of the URL is not allowed"),
            Self::Unresolved => "The host of the URL does not resolve to an address",
            Self::NotPublic(_) => "The host of the URL is not public",
            Self::TooManyRedirects => "The URL redirects too often",
        })
    }
}

impl Error for OutgoingError {}
