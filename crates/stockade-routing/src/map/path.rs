//! Paths in braces, and names generated from paths.

use stockade_errors::__internal::sort_by;
use stockade_path::{Pattern, SPLAT, Segment, SegmentPart, Variant, encoded};

/// Returns the path in braces for each choice of the optional parameters, the
/// longest first: `/users/{id}`.
pub(super) fn templates(pattern: &Pattern) -> Vec<String> {
    let mut templates: Vec<String> = pattern.variants().iter().map(template).collect();
    let parameters = |template: &String| template.matches('{').count();
    sort_by(&mut templates, |one, other| parameters(other).cmp(&parameters(one)));
    templates.dedup();
    templates
}

fn template(variant: &Variant) -> String {
    let segments = variant.segments().iter().map(|segment| match segment {
        Segment::Literal(text) => format!("/{}", encoded(text)),
        Segment::Parts(parts) => parts.iter().fold("/".to_owned(), |text, part| match part {
            SegmentPart::Literal(literal) => text + &encoded(literal),
            SegmentPart::Param(param) => format!("{text}{{{}}}", param.name),
            _ => text,
        }),
        _ => format!("/{{{SPLAT}}}"),
    });
    segments.collect()
}

/// Generates a name from a method and a path: `getUsersById`.
pub(super) fn operation_id(method: &str, pattern: &Pattern) -> String {
    let mut words = Vec::new();
    for segment in pattern.segments() {
        match segment {
            Segment::Literal(text) => words.extend(split(text)),
            Segment::Parts(parts) => words.extend(parts.iter().flat_map(|part| match part {
                SegmentPart::Literal(text) => split(text),
                SegmentPart::Param(param) => [vec!["By".to_owned()], split(&param.name)].concat(),
                _ => Vec::new(),
            })),
            _ => words.extend(["By".to_owned(), capitalised(SPLAT)]),
        }
    }
    if words.is_empty() {
        words.push("Root".to_owned());
    }
    method.to_ascii_lowercase() + &words.concat()
}

/// Returns the capitalized words of a text: `Order` and `Lines` for
/// `order-lines`.
fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(capitalised).collect()
}

/// Returns a word with a capital first letter.
#[must_use]
pub fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.into_iter().chain([chars.as_str().to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &[&str], id: &str) {
        let pattern = Pattern::parse(path).unwrap();
        assert_eq!(templates(&pattern), expected, "{path}");
        assert_eq!(operation_id("GET", &pattern), id, "{path}");
    }

    #[test]
    fn parameters_are_in_braces() {
        check("/", &["/"], "getRoot");
        check("/users/:id", &["/users/{id}"], "getUsersById");
        check(r"/users/:id(\d+)/", &["/users/{id}/"], "getUsersById");
        check("/flights/:from-:to", &["/flights/{from}-{to}"], "getFlightsByFromByTo");
        check("/order-lines/*", &["/order-lines/{splat}"], "getOrderLinesBySplat");
        check("/files/**", &["/files/{splat}"], "getFilesBySplat");
        check(r"/books/:id\:archive", &["/books/{id}:archive"], "getBooksByIdArchive");
        check("/caf\u{e9}/:id", &["/caf%C3%A9/{id}"], "getCaf\u{e9}ById");
    }

    #[test]
    fn each_choice_of_optional_parameters_is_a_path() {
        let all = ["/catalogue/{category}/{page}", "/catalogue/{category}", "/catalogue"];
        let pattern = Pattern::parse("/catalogue/:category?/:page?").unwrap();
        let found = templates(&pattern);
        assert_eq!(found[0], all[0]);
        assert!(all.iter().all(|path| found.iter().any(|it| it == path)), "{found:?}");
    }
}
