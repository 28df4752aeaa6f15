//! The interpretation of `Content-Type`.

use http::HeaderMap;

use crate::headers::{content_type, is_unencoded};

/// The format of the bytes of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Media {
    /// `application/json` and `…+json`.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `text/*`.
    Text,
    /// Any other type, or no `Content-Type`.
    Other,
    /// JSON, a form or text in a charset other than UTF-8.
    ForeignCharset,
}

impl Media {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        // The bytes of a compressed body do not have the type that the header
        // names.
        if !is_unencoded(headers) {
            return Self::Other;
        }
        content_type(headers).map_or(Self::Other, Self::parse)
    }

    pub(crate) fn parse(content_type: &str) -> Self {
        // The common case, without a search.
        if content_type.eq_ignore_ascii_case("application/json") {
            return Self::Json;
        }
        let mut parts = content_type.split(';').map(str::trim);
        // `split` returns at least one part.
        let essence = parts.next().unwrap_or_default();
        let media = match essence.split_once('/') {
            _ if essence.eq_ignore_ascii_case("application/json") => Self::Json,
            _ if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") => Self::Form,
            Some((kind, _)) if kind.eq_ignore_ascii_case("text") => Self::Text,
            Some((_, subtype)) if ends_with_ignore_case(subtype, "+json") => Self::Json,
            _ => return Self::Other,
        };
        let charset = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, charset)| charset.trim().trim_matches('"'));
        match charset {
            None => media,
            Some(name) if name.eq_ignore_ascii_case("utf-8") => media,
            // US-ASCII text is also valid UTF-8.
            Some(name) if name.eq_ignore_ascii_case("utf8") => media,
            Some(name) if name.eq_ignore_ascii_case("us-ascii") => media,
            Some(_) => Self::ForeignCharset,
        }
    }
}

fn ends_with_ignore_case(text: &str, suffix: &str) -> bool {
    let start = text.len().checked_sub(suffix.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: &str, expected: Media) {
        assert_eq!(Media::parse(content_type), expected, "{content_type:?}");
    }

    #[test]
    fn recognizes_types_in_any_case() {
        check("application/json", Media::Json);
        check("Application/JSON; charset=UTF-8", Media::Json);
        check("application/problem+json", Media::Json);
        check("application/vnd.api+JSON;version=1", Media::Json);
        check("application/x-www-form-urlencoded", Media::Form);
        check("text/plain", Media::Text);
        check("text/csv; charset=\"utf-8\"", Media::Text);
        check("image/png", Media::Other);
        check("multipart/form-data; boundary=x", Media::Other);
        check("json", Media::Other);
        check("", Media::Other);
    }

    #[test]
    fn accepts_only_utf8() {
        check("application/json; charset=latin1", Media::ForeignCharset);
        check("text/plain; charset=utf-16", Media::ForeignCharset);
        check("text/plain; charset=US-ASCII", Media::Text);
    }
}
