//! HTML output that escapes all foreign text.

use std::fmt::Write as _;

use serde_json::Value;

/// A page under construction.
#[derive(Default)]
pub(super) struct Html {
    text: String,
    /// The number of names that [`unique`](Self::unique) has returned.
    names: u32,
}

impl Html {
    /// Adds static markup.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Adds escaped text. It is also valid in an attribute with double quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                c => self.push(c),
            }
        }
        self
    }

    /// Adds escaped text with many quotes, which is not valid in an attribute.
    pub(super) fn listing(&mut self, text: &str) -> &mut Self {
        self.markup("<pre>");
        text.chars().for_each(|c| self.push(c));
        self.markup("</pre>")
    }

    /// Adds data as JSON, which cannot end its element.
    pub(super) fn json(&mut self, value: &Value) -> &mut Self {
        self.text.push_str(&value.to_string().replace('<', "\\u003c"));
        self
    }

    /// Adds the content of a constant file, which contains no end tag.
    pub(super) fn file(&mut self, content: &str) -> &mut Self {
        self.text.push_str(content);
        self
    }

    /// Returns a number that is unique on this page.
    pub(super) fn unique(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn push(&mut self, c: char) {
        match c {
            '&' => self.text.push_str("&amp;"),
            '<' => self.text.push_str("&lt;"),
            '>' => self.text.push_str("&gt;"),
            // HTML does not allow them (HTML, section 13.1.4).
            c if c.is_control() && !matches!(c, '\n' | '\t') => {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
            c => self.text.push(c),
        }
    }

    /// Adds a text as code.
    pub(super) fn code(&mut self, text: &str) -> &mut Self {
        self.markup("<code>").text(text).markup("</code>")
    }

    /// Adds an anchor name for `id` and `href`. The name does not need quotes.
    pub(super) fn anchor(&mut self, name: &str) -> &mut Self {
        self.text.push_str(&anchor(name));
        self
    }

    /// Appends another page.
    pub(super) fn add(&mut self, other: &Self) -> &mut Self {
        self.text.push_str(&other.text);
        self
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Folds everything that was added after `start`, if anything was.
    pub(super) fn fold(&mut self, start: usize, summary: &'static str) {
        if self.text.len() > start {
            let head = format!("<details><summary>{summary}</summary>");
            self.text.insert_str(start, &head);
            self.markup("</details>");
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

/// Returns a name that is valid in an `id`, in a fragment, and in a path.
/// Different names have different results.
pub(super) fn anchor(name: &str) -> String {
    let mut anchor = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                anchor.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(anchor, "~{byte:02x}")),
        }
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_never_markup() {
        let mut html = Html::default();
        html.text("<script>\"&' \u{0}\u{1b}\u{85}é\n");
        let expected = "&lt;script&gt;&quot;&amp;&#39; \u{fffd}\u{fffd}\u{fffd}é\n";
        assert_eq!(html.into_string(), expected);
    }

    #[test]
    fn a_listing_leaves_only_quotes_unescaped() {
        let mut html = Html::default();
        html.listing("</code>'\"&");
        assert_eq!(html.into_string(), "<pre>&lt;/code&gt;'\"&amp;</pre>");
    }

    #[test]
    fn data_cannot_end_its_element() {
        let mut html = Html::default();
        html.json(&serde_json::json!("</script><!--"));
        assert_eq!(html.into_string(), r#""\u003c/script>\u003c!--""#);
    }

    #[test]
    fn an_anchor_is_one_unique_word() {
        assert_eq!(anchor("accounts.create"), "accounts.create");
        assert_eq!(anchor("a b\"~é/"), "a~20b~22~7e~c3~a9~2f");
        assert_ne!(anchor("a~20b"), anchor("a b"));
    }
}
