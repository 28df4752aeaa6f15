//! Expands the part of Liquid that the template uses: variables, and `if` with
//! comparisons of a variable and a string.
//!
//! It rejects everything else. `cargo xtask nightly` compares its output with the
//! output of cargo-generate.

/// The variables of the template, by name.
pub(super) type Variables<'v> = [(&'v str, &'v str)];

/// Expands a text.
pub(super) fn expand(text: &str, variables: &Variables<'_>) -> Result<String, String> {
    let mut output = String::new();
    let mut open: Vec<Branches> = Vec::new();
    for token in tokens(text)? {
        match token {
            Token::Text(text) => {
                if is_active(&open) {
                    output += text;
                }
            }
            Token::Variable(name) => {
                if is_active(&open) {
                    output += value(name, variables)?;
                }
            }
            Token::Tag(tag) => follow(tag, &mut open, variables)?,
        }
    }
    if open.is_empty() { Ok(output) } else { Err("`endif` is missing".to_owned()) }
}

/// Returns true if the condition is true: comparisons joined by `and` or `or`.
pub(super) fn holds(condition: &str, variables: &Variables<'_>) -> Result<bool, String> {
    let (any, all) = (condition.contains(" or "), condition.contains(" and "));
    if any && all {
        return Err(format!("`{condition}` has `and` and `or`"));
    }
    let parts = condition.split(if any { " or " } else { " and " });
    let values = parts.map(|part| compare(part, variables)).collect::<Result<Vec<_>, _>>()?;
    Ok(if any { values.contains(&true) } else { !values.contains(&false) })
}

/// The branches of an open `if`.
struct Branches {
    /// True if the output contains the current branch.
    is_active: bool,
    /// True if the condition of this or an earlier branch was true.
    is_decided: bool,
}

fn is_active(open: &[Branches]) -> bool {
    open.iter().all(|branches| branches.is_active)
}

fn follow(tag: &str, open: &mut Vec<Branches>, variables: &Variables<'_>) -> Result<(), String> {
    let (word, condition) = tag.split_once(' ').unwrap_or((tag, ""));
    if word == "if" {
        let is_active = holds(condition, variables)?;
        open.push(Branches { is_active, is_decided: is_active });
        return Ok(());
    }
    let branches = open.last_mut().ok_or(format!("`if` is missing before `{tag}`"))?;
    match word {
        "elsif" => {
            branches.is_active = !branches.is_decided && holds(condition, variables)?;
            branches.is_decided |= branches.is_active;
        }
        "else" if condition.is_empty() => branches.is_active = !branches.is_decided,
        "endif" if condition.is_empty() => drop(open.pop()),
        _ => return Err(format!("unknown tag `{tag}`")),
    }
    Ok(())
}

fn compare(comparison: &str, variables: &Variables<'_>) -> Result<bool, String> {
    let words: Vec<&str> = comparison.split_whitespace().collect();
    let [name, operator, literal] = words[..] else {
        return Err(format!("`{comparison}` is not a comparison"));
    };
    let literal = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let literal = literal.ok_or(format!("`{comparison}` does not end with a string"))?;
    match operator {
        "==" => Ok(value(name, variables)? == literal),
        "!=" => Ok(value(name, variables)? != literal),
        _ => Err(format!("`{comparison}` has an unknown operator")),
    }
}

fn value<'v>(name: &str, variables: &Variables<'v>) -> Result<&'v str, String> {
    let found = variables.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or(format!("unknown variable `{name}`"))
}

#[derive(Debug, PartialEq)]
enum Token<'t> {
    Text(&'t str),
    Variable(&'t str),
    Tag(&'t str),
}

/// Splits a text. A hyphen next to a delimiter removes the white space on its
/// side.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let (mut rest, mut trims) = (text, false);
    loop {
        let start = [rest.find("{{"), rest.find("{%")].into_iter().flatten().min();
        let (before, after) = rest.split_at(start.unwrap_or(rest.len()));
        let before = if trims { before.trim_start() } else { before };
        let trims_before = after.get(2..).is_some_and(|inner| inner.starts_with('-'));
        let before = if trims_before { before.trim_end() } else { before };
        if !before.is_empty() {
            tokens.push(Token::Text(before));
        }
        if after.is_empty() {
            return Ok(tokens);
        }
        let is_tag = after.starts_with("{%");
        let end = if is_tag { "%}" } else { "}}" };
        let (inner, left) = after[2..].split_once(end).ok_or(format!(
            "the end of `{}` is missing",
            after.lines().next().unwrap_or_default()
        ))?;
        trims = inner.ends_with('-');
        let inner = inner.strip_prefix('-').unwrap_or(inner);
        let inner = inner.strip_suffix('-').unwrap_or(inner).trim();
        tokens.push(if is_tag { Token::Tag(inner) } else { Token::Variable(inner) });
        rest = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let variables = [("database", "sqlite"), ("project-name", "notes")];
        assert_eq!(expand(text, &variables).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn expands_variables_and_branches() {
        check("{{project-name}}.db, {{ database }}", "notes.db, sqlite");
        check("{% if database == \"sqlite\" %}a{% else %}b{% endif %}c", "ac");
        check(
            "{% if database != \"sqlite\" %}a{% elsif database == \"sqlite\" %}b{% endif %}",
            "b",
        );
        check("{% if database == \"none\" or database == \"sqlite\" %}a{% endif %}", "a");
        check("{% if database == \"none\" and database != \"x\" %}a{% else %}b{% endif %}", "b");
        let nested =
            "{% if database == \"none\" %}{% if database == \"sqlite\" %}a{% endif %}b{% endif %}c";
        check(nested, "c");
    }

    #[test]
    fn only_the_first_true_branch_is_in_the_output() {
        let text =
            "{% if database == \"sqlite\" %}a{% elsif database != \"x\" %}b{% else %}c{% endif %}";
        check(text, "a");
    }

    #[test]
    fn hyphens_remove_white_space() {
        check("a\n{%- if database == \"sqlite\" %}\nb\n{%- endif %}\nc\n", "a\nb\nc\n");
        check("a\n{%- if database == \"none\" %}\nb\n{%- endif %}\nc\n", "a\nc\n");
        check("{% if database == \"none\" -%}\na\n{% endif -%}\n\nb", "b");
    }

    #[test]
    fn rejects_everything_else() {
        for text in [
            "{{ unknown }}",
            "{{ database | upcase }}",
            "{% for a in b %}",
            "{% if database %}a{% endif %}",
            "{% if database == \"a\" %}",
            "{% endif %}",
            "{% if database == \"a\" and database == \"b\" or database == \"c\" %}{% endif %}",
            "{{ database",
        ] {
            assert!(expand(text, &[("database", "sqlite")]).is_err(), "{text}");
        }
    }
}
