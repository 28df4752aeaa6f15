//! A page of items.

use http::header;
use serde_json::{Value, json};
use stockade_core::{Request, Response};
use stockade_errors::ApiError;
use stockade_serialization::to_json;

use super::Route;
use super::answer::{header_value, json};
use super::query::Question;
use crate::access::Operation;
use crate::core::Core;
use crate::erased::ErasedPage;

impl Route {
    pub(super) async fn list(&self, req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let question = Question::of(core, &req)?;
        let page = core.store.list(&question.ask).await;
        let mut page = page.map_err(|error| core.failure(error, false))?;
        if question.backwards {
            page.items.reverse();
        }
        let cursors = Cursors::of(&question, &page)?;
        let total = page.total;
        let next = cursors.next.as_deref();
        let mut response = json(self.page(req.user(), &mut page, next).await?)?;
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, self.cache_control());
        if let Some(links) = cursors.links(&req) {
            headers.insert(header::LINK, header_value(links)?);
        }
        if let Some(total) = total {
            headers.insert("x-total-count", header_value(total.to_string())?);
        }
        Ok(response)
    }

    /// Writes a page as JSON.
    async fn page(
        &self,
        user: Option<&Value>,
        page: &mut ErasedPage,
        next: Option<&str>,
    ) -> Result<Vec<u8>, ApiError> {
        let core: &Core = &self.core;
        if core.hidden.is_empty() && !core.has_after(Operation::List) {
            return page.items.write(next);
        }
        let mut values = Vec::with_capacity(page.items.len());
        for item in page.items.take() {
            let item = core.after(Operation::List, user, item).await?;
            let mut value = item.value()?;
            core.hide(&mut value);
            values.push(value);
        }
        Ok(to_json(&json!({ "items": values, "next": next }))?)
    }
}

/// The cursors of the pages beside a page.
struct Cursors {
    next: Option<String>,
    previous: Option<String>,
    /// True for a page that does not begin at the first item.
    is_inner: bool,
}

impl Cursors {
    fn of(question: &Question, page: &ErasedPage) -> Result<Self, ApiError> {
        let is_inner = question.ask.after.is_some();
        // The page is behind its cursor, or in front of it: so there is an item on the
        // side from which it comes.
        let (has_next, has_previous) =
            if question.backwards { (true, page.more) } else { (page.more, is_inner) };
        let cursor = |index: Option<usize>, backwards| -> Result<Option<String>, ApiError> {
            let item = index.map(|index| page.items.value(index)).transpose()?;
            item.map(|item: Value| question.cursor_at(&item, backwards)).transpose()
        };
        let last = page.items.len().checked_sub(1);
        let first = last.map(|_| 0);
        Ok(Self {
            next: cursor(last.filter(|_| has_next), false)?,
            previous: cursor(first.filter(|_| has_previous), true)?,
            is_inner,
        })
    }

    /// Returns the value of `Link`, if there are other pages.
    ///
    /// Source: RFC 8288.
    fn links(&self, req: &Request) -> Option<String> {
        let query = req.uri().query().unwrap_or_default();
        let others = query.split('&').filter(|pair| !pair.is_empty());
        let others: Vec<&str> =
            others.filter(|pair| *pair != "cursor" && !pair.starts_with("cursor=")).collect();
        let link = |cursor: Option<&str>, rel: &str| {
            let cursor = cursor.map(|cursor| format!("cursor={cursor}"));
            let query: Vec<&str> = others.iter().copied().chain(cursor.as_deref()).collect();
            let mark = if query.is_empty() { "" } else { "?" };
            format!("<{}{mark}{}>; rel=\"{rel}\"", req.path(), query.join("&"))
        };
        let first = self.is_inner.then(|| link(None, "first"));
        let previous = self.previous.as_deref().map(|cursor| link(Some(cursor), "prev"));
        let next = self.next.as_deref().map(|cursor| link(Some(cursor), "next"));
        let links: Vec<String> = [first, previous, next].into_iter().flatten().collect();
        (!links.is_empty()).then(|| links.join(", "))
    }
}
