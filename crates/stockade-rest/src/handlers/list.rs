//! Handles lists of items.

use http::header;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use stockade_core::{Request, Response};
use stockade_errors::ApiError;
use stockade_json::ListWriter;

use super::Route;
use super::answer::{header_value, json};
use super::query::ParsedQuery;
use crate::access::Operation;
use crate::core::Core;
use crate::erased::ErasedPage;

impl Route {
    pub(super) async fn list(&self, req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let mut question = ParsedQuery::of(core, &req)?;
        question.find_begin(core).await?;
        let page = core.store.list(&question.list_query).await;
        let mut page = page.map_err(|error| core.failure(error, false))?;
        let mut list = ListWriter::new("{\"items\":[", page.items.len());
        let cursors = self.write(req.user(), &question, &mut page, &mut list).await?;
        let next = serde_json::to_string(&cursors.next).map_err(ApiError::internal)?;
        let end = match page.skipped {
            0 => ["],\"next\":", &next, "}"].concat(),
            skipped => format!("],\"next\":{next},\"skipped\":{skipped}}}"),
        };
        let mut response = json(list.finish(&end))?;
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, self.cache_control());
        if let Some(links) = cursors.links(&req) {
            headers.insert(header::LINK, header_value(links)?);
        }
        if let Some(total) = page.total {
            headers.insert("x-total-count", header_value(total.to_string())?);
        }
        Ok(response)
    }

    /// Writes the items of a page. The page ends early when it reaches its
    /// maximum size.
    async fn write(
        &self,
        user: Option<&Value>,
        question: &ParsedQuery,
        page: &mut ErasedPage,
        list: &mut ListWriter,
    ) -> Result<Cursors, ApiError> {
        let core: &Core = &self.core;
        let (names, most) = (question.key_names(), question.list_query.max_bytes);
        let is_begun = question.backwards || question.list_query.after.is_some();
        let first = if is_begun { page.items.keys(0, &names)? } else { None };
        let count = page.items.len();
        let mut last = None;
        if core.has_after(Operation::List) {
            for item in page.items.take() {
                // Use the stored keys, because they determine the order.
                last = Some(item.keys(&names)?);
                let item = core.after(Operation::List, user, item).await?;
                self.write_value(item.value()?, list)?;
                if list.size() >= most {
                    break;
                }
            }
        } else if !core.hides() {
            page.items.write(list, most)?;
        } else {
            while let Some(value) = page.items.value(list.count())? {
                self.write_value(value, list)?;
                if list.size() >= most {
                    break;
                }
            }
        }
        let more = page.more || list.count() < count;
        if last.is_none() && more {
            last = page.items.keys(list.count().saturating_sub(1), &names)?;
        }
        if question.backwards {
            list.reverse();
        }
        Cursors::of(question, Edges { first, last, more })
    }

    /// Writes an item without its hidden fields.
    fn write_value(&self, mut value: Value, list: &mut ListWriter) -> Result<(), ApiError> {
        self.core.hide(&mut value);
        Ok(list.push(&value)?)
    }
}

/// The cursors of the adjacent pages.
struct Cursors {
    next: Option<String>,
    previous: Option<String>,
    /// True if the page starts after the first item.
    is_inner: bool,
}

/// The keys of the first and last items of a page, in the query's order.
struct Edges {
    first: Option<Vec<Value>>,
    last: Option<Vec<Value>>,
    /// True if there are items after the last one.
    more: bool,
}

impl Cursors {
    fn of(question: &ParsedQuery, edges: Edges) -> Result<Self, ApiError> {
        let is_inner = question.list_query.after.is_some();
        let beyond = edges.last.filter(|_| edges.more);
        // A page reached by a cursor has an adjacent item on the side of that
        // cursor.
        let (next, previous) = if question.backwards {
            (edges.first, beyond)
        } else {
            (beyond, edges.first.filter(|_| is_inner))
        };
        let cursor = |keys: Option<Vec<Value>>, backwards| {
            keys.map(|keys| question.cursor_at(keys, backwards)).transpose()
        };
        Ok(Self { next: cursor(next, false)?, previous: cursor(previous, true)?, is_inner })
    }

    /// Returns the `Link` header value, if there are other pages.
    ///
    /// Source: RFC 8288.
    fn links(&self, req: &Request) -> Option<String> {
        let mut links = String::new();
        if self.is_inner {
            write_link(&mut links, req, None, "first");
        }
        if let Some(previous) = &self.previous {
            write_link(&mut links, req, Some(previous), "prev");
        }
        if let Some(next) = &self.next {
            write_link(&mut links, req, Some(next), "next");
        }
        (!links.is_empty()).then_some(links)
    }
}

/// Appends the link of a page: the request target with another cursor.
fn write_link(links: &mut String, req: &Request, cursor: Option<&str>, rel: &str) {
    const CURSOR: &str = "cursor=";

    let query = req.uri().query().unwrap_or_default();
    let is_other = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or(pair);
        // A name may be encoded: `%63ursor`.
        !pair.is_empty() && percent_decode_str(name).ne("cursor".bytes())
    };
    let rest = if links.is_empty() { "<" } else { ", <" };
    let length = cursor.map_or(0, str::len) + query.len() + req.path().len();
    links.reserve(length + 40);
    links.push_str(rest);
    links.push_str(req.path());
    let mut mark = '?';
    for pair in query.split('&').filter(is_other) {
        links.push(mark);
        links.push_str(pair);
        mark = '&';
    }
    if let Some(cursor) = cursor {
        links.push(mark);
        links.push_str(CURSOR);
        links.push_str(cursor);
    }
    links.push_str(">; rel=\"");
    links.push_str(rel);
    links.push('"');
}
