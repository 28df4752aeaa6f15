//! [`PageLists`]: the headers that other origins may use, by route.

use std::sync::Arc;

use http::Method;
use stockade_core::page_headers::PageHeaders;
use stockade_core::{Endpoint, RouteDescription};
use stockade_stages::cors::policy_internals::PageNames;

use crate::options::RouterOptions;

/// The distinct sets of headers that other origins may use. Routes with the
/// same headers share a set.
#[derive(Default)]
pub(crate) struct PageLists {
    /// The sets. Each new list of response headers gets the next number.
    known: Vec<Arc<PageHeaders>>,
    /// The headers that the stages of the router read and add.
    common: PageNames,
}

impl PageLists {
    /// Creates the lists of a router. Routes of another host run without the
    /// stages.
    pub(crate) fn new(options: &RouterOptions, is_hosted: bool) -> Self {
        if is_hosted {
            return Self::default();
        }
        let mut doc = RouteDescription::new(Method::GET, Vec::new());
        options.observers().describe(&mut doc);
        Self { known: Vec::new(), common: PageNames::of(doc.facts()) }
    }

    /// Sets the headers of a route.
    pub(crate) fn set(&mut self, endpoint: &Endpoint, mut names: PageNames) {
        names.add_common(&self.common);
        let Some(mut page) = names.headers() else { return };
        let is_same = |known: &&Arc<PageHeaders>| {
            known.allowed == page.allowed && known.exposed == page.exposed
        };
        if let Some(known) = self.known.iter().find(is_same) {
            endpoint.set_page_headers(Arc::clone(known));
            return;
        }
        if page.exposed.is_some() {
            let known = self.known.iter().find(|known| known.exposed == page.exposed);
            page.number = known.map_or_else(|| self.next_number(), |known| known.number);
        }
        let page = Arc::new(page);
        self.known.push(Arc::clone(&page));
        endpoint.set_page_headers(page);
    }

    /// Returns the number of the next list of response headers, or 0 for the
    /// default list if all numbers are used.
    fn next_number(&self) -> u16 {
        let last = self.known.iter().map(|known| known.number).max();
        last.unwrap_or(0).checked_add(1).unwrap_or(0)
    }

    /// Returns the distinct lists of response headers, in the order of their
    /// numbers.
    pub(crate) fn exposed(&self) -> Arc<[Arc<PageHeaders>]> {
        let mut lists: Vec<Arc<PageHeaders>> = Vec::new();
        for page in &self.known {
            if usize::from(page.number) == lists.len() + 1 {
                lists.push(Arc::clone(page));
            }
        }
        lists.into()
    }
}
