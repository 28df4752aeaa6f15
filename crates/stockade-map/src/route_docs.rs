//! [`RouteDocs`]: the documentation of a route, for readers.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stockade_errors::__internal::setters;
use stockade_json::date;

use crate::Tag;

/// The documentation of a route, for readers.
///
/// It does not affect the route, except that
/// [`deprecated_since`](Self::deprecated_since) and [`sunset`](Self::sunset)
/// send headers.
///
/// The `docs` of a node in `routes!` are the defaults of the routes in it. They
/// do not have a summary, so they begin with `RouteDocs::default()`:
///
/// ```
/// use stockade::RouteDocs;
/// use stockade::prelude::*;
///
/// let api = routes! {
///     "tools": {
///         docs: RouteDocs::default().hidden("only our own tools call them"),
///         "stock": { GET: { async || "7 left", docs: "The stock" } },
///     },
/// };
/// let app = create_router(api, RouterOptions::new()).build()?;
/// assert_eq!(app.routes()[0].docs().summary.as_deref(), Some("The stock"));
/// assert!(app.routes()[0].docs().hidden.is_some());
/// # Ok::<(), ConfigError>(())
/// ```
///
/// ```
/// use stockade::RouteDocs;
///
/// let docs = RouteDocs::new("One user").tags(["users"]).response(404, "There is no such user");
/// assert_eq!(docs.summary.as_deref(), Some("One user"));
/// assert_eq!(docs.responses, [(404, "There is no such user".to_owned())]);
/// ```
///
/// # Beyond the spec
///
/// The specification does not have `docs`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RouteDocs {
    /// A few words. Default: none.
    pub summary: Option<String>,
    /// The description of the route, as Markdown. Default: none.
    pub description: Option<String>,
    /// The groups that list it. Default: none.
    pub tags: Vec<String>,
    /// The tag of the nearest node or group of the tree. Documents list the
    /// route under it if `tags` is empty. The router sets it.
    pub tag: Option<Tag>,
    /// True if it should no longer be used. Default: false.
    pub deprecated: bool,
    /// Statuses with their meanings, in the order of the calls. A status must
    /// be from 100 to 599 and unique, or the build fails. Default: none.
    pub responses: Vec<(u16, String)>,
    /// An example of a request body. It must match the schema of the body, or
    /// the build fails. Default: none.
    pub example: Option<Value>,
    /// Statuses with an example of a response body. Default: none.
    pub reply_examples: Vec<(u16, Value)>,
    /// Statuses with the media type of their body, such as `image/png` for a
    /// download. Default: none, which means the media type of the handler's
    /// return type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<(u16, String)>,
    /// The reason why documents omit the route. Default: none, so documents
    /// show it.
    pub hidden: Option<String>,
    /// The day from which it should no longer be used, such as `2026-11-30`, or
    /// a moment (RFC 3339). Default: none.
    pub deprecated_since: Option<String>,
    /// The day or the moment after which it may be removed. Default: none.
    pub sunset: Option<String>,
    /// The configuration errors of examples that cannot be serialized.
    #[serde(skip)]
    faults: Vec<String>,
}

impl Default for RouteDocs {
    fn default() -> Self {
        Self::NONE
    }
}

impl RouteDocs {
    #[doc(hidden)]
    pub const NONE: Self = Self {
        summary: None,
        description: None,
        tags: Vec::new(),
        tag: None,
        deprecated: false,
        responses: Vec::new(),
        example: None,
        reply_examples: Vec::new(),
        contents: Vec::new(),
        hidden: None,
        deprecated_since: None,
        sunset: None,
        faults: Vec::new(),
    };

