//! [`Accepts`]: the media types that a request body may have.

use std::sync::Arc;

use http::{HeaderMap, Method};
use stockade_errors::{ApiError, ConfigError, ConfigIssue};

use crate::headers::content_type;
use crate::media::Media;
use crate::{BodyKind, Setting};

/// The media types that a request body may have. Any other body gets a 415
/// before middleware runs and before any byte of it is read.
///
/// A type is a full name such as `application/json`, or `text/*` for all
/// subtypes of `text`. `*/*` accepts every type, but not a body without
/// `Content-Type`. The comparison ignores case and the parameters of the
/// request's type, such as `charset`. A request without a body is always
/// accepted.
///
/// # Beyond the spec
/// The specification has one list of types for all routes.
#[derive(Clone, Debug)]
pub struct Accepts {
    /// In lower case.
    types: Box<[Box<str>]>,
    refusal: ApiError,
}

impl Accepts {
    /// Parses the media types.
    ///
    /// # Errors
    /// Fails for an empty list and for every invalid media type. An item is
    /// invalid if it has parameters, an illegal character or an unknown
    /// top-level type.
    #[track_caller]
    pub fn new(types: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, ConfigError> {
        let types: Vec<_> =
            types.into_iter().map(|item| item.as_ref().to_ascii_lowercase()).collect();
        let mut mistakes: Vec<ConfigIssue> =
            types.iter().filter_map(|item| fault(item)).map(ConfigIssue::new).collect();
        if types.is_empty() {
            mistakes.push(ConfigIssue::new("the list of media types is empty"));
        }
        ConfigError::check(mistakes)?;
        // RFC 9110, section 12.5.1: list the acceptable types.
        let refusal = ApiError::new(415, "Unsupported Media Type");
        let refusal = refusal.with_header("accept", types.join(", ")).repeated();
        Ok(Self { types: types.into_iter().map(Into::into).collect(), refusal })
    }

    /// Parses the media types of a setting.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new).
    #[doc(hidden)]
    pub fn of_setting(types: Setting<Vec<String>>) -> Result<Setting<Arc<Self>>, ConfigError> {
        Ok(match types {
            Setting::Value(types) => Setting::Value(Arc::new(Self::new(types)?)),
            Setting::Inherit => Setting::Inherit,
            Setting::Off => Setting::Off,
            Setting::On => Setting::On,
        })
    }

    /// Returns the types, in lower case.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|item| &**item)
    }

    /// Returns true if at least one of the types is readable as this kind of
    /// body.
    #[must_use]
    pub fn lets_read(&self, kind: BodyKind) -> bool {
        match kind {
            BodyKind::Raw => true,
            BodyKind::Multipart => self.admits("multipart/form-data"),
            BodyKind::Typed | BodyKind::Optional => {
                let is_readable = |item: &str| Media::parse(item) != Media::Other;
                self.admits("application/json") || self.types.iter().any(|item| is_readable(item))
            }
        }
    }

    /// Returns the error if the body's type is not accepted.
    pub(crate) fn refuse(&self, method: &Method, headers: &HeaderMap) -> Option<ApiError> {
        (!self.admits_type_of(headers)).then(|| match *method {
            // RFC 5789, section 2.2: list the patch types.
            Method::PATCH => {
                let types: Vec<&str> = self.types().collect();
                self.refusal.clone().with_header("accept-patch", types.join(", "))
            }
            _ => self.refusal.clone(),
        })
    }

    fn admits_type_of(&self, headers: &HeaderMap) -> bool {
        let essence = content_type(headers).map(|it| it.split(';').next().unwrap_or(it).trim());
        essence.is_some_and(|essence| self.admits(essence))
    }

    /// Returns true for an accepted media type. The type must not have
    /// parameters.
    #[must_use]
    pub fn admits(&self, essence: &str) -> bool {
        self.types.iter().any(|item| match item.strip_suffix('*') {
            None => item.eq_ignore_ascii_case(essence),
            Some("*/") => essence.contains('/'),
            Some(start) => {
                essence.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
            }
        })
    }
}

