//! [`MethodInfo`]: how a request is authenticated.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The strictness of an authentication method.
///
/// [`SchemeInfo`](crate::SchemeInfo) is the same method for clients, in the
/// terms of OpenAPI. Locks compare the strictness, and policies limit it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The name of its scheme, such as `bearer`.
    pub name: String,
    /// Its kind.
    pub kind: MethodKind,
    /// The request header with an API key. `None` for the other kinds: tokens
    /// and passwords are in `Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The rules for its tokens; `None` if it does not verify tokens itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenInfo>,
    /// The cookie with the credentials, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie: Option<CookieInfo>,
    /// The times of its sessions, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionInfo>,
    /// The protection against requests of other origins that its cookie
    /// includes. `None` without such a protection, and for a route with a safe
    /// method such as GET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_origin: Option<CrossOriginInfo>,
    /// The longest time in milliseconds until an open connection of a user ends
    /// after the credentials stop being valid. `None` for a route without such
    /// connections: WebSockets, event streams, and other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck_ms: Option<u64>,
}

/// The kind of an authentication method.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MethodKind {
    /// Middleware of the program, which only describes itself.
    #[default]
    Own,
    /// A JSON Web Token that keys verify.
    Token,
    /// A function of the program that receives a token.
    Bearer,
    /// A function of the program that receives the hash of an API key.
    ApiKey,
    /// A function of the program that receives a name and a password.
    Basic,
    /// A session id in a signed cookie.
    Session,
    /// A function of the program that reads the request.
    Function,
}

impl MethodKind {
    /// Returns the name in a lock, such as `api-key`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Token => "token",
            Self::Bearer => "bearer",
            Self::ApiKey => "api-key",
            Self::Basic => "basic",
            Self::Session => "session",
            Self::Function => "function",
        }
    }
}

/// The rules for the tokens of a method.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The accepted algorithms. Empty if the keys of the issuer determine them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<String>,
    /// The accepted issuers. Empty for any or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issuers: Vec<String>,
    /// The accepted audiences. Empty for any or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audiences: Vec<String>,
    /// The required claims: a token that lacks one is rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_claims: Vec<String>,
    /// The time in seconds after its expiry until a token is rejected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leeway_seconds: u64,
    /// The longest accepted time in seconds from `iat` to `exp`. `None` for
    /// any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_life_seconds: Option<u64>,
    /// The treatment of revoked tokens.
    #[serde(default, skip_serializing_if = "RevocationCheck::is_none")]
    pub revocations: RevocationCheck,
}

/// The treatment of revoked tokens. Stricter values are greater.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RevocationCheck {
    /// They are accepted until they expire.
    #[default]
    None,
    /// They are rejected, unless the processes have lost contact with each
    /// other.
    UnlessStale,
    /// They are always rejected.
    Always,
}

