//! [`ListenAddr`]: the address on which a server listens.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::lookup_host;

use crate::ServeError;

/// An address to listen on: a port, a text, or a socket address.
///
/// | Value | Listens on |
/// |---|---|
/// | `3000` | `127.0.0.1:3000`, for this machine only |
/// | `"0.0.0.0:3000"`, `"[::]:3000"` | every interface, IPv4 or IPv6 |
/// | `"localhost:3000"` | the first address of the name |
/// | a [`SocketAddr`], `(IpAddr, u16)` | that address |
///
/// A bare port is not open to other machines, so that opening a server to them is
/// visible in the code. Port 0 takes a free port.
pub trait ListenAddr: Sealed {}

impl<T: Sealed> ListenAddr for T {}

/// The form in which an address was given.
#[expect(unnameable_types, reason = "the trait is sealed")]
#[derive(Debug, Eq, PartialEq)]
pub enum Target {
    Socket(SocketAddr),
    Name(String),
}

mod sealed {
    #[expect(unnameable_types, reason = "it seals the trait")]
    pub trait Sealed {
        fn into_target(self) -> super::Target;
    }
}
use sealed::Sealed;

impl Sealed for u16 {
    fn into_target(self) -> Target {
        Target::Socket((Ipv4Addr::LOCALHOST, self).into())
    }
}

impl Sealed for SocketAddr {
    fn into_target(self) -> Target {
        Target::Socket(self)
    }
}

impl Sealed for (IpAddr, u16) {
    fn into_target(self) -> Target {
        Target::Socket(self.into())
    }
}

impl Sealed for &str {
    fn into_target(self) -> Target {
        match self.parse() {
            Ok(address) => Target::Socket(address),
            Err(_) => Target::Name(self.to_owned()),
        }
    }
}

impl Sealed for String {
    fn into_target(self) -> Target {
        self.as_str().into_target()
    }
}

/// Returns the socket address; a name is looked up.
pub(crate) async fn resolve(address: impl ListenAddr) -> Result<SocketAddr, ServeError> {
    let name = match address.into_target() {
        Target::Socket(address) => return Ok(address),
        Target::Name(name) => name,
    };
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let found = lookup_host(name.as_str()).await;
    found
        .and_then(|mut addresses| addresses.next().ok_or_else(none))
        .map_err(|source| ServeError::Address { address: name, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: impl ListenAddr, expected: &str) {
        match address.into_target() {
            Target::Socket(address) => assert_eq!(address.to_string(), expected),
            Target::Name(name) => assert_eq!(format!("name {name}"), expected),
        }
    }

    #[test]
    fn a_port_is_for_this_machine_only_and_the_rest_is_as_given() {
        check(3000, "127.0.0.1:3000");
        check("0.0.0.0:3000", "0.0.0.0:3000");
        check("[::1]:80", "[::1]:80");
        check("localhost:3000".to_owned(), "name localhost:3000");
        check(SocketAddr::from(([10, 0, 0, 1], 8)), "10.0.0.1:8");
        check((IpAddr::from([10, 0, 0, 1]), 8), "10.0.0.1:8");
    }

    #[tokio::test]
    async fn a_text_without_a_port_is_an_error_that_names_it() {
        let error = resolve("localhost").await.unwrap_err().to_string();
        assert!(error.starts_with("cannot listen on localhost: "), "{error}");
    }
}