    /// Creates documentation with this [`summary`](Self#structfield.summary).
    #[must_use]
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: Some(summary.into()), ..Self::default() }
    }

    setters! {
        /// Sets [`summary`](Self#structfield.summary).
        summary: some into String;

        /// Sets [`description`](Self#structfield.description).
        description: some into String;

        /// Sets [`tags`](Self#structfield.tags).
        tags: list String;

        /// Sets [`deprecated`](Self#structfield.deprecated).
        deprecated: bool;

        /// Sets [`hidden`](Self#structfield.hidden). The route still works;
        /// hiding it does not protect it.
        hidden: some into String;

        /// Sets [`sunset`](Self#structfield.sunset). The responses of the route
        /// then have the header `Sunset` (RFC 8594).
        sunset: some into String;
    }

    /// Sets [`deprecated_since`](Self#structfield.deprecated_since) and
    /// [`deprecated`](Self#structfield.deprecated). The responses of the route
    /// then have the header `Deprecation` (RFC 9745).
    ///
    /// ```
    /// use stockade::RouteDocs;
    ///
    /// let docs = RouteDocs::new("All users").deprecated_since("2026-11-30").sunset("2027-06-30");
    /// assert!(docs.deprecated && docs.issues().is_empty());
    /// ```
    #[must_use]
    pub fn deprecated_since(mut self, date: impl Into<String>) -> Self {
        self.deprecated = true;
        self.deprecated_since = Some(date.into());
        self
    }

    /// Sets [`example`](Self#structfield.example).
    ///
    /// ```
    /// use stockade::RouteDocs;
    /// use stockade::serde_json::json;
    ///
    /// let docs = RouteDocs::new("New user").example(json!({ "name": "Ada" }));
    /// assert_eq!(docs.example, Some(json!({ "name": "Ada" })));
    /// ```
    #[must_use]
    pub fn example(mut self, body: impl Serialize) -> Self {
        self.example = self.value_of("the example", body);
        self
    }

    /// Adds to [`reply_examples`](Self#structfield.reply_examples).
    #[must_use]
    pub fn reply_example(mut self, status: u16, body: impl Serialize) -> Self {
        let value = self.value_of("a reply example", body);
        self.reply_examples.extend(value.map(|value| (status, value)));
        self
    }

    fn value_of(&mut self, name: &str, body: impl Serialize) -> Option<Value> {
        let value = serde_json::to_value(body);
        let keep =
            |error| self.faults.push(format!("docs: cannot serialize {name} as JSON: {error}"));
        value.map_err(keep).ok()
    }

    /// Returns the moments of
    /// [`deprecated_since`](Self#structfield.deprecated_since) and
    /// [`sunset`](Self#structfield.sunset), if they are valid.
    #[must_use]
    pub fn dates(&self) -> (Option<SystemTime>, Option<SystemTime>) {
        (self.deprecated_since.as_deref().and_then(moment), self.sunset.as_deref().and_then(moment))
    }

    /// Adds to [`responses`](Self#structfield.responses).
    #[must_use]
    pub fn response(mut self, status: u16, meaning: impl Into<String>) -> Self {
        self.responses.push((status, meaning.into()));
        self
    }

    /// Adds to [`contents`](Self#structfield.contents): the media type of a
    /// body that the handler's return type does not describe, such as a
    /// download.
    ///
    /// ```
    /// use stockade::RouteDocs;
    ///
    /// let docs = RouteDocs::new("The picture of a room").content(200, "image/png");
    /// assert_eq!(docs.contents, [(200, "image/png".to_owned())]);
    /// ```
    #[must_use]
    pub fn content(mut self, status: u16, media_type: impl Into<String>) -> Self {
        self.contents.push((status, media_type.into()));
        self
    }

    /// Returns the messages of the configuration errors in it. They start in
    /// lower case and do not end with a period.
    #[must_use]
    pub fn issues(&self) -> Vec<String> {
        let mut mistakes = self.faults.clone();
        for (index, (status, _)) in self.responses.iter().enumerate() {
            let is_again = self.responses[..index].iter().any(|(earlier, _)| earlier == status);
            if is_status(*status) && is_again {
                mistakes.push(format!("docs: duplicate response {status}"));
            }
        }
        let statuses = self.responses.iter().map(|(status, _)| status);
        let statuses = statuses.chain(self.reply_examples.iter().map(|(status, _)| status));
        let statuses = statuses.chain(self.contents.iter().map(|(status, _)| status));
        let unknown = statuses.filter(|status| !is_status(**status));
        mistakes.extend(unknown.map(|status| format!("docs: {status} is not a status")));
        let wrong = self.contents.iter().filter(|(_, media_type)| !is_media_type(media_type));
        mistakes.extend(
            wrong.map(|(_, text)| {
                format!("docs: {text:?} is not a media type such as \"image/png\"")
            }),
        );
        if self.hidden.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            mistakes.push("docs: `hidden` requires a reason".to_owned());
        }
        for (name, date) in [("deprecated_since", &self.deprecated_since), ("sunset", &self.sunset)]
        {
            let wrong = date.as_ref().filter(|date| moment(date).is_none());
            mistakes.extend(wrong.map(|date| {
                format!("docs: expected a date such as 2026-11-30 for `{name}`, found {date:?}")
            }));
        }
        if let (Some(since), Some(end)) = self.dates()
            && end < since
        {
            // Source: RFC 9745, section 4.
            mistakes.push("docs: `sunset` is before `deprecated_since`".to_owned());
        }
        mistakes
    }
}

