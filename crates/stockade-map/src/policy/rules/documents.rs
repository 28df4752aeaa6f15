//! The rules about the documentation of routes for clients.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::{BodyDoc, ResponseInfo, RouteInfo, RouteKind, StatusDoc};

/// The source of the responses that these rules check.
const HANDLER: &str = "handler";

pub(super) const RESPONSE_SCHEMA: BuiltIn = BuiltIn {
    id: "response-schema",
    text: "the data of each successful response has a schema",
    owasp: "API3",
    find: |map| {
        each(map, |route| {
            let is_success = |answer: &&ResponseInfo| answer.status.is_success();
            let unknown = handler_answers(route).filter(is_success).find(|it| is_unknown(it))?;
            let message =
                format!("its data does not have a schema for the status {}", unknown.status);
            let mend = "return a type with a schema, such as `Json<T>`";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

pub(super) fn handler_answers(route: &RouteInfo) -> impl Iterator<Item = &ResponseInfo> {
    let is_ours = route.kind == RouteKind::Http;
    route.answers.iter().filter(move |answer| is_ours && answer.by == HANDLER)
}

fn is_unknown(answer: &ResponseInfo) -> bool {
    match &answer.body {
        BodyDoc::Unknown => true,
        BodyDoc::Content(contents) => contents.iter().any(|content| {
            let is_json = content.media_type == "application/json";
            let is_any = content.schema.as_bool() == Some(true)
                || content.schema.as_object().is_some_and(serde_json::Map::is_empty);
            is_json && is_any
        }),
        _ => false,
    }
}

pub(super) const ERRORS_TYPED: BuiltIn = BuiltIn {
    id: "errors-typed",
    text: "the error statuses of each handler are known",
    owasp: "API8",
    find: |map| {
        each(map, |route| {
            let is_untyped =
                handler_answers(route).any(|answer| answer.status == StatusDoc::Default);
            is_untyped.then(|| {
                let mut mend =
                    "return an error type with known statuses: `#[derive(ApiError)]`".to_owned();
                if let Some(argument) = route.opaque_arguments.first() {
                    mend += &format!(", and let `{argument}` describe itself");
                }
                Finding::on(route, "its errors may have any status").mend(mend)
            })
        })
    },
};

/// Returns true for a route that appears in documents.
fn is_documented(route: &RouteInfo) -> bool {
    route.kind != RouteKind::Fallback && route.docs.hidden.is_none()
}

pub(super) const OPERATION_NAMED: BuiltIn = BuiltIn {
    id: "operation-named",
    text: "each documented route has a name",
    owasp: "API9",
    find: |map| {
        each(map, |route| {
            (is_documented(route) && route.name.is_none()).then(|| {
                let message =
                    "it does not have a name, so generated clients name it after its path";
                Finding::on(route, message).mend("add `name: \"users.show\"`")
            })
        })
    },
};

pub(super) const SUMMARY: BuiltIn = BuiltIn {
    id: "summary",
    text: "each documented route has a summary",
    owasp: "API9",
    find: |map| {
        each(map, |route| {
            let has_summary = route.docs.summary.as_ref().is_some_and(|it| !it.trim().is_empty());
            (is_documented(route) && !has_summary).then(|| {
                Finding::on(route, "it does not have a summary").mend("add `docs: \"A few words\"`")
            })
        })
    },
};

pub(super) const DEPRECATED_HAS_SUNSET: BuiltIn = BuiltIn {
    id: "deprecated-has-sunset",
    text: "each deprecated route has a removal date",
    owasp: "API9",
    find: |map| {
        each(map, |route| {
            let is_deprecated = route.docs.deprecated || route.docs.deprecated_since.is_some();
            (is_deprecated && route.docs.sunset.is_none()).then(|| {
                Finding::on(route, "it is deprecated, but does not have a removal date")
                    .mend("add `.sunset(\"2027-01-31\")` to its `RouteDocs`")
            })
        })
    },
};
