//! [`Disposition`]: the names in the `Content-Disposition` header of a form
//! part.
//!
//! Source: RFC 6266 and RFC 8187 (`filename*`); RFC 9110, section 5.6.6
//! (parameters); WHATWG HTML, section 4.10.21.8 (`%22`, `%0D` and `%0A`).

use percent_encoding::percent_decode;

/// The names of a part.
#[derive(Debug, Default)]
pub(super) struct Disposition {
    pub(super) name: Option<String>,
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Parses the header value. The first of several parameters with the same
    /// name counts, and a name that is not UTF-8 is ignored.
    pub(super) fn parse(value: &[u8]) -> Self {
        let start = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
        let (mut name, mut plain, mut extended) = (None, None, None);
        for parameter in Parameters::of(&value[start..]) {
            let is = |known: &str| parameter.name.eq_ignore_ascii_case(known.as_bytes());
            let slot = if is("name") {
                &mut name
            } else if is("filename") {
                &mut plain
            } else if is("filename*") {
                &mut extended
            } else {
                continue;
            };
            slot.get_or_insert(parameter);
        }
        let file_name = extended.and_then(|parameter| extended_value(&parameter.value));
        Self {
            name: name.and_then(Parameter::into_form_text),
            file_name: file_name.or_else(|| plain.and_then(Parameter::into_form_text)),
        }
    }
}

/// A parameter of a header.
#[derive(Debug)]
pub(super) struct Parameter<'v> {
    pub(super) name: &'v [u8],
    /// The value without quotation marks and escapes.
    pub(super) value: Vec<u8>,
    is_quoted: bool,
}

impl Parameter<'_> {
    /// Returns the text that a browser encoded. In quotation marks, browsers
    /// write `"`, CR and LF as `%22`, `%0D` and `%0A`, and `%` as itself.
    fn into_form_text(self) -> Option<String> {
        let text = String::from_utf8(self.value).ok()?;
        if !self.is_quoted || !text.contains('%') {
            return Some(text);
        }
        let mut decoded = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, behind)) = rest.split_once('%') {
            decoded.push_str(before);
            let (char, length) = match behind.get(..2) {
                Some("22") => ('"', 2),
                Some("0D" | "0d") => ('\r', 2),
                Some("0A" | "0a") => ('\n', 2),
                _ => ('%', 0),
            };
            decoded.push(char);
            rest = &behind[length..];
        }
        decoded.push_str(rest);
        Some(decoded)
    }
}

/// Decodes `UTF-8'language'text`. Returns `None` for another charset and for
/// invalid UTF-8.
fn extended_value(value: &[u8]) -> Option<String> {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    let (charset, _language, text) = (parts.next()?, parts.next()?, parts.next()?);
    if !has_valid_escapes(text) {
        return None;
    }
    let bytes: Vec<u8> = percent_decode(text).collect();
    if charset.eq_ignore_ascii_case(b"UTF-8") {
        String::from_utf8(bytes).ok()
    } else if charset.eq_ignore_ascii_case(b"ISO-8859-1") {
        Some(bytes.into_iter().map(char::from).collect())
    } else {
        None
    }
}

fn has_valid_escapes(text: &[u8]) -> bool {
    let mut escapes = text.split(|byte| *byte == b'%').skip(1);
    escapes.all(|rest| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit))
}

/// The parameters of a header, from the first semicolon. A quoted value may
/// contain semicolons. An unquoted value ends at the next semicolon, so it may
/// contain characters that a token may not.
pub(super) struct Parameters<'v> {
    rest: &'v [u8],
}

impl<'v> Parameters<'v> {
    pub(super) fn of(rest: &'v [u8]) -> Self {
        Self { rest }
    }

