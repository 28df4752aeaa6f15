//! The instructions of a request by function, from a callgrind dump. Each
//! function has its own cost without the functions it calls.

use std::collections::HashMap;

/// Returns the functions of a dump, the most expensive first.
pub(crate) fn functions(dump: &str) -> Vec<(String, f64)> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut costs: HashMap<&str, f64> = HashMap::new();
    let mut function = "";
    let mut is_call = false;
    for line in dump.lines() {
        if let Some((id, name)) = line.strip_prefix("fn=").and_then(named) {
            function = id;
            learn(&mut names, id, name);
        } else if let Some((id, name)) = line.strip_prefix("cfn=").and_then(named) {
            learn(&mut names, id, name);
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if let Some(cost) = cost(line) {
            // The line after `calls=` is the cost of the called function.
            if !std::mem::take(&mut is_call) {
                *costs.entry(function).or_default() += cost;
            }
        }
    }
    let named = |(id, cost)| ((*names.get(id).unwrap_or(&id)).to_owned(), cost);
    let mut functions: Vec<_> = costs.into_iter().map(named).collect();
    functions.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    functions
}

/// Stores a name, which appears only with the first use of its number.
fn learn<'d>(names: &mut HashMap<&'d str, &'d str>, id: &'d str, name: &'d str) {
    if !name.is_empty() {
        names.insert(id, name);
    }
}

/// Parses `(number) name`, or only the number.
fn named(text: &str) -> Option<(&str, &str)> {
    let (id, name) = text.strip_prefix('(')?.split_once(')')?;
    Some((id, name.trim()))
}

/// Parses a cost line: a position, which may be relative, and a count.
fn cost(line: &str) -> Option<f64> {
    let (place, count) = line.split_once(' ')?;
    let is_place = place.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first));
    if is_place { count.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_self_cost() {
        let dump = "summary: 9\n\nfn=(1) a\n10 2\ncfn=(2) b\ncalls=1 5\n+1 4\n* 3\nfn=(2)\n5 4\n";
        let expected = [("a".to_owned(), 5.0), ("b".to_owned(), 4.0)];
        assert_eq!(functions(dump), expected);
    }
}
