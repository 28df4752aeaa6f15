//! [`Docs`]: the documentation of a route, for people.

use stockade_errors::__internal::setters;

/// The documentation of a route, for people.
///
/// It has no effect on the answers of the route.
///
/// ```
/// use stockade::Docs;
///
/// let docs = Docs::new("One user").tags(["users"]).response(404, "There is no such user");
/// assert_eq!(docs.summary.as_deref(), Some("One user"));
/// assert_eq!(docs.responses, [(404, "There is no such user".to_owned())]);
/// ```
///
/// # Beyond the spec
///
/// The specification has no `docs`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Docs {
    /// A few words. Default: none.
    pub summary: Option<String>,
    /// The description of the route, as Markdown. Default: none.
    pub description: Option<String>,
    /// The groups under which it is listed. Default: none.
    pub tags: Vec<String>,
    /// True if it should no longer be used. Default: false.
    pub deprecated: bool,
    /// Statuses with their meanings, in the order in which they were given. A
    /// status is 100 to 599 and stands here once, or the router is not built.
    /// Default: none.
    pub responses: Vec<(u16, String)>,
    /// The reason why documents for others leave the route out. It stays in the
    /// map, and answers as before. Default: none, so that it is listed.
    pub hidden: Option<String>,
}

impl Docs {
    /// Makes a documentation with this [`summary`](Self#structfield.summary).
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

        /// Sets [`hidden`](Self#structfield.hidden).
        hidden: some into String;
    }

    /// Adds to [`responses`](Self#structfield.responses).
    #[must_use]
    pub fn response(mut self, status: u16, meaning: impl Into<String>) -> Self {
        self.responses.push((status, meaning.into()));
        self
    }

    /// Returns the mistakes in it: lower case, no full stop.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let responses = self.responses.iter().enumerate();
        let mistake = |(index, (status, _)): (usize, &(u16, String))| {
            let is_again = self.responses[..index].iter().any(|(earlier, _)| earlier == status);
            match status {
                100..=599 if is_again => {
                    Some(format!("docs: the response {status} is there twice"))
                }
                100..=599 => None,
                _ => Some(format!("docs: {status} is no status")),
            }
        };
        responses.filter_map(mistake).collect()
    }
}

/// The text is the [`summary`](Docs#structfield.summary).
impl From<&str> for Docs {
    fn from(summary: &str) -> Self {
        Self::new(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_and_stands_once() {
        let docs = Docs::new("x").response(200, "a").response(99, "b").response(200, "c");
        let expected = ["docs: 99 is no status", "docs: the response 200 is there twice"];
        assert_eq!(docs.response(599, "d").mistakes(), expected);
    }
}