    /// Reads a quoted value after the first quotation mark. Only `\"` and `\\`
    /// are escapes; browsers send other backslashes unescaped. Returns `None`
    /// if the closing mark is missing.
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut at = 0;
        loop {
            let byte = *self.rest.get(at)?;
            at += 1;
            match (byte, self.rest.get(at)) {
                (b'"', _) => {
                    self.rest = &self.rest[at..];
                    return Some(value);
                }
                (b'\\', Some(escaped @ (b'"' | b'\\'))) => {
                    value.push(*escaped);
                    at += 1;
                }
                _ => value.push(byte),
            }
        }
    }

    /// Reads up to the first of these bytes, or to the end.
    fn take_until(&mut self, ends: &[u8]) -> &'v [u8] {
        let end = self.rest.iter().position(|byte| ends.contains(byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

impl<'v> Iterator for Parameters<'v> {
    type Item = Parameter<'v>;

    fn next(&mut self) -> Option<Parameter<'v>> {
        loop {
            self.rest = self.rest.trim_ascii_start();
            while let Some(rest) = self.rest.strip_prefix(b";") {
                self.rest = rest.trim_ascii_start();
            }
            if self.rest.is_empty() {
                return None;
            }
            let name = self.take_until(b"=;").trim_ascii_end();
            let Some(rest) = self.rest.strip_prefix(b"=") else {
                continue;
            };
            self.rest = rest.trim_ascii_start();
            let Some(rest) = self.rest.strip_prefix(b"\"") else {
                let value = self.take_until(b";").trim_ascii_end().to_vec();
                return Some(Parameter { name, value, is_quoted: false });
            };
            self.rest = rest;
            let Some(value) = self.quoted() else {
                self.rest = b"";
                return None;
            };
            // Text after the quotation mark is not part of a parameter.
            self.take_until(b";");
            return Some(Parameter { name, value, is_quoted: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parameters: &[u8], name: Option<&str>, file_name: Option<&str>) {
        let value = [b"form-data; ", parameters].concat();
        let found = Disposition::parse(&value);
        let shown = String::from_utf8_lossy(&value);
        assert_eq!(found.name.as_deref(), name, "{shown}");
        assert_eq!(found.file_name.as_deref(), file_name, "{shown}");
    }

    #[test]
    fn reads_names_in_any_case_and_order() {
        check(b"", None, None);
        check(br#"name="a""#, Some("a"), None);
        check(b"name=a; filename=b.txt", Some("a"), Some("b.txt"));
        check(br#"FileName="b;c.txt";NAME = "a" "#, Some("a"), Some("b;c.txt"));
        check(br#"xname=x; name="a"; filenames=y"#, Some("a"), None);
        check(br#"x="; name=evil"; name="a""#, Some("a"), None);
        check(br#"name="a"; name="b""#, Some("a"), None);
        check(br#"name; =x; ;name="""#, Some(""), None);
        check(br#"name="a"tail; filename="b""#, Some("a"), Some("b"));
        check("name=\"ä\"".as_bytes(), Some("ä"), None);
        check(b"name=\"\xff\"; filename=\"\xff\"", None, None);
        check(br#"name="a"#, None, None);
    }

    #[test]
    fn decodes_only_what_browsers_encode() {
        check(br#"name="a%22b%0D%0Ac""#, Some("a\"b\r\nc"), None);
        check(br#"name="%0d%0a""#, Some("\r\n"), None);
        check(br#"name="100%"; filename="%20%2F%2""#, Some("100%"), Some("%20%2F%2"));
        check(br#"name="%2522"; filename="%%22""#, Some("%2522"), Some("%\""));
        check("name=\"%ä%é\"".as_bytes(), Some("%ä%é"), None);
        // An unquoted value does not come from a browser.
        check(b"name=a%22", Some("a%22"), None);
    }

    #[test]
    fn unescapes_quotation_marks_and_backslashes() {
        check(br#"name="a\"b\\""#, Some(r#"a"b\"#), None);
        check(br#"filename="C:\dir\x.txt""#, None, Some(r"C:\dir\x.txt"));
        check(br#"name="a\\"; filename="\\""#, Some(r"a\"), Some(r"\"));
    }

    #[test]
    fn prefers_the_extended_file_name() {
        check(br#"filename="EURO.txt"; filename*=UTF-8''%e2%82%ac.txt"#, None, Some("€.txt"));
        check(br#"FILENAME*=utf-8'en'%E2%82%AC; filename="x""#, None, Some("€"));
        check(b"filename*=iso-8859-1''%A3", None, Some("£"));
        // The decoded text is not decoded a second time.
        check(b"filename*=UTF-8''%2522", None, Some("%22"));
        for malformed in ["UTF-8''%ff", "UTF-8''%2", "UTF-8''%zz", "UTF-16''a", "a.txt", "''"] {
            let parameters = format!("filename=\"x\"; filename*={malformed}");
            check(parameters.as_bytes(), None, Some("x"));
        }
    }
}
