//! [`build_url`]: the path of a named route, with its parameters filled in.
// Spec: Router construction and members › generateUrl.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::bytes::Regex;
use stockade_path::{Param, Pattern, SPLAT, Segment, SegmentPart, encoded};

use crate::matcher::anchored;

/// The reason why a path cannot be built from a pattern and its parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UrlError {
    /// A segment would be `.` or `..`, which clients remove from a path.
    DotSegment {
        /// The pattern.
        pattern: String,
    },
    /// The value of a required parameter is empty.
    EmptyValue {
        /// The pattern.
        pattern: String,
        /// The name of the parameter.
        name: String,
    },
    /// A required parameter does not have a value.
    MissingValue {
        /// The pattern.
        pattern: String,
        /// The name of the parameter.
        name: String,
    },
    /// The value does not match the expression of its parameter, or contains a
    /// control character, which routers reject in a path.
    RefusedValue {
        /// The pattern.
        pattern: String,
        /// The name of the parameter.
        name: String,
        /// The value in its encoded form.
        value: String,
    },
    /// No route has this name.
    UnknownName {
        /// The unknown name.
        name: String,
    },
}

/// Returns the path of `pattern` with the values that `param` returns for its
/// names.
///
/// The text of the pattern is [`encoded`]: `/café` is `/caf%C3%A9`. Values are
/// encoded as by `encodeURIComponent`: a `/` becomes `%2F`. The value of `**`
/// keeps its slashes and may be empty. An optional parameter without a value,
/// or with an empty value, is omitted, with its slash if it is a whole segment.
/// An expression applies to the encoded value, as for the path of a request.
///
/// # Errors
/// Fails if a required value is missing or empty, if a value does not match its
/// expression, if a value contains a control character, or if a value turns a
/// segment into `.` or `..`.
///
/// # Examples
/// ```
/// use std::borrow::Cow;
///
/// use stockade::path::Pattern;
/// use stockade::routing::build_url;
///
/// let pattern = Pattern::parse("/files/:name/:version?")?;
/// let url = build_url(&pattern, |name| (name == "name").then_some(Cow::Borrowed("a/b c")))?;
/// assert_eq!(url, "/files/a%2Fb%20c");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build_url<'v>(
    pattern: &Pattern,
    param: impl Fn(&str) -> Option<Cow<'v, str>>,
) -> Result<String, UrlError> {
    UrlPattern::new(pattern.clone()).build(param)
}

/// A pattern with the expressions of its parameters, compiled once.
#[derive(Debug)]
pub struct UrlPattern {
    pattern: Pattern,
    /// By the names of the parameters.
    expressions: Vec<(String, Regex)>,
}

impl UrlPattern {
    /// Compiles the expressions of a pattern.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        let params = pattern.segments().iter().flat_map(Segment::params);
        let expressions = params.filter_map(|param| {
            let constraint = param.constraint.as_ref()?;
            // An expression that is too large was rejected when the route was
            // created.
            Some((param.name.clone(), anchored(constraint.expression()).ok()?))
        });
        let expressions = expressions.collect();
        Self { pattern, expressions }
    }

    /// Builds a path like [`build_url`].
    ///
    /// # Errors
    /// Fails like [`build_url`].
    pub fn build<'v>(
        &self,
        param: impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<String, UrlError> {
        let pattern = &self.pattern;
        let mut url = String::new();
        for segment in pattern.segments() {
            let text = match segment {
                Segment::Literal(text) => encoded(text).into_owned(),
                Segment::Any => required(pattern, SPLAT, param(SPLAT))?,
                Segment::Rest => match param(SPLAT) {
                    Some(value) => {
                        let parts: Result<Vec<_>, _> =
                            value.split('/').map(|part| encode(pattern, SPLAT, part)).collect();
                        parts?.join("/")
                    }
                    None => required(pattern, SPLAT, None)?,
                },
                _ => match self.parts(segment, &param)? {
                    // An absent parameter also omits its slash.
                    text if text.is_empty() => continue,
                    text => text,
                },
            };
            let is_dot = |segment: &str| matches!(segment, "." | "..");
            if !matches!(segment, Segment::Literal(_)) && text.split('/').any(is_dot) {
                return Err(UrlError::DotSegment { pattern: pattern.to_string() });
            }
            url.push('/');
            url.push_str(&text);
        }
        if url.is_empty() {
            url.push('/');
        }
        // Clients read a leading `//` as the start of a host name.
        if url.starts_with("//") {
            return Err(UrlError::EmptyValue {
                pattern: pattern.to_string(),
                name: SPLAT.to_owned(),
            });
        }
        Ok(url)
    }

    fn parts<'v>(
        &self,
        segment: &Segment,
        param: impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<String, UrlError> {
        let mut text = String::new();
        if let Segment::Parts(parts) = segment {
            for part in parts {
                match part {
                    SegmentPart::Literal(literal) => text.push_str(&encoded(literal)),
                    SegmentPart::Param(known) => {
                        text.push_str(&self.value(known, param(&known.name))?);
                    }
                    // Currently unreachable: `SegmentPart` has no other
                    // variants.
                    _ => {}
                }
            }
        }
        Ok(text)
    }

    /// Returns the encoded and checked value. It is empty if an optional
    /// parameter is absent.
    fn value(&self, param: &Param, value: Option<Cow<'_, str>>) -> Result<String, UrlError> {
        let is_absent = value.as_deref().is_none_or(str::is_empty);
        if param.optional && is_absent {
            return Ok(String::new());
        }
        let pattern = &self.pattern;
        let value = required(pattern, &param.name, value)?;
        let expression = self.expressions.iter().find(|(name, _)| *name == param.name);
        let is_refused = expression.is_some_and(|(_, regex)| !regex.is_match(value.as_bytes()));
        if is_refused {
            let (pattern, name) = (pattern.to_string(), param.name.clone());
            return Err(UrlError::RefusedValue { pattern, name, value });
        }
        Ok(value)
    }
}

