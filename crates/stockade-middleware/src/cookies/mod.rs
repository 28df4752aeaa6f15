//! Request cookies and response cookies.
//!
//! ```
//! use std::time::Duration;
//!
//! use stockade::middleware::{CookieError, Cookies, SetCookie};
//! use stockade::{Handler, Reply};
//!
//! async fn theme(cookies: Cookies) -> Result<impl Reply, CookieError> {
//!     let theme = cookies.get("theme").unwrap_or("light").to_owned();
//!     let set = SetCookie::new("theme", theme.clone())?.max_age(Duration::from_secs(86_400));
//!     Ok((set, theme))
//! }
//! # let _ = Handler::new(theme);
//! let set = SetCookie::from_static("__Host-theme", "dark");
//! let text = "__Host-theme=dark; Path=/; Secure; HttpOnly; SameSite=Lax";
//! assert_eq!(set.to_header_value()?, text);
//! # Ok::<(), CookieError>(())
//! ```
//!
//! [`SetCookie::encoded`] sets values with any characters, such as JSON, and
//! [`Cookies::decoded`] reads them.
//!
//! # Beyond the spec
//! The specification does not define cookies. Source: RFC 6265bis (draft 22).

// Files:
// - `request`: `Cookies`.
// - `set_cookie`: `SetCookie`.
// - `error`: `CookieError`.

mod error;
mod request;
mod set_cookie;

pub use error::CookieError;
pub use request::Cookies;
pub use set_cookie::SetCookie;
