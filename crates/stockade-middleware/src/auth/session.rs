//! [`SessionCookie`]: the cookie that carries a signed session id.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};
use stockade_auth::{KeyRing, SessionId};
use stockade_core::Request;

use super::method::Found;
use crate::{CrossOriginProtection, with_cross_origin_protection};

/// The cookie of a session: `HttpOnly`, `Secure`, `SameSite`, and bound to the
/// host by the prefix `__Host-`.
///
/// What it holds is a random id, signed; the session itself is kept by the
/// application, under the id.
///
/// ```
/// use stockade_auth::{KeyRing, Secret, SessionId};
/// use stockade_middleware::SessionCookie;
///
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let cookie = SessionCookie::new(keys);
/// let set = cookie.issue(&SessionId::generate()?);
/// let text = set.to_str()?;
/// assert!(text.starts_with("__Host-session="));
/// assert!(text.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Beyond the spec
/// The specification has no sessions. The attributes are those of RFC 6265bis.
#[derive(Clone, Debug)]
pub struct SessionCookie {
    name: Arc<str>,
    keys: KeyRing,
    same_site: SameSite,
    max_age: Option<Duration>,
    protection: Option<CrossOriginProtection>,
}

/// With which requests of other sites a cookie is sent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SameSite {
    /// With none.
    #[default]
    Strict,
    /// When a link is followed to this site.
    Lax,
    /// With all; browsers ask for `Secure` then.
    None,
}

impl SameSite {
    /// As it stands in `Set-Cookie`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

impl SessionCookie {
    /// `__Host-session`, until the browser is closed, sent with no request of
    /// another site.
    #[must_use]
    pub fn new(keys: KeyRing) -> Self {
        let name = "__Host-session".into();
        Self {
            name,
            keys,
            same_site: SameSite::Strict,
            max_age: None,
            protection: Some(with_cross_origin_protection()),
        }
    }

    /// Names it `__Host-` and `name`; characters that cannot stand in the name
    /// of a cookie are left out.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        let allowed = |char: &char| char.is_ascii_alphanumeric() || "-_.".contains(*char);
        self.name = format!("__Host-{}", name.chars().filter(allowed).collect::<String>()).into();
        self
    }

    /// Says with which requests of other sites it is sent.
    #[must_use]
    pub fn same_site(mut self, same_site: SameSite) -> Self {
        self.same_site = same_site;
        self
    }

    /// Sets whose pages may send requests that change something with it; `None`
    /// for all, which leaves that to [`same_site`](Self::same_site) alone: other
    /// ports and subdomains are the same site. Default: those of the same origin
    /// and those that CORS lists with credentials, as
    /// [`with_cross_origin_protection`] says; all others get 403.
    #[must_use]
    pub fn cross_origin_protection(
        mut self,
        protection: impl Into<Option<CrossOriginProtection>>,
    ) -> Self {
        self.protection = protection.into();
        self
    }

    pub(super) fn protection(&self) -> Option<&CrossOriginProtection> {
        self.protection.as_ref()
    }

    /// The name with its prefix.
    pub(super) fn full_name(&self) -> &str {
        &self.name
    }

    /// How long a browser keeps it, in whole seconds.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// The value of `Set-Cookie` that begins a session.
    #[must_use]
    pub fn issue(&self, id: &SessionId) -> HeaderValue {
        self.set(&id.sign(&self.keys), self.max_age)
    }

    /// The value of `Set-Cookie` that ends it in the browser. The application
    /// has to forget the session as well.
    #[must_use]
    pub fn clear(&self) -> HeaderValue {
        self.set("", Some(Duration::ZERO))
    }

    fn set(&self, value: &str, max_age: Option<Duration>) -> HeaderValue {
        // Without an age it ends with the browser.
        let max_age = max_age.map(|age| format!("; Max-Age={}", age.as_secs())).unwrap_or_default();
        let same_site = self.same_site.as_str();
        let name = &self.name;
        let text =
            format!("{name}={value}; Path=/{max_age}; Secure; HttpOnly; SameSite={same_site}");
        // Every part of it is ASCII without control characters.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// The session of a request, unless a page of another origin sent it.
    pub(super) fn read(&self, req: &Request) -> Result<SessionId, Found> {
        let id = self.id(req.headers())?;
        match &self.protection {
            Some(protection) => protection.check(req).map(|()| id).map_err(Found::Refused),
            None => Ok(id),
        }
    }

    fn id(&self, headers: &HeaderMap) -> Result<SessionId, Found> {
        // By bytes: other cookies may hold what is no ASCII.
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
        let mut values = pairs.filter_map(|pair| {
            let value = pair.trim_ascii().strip_prefix(self.name.as_bytes())?;
            value.strip_prefix(b"=")
        });
        let value = values.next().ok_or(Found::Nothing)?;
        if values.next().is_some() {
            return Err(Found::Invalid);
        }
        let value = std::str::from_utf8(value).map_err(|_| Found::Invalid)?;
        SessionId::verify(value, &self.keys).ok_or(Found::Invalid)
    }
}
