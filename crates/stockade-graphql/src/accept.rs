//! The response formats that a client accepts.
//!
//! Source: RFC 9110, section 12.5.1; GraphQL over HTTP, "Media Types".

use http::{HeaderMap, HeaderValue, header};
use stockade_core::headers::list_items;

/// The media type of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Media {
    /// `application/json`. Its status is 200 even if the operation did not run.
    Json,
    /// `application/graphql-response+json`.
    GraphQl,
}

impl Media {
    /// Returns the value of `Content-Type`.
    pub(crate) const fn header(self) -> HeaderValue {
        match self {
            Self::Json => HeaderValue::from_static("application/json"),
            Self::GraphQl => HeaderValue::from_static(GRAPHQL),
        }
    }
}

/// The response formats that a client accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Accepted {
    /// The media type for an outcome, if the client accepts one.
    pub(crate) media: Option<Media>,
    /// True if the client explicitly accepts events.
    pub(crate) events: bool,
    /// True if the client explicitly accepts HTML.
    pub(crate) page: bool,
}

impl Accepted {
    /// Parses `Accept`. A client without this header, or one that accepts
    /// anything, is treated as older than the GraphQL media type.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        if !headers.contains_key(header::ACCEPT) {
            return Self { media: Some(Media::Json), events: false, page: false };
        }
        let mut qualities = Qualities::default();
        list_items(headers, &header::ACCEPT).for_each(|item| qualities.add(item));
        let Qualities { json, graphql, application, any, events, page } = qualities;
        // The most specific range takes precedence.
        let json = json.or(application).or(any).unwrap_or(0);
        let graphql = graphql.unwrap_or(0);
        let media = match (graphql, json) {
            (0, 0) => None,
            (graphql, json) if graphql >= json => Some(Media::GraphQl),
            _ => Some(Media::Json),
        };
        Self { media, events: events.unwrap_or(0) > 0, page: page.unwrap_or(0) > 0 }
    }
}

/// The qualities of the ranges, in thousandths.
#[derive(Debug, Default)]
struct Qualities {
    json: Option<u16>,
    graphql: Option<u16>,
    application: Option<u16>,
    any: Option<u16>,
    events: Option<u16>,
    page: Option<u16>,
}

impl Qualities {
    fn add(&mut self, item: &str) {
        let mut parts = item.split(';').map(str::trim);
        // `split` returns at least one part.
        let range = parts.next().unwrap_or_default();
        let is = |known: &str| range.eq_ignore_ascii_case(known);
        let place = if is("application/json") {
            &mut self.json
        } else if is(GRAPHQL) {
            &mut self.graphql
        } else if is("application/*") {
            &mut self.application
        } else if is("*/*") {
            &mut self.any
        } else if is("text/event-stream") {
            &mut self.events
        } else if is("text/html") {
            &mut self.page
        } else {
            return;
        };
        let quality = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
        });
        let quality = quality.map_or(1_000, thousandths);
        *place = Some(place.unwrap_or(0).max(quality));
    }
}

/// Parses a quality. A malformed value counts as 0 (not accepted).
fn thousandths(text: &str) -> u16 {
    let quality: f32 = text.parse().unwrap_or(0.0);
    // The value is between 0 and 1000, so the cast is lossless.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let thousandths = (quality.clamp(0.0, 1.0) * 1_000.0).round() as u16;
    thousandths
}

/// The media type of GraphQL responses.
pub(crate) const GRAPHQL: &str = "application/graphql-response+json";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, media: Option<Media>, events: bool, page: bool) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
        let expected = Accepted { media, events, page };
        assert_eq!(Accepted::of(&headers), expected, "{accept}");
    }

    #[test]
    fn selects_the_most_preferred_media_type() {
        use Media::{GraphQl, Json};
        check("application/json", Some(Json), false, false);
        check("application/graphql-response+json", Some(GraphQl), false, false);
        check("Application/GraphQL-Response+JSON; charset=utf-8", Some(GraphQl), false, false);
        check("application/graphql-response+json, application/json", Some(GraphQl), false, false);
        check(
            "application/json, application/graphql-response+json;q=0.9",
            Some(Json),
            false,
            false,
        );
        check("application/graphql-response+json;q=0, */*", Some(Json), false, false);
        check("*/*", Some(Json), false, false);
        check("application/*;q=0.1", Some(Json), false, false);
        check("text/html,application/xhtml+xml,*/*;q=0.8", Some(Json), false, true);
        check("text/event-stream", None, true, false);
        check("application/json;q=0, */*", None, false, false);
        check("image/png", None, false, false);
        check("*/*;q=none", None, false, false);
        check("application/json;q=NaN", None, false, false);
        check(
            "application/graphql-response+json, application/json, text/event-stream",
            Some(GraphQl),
            true,
            false,
        );
    }

    #[test]
    fn defaults_to_json_without_accept() {
        let expected = Accepted { media: Some(Media::Json), events: false, page: false };
        assert_eq!(Accepted::of(&HeaderMap::new()), expected);
    }
}
