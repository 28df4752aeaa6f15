//! [`Download`]: bytes that a client uploaded, as a file to save.

use http::{HeaderValue, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use stockade_errors::ApiError;

use crate::description::{HeaderDoc, ResponseDoc};
use crate::{HttpBody, Reply, Response, RouteDescription};

/// Bytes that a client uploaded, sent so that no browser runs them as a page of
/// your origin.
///
/// The browser saves the file instead of showing it (`Content-Disposition:
/// attachment`), does not guess another type (`X-Content-Type-Options:
/// nosniff`), and runs nothing in it (`Content-Security-Policy: sandbox`). The
/// media type that the client claimed is used only if it is in a list of types
/// without scripts: common images, audio, video, PDF, plain text, CSV and
/// archives. Any other becomes `application/octet-stream`.
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::Download;
///
/// let stored: &[u8] = b"<script>alert(1)</script>";
/// let response = Download::new(stored).media_type("text/html").named("a.html").into_response()?;
/// assert_eq!(response.headers()["content-type"], "application/octet-stream");
/// assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"a.html\"");
/// # Ok::<(), stockade::ApiError>(())
/// ```
///
/// Source: RFC 6266; the OWASP File Upload Cheat Sheet.
#[doc(alias = "attachment")]
#[derive(Debug)]
pub struct Download {
    body: HttpBody,
    media_type: &'static str,
    name: String,
    is_inline: bool,
}

impl Download {
    /// Creates a download of the type `application/octet-stream`, without a
    /// name.
    pub fn new(body: impl Into<HttpBody>) -> Self {
        Self { body: body.into(), media_type: BYTES, name: String::new(), is_inline: false }
    }

    /// Sets the media type that the client claimed, if it is in the list.
    /// Parameters such as `charset` are dropped; text is UTF-8.
    #[must_use]
    pub fn media_type(mut self, claimed: &str) -> Self {
        self.media_type = safe_media_type(claimed);
        self
    }

    /// Sets the name of the file. Only the last part of a path is used. Control
    /// characters are removed.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Lets a browser show the file, for example in `<img>`, if its type is a
    /// common image, audio, video or plain text. Any other file stays a
    /// download.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.is_inline = true;
        self
    }
}

impl Reply for Download {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::new(self.body);
        let is_shown = self.is_inline && is_shown(self.media_type);
        let kind = if is_shown { "inline" } else { "attachment" };
        let headers = response.headers_mut();
        headers
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(with_charset(self.media_type)));
        headers.insert(header::CONTENT_DISPOSITION, disposition(kind, &self.name));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
        Ok(response)
    }

    /// The content type is known only at run time.
    fn describe(doc: &mut RouteDescription) {
        doc.responds(described(ResponseDoc::bytes(200, "*/*")));
    }
}

/// Adds the headers of an upload to the description of a response.
#[must_use]
pub fn described(answer: ResponseDoc) -> ResponseDoc {
    answer
        .header(HeaderDoc::new("Content-Disposition", "`attachment` with the file name"))
        .header(HeaderDoc::new("X-Content-Type-Options", "`nosniff`"))
        .header(HeaderDoc::new("Content-Security-Policy", "`sandbox`"))
}

/// Returns the media type that a client claimed, or `application/octet-stream`
/// if it may contain scripts or is unknown.
#[must_use]
pub fn safe_media_type(claimed: &str) -> &'static str {
    let claimed = claimed.split(';').next().unwrap_or_default().trim();
    let is_known = |known: &&&str| known.eq_ignore_ascii_case(claimed);
    let known = SHOWN.iter().chain(&SAVED).find(is_known);
    known.copied().unwrap_or(BYTES)
}

/// Creates a `Content-Disposition`.
///
/// Source: RFC 6266, section 4; RFC 8187, section 3.2.
#[must_use]
pub fn disposition(kind: &'static str, name: &str) -> HeaderValue {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name: String = name.chars().filter(|char| !char.is_control()).collect();
    let is_plain = |char: char| matches!(char, ' '..='~') && !matches!(char, '"' | '%');
    let plain: String = name.chars().map(|char| if is_plain(char) { char } else { '_' }).collect();
    let text = match (name.is_empty(), plain == name) {
        (true, _) => kind.to_owned(),
        (false, true) => format!("{kind}; filename=\"{name}\""),
        (false, false) => {
            let encoded = utf8_percent_encode(&name, EXTENDED);
            format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
        }
    };
    // The text is visible ASCII at this point.
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(kind))
}

/// Returns true if a browser may show a file of this type.
fn is_shown(media_type: &str) -> bool {
    SHOWN.contains(&media_type)
}

fn with_charset(media_type: &'static str) -> &'static str {
    match media_type {
        "text/plain" => "text/plain; charset=utf-8",
        "text/csv" => "text/csv; charset=utf-8",
        other => other,
    }
}

const BYTES: &str = "application/octet-stream";

/// The policy of an upload: it runs nothing and loads nothing.
pub const SANDBOX: &str = "sandbox; default-src 'none'";

/// Types without scripts that browsers show. SVG and HTML contain scripts.
const SHOWN: [&str; 15] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/bmp",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "audio/mp4",
    "video/mp4",
    "video/ogg",
    "video/webm",
    "text/plain",
];

/// Types without scripts that are saved.
const SAVED: [&str; 8] = [
    "application/pdf",
    "text/csv",
    "application/zip",
    "application/gzip",
    "application/json",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
];

/// All characters except `attr-char` of RFC 8187.
const EXTENDED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_without_scripts_are_kept() {
        for (claimed, expected) in [
            ("image/png", "image/png"),
            ("IMAGE/PNG", "image/png"),
            ("text/plain; charset=utf-16", "text/plain; charset=utf-8"),
            ("text/html", BYTES),
            ("image/svg+xml", BYTES),
            ("application/xhtml+xml", BYTES),
            ("text/xml", BYTES),
            ("application/javascript", BYTES),
            ("image/png\r\nx: y", BYTES),
            ("image/png, text/html", BYTES),
            ("", BYTES),
        ] {
            let response = Download::new("x").media_type(claimed).into_response().unwrap();
            assert_eq!(response.headers()["content-type"], expected, "{claimed:?}");
            assert_eq!(response.headers()["content-disposition"], "attachment");
            assert_eq!(response.headers()["x-content-type-options"], "nosniff");
            assert_eq!(response.headers()["content-security-policy"], SANDBOX);
        }
    }

    #[test]
    fn only_images_media_and_text_are_shown() {
        for (claimed, expected) in [
            ("image/png", "inline; filename=\"a\""),
            ("text/plain", "inline; filename=\"a\""),
            ("text/html", "attachment; filename=\"a\""),
            ("application/pdf", "attachment; filename=\"a\""),
        ] {
            let name = "../a";
            let shown = Download::new("x").media_type(claimed).named(name).inline();
            let response = shown.into_response().unwrap();
            assert_eq!(response.headers()["content-disposition"], expected, "{claimed:?}");
        }
    }
}
