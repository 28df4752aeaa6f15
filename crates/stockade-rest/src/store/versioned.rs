//! [`Versioned`]: an item as a store has it, and its [`Version`].

/// An item as a store has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Versioned<T> {
    /// The item.
    pub value: T,
    /// Its version.
    pub version: Version,
}

impl<T> Versioned<T> {
    /// Makes one of an item and its version.
    #[must_use]
    pub fn new(value: T, version: Version) -> Self {
        Self { value, version }
    }
}

/// The version of an item: another one after each write of it. Its entity tag is
/// `"v17"`.
///
/// ```
/// use stockade::rest::Version;
///
/// assert_eq!(Version(17).to_string(), "v17");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(pub u64);

/// Shows it as in its entity tag, without quotes.
impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The version at which a write may be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VersionCheck {
    /// Any version.
    Any,
    /// This version alone.
    Version(Version),
}

impl VersionCheck {
    /// Returns true if a write may be done at `version`.
    #[must_use]
    pub fn allows(self, version: Version) -> bool {
        match self {
            Self::Any => true,
            Self::Version(expected) => expected == version,
        }
    }
}