fn is_status(status: u16) -> bool {
    (100..=599).contains(&status)
}

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !part.is_empty() && part.bytes().all(is_allowed)
    };
    // The parameters of a media type do not matter in documents.
    text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// Parses a day or a moment in the years that a header can express, 1970 to
/// 9999.
fn moment(text: &str) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(date::parse(text)?).ok()?);
    (since < END_OF_YEAR_9999).then(|| SystemTime::UNIX_EPOCH + since)
}

const END_OF_YEAR_9999: Duration = Duration::from_secs(253_402_300_800);

/// The text is the [`summary`](RouteDocs#structfield.summary).
impl From<&str> for RouteDocs {
    fn from(summary: &str) -> Self {
        Self::new(summary)
    }
}

/// The text is the [`summary`](RouteDocs#structfield.summary).
impl From<String> for RouteDocs {
    fn from(summary: String) -> Self {
        Self::new(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_invalid_and_duplicate_statuses() {
        let docs = RouteDocs::new("x").response(200, "a").response(99, "b").response(200, "c");
        let docs = docs.reply_example(600, 1);
        let expected = [
            "docs: duplicate response 200",
            "docs: 99 is not a status",
            "docs: 600 is not a status",
        ];
        assert_eq!(docs.response(599, "d").issues(), expected);
    }

    #[track_caller]
    fn check(docs: &RouteDocs, expected: &[&str]) {
        assert_eq!(docs.issues(), expected);
    }

    #[test]
    fn dates_are_days_or_times_in_order() {
        let docs = || RouteDocs::new("x").deprecated_since("2026-11-30");
        check(&docs().sunset("2026-11-30T00:00:00Z"), &[]);
        check(&docs().sunset("9999-12-31"), &[]);
        check(&docs().sunset("2026-11-29"), &["docs: `sunset` is before `deprecated_since`"]);
        for date in ["30.11.2026", "2026-02-30", "1969-12-31", "+010000-01-01", ""] {
            let expected =
                format!("docs: expected a date such as 2026-11-30 for `sunset`, found {date:?}");
            check(&RouteDocs::new("x").sunset(date), &[&expected]);
        }
    }

    #[test]
    fn hidden_routes_need_a_reason() {
        check(&RouteDocs::new("x").hidden("for our own tools"), &[]);
        check(&RouteDocs::new("x").hidden(" "), &["docs: `hidden` requires a reason"]);
    }

    #[test]
    fn rejects_an_example_that_is_not_json() {
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        let expected = "docs: cannot serialize the example as JSON: key must be a string";
        check(&RouteDocs::new("x").example(keys), &[expected]);
    }
}
