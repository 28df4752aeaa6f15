//! [`Jar`]: the cookies that a client keeps.
//!
//! Who is sent what is RFC 6265, which `cookie_store` knows.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cookie_store::{CookieStore, RawCookie};
use http::{HeaderMap, header};
use url::Url;

/// Cookies that are kept from response to request. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Jar {
    store: Arc<Mutex<CookieStore>>,
}

impl Jar {
    /// Keeps what a response sets, and forgets what it removes.
    pub(crate) fn keep(&self, url: &Url, headers: &HeaderMap) {
        let lines = headers.get_all(header::SET_COOKIE).iter();
        let cookies = lines.filter_map(|line| RawCookie::parse(line.to_str().ok()?).ok());
        let cookies = cookies.map(RawCookie::into_owned);
        self.store().store_response_cookies(cookies, url);
    }

    /// The cookies for a request, as names and values.
    pub(crate) fn cookies_for(&self, url: &Url) -> Vec<(String, String)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        self.store().get_request_values(url).map(owned).collect()
    }

    /// The value of a cookie, wherever it is sent.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let store = self.store();
        let mut cookies = store.iter_unexpired();
        cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
    }

    fn store(&self) -> MutexGuard<'_, CookieStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jar(..)")
    }
}
