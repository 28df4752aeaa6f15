//! [`MultipartForm`]: a form with files.
//!
//! Source: RFC 7578 (multipart/form-data).

use std::fmt::{self, Write as _};

use bytes::Bytes;

/// A multipart form for `TestRequest::multipart`, encoded as browsers do.
///
/// ```
/// use stockade::testing::MultipartForm;
///
/// let form = MultipartForm::new()
///     .text("title", "A teapot")
///     .file("image", "teapot.png", "image/png", *b"\x89PNG");
/// # drop(form);
/// ```
#[derive(Clone, Default)]
#[must_use = "it is for a request"]
pub struct MultipartForm {
    parts: Vec<Part>,
}

#[derive(Clone)]
struct Part {
    /// The body, without the boundary.
    head: String,
    content: Bytes,
}

impl MultipartForm {
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    pub fn text(mut self, name: &str, value: impl Into<String>) -> Self {
        let head = format!("Content-Disposition: form-data; name=\"{}\"\r\n", quoted(name));
        self.parts.push(Part { head, content: Bytes::from(value.into()) });
        self
    }

    /// Adds a file with the client's file name and content type.
    pub fn file(
        mut self,
        name: &str,
        file_name: &str,
        content_type: &str,
        content: impl AsRef<[u8]>,
    ) -> Self {
        let mut head = format!(
            "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n",
            quoted(name),
            quoted(file_name)
        );
        // Writing to a string cannot fail.
        let _ = write!(head, "Content-Type: {content_type}\r\n");
        self.parts.push(Part { head, content: Bytes::copy_from_slice(content.as_ref()) });
        self
    }

    /// Returns the content type and the body.
    #[doc(hidden)]
    #[must_use]
    pub fn encode(self) -> (String, Vec<u8>) {
        let boundary = self.boundary();
        let body = self.encode_with(&boundary);
        (format!("multipart/form-data; boundary={boundary}"), body)
    }

    /// Returns the body with this boundary, which no part may contain.
    pub(crate) fn encode_with(self, boundary: &str) -> Vec<u8> {
        let mut body = Vec::new();
        for part in self.parts {
            body.extend(format!("--{boundary}\r\n{}\r\n", part.head).into_bytes());
            body.extend(part.content);
            body.extend(b"\r\n");
        }
        body.extend(format!("--{boundary}--\r\n").into_bytes());
        body
    }

    /// Returns a boundary that no part contains.
    fn boundary(&self) -> String {
        let mut boundary = String::from("stockade-test-boundary");
        while self.parts.iter().any(|part| contains(&part.content, boundary.as_bytes())) {
            boundary.push('x');
        }
        boundary
    }
}

impl fmt::Debug for MultipartForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts.iter().map(|part| (part.head.trim_end(), part.content.len()));
        f.debug_map().entries(parts).finish()
    }
}

fn contains(content: &[u8], needle: &[u8]) -> bool {
    content.windows(needle.len()).any(|window| window == needle)
}

/// Escapes a name as browsers do.
///
/// Source: WHATWG HTML, section 4.10.21.8 (Multipart form data).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_parts_like_browsers() {
        let (content_type, body) =
            MultipartForm::new().text("a\"b", "1").file("f", "x.png", "image/png", "2").encode();
        assert_eq!(content_type, "multipart/form-data; boundary=stockade-test-boundary");
        let expected = "--stockade-test-boundary\r\n\
            Content-Disposition: form-data; name=\"a%22b\"\r\n\r\n1\r\n\
            --stockade-test-boundary\r\n\
            Content-Disposition: form-data; name=\"f\"; filename=\"x.png\"\r\n\
            Content-Type: image/png\r\n\r\n2\r\n\
            --stockade-test-boundary--\r\n";
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }

    #[test]
    fn the_boundary_occurs_in_no_part() {
        let (content_type, _) = MultipartForm::new().text("a", "--stockade-test-boundary").encode();
        assert_eq!(content_type, "multipart/form-data; boundary=stockade-test-boundaryx");
    }
}
