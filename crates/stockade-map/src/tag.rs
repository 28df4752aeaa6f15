//! [`Tag`]: a group of operations in documents.

use serde::{Deserialize, Serialize};

/// A group of operations in documents, for all routes of a node.
///
/// ```
/// use stockade::openapi::{OpenApiOptions, open_api};
/// use stockade::prelude::*;
/// use stockade::Tag;
///
/// let api = routes! {
///     "users": {
///         tag: Tag::new("accounts", "The people who use the shop"),
///         GET: async || "all users",
///     },
/// };
/// let app = create_router(api, RouterOptions::new()).build()?;
/// let document = open_api(&app, &OpenApiOptions::new("Shop", "1.4.0"))?;
/// assert_eq!(document["paths"]["/users"]["get"]["tags"][0], "accounts");
/// assert_eq!(document["tags"][0]["description"], "The people who use the shop");
/// # Ok::<(), ConfigError>(())
/// ```
///
/// # Beyond the spec
///
/// The specification does not have tags.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tag {
    /// The name of the group in documents.
    pub name: String,
    /// The description, as Markdown.
    pub description: String,
}

impl Tag {
    /// Creates a tag with a name and a description. An empty name is a
    /// configuration error.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into() }
    }

    /// Returns its configuration error, without a full stop.
    #[must_use]
    pub fn issue(&self) -> Option<String> {
        self.name.trim().is_empty().then(|| "tag: the name is missing".to_owned())
    }
}

/// A tag without a description.
impl From<&str> for Tag {
    fn from(name: &str) -> Self {
        Self::new(name, "")
    }
}

/// A tag without a description.
impl From<String> for Tag {
    fn from(name: String) -> Self {
        Self::new(name, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tag: &Tag, expected: Option<&str>) {
        assert_eq!(tag.issue().as_deref(), expected);
    }

    #[test]
    fn rejects_a_tag_without_a_name() {
        check(&Tag::new("users", "Accounts"), None);
        check(&Tag::new(" ", ""), Some("tag: the name is missing"));
        check(&Tag::from("users"), None);
    }
}
