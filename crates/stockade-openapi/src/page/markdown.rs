//! The supported subset of Markdown: paragraphs, lists and code. All other
//! syntax is shown as text.

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
                !line.is_empty() && item(line).is_none() && !line.starts_with("```")
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

/// Adds a line with inline code.
fn inline(html: &mut Html, line: &str) {
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((code, next)) = behind.split_once('`') else { break };
        html.text(before).code(code);
        rest = next;
    }
    html.text(rest);
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
    fn everything_else_is_text() {
        let hostile = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) **b** <!--";
        let expected = "<p>&lt;img src=x onerror=alert(1)&gt; [a](javascript:alert(1)) **b** \
                        &lt;!--</p>";
        assert_eq!(html(hostile), expected);
    }
}
