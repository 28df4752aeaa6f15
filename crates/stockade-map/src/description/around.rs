//! Descriptions of middleware that validates requests or changes responses:
//! [`InputFact`], [`AddedHeader`], [`ErrorForm`].

use std::borrow::Cow;

use stockade_validation::{Schema, ValidationOptions};

use super::{BodyDoc, Content, ContentSchema, DescribedRoute, HeaderDoc, ResponseDoc, SchemaOf};
use crate::StatusDoc;

/// A schema that middleware uses to validate a part of the request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InputFact {
    /// The part of the request.
    pub from: InputFrom,
    /// The schema.
    pub schema: Schema,
    /// The options of the validation, such as the treatment of unknown members.
    pub options: ValidationOptions,
    /// The name of the middleware.
    pub by: Cow<'static, str>,
}

impl InputFact {
    /// Describes middleware that validates a part of the request.
    #[must_use]
    pub fn new(
        from: InputFrom,
        schema: Schema,
        options: ValidationOptions,
        by: Cow<'static, str>,
    ) -> Self {
        Self { from, schema, options, by }
    }
}

/// The part of a request that a schema validates. The variants are in the order
/// of validation.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum InputFrom {
    /// The parameters of the path.
    Params,
    /// The query.
    Query,
    /// The body.
    Body,
}

/// A header that middleware adds to the responses of the parts after it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AddedHeader {
    /// The header.
    pub header: HeaderDoc,
    /// The status of the responses that have the header; `None` for all
    /// responses.
    pub to: Option<StatusDoc>,
    /// The number of responses that are described before the middleware. The
    /// header is added from this index of [`DescribedRoute::answers`] on.
    pub from_answer: usize,
    /// The name of the middleware that adds it.
    pub by: Cow<'static, str>,
}

/// The format of the errors that the application's error handler writes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ErrorForm {
    /// The schema of the JSON body; `None` if nothing is known.
    pub schema: Option<SchemaOf>,
    /// The number of responses that are described before the handler. Errors
    /// have the format from this index of [`DescribedRoute::answers`] on,
    /// unless a later format replaces it.
    pub from_answer: usize,
}

impl ErrorForm {
    /// Creates the format for all errors of a route.
    #[must_use]
    pub fn new(schema: Option<SchemaOf>) -> Self {
        Self { schema, from_answer: 0 }
    }

    /// Returns the body of an error in this format. A JSON body is described as
    /// problem details if the router sends problem details.
    #[must_use]
    pub fn body(&self, problem_details: bool) -> BodyDoc<ContentSchema> {
        let json = if problem_details { "application/problem+json" } else { "application/json" };
        let content = match self.schema {
            Some(schema) => Content::new(json, ContentSchema::Of(schema)),
            None => Content::new("*/*", ContentSchema::Any),
        };
        BodyDoc::Content(vec![content])
    }
}

impl AddedHeader {
    /// Describes middleware that adds a header.
    #[must_use]
    pub fn new(
        header: HeaderDoc,
        to: Option<StatusDoc>,
        from_answer: usize,
        by: Cow<'static, str>,
    ) -> Self {
        Self { header, to, from_answer, by }
    }

    /// Returns the header for a response with this status, or `None` if the
    /// response cannot have it.
    fn on(&self, status: StatusDoc) -> Option<HeaderDoc> {
        use StatusDoc::{Class, Default, Exact};

        let header = self.header.clone();
        match (self.to, status) {
            (None, _) => Some(header),
            (Some(to), status) if to == status => Some(header),
            (Some(Class(class)), Exact(status)) => {
                (u16::from(class) == status / 100).then_some(header)
            }
            (Some(Exact(to)), Class(class)) => {
                (u16::from(class) == to / 100).then(|| header.sometimes())
            }
            (Some(_), Default) => Some(header.sometimes()),
            (Some(_), _) => None,
        }
    }
}

impl DescribedRoute {
    /// Returns the headers of the response at this index: its own headers, and
    /// the headers of middleware that runs before it. There are no duplicate
    /// names.
    ///
    /// ```
    /// use stockade::description::DescribedRoute;
    ///
    /// let facts = DescribedRoute::default();
    /// assert!(facts.headers_of(0).is_empty());
    /// ```
    #[must_use]
    pub fn headers_of(&self, answer: usize) -> Vec<HeaderDoc> {
        let Some(ResponseDoc { status, headers, .. }) = self.answers.get(answer) else {
            return Vec::new();
        };
        let mut all = headers.clone();
        for added in self.added_headers.iter().filter(|added| added.from_answer <= answer) {
            let Some(header) = added.on(*status) else { continue };
            match all.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&header.name)) {
                Some(known) => known.always |= header.always,
                None => all.push(header),
            }
        }
        all
    }

    /// Returns the error format of the response at this index if it is an error
    /// that an error handler writes. The innermost handler around it counts.
    #[must_use]
    pub fn error_form_of(&self, answer: usize) -> Option<&ErrorForm> {
        let is_error = self.answers.get(answer).is_some_and(ResponseDoc::has_error_body);
        let mut before = self.error_forms.iter().rev();
        before.find(|form| form.from_answer <= answer).filter(|_| is_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(name: &'static str, to: Option<StatusDoc>, from_answer: usize) -> AddedHeader {
        AddedHeader { header: HeaderDoc::new(name, ""), to, from_answer, by: "test".into() }
    }

    #[track_caller]
    fn check(to: Option<StatusDoc>, status: StatusDoc, expected: Option<bool>) {
        let header = added("X", to, 0).on(status);
        assert_eq!(header.map(|header| header.always), expected, "{to:?} {status}");
    }

    #[test]
    fn a_header_is_on_the_responses_with_its_status() {
        use StatusDoc::{Class, Default, Exact};

        for status in [Exact(204), Class(2), Default] {
            check(None, status, Some(true));
            check(Some(status), status, Some(true));
        }
        check(Some(Class(2)), Exact(204), Some(true));
        check(Some(Class(2)), Exact(404), None);
        check(Some(Class(2)), Class(4), None);
        check(Some(Exact(200)), Class(2), Some(false));
        check(Some(Exact(200)), Class(3), None);
        check(Some(Exact(200)), Exact(201), None);
        check(Some(Exact(200)), Default, Some(false));
        check(Some(Default), Exact(200), None);
    }

    #[test]
    fn earlier_responses_do_not_get_the_header() {
        let own = HeaderDoc::new("retry-after", "").sometimes();
        let facts = DescribedRoute {
            answers: vec![ResponseDoc::error(401), ResponseDoc::error(429).header(own)],
            added_headers: vec![added("X-Request-Id", None, 1), added("Retry-After", None, 1)],
            ..DescribedRoute::default()
        };
        assert!(facts.headers_of(0).is_empty());
        let headers = facts.headers_of(1);
        let headers: Vec<_> = headers.iter().map(|header| (&*header.name, header.always)).collect();
        assert_eq!(headers, [("retry-after", true), ("X-Request-Id", true)]);
    }
}
