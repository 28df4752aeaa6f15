//! `RouteMarks`: the marks `read_only` and `write_only` of a route's types,
//! applied to its requests and responses at every depth.
//!
//! Only JSON-RPC methods use it. On other routes with `Body<T>` and `Json<T>`,
//! the marks only affect documents, and a resource applies them to its items.

use std::sync::Arc;

use http::{HeaderMap, header};
use stockade_errors::ApiError;
use stockade_validation::marks::{Mark, Marks};

use crate::description::{BodyDoc, Content, ContentSchema, InputFrom, ResponseDoc, StatusDoc};
use crate::media::Media;
use crate::read::{Payload, invalid_json, not_json};
use crate::{Handler, HttpBody, Middleware, Next, Request, Response, RouteDescription, Validation};

/// The marked properties in the body and the responses of a route.
#[derive(Debug)]
pub struct RouteMarks {
    /// The body schemas with read-only properties.
    sent: Vec<Marks>,
    /// The response schemas with write-only properties.
    shown: Vec<(StatusDoc, Marks)>,
}

/// Marks the middleware of [`RouteMarks::into_middleware`].
#[derive(Clone, Copy, Debug)]
pub struct AppliesMarks;

impl RouteMarks {
    /// Finds the marked properties in the schemas of a route and the
    /// description of its handler. Returns `None` if there are none. Adds all
    /// configuration errors to `faults`.
    #[must_use]
    pub fn of(
        validation: &Validation,
        doc: &RouteDescription,
        faults: &mut Vec<String>,
    ) -> Option<Self> {
        let typed = validation.inputs.iter().filter(|input| input.source == InputFrom::Body);
        let schemas = typed.map(|input| &input.schema).chain(&validation.body);
        let sent: Vec<Marks> = schemas.map(Marks::of).collect();
        faults.extend(sent.iter().find_map(|marks| ignored(marks, Mark::ReadOnly, "the body")));
        let sent = sent.into_iter().filter(|marks| marks.has(Mark::ReadOnly));
        let sent: Vec<Marks> = sent.collect();
        faults.extend(sent.iter().find_map(Marks::required_read_only).map(|path| {
            format!(
                "the body requires `{path}`, which is read-only, so no request can be valid: set \
                 a default, make it optional, or use a type without it"
            )
        }));
        let shown = doc.facts.answers.iter().flat_map(|answer| {
            let schemas = contents(answer).filter_map(|content| match &content.schema {
                // Its errors are reported when it is described.
                ContentSchema::Of(schema) if schema.may_be_marked() => schema.schema().ok(),
                ContentSchema::Made(schema) => Some(schema.clone()),
                _ => None,
            });
            schemas.map(|schema| (answer.status, Marks::of(&schema)))
        });
        let shown: Vec<(StatusDoc, Marks)> = shown.collect();
        let reply = |marks| ignored(marks, Mark::WriteOnly, "a response");
        faults.extend(shown.iter().find_map(|(_, marks)| reply(marks)));
        let shown = shown.into_iter().filter(|(_, marks)| marks.has(Mark::WriteOnly));
        let shown: Vec<(StatusDoc, Marks)> = shown.collect();
        let is_marked = !sent.is_empty() || !shown.is_empty();
        is_marked.then_some(Self { sent, shown })
    }

    /// Creates middleware that removes read-only values from the body and
    /// write-only values from the response. It runs last, directly before
    /// validation.
    #[must_use]
    pub fn into_middleware(self) -> Middleware {
        let marks = Arc::new(self);
        let around = move |req: Request, next: Next| {
            let marks = Arc::clone(&marks);
            async move { marks.run(req, next).await }
        };
        // Adds no responses to the handler's, so the description is empty.
        Middleware::new(around)
            .named("read_only and write_only")
            .describing(|_| {})
            .marked(AppliesMarks)
    }

    async fn run(&self, mut req: Request, next: Next) -> Result<Response, ApiError> {
        if !self.sent.is_empty() {
            self.drop_read_only(&mut req).await?;
        }
        self.hide(next.try_run(req).await?).await
    }

