//! [`FileName`]: an untrusted text that is safe as a file name.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use stockade_errors::ApiError;
use stockade_validation::{HasSchema, Rule};

/// A file name within one directory. It does not contain a path or anything
/// that an operating system interprets as something else.
///
/// A decoded path parameter may contain `/` and `..`: `%2e%2e%2fetc` is a
/// single segment, and so is `..` itself. This type rejects
///
/// - the empty text, and more than 255 bytes;
/// - `/`, `\` and `:`, the other characters that Windows forbids
///   (`< > " | ? *`), and control characters, including NUL;
/// - a leading dot, which also excludes `.`, `..` and hidden files such as
///   `.env`;
/// - a trailing dot or space, which Windows drops;
/// - device names of Windows, such as `NUL` and `com1.txt`, in any case;
/// - characters that change the direction of text or break lines (`U+202E`
///   shows `exe.png` for `gnp.exe`).
///
/// An invalid name gets a 400 that names the parameter. Use it in
/// `Path<FileName>`, in a tuple, or in a field of a path, query or body struct.
/// Use [`FromStr`] for other texts, such as the file name of a multipart part.
///
/// ```
/// use stockade::extract::{FileName, Path};
///
/// async fn download(Path((user, name)): Path<(u64, FileName)>) -> String {
///     let file = std::path::Path::new("/srv/files").join(user.to_string()).join(&name);
///     file.display().to_string()
/// }
///
/// assert_eq!(&*"report.pdf".parse::<FileName>()?, "report.pdf");
/// assert!("../../etc/passwd".parse::<FileName>().is_err());
/// # Ok::<(), stockade::extract::FileNameError>(())
/// ```
///
/// The type does not check the owner, the existence or the content of the file.
/// Two names that differ only in case are the same file on some systems.
///
/// # Beyond the spec
/// The specification does not define file names.
///
/// Source: Microsoft, Naming Files, Paths, and Namespaces; POSIX.1-2017, 3.170.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileName(Box<str>);

/// The reason why a text is not a valid [`FileName`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FileNameError {
    /// The text is empty.
    Empty,
    /// More than 255 bytes.
    TooLong,
    /// A path separator, or another character that file names must not contain.
    ForbiddenCharacter,
    /// A leading dot.
    LeadingDot,
    /// A trailing dot or space.
    TrailingDotOrSpace,
    /// A device name of Windows.
    Reserved,
}

impl FileName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for FileName {
    type Err = FileNameError;

    fn from_str(text: &str) -> Result<Self, FileNameError> {
        match fault(text) {
            None => Ok(Self(text.into())),
            Some(error) => Err(error),
        }
    }
}

impl TryFrom<String> for FileName {
    type Error = FileNameError;

