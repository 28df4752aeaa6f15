//! [`Jar`]: the cookies of a client.
//!
//! `cookie_store` implements RFC 6265.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use cookie_store::{CookieStore, RawCookie};
use http::{HeaderMap, header};
use stockade_errors::locks::lock;
use url::Url;

/// A cookie jar. Clones share the cookies.
#[derive(Clone, Default)]
pub(crate) struct Jar {
    store: Arc<Mutex<CookieStore>>,
}

impl Jar {
    /// Stores the cookies that a response sets, and removes those it clears.
    pub(crate) fn keep(&self, url: &Url, headers: &HeaderMap) {
        let lines = headers.get_all(header::SET_COOKIE).iter();
        let cookies = lines.filter_map(|line| RawCookie::parse(line.to_str().ok()?).ok());
        let cookies = cookies.map(RawCookie::into_owned);
        self.store().store_response_cookies(cookies, url);
    }

    /// Returns the names and values of the cookies for a request.
    pub(crate) fn cookies_for(&self, url: &Url) -> Vec<(String, String)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        self.store().get_request_values(url).map(owned).collect()
    }

    /// Returns the value of a cookie for any host and path.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let store = self.store();
        let mut cookies = store.iter_unexpired();
        cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
    }

    fn store(&self) -> MutexGuard<'_, CookieStore> {
        lock(&self.store)
    }
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jar(..)")
    }
}