fn required(
    pattern: &Pattern,
    name: &str,
    value: Option<Cow<'_, str>>,
) -> Result<String, UrlError> {
    let names = || (pattern.to_string(), name.to_owned());
    match value {
        None => {
            let (pattern, name) = names();
            Err(UrlError::MissingValue { pattern, name })
        }
        Some(value) if value.is_empty() => {
            let (pattern, name) = names();
            Err(UrlError::EmptyValue { pattern, name })
        }
        Some(value) => encode(pattern, name, &value),
    }
}

/// Encodes a value, unless routers would reject the path.
fn encode(pattern: &Pattern, name: &str, value: &str) -> Result<String, UrlError> {
    let encoded = encode_component(value);
    if value.contains(|character: char| character.is_ascii_control()) {
        let (pattern, name) = (pattern.to_string(), name.to_owned());
        return Err(UrlError::RefusedValue { pattern, name, value: encoded });
    }
    Ok(encoded)
}

/// Encodes a string like `encodeURIComponent` in JavaScript.
#[must_use]
pub fn encode_component(value: &str) -> String {
    utf8_percent_encode(value, COMPONENT).to_string()
}

/// The characters that `encodeURIComponent` encodes.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

impl UrlError {
    pub(crate) fn unknown_name(name: &str) -> Self {
        Self::UnknownName { name: name.to_owned() }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name } => write!(f, "no route is named {name:?}"),
            Self::DotSegment { pattern } => {
                write!(f, "a value turns a segment of {pattern:?} into `.` or `..`")
            }
            Self::EmptyValue { pattern, name } => {
                write!(f, "parameter {name:?} of {pattern:?} is empty")
            }
            Self::MissingValue { pattern, name } => {
                write!(f, "parameter {name:?} of {pattern:?} is missing")
            }
            Self::RefusedValue { pattern, name, value } => {
                write!(f, "parameter {name:?} of {pattern:?} cannot be {value:?}")
            }
        }
    }
}

impl std::error::Error for UrlError {}

