//! Requests of the program to addresses that users chose, without access to
//! its own network (server-side request forgery, SSRF).
//!
//! A user who may name a URL, for example of a webhook or a picture, can name a
//! machine behind your firewall. Names of the public DNS can point there too,
//! and so can redirects. An [`OutgoingGuard`] therefore resolves the name,
//! rejects every address that is not public, and does so again after each
//! redirect. It works with any HTTP client that can connect to an address
//! instead of a name, and does not follow redirects itself.
//!
//! ```
//! use stockade::outgoing::{OutgoingGuard, OutgoingUrl};
//!
//! # async fn send(_: &OutgoingUrl, _: &[std::net::SocketAddr]) -> Option<String> { None }
//! # #[tokio::main]
//! # async fn main() -> Result<(), stockade::BoxError> {
//! let guard = OutgoingGuard::new();
//! let mut request = guard.start(OutgoingUrl::parse("http://127.0.0.1/admin")?);
//! // This address is not public.
//! assert!(request.resolve().await.is_err());
//!
//! request = guard.start(OutgoingUrl::parse("https://93.184.215.14/hook")?);
//! loop {
//!     let addresses = request.resolve().await?;
//!     // Connects to `addresses` only, and returns the `Location` of a redirect.
//!     match send(request.url(), &addresses).await {
//!         Some(location) => request.redirect(&location)?,
//!         None => break,
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Pass the addresses to the client: with reqwest, `ClientBuilder::resolve_to_addrs`
//! and `redirect(Policy::none())`; otherwise connect with
//! `tokio::net::TcpStream::connect(&*addresses)`. A client that resolves the name
//! again may get another address (DNS rebinding). Do not send the credentials of
//! the first host to the next.
//!
//! Source: OWASP API7:2023 (server-side request forgery).

mod error;
mod guard;
mod public;
mod url;

pub use error::OutgoingError;
pub use guard::{OutgoingGuard, OutgoingRequest};
pub use public::is_public;
pub use url::OutgoingUrl;
