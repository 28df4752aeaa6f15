//! A stored item and its version.

/// A stored item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Versioned<T> {
    /// The item.
    pub value: T,
    /// Its version.
    pub version: Version,
}

impl<T> Versioned<T> {
    /// Creates a stored item from its value and version.
    #[must_use]
    pub fn new(value: T, version: Version) -> Self {
        Self { value, version }
    }
}

/// The version of an item, which changes with each write. The entity tag is
/// `"v17"`.
///
/// ```
/// use stockade::rest::Version;
///
/// assert_eq!(Version(17).to_string(), "v17");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(pub u64);

/// Formats the version as in its entity tag, without quotes.
impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The version that a write requires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VersionCheck {
    /// Any version.
    Any,
    /// Only this version.
    Version(Version),
}

impl VersionCheck {
    /// Returns true if a write at `version` is allowed.
    #[must_use]
    pub fn allows(self, version: Version) -> bool {
        match self {
            Self::Any => true,
            Self::Version(expected) => expected == version,
        }
    }
}
