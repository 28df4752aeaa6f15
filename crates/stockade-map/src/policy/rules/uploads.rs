//! The rule about files that clients upload and that others read.

use super::super::finding::Finding;
use super::super::rule::{BuiltIn, all_routes};
use super::each;
use crate::{BodyDoc, ContentInfo, ResponseInfo, RouteInfo, StatusDoc};

pub(super) const UPLOADS_DOWNLOADED: BuiltIn = BuiltIn {
    id: "uploads-downloaded",
    text: "in a program that accepts files, no browser shows a file of any type",
    owasp: "API8",
    find: |map| {
        let Some(upload) = all_routes(map).find(|route| takes_files(route)) else {
            return Vec::new();
        };
        each(map, |route| {
            let is_read = matches!(route.method.as_str(), "GET" | "ANY");
            let shown = || route.answers.iter().any(may_be_shown);
            let message = || {
                format!(
                    "it sends bytes of any media type, which a browser may run as a page of this \
                     origin, and clients upload files to {}",
                    upload.label()
                )
            };
            (is_read && shown()).then(|| {
                Finding::on(route, message()).mend(
                    "return `Download`, or `FileReply::uploaded`; if it never sends an uploaded \
                     file, allow it with this reason",
                )
            })
        })
    },
};

/// Returns true if a route reads a form with files, or bytes of any type.
fn takes_files(route: &RouteInfo) -> bool {
    let is_file = |content: &ContentInfo| {
        let media_type = &*content.media_type;
        media_type.starts_with("multipart/")
            || matches!(media_type, "*/*" | "application/octet-stream")
    };
    // Signed bytes come from another service.
    let reads = route.may_change() && route.signature.is_none();
    reads && route.body.iter().flat_map(|body| &body.content).any(is_file)
}

/// Returns true for a success with bytes of any type that is not a download.
fn may_be_shown(answer: &ResponseInfo) -> bool {
    let is_success = match answer.status {
        StatusDoc::Exact(status) => (200..300).contains(&status),
        StatusDoc::Class(class) => class == 2,
        _ => false,
    };
    let BodyDoc::Content(content) = &answer.body else { return false };
    let is_any = content.iter().any(|content| content.media_type == "*/*");
    let mut headers = answer.headers.iter();
    let is_download = headers
        .any(|header| header.always && header.name.eq_ignore_ascii_case("content-disposition"));
    is_success && is_any && !is_download
}