    /// Removes read-only values from the body.
    ///
    /// # Errors
    /// 400 if the body is not JSON, because a handler might ignore the invalid
    /// part.
    async fn drop_read_only(&self, req: &mut Request) -> Result<(), ApiError> {
        if let Payload::Parsed { value, .. } | Payload::Replaced(value) = &mut req.inner.payload {
            self.sent.iter().for_each(|marks| marks.strip_whole(Mark::ReadOnly, value));
            return Ok(());
        }
        if req.has_no_body() || Media::of(req.headers()) != Media::Json {
            return Ok(());
        }
        let bytes = req.bytes().await?;
        if bytes.is_empty() {
            return Ok(());
        }
        let sent = std::str::from_utf8(&bytes).map_err(|_| not_json())?;
        let mut changed: Option<String> = None;
        for marks in &self.sent {
            let text = changed.as_deref().unwrap_or(sent);
            match marks.strip_text(Mark::ReadOnly, text) {
                Ok(None) => {}
                Ok(stripped) => changed = stripped,
                Err(error) => return Err(invalid_json(&error, req.inner.settings.expose_errors)),
            }
        }
        if let Some(changed) = changed {
            req.inner.payload = Payload::Bytes(changed.into());
        }
        Ok(())
    }

    /// Returns the marked properties of the responses with this status.
    fn shown_with(&self, status: u16) -> Vec<&Marks> {
        self.shown.iter().filter(|(of, _)| of.covers(status)).map(|(_, marks)| marks).collect()
    }

    /// Removes write-only values from a response.
    ///
    /// # Errors
    /// 500 if its JSON is unreadable. Such a response is never sent unchanged.
    async fn hide(&self, response: Response) -> Result<Response, ApiError> {
        let marks = self.shown_with(response.status().as_u16());
        if marks.is_empty() {
            return Ok(response);
        }
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect(MAX_RESPONSE).await.map_err(unreadable)?;
        let mut text = match std::str::from_utf8(&bytes) {
            Ok(text) if !text.is_empty() => text.to_owned(),
            Err(error) if is_json(&parts.headers) => return Err(unreadable(error)),
            _ => return Ok(Response::from_parts(parts, HttpBody::from(bytes))),
        };
        let mut has_changed = false;
        for marks in marks {
            match marks.strip_text(Mark::WriteOnly, &text) {
                Ok(None) => {}
                Ok(Some(stripped)) => (text, has_changed) = (stripped, true),
                Err(error) if is_json(&parts.headers) => return Err(unreadable(error)),
                // The status has another content type, such as text.
                Err(_) => break,
            }
        }
        if !has_changed {
            return Ok(Response::from_parts(parts, HttpBody::from(bytes)));
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        Ok(Response::from_parts(parts, HttpBody::from(text)))
    }
}

/// The maximum size of a response with a marked type, in bytes.
const MAX_RESPONSE: u64 = 64 * 1_048_576;

fn is_json(headers: &HeaderMap) -> bool {
    // An encoded response is unreadable, so its type does not matter.
    Media::of(headers) == Media::Json || headers.contains_key(header::CONTENT_ENCODING)
}

#[cold]
fn unreadable(error: impl std::fmt::Display) -> ApiError {
    ApiError::internal(format!("a response with write-only fields cannot be read: {error}"))
}

/// Returns the configuration error for a mark without effect.
fn ignored(marks: &Marks, mark: Mark, place: &str) -> Option<String> {
    let pointer = marks.ignored(mark)?;
    Some(format!(
        "the schema of {place} has a mark without effect at `{pointer}`: alternatives and \
         conditions cannot mark a place, so mark a property of the schema around them"
    ))
}

fn contents(answer: &ResponseDoc) -> impl Iterator<Item = &Content> {
    match &answer.body {
        BodyDoc::Content(contents) => contents.as_slice(),
        _ => &[],
    }
    .iter()
}

/// Returns a handler that describes its responses without write-only
/// properties.
#[must_use]
pub fn without_write_only(handler: Handler) -> Handler {
    let described = handler.clone();
    Handler::erased(
        move |req| handler.call(req),
        move |doc| {
            let before = doc.facts.answers.len();
            described.describe(doc);
            let mut faults = Vec::new();
            for answer in doc.facts.answers.iter_mut().skip(before) {
                let BodyDoc::Content(contents) = &mut answer.body else { continue };
                for content in contents {
                    let ContentSchema::Of(schema) = &content.schema else { continue };
                    match schema.shown() {
                        None => {}
                        Some(Ok(shown)) => content.schema = ContentSchema::Made(shown),
                        Some(Err(error)) => faults.push(error),
                    }
                }
            }
            faults.iter().for_each(|error| doc.schema_issues("a response", error));
        },
    )
}