/// Fills in the parameters of a pattern.
pub(crate) fn build_named<K: AsRef<str>, V: ToString>(
    pattern: &UrlPattern,
    params: impl IntoIterator<Item = (K, V)>,
) -> Result<String, UrlError> {
    let params: Vec<(K, String)> =
        params.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    pattern.build(|wanted| {
        let param = params.iter().find(|(name, _)| name.as_ref() == wanted);
        param.map(|(_, value)| value.as_str().into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a path. `given` is `name=value&name=value`, not encoded.
    #[track_caller]
    fn check(path: &str, given: &str, expected: Result<&str, &str>) {
        let pattern = Pattern::parse(path).unwrap();
        let given: Vec<_> = given.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let param =
            |name: &str| given.iter().find(|pair| pair.0 == name).map(|pair| Cow::Borrowed(pair.1));
        let url = build_url(&pattern, param).map_err(|error| error.to_string());
        assert_eq!(url.as_deref().map_err(String::as_str), expected, "{path:?}");
    }

    #[test]
    fn values_are_encoded_like_a_component() {
        check("/", "", Ok("/"));
        check("/a b".replace(' ', "%20").as_str(), "", Ok("/a%20b"));
        check("/u/:id", "id=a/b c&other=x", Ok("/u/a%2Fb%20c"));
        check("/u/:id", "id=AZaz09-_.!~*'()", Ok("/u/AZaz09-_.!~*'()"));
        check("/u/:id", "id=%?#+:@,;$", Ok("/u/%25%3F%23%2B%3A%40%2C%3B%24"));
        check("/u/:id", "id=\u{e9}\u{4e2d}", Ok("/u/%C3%A9%E4%B8%AD"));
        check("/:from-:to", "from=a-b&to=c", Ok("/a-b-c"));
    }

    #[test]
    fn wildcards_use_the_splat_parameter() {
        check("/a/*/b", "splat=x/y", Ok("/a/x%2Fy/b"));
        check("/d/**", "splat=x y/z//w", Ok("/d/x%20y/z//w"));
        check("/d/**", "splat=", Ok("/d/"));
        check("/**", "splat=evil.example", Ok("/evil.example"));
        check("/**", "splat=/evil.example", Err("parameter \"splat\" of \"/**\" is empty"));
        check("/d/**", "", Err("parameter \"splat\" of \"/d/**\" is missing"));
        check("/a/*", "splat=", Err("parameter \"splat\" of \"/a/*\" is empty"));
    }

    #[test]
    fn omits_absent_optional_parameters() {
        check("/opt/:id?", "", Ok("/opt"));
        check("/opt/:id?", "id=", Ok("/opt"));
        check("/opt/:id?", "id=5", Ok("/opt/5"));
        check("/:a?", "", Ok("/"));
        check("/:a?/", "", Ok("/"));
        check("/:a?/b/:c?", "c=1", Ok("/b/1"));
        check("/x:id?", "", Ok("/x"));
        check(r"/s/:q?/:p(\d+)?", "q=cats&p=2", Ok("/s/cats/2"));
    }

    #[test]
    fn rejects_values_that_a_path_cannot_contain() {
        check("/u/:id", "", Err("parameter \"id\" of \"/u/:id\" is missing"));
        check("/u/:id", "id=", Err("parameter \"id\" of \"/u/:id\" is empty"));
        let refused = r#"parameter "id" of "/u/:id(\\d+)" cannot be "x%20""#;
        check(r"/u/:id(\d+)", "id=x ", Err(refused));
        check(r"/u/:id(\d+)", "id=42", Ok("/u/42"));
        check(r"/u/:id(a%20b)", "id=a b", Ok("/u/a%20b"));
        let refused = r#"parameter "e" of "/:f.:e(a|b)?" cannot be "ab""#;
        check("/:f.:e(a|b)?", "f=x&e=ab", Err(refused));
    }

    #[test]
    fn rejects_control_characters() {
        for (character, escape) in [("\0", "%00"), ("\n", "%0A"), ("\r", "%0D"), ("\x7f", "%7F")] {
            for (path, name) in [("/u/:id", "id"), ("/u/*", "splat"), ("/u/**", "splat")] {
                let expected = format!("parameter {name:?} of {path:?} cannot be \"a{escape}b\"");
                check(path, &format!("{name}=a{character}b"), Err(&expected));
            }
        }
        check("/u/**", "splat=a/b\0", Err("parameter \"splat\" of \"/u/**\" cannot be \"b%00\""));
        // This control character is not ASCII, and routers accept it.
        check("/u/:id", "id=\u{85}", Ok("/u/%C2%85"));
    }

    #[test]
    fn rejects_segments_that_clients_remove() {
        check("/u/:id", "id=..", Err("a value turns a segment of \"/u/:id\" into `.` or `..`"));
        check("/:a.:b?", "a=.", Err("a value turns a segment of \"/:a.:b?\" into `.` or `..`"));
        check(
            "/d/**",
            "splat=a/../b",
            Err("a value turns a segment of \"/d/**\" into `.` or `..`"),
        );
        check("/u/:id", "id=...", Ok("/u/..."));
    }
}