    fn try_from(text: String) -> Result<Self, FileNameError> {
        match fault(&text) {
            None => Ok(Self(text.into())),
            Some(error) => Err(error),
        }
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for FileName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> Self {
        name.0.into()
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for FileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl Serialize for FileName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl HasSchema for FileName {
    fn rule() -> Rule {
        // The type `string` rejects a value that is not a string.
        Rule::string().custom(|value, _, _| match value.as_str().and_then(fault) {
            None => Ok(()),
            Some(error) => Err(error.text()),
        })
    }
}

impl FileNameError {
    fn text(self) -> &'static str {
        match self {
            Self::Empty => "A file name must not be empty",
            Self::TooLong => "A file name must have at most 255 bytes",
            Self::ForbiddenCharacter => {
                "A file name must not contain separators or control characters"
            }
            Self::LeadingDot => "A file name must not begin with a dot",
            Self::TrailingDotOrSpace => "A file name must not end with a dot or a space",
            Self::Reserved => "The file name is reserved",
        }
    }
}

impl fmt::Display for FileNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for FileNameError {}

/// Converts the error to a 400 with the reason.
impl From<FileNameError> for ApiError {
    fn from(error: FileNameError) -> Self {
        Self::new(400, error.text())
    }
}

fn fault(text: &str) -> Option<FileNameError> {
    if text.is_empty() {
        Some(FileNameError::Empty)
    } else if text.len() > MAX_BYTES {
        Some(FileNameError::TooLong)
    } else if text.contains(is_forbidden) {
        Some(FileNameError::ForbiddenCharacter)
    } else if text.starts_with('.') {
        Some(FileNameError::LeadingDot)
    } else if text.ends_with(['.', ' ']) {
        Some(FileNameError::TrailingDotOrSpace)
    } else if is_device(text) {
        Some(FileNameError::Reserved)
    } else {
        None
    }
}

fn is_forbidden(char: char) -> bool {
    char.is_control()
        || r#"/\:<>"|?*"#.contains(char)
        // Line and paragraph separators; direction marks, embeddings and
        // isolates.
        || matches!(char, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns true if Windows opens a device for the name. The text after the
/// first dot does not matter.
fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).trim_end_matches(' ');
    if DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return true;
    }
    // `COM` and `LPT` with a digit, including superscript digits.
    let Some((port, digit)) = stem.split_at_checked(3) else { return false };
    let is_port = port.eq_ignore_ascii_case("com") || port.eq_ignore_ascii_case("lpt");
    let mut digits = digit.chars();
    let is_digit = |char: char| char.is_ascii_digit() || "¹²³".contains(char);
    is_port && digits.next().is_some_and(is_digit) && digits.next().is_none()
}

const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The limit of most file systems.
const MAX_BYTES: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<FileNameError>) {
        assert_eq!(text.parse::<FileName>().err(), expected, "{text:?}");
    }

    #[test]
    fn accepts_common_names_unchanged() {
        for text in [
            "a",
            "report.pdf",
            "archive.tar.gz",
            "Über uns.txt",
            "写真.jpg",
            "a b",
            " a",
            "-rf",
            "~x",
            "100%",
            "%2e%2e",
            "a..b",
            "com",
            "com10",
            "comx",
            "null.txt",
            "console",
            "auxiliary.md",
            "nul-1",
            "COM¹²",
        ] {
            check(text, None);
            assert_eq!(text.parse::<FileName>().unwrap().as_str(), text);
        }
        check(&"a".repeat(255), None);
    }

    #[test]
    fn rejects_paths_and_similar_names() {
        use FileNameError::{ForbiddenCharacter, LeadingDot, TrailingDotOrSpace};

        for text in [
            "/",
            "a/b",
            "../x",
            "/etc/passwd",
            r"a\b",
            r"..\x",
            r"\\host\share",
            "C:",
            "c:x",
            "a.txt:stream",
            "a\0",
            "a\n.txt",
            "\r",
            "a\t",
            "a\u{7F}",
            "a\u{85}",
            "a*",
            "a?",
            "a|b",
            "<a>",
            "\"a\"",
            "a\u{202E}gnp.exe",
            "a\u{2028}b",
            "a\u{2066}b",
            "a\u{61C}b",
        ] {
            check(text, Some(ForbiddenCharacter));
        }
        for text in [".", "..", "...", ".env", ".git", ". "] {
            check(text, Some(LeadingDot));
        }
        for text in ["a.", "a ", "a. .", "nul.", " ", " ."] {
            check(text, Some(TrailingDotOrSpace));
        }
    }

    #[test]
    fn rejects_long_names_and_device_names() {
        check("", Some(FileNameError::Empty));
        check(&"a".repeat(256), Some(FileNameError::TooLong));
        check(&"é".repeat(128), Some(FileNameError::TooLong));
        for text in [
            "con",
            "CON",
            "Prn.txt",
            "aux.tar.gz",
            "nul",
            "NUL .txt",
            "com1",
            "COM0",
            "lpt9.dat",
            "com¹",
            "LPT³.x",
            "CONIN$",
            "conout$.txt",
        ] {
            check(text, Some(FileNameError::Reserved));
        }
    }

    #[test]
    fn serializes_as_text() {
        let name: FileName = serde_json::from_str("\"a.txt\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"a.txt\"");
        let error = serde_json::from_str::<FileName>("\"../a\"").unwrap_err().to_string();
        assert!(error.starts_with("A file name must not contain separators"), "{error}");
        assert_eq!(Path::new("/srv").join(&name), Path::new("/srv/a.txt"));
    }
}