/// Returns the reason if a media type is invalid.
fn fault(item: &str) -> Option<String> {
    // A text without a slash is rejected as an unknown top-level type.
    let (kind, subtype) = item.split_once('/').unwrap_or_default();
    let is_known = KINDS.contains(&kind) && (subtype == "*" || is_name(subtype));
    if is_known || item == "*/*" {
        None
    } else if item.contains(';') {
        Some(format!(
            "{item:?}: remove the parameters of the media type, any parameters are accepted"
        ))
    } else {
        Some(format!("{item:?} is not a media type such as \"application/json\""))
    }
}

/// Returns true for a valid name (RFC 6838, section 4.2).
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
}

/// The top-level types.
///
/// Source: IANA, Media Types.
const KINDS: [&str; 11] = [
    "application",
    "audio",
    "example",
    "font",
    "haptics",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(types: &[&str], content_type: &str, admitted: bool) {
        let accepts = Accepts::new(types).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", content_type.parse().unwrap());
        assert_eq!(accepts.admits_type_of(&headers), admitted, "{types:?} {content_type:?}");
    }

    #[test]
    fn a_type_is_compared_without_case_and_parameters() {
        let json = ["application/json"];
        check(&json, "application/json", true);
        check(&json, "Application/JSON; charset=utf-8", true);
        check(&json, "application/json ;charset=latin1", true);
        check(&json, "application/problem+json", false);
        check(&json, "application/x-www-form-urlencoded", false);
        check(&json, "text/plain; a=application/json", false);
        check(&json, "application/jsonp", false);
        check(&json, "application/json, text/plain", false);
        check(&json, "json", false);
        check(&json, "", false);
        check(&["Text/*", "image/png"], "text/csv", true);
        check(&["Text/*", "image/png"], "IMAGE/PNG", true);
        check(&["Text/*", "image/png"], "texts/csv", false);
        check(&["*/*"], "chemical/x-pdb", true);
        check(&["*/*"], "nothing", false);
    }

    #[test]
    fn needs_exactly_one_content_type() {
        let accepts = Accepts::new(["*/*"]).unwrap();
        let mut headers = HeaderMap::new();
        assert!(!accepts.admits_type_of(&headers));
        headers.append("content-type", "text/plain".parse().unwrap());
        assert!(accepts.admits_type_of(&headers));
        headers.append("content-type", "text/plain".parse().unwrap());
        assert!(!accepts.admits_type_of(&headers));
    }

    #[test]
    fn rejects_malformed_media_types() {
        let bad = [
            "json",
            "",
            "/",
            "aplication/json",
            "application/",
            "application/a b",
            "text/a/b",
            "text/*x",
            "*",
            "*/json",
            "text/-",
            "application/json;charset=utf-8",
        ];
        let error = Accepts::new(bad).unwrap_err();
        assert_eq!(error.issues().len(), bad.len(), "{error}");
        assert!(Accepts::new([""; 0]).is_err());
    }

    #[test]
    fn a_handler_can_read_one_of_the_types() {
        #[track_caller]
        fn check(kind: BodyKind, types: &[&str], expected: bool) {
            assert_eq!(Accepts::new(types).unwrap().lets_read(kind), expected, "{types:?}");
        }
        for kind in [BodyKind::Typed, BodyKind::Optional] {
            check(kind, &["image/png"], false);
            for item in ["application/*", "text/*", "*/*", "text/csv", "application/x+json"] {
                check(kind, &["image/png", item], true);
            }
        }
        check(BodyKind::Raw, &["image/png"], true);
        check(BodyKind::Multipart, &["image/png"], false);
        check(BodyKind::Multipart, &["multipart/form-data"], true);
        check(BodyKind::Multipart, &["multipart/*"], true);
    }
}
