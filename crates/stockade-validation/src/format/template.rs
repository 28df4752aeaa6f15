//! URI templates: RFC 6570, all levels.

/// Returns true if the text is a URI template.
pub(super) fn is_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (literals, expression) = rest.split_at(at);
        let Some((expression, after)) =
            expression.strip_prefix('{').and_then(|expression| expression.split_once('}'))
        else {
            return false;
        };
        if !are_literals(literals) || !is_expression(expression) {
            return false;
        }
        rest = after;
    }
    are_literals(rest)
}

/// Returns true for the characters between expressions: section 2.1, with the
/// apostrophe of erratum 6937.
fn are_literals(text: &str) -> bool {
    let has_escapes = super::bytes::has_whole_escapes(text.as_bytes());
    has_escapes
        && text.chars().all(|it| {
            !it.is_control()
                && !matches!(it, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
        })
}

/// Returns true for an operator and variables: section 2.2. The operators
/// reserved for extensions are not valid.
fn is_expression(text: &str) -> bool {
    let variables = text.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(text);
    variables.split(',').all(is_variable)
}

fn is_variable(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, length)) => {
            let is_length = (1..=4).contains(&length.len())
                && !length.starts_with('0')
                && length.bytes().all(|it| it.is_ascii_digit());
            if !is_length {
                return false;
            }
            name
        }
        None => text.strip_suffix('*').unwrap_or(text),
    };
    super::bytes::has_whole_escapes(name.as_bytes())
        && name.split('.').all(|part| {
            !part.is_empty()
                && part.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'%'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_names() {
        for text in [
            "",
            "a",
            "/{id}",
            "{+path}/here",
            "{?q,lang}",
            "{&x:3}",
            "{/list*}",
            "{a.b%20c}",
            "{;a_1}",
            "a%20b{c}",
            "ä{b}",
        ] {
            assert!(is_template(text), "{text:?}");
        }
        for text in [
            "{",
            "}",
            "{}",
            "a{b",
            "a}b",
            "{a{b}}",
            "{a b}",
            "{a:0}",
            "{a:12345}",
            "{a:}",
            "{=a}",
            "{a..b}",
            "{%2}",
            "a b",
            "a%2",
            "{,a}",
            "{a*b}",
            "\\",
            "{é}",
        ] {
            assert!(!is_template(text), "{text:?}");
        }
    }
}
