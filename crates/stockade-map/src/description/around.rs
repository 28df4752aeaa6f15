//! The facts about middleware that checks a request, or changes a response:
//! [`InputFact`], [`AddedHeader`], [`ErrorForm`].

use std::borrow::Cow;

use stockade_validation::{Schema, ValidationOptions};

use super::{BodyDoc, Content, ContentSchema, DescribedRoute, HeaderDoc, ResponseDoc, SchemaOf};
use crate::StatusDoc;

/// A schema by which middleware checks a part of the request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InputFact {
    /// The part.
    pub from: InputFrom,
    /// The schema.
    pub schema: Schema,
    /// The options of the check, such as the treatment of unknown members.
    pub options: ValidationOptions,
    /// The middleware that checks.
    pub by: Cow<'static, str>,
}

impl InputFact {
    /// Makes the fact of middleware that validates a part of the request.
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

/// The part of a request that a schema judges, in the order in which parts are
/// judged.
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

/// A header that middleware adds to the answers of what comes behind it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AddedHeader {
    /// The header.
    pub header: HeaderDoc,
    /// The status of the answers that get it; none for all answers.
    pub to: Option<StatusDoc>,
    /// The number of answers that were noted before: those at this index of
    /// [`DescribedRoute::answers`] and behind it get the header.
    pub from_answer: usize,
    /// The middleware that adds it.
    pub by: Cow<'static, str>,
}

/// The form of the errors that an error handler of the application writes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ErrorForm {
    /// The schema of the body, which is JSON then; none where nothing is known.
    pub schema: Option<SchemaOf>,
    /// The number of answers that were noted before: errors at this index of
    /// [`DescribedRoute::answers`] and behind it have the form, unless a later one
    /// replaces it.
    pub from_answer: usize,
}

impl ErrorForm {
    /// Makes the form of all errors of a route.
    #[must_use]
    pub fn new(schema: Option<SchemaOf>) -> Self {
        Self { schema, from_answer: 0 }
    }

    /// Returns the body of an error in this form; JSON is that of problem details
    /// where the router sends these.
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
    /// Makes the fact of middleware that adds a header.
    #[must_use]
    pub fn new(
        header: HeaderDoc,
        to: Option<StatusDoc>,
        from_answer: usize,
        by: Cow<'static, str>,
    ) -> Self {
        Self { header, to, from_answer, by }
    }

    /// Returns the header as an answer of this status has it, if it may have it.
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
    /// Returns the headers of the answer at this index: its own, and those that
    /// middleware in front of it adds. A name is there once.
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

    /// Returns the form of the answer at this index, if that is an error which an
    /// error handler writes: the innermost one in front of it.
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
    fn a_header_goes_to_the_answers_of_its_status() {
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
    fn answers_in_front_do_not_get_it() {
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
