//! The supported subset of Markdown: paragraphs, headings, lists, code, strong
//! text and links. All other syntax is shown as text.

use super::html::Html;

/// Adds Markdown text.
pub(super) fn add(html: &mut Html, text: &str) {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.starts_with("```") {
            html.markup("<pre><code>");
            for line in lines.by_ref().take_while(|line| !line.trim().starts_with("```")) {
                html.text(line).markup("\n");
            }
            html.markup("</code></pre>");
        } else if let Some(text) = heading(line) {
            html.markup("<p class=head>");
            inline(html, text);
            html.markup("</p>");
        } else if let Some(kind) = item(line) {
            let (begin, end) = kind.list();
            html.markup(begin);
            let mut next = Some(line);
            while let Some(line) = next {
                inline(html.markup("<li>"), item_text(line));
                next = lines.next_if(|line| item(line.trim()) == Some(kind)).map(str::trim);
            }
            html.markup(end);
        } else if !line.is_empty() {
            inline(html.markup("<p>"), line);
            let is_more = |line: &&str| {
                let line = line.trim();
                !line.is_empty()
                    && item(line).is_none()
                    && heading(line).is_none()
                    && !line.starts_with("```")
            };
            while let Some(line) = lines.next_if(is_more) {
                inline(html.markup("\n"), line.trim());
            }
            html.markup("</p>");
        }
    }
}

/// The kind of a list.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Item {
    Bullet,
    Number,
}

impl Item {
    fn list(self) -> (&'static str, &'static str) {
        match self {
            Self::Bullet => ("<ul>", "</ul>"),
            Self::Number => ("<ol>", "</ol>"),
        }
    }
}

/// Returns the text after the marker of a list item.
fn item_text(line: &str) -> &str {
    let (_, text) = line.split_once(' ').unwrap_or((line, ""));
    text.trim()
}

fn item(line: &str) -> Option<Item> {
    let (mark, _) = line.split_once(' ')?;
    let number = mark.strip_suffix('.').is_some_and(|digits| {
        !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    match mark {
        "-" | "*" | "+" => Some(Item::Bullet),
        _ => number.then_some(Item::Number),
    }
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    text.strip_prefix(' ').filter(|_| (1..=6).contains(&level)).map(str::trim)
}

/// Adds a line with code, strong text and links.
fn inline(html: &mut Html, line: &str) {
    let mut rest = line;
    // The text before `start` contains no syntax.
    let mut start = 0;
    while let Some(found) = rest[start..].find(['`', '*', '[']) {
        let at = start + found;
        match span(&rest[at..]) {
            Some((span, length)) => {
                html.text(&rest[..at]);
                span.add(html);
                rest = &rest[at + length..];
                start = 0;
            }
            // All three characters have one byte.
            None => start = at + 1,
        }
    }
    html.text(rest);
}

/// A part of a line.
enum Span<'t> {
    Code(&'t str),
    Strong(&'t str),
    Link(&'t str, &'t str),
}

impl Span<'_> {
    fn add(&self, html: &mut Html) {
        match self {
            Self::Code(code) => html.code(code),
            Self::Strong(text) => html.markup("<strong>").text(text).markup("</strong>"),
            Self::Link(text, url) => {
                html.markup("<a rel=noreferrer href=\"").text(url).markup("\">").text(text);
                html.markup("</a>")
            }
        };
    }
}

/// Returns the part at the start of a text, and its length.
fn span(text: &str) -> Option<(Span<'_>, usize)> {
    if let Some(rest) = text.strip_prefix('`') {
        let end = rest.find('`')?;
        return Some((Span::Code(&rest[..end]), end + 2));
    }
    if let Some(rest) = text.strip_prefix("**") {
        let end = rest.find("**").filter(|end| *end > 0)?;
        return Some((Span::Strong(&rest[..end]), end + 4));
    }
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, _) = rest.split_once(')')?;
    let is_safe = ["https://", "http://", "mailto:", "#"].iter().any(|it| url.starts_with(it));
    let is_link = is_safe && !label.contains(['[', ']']) && !url.contains(char::is_whitespace);
    is_link.then_some((Span::Link(label, url), label.len() + url.len() + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut html = Html::default();
        add(&mut html, text);
        html.into_string()
    }

    #[test]
    fn supports_paragraphs_lists_and_code() {
        assert_eq!(html("a `b<` c\nd\n\ne `f"), "<p>a <code>b&lt;</code> c\nd</p><p>e `f</p>");
        assert_eq!(
            html("a\n- b\n* `c`\n1. d"),
            "<p>a</p><ul><li>b<li><code>c</code></ul><ol><li>d</ol>"
        );
        assert_eq!(html("```json\n<a>\n```\nb"), "<pre><code>&lt;a&gt;\n</code></pre><p>b</p>");
        assert_eq!(html("```\nnever closed"), "<pre><code>never closed\n</code></pre>");
    }

    #[test]
    fn supports_headings_strong_text_and_links() {
        assert_eq!(html("## A\nb"), "<p class=head>A</p><p>b</p>");
        assert_eq!(html("#a\n####### b"), "<p>#a\n####### b</p>");
        assert_eq!(html("a **b<** * c ** d"), "<p>a <strong>b&lt;</strong> * c ** d</p>");
        assert_eq!(
            html("[a](https://x.example/?a=1&b) [b](#c)"),
            "<p><a rel=noreferrer href=\"https://x.example/?a=1&amp;b\">a</a> \
             <a rel=noreferrer href=\"#c\">b</a></p>"
        );
        assert_eq!(html("é [é](x) é"), "<p>é [é](x) é</p>");
    }

    #[test]
    fn everything_else_is_text() {
        let hostile = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) *b* <!--";
        let expected = "<p>&lt;img src=x onerror=alert(1)&gt; [a](javascript:alert(1)) *b* \
                        &lt;!--</p>";
        assert_eq!(html(hostile), expected);
        for url in ["JAVASCRIPT:a", " javascript:a", "data:text/html,a", "//evil", "\"onclick=\"a"]
        {
            assert!(!html(&format!("[a]({url})")).contains("<a"), "{url}");
        }
        let quote = html("[a](https://x\"onclick=\"alert`)");
        assert!(!quote.contains("\"onclick"), "{quote}");
    }
}