impl RevocationCheck {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A cookie with credentials.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CookieInfo {
    /// Its name, with a prefix such as `__Host-`.
    pub name: String,
    /// True if browsers send it over HTTPS only.
    pub secure: bool,
    /// True if scripts cannot read it.
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`.
    pub same_site: String,
    /// The path of the requests that include it, and of the paths below.
    #[serde(default = "root", skip_serializing_if = "is_root")]
    pub path: String,
    /// The domain of the hosts that receive it. `None` for the host that set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The time in seconds until browsers delete it. `None` if they delete it
    /// when they are closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_seconds: Option<u64>,
}

/// The times of sessions.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The time in seconds until an unused session ends.
    pub idle_seconds: u64,
    /// The time in seconds until each session ends, even if it is in use.
    pub lifetime_seconds: u64,
}

/// The protection against requests that pages of other origins send (CSRF).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossOriginInfo {
    /// The origins that may send requests, in addition to the own origin and
    /// the origins that CORS lists with credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trusted_origins: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn root() -> String {
    "/".to_owned()
}

fn is_root(path: &str) -> bool {
    path == "/"
}

/// Returns the texts without duplicates, in alphabetical order, because their
/// order has no meaning.
fn as_set(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().map(Into::into).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

impl MethodInfo {
    /// Describes a method of this kind.
    #[must_use]
    pub fn new(kind: MethodKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Sets [`header`](Self#structfield.header), in lower case.
    #[must_use]
    pub fn in_header(mut self, name: &str) -> Self {
        self.header = Some(name.to_ascii_lowercase());
        self
    }

    /// Returns true if browsers send the credentials automatically: a cookie,
    /// or a name and a password.
    #[must_use]
    pub fn is_ambient(&self) -> bool {
        self.cookie.is_some() || matches!(self.kind, MethodKind::Basic | MethodKind::Session)
    }
}

impl TokenInfo {
    /// Describes tokens with these accepted algorithms, and no other rules.
    #[must_use]
    pub fn new(algorithms: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { algorithms: as_set(algorithms), ..Self::default() }
    }

    /// Sets the accepted issuers.
    #[must_use]
    pub fn issuers(mut self, issuers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.issuers = as_set(issuers);
        self
    }

    /// Sets the accepted audiences.
    #[must_use]
    pub fn audiences(mut self, audiences: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.audiences = as_set(audiences);
        self
    }

    /// Sets the required claims.
    #[must_use]
    pub fn required_claims(mut self, claims: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.required_claims = as_set(claims);
        self
    }
}

impl CookieInfo {
    /// Describes a cookie for the host that sets it and all of its paths:
    /// `Secure`, `HttpOnly`, and with this `SameSite`.
    #[must_use]
    pub fn new(name: impl Into<String>, same_site: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            secure: true,
            http_only: true,
            same_site: same_site.into(),
            path: root(),
            domain: None,
            max_age_seconds: None,
        }
    }
}

impl CrossOriginInfo {
    /// Describes a protection with these trusted origins.
    #[must_use]
    pub fn new(trusted_origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { trusted_origins: as_set(trusted_origins) }
    }

    /// Returns two protections of one route together: an origin passes if both
    /// trust it.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.trusted_origins.retain(|origin| other.trusted_origins.contains(origin));
        self
    }
}

/// Returns a time for readers: `90s`, `15m`, `12h`, `30d`.
pub(crate) fn shown_time(seconds: u64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("m", 60)];
    let is_whole = |size: u64| seconds >= size && seconds.is_multiple_of(size);
    match units.into_iter().find(|(_, size)| is_whole(*size)) {
        Some((unit, size)) => format!("{}{unit}", seconds / size),
        None => format!("{seconds}s"),
    }
}

/// Shows the facts that are known, such as `token HS256, issuer
/// https://login.example, at most 1h, revocations checked`.
impl fmt::Display for MethodInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        if let Some(header) = &self.header {
            write!(f, " in {header}")?;
        }
        if let Some(token) = &self.token {
            write!(f, "{token}")?;
        }
        if let Some(cookie) = &self.cookie {
            write!(f, ", cookie {cookie}")?;
        }
        if let Some(session) = &self.session {
            let (idle, lifetime) = (session.idle_seconds, session.lifetime_seconds);
            write!(f, ", idle {}, at most {}", shown_time(idle), shown_time(lifetime))?;
        }
        if let Some(protection) = &self.cross_origin {
            write!(f, ", {protection}")?;
        }
        match self.recheck_ms {
            Some(time) if time.is_multiple_of(1_000) => {
                write!(f, ", connections checked every {}", shown_time(time / 1_000))
            }
            Some(time) => write!(f, ", connections checked every {time}ms"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TokenInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, values) in [
            ("", &self.algorithms),
            ("issuer ", &self.issuers),
            ("audience ", &self.audiences),
            ("requires ", &self.required_claims),
        ] {
            if !values.is_empty() {
                write!(f, ", {name}{}", values.join(" or "))?;
            }
        }
        if self.leeway_seconds > 0 {
            write!(f, ", leeway {}", shown_time(self.leeway_seconds))?;
        }
        if let Some(life) = self.max_life_seconds {
            write!(f, ", at most {}", shown_time(life))?;
        }
        f.write_str(match self.revocations {
            RevocationCheck::None => "",
            RevocationCheck::UnlessStale => ", revocations checked unless stale",
            RevocationCheck::Always => ", revocations checked",
        })
    }
}

/// Shows the attributes as in `Set-Cookie`.
impl fmt::Display for CookieInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; Path={}", self.name, self.path)?;
        if let Some(domain) = &self.domain {
            write!(f, "; Domain={domain}")?;
        }
        if let Some(age) = self.max_age_seconds {
            write!(f, "; Max-Age={age}")?;
        }
        f.write_str(if self.secure { "; Secure" } else { "" })?;
        f.write_str(if self.http_only { "; HttpOnly" } else { "" })?;
        write!(f, "; SameSite={}", self.same_site)
    }
}

/// Shows `changes only from its own origin`, and the trusted origins.
impl fmt::Display for CrossOriginInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("changes only from its own origin")?;
        if !self.trusted_origins.is_empty() {
            write!(f, " and {}", self.trusted_origins.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_known_facts() {
        let key = MethodInfo::new(MethodKind::ApiKey).in_header("X-Key");
        assert_eq!(key.to_string(), "api-key in x-key");
        let mut method = MethodInfo::new(MethodKind::Token);
        let mut token = TokenInfo::new(["HS512", "HS256"]).issuers(["https://login.example"]);
        token.leeway_seconds = 90;
        token.max_life_seconds = Some(3_600);
        token.revocations = RevocationCheck::Always;
        method.token = Some(token);
        assert_eq!(
            method.to_string(),
            "token, HS256 or HS512, issuer https://login.example, leeway 90s, at most 1h, \
             revocations checked"
        );
        let mut method = MethodInfo::new(MethodKind::Session);
        method.cookie = Some(CookieInfo::new("__Host-session", "Lax"));
        method.session = Some(SessionInfo { idle_seconds: 1_800, lifetime_seconds: 86_400 });
        method.cross_origin = Some(CrossOriginInfo::new(["https://app.example"]));
        assert_eq!(
            method.to_string(),
            "session, cookie __Host-session; Path=/; Secure; HttpOnly; SameSite=Lax, idle 30m, at \
             most 1d, changes only from its own origin and https://app.example"
        );
        let mut method = MethodInfo::new(MethodKind::Basic);
        method.recheck_ms = Some(300_000);
        assert_eq!(method.to_string(), "basic, connections checked every 5m");
        method.recheck_ms = Some(250);
        assert_eq!(method.to_string(), "basic, connections checked every 250ms");
    }

    #[test]
    fn both_protections_must_trust_an_origin() {
        let both = CrossOriginInfo::new(["b", "a"]).and(&CrossOriginInfo::new(["c", "b"]));
        assert_eq!(both.trusted_origins, ["b"]);
    }

    #[test]
    fn kinds_have_the_names_of_a_lock() {
        for kind in [MethodKind::Own, MethodKind::ApiKey, MethodKind::Function] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
