//! Circles of a graph: its strongly connected components with at least two
//! files.

use std::collections::{BTreeMap, BTreeSet};

/// The names that one file uses from another.
pub(crate) type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// Files that use each other in a loop.
#[derive(Debug)]
pub(crate) struct Circle {
    pub(crate) files: Vec<String>,
    /// The uses inside the circle: user, used file, names.
    pub(crate) edges: Vec<(String, String, Vec<String>)>,
}

/// Returns the circles, the largest first.
pub(crate) fn circles(uses: &Uses) -> Vec<Circle> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in uses.keys() {
        next.entry(from).or_default().push(to);
        next.entry(to).or_default();
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|file| (*file, reachable(file, &next))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for file in next.keys() {
        if seen.contains(file) {
            continue;
        }
        let around = reach[file].iter().filter(|other| reach[*other].contains(file));
        let files: Vec<&str> = around.copied().collect();
        seen.extend(files.iter().copied());
        if files.len() > 1 {
            circles.push(circle(&files, uses));
        }
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.files.len()));
    circles
}

fn circle(files: &[&str], uses: &Uses) -> Circle {
    let inside = |file: &String| files.contains(&file.as_str());
    let edges = uses.iter().filter(|((from, to), _)| inside(from) && inside(to));
    let edges = edges
        .map(|((from, to), names)| (from.clone(), to.clone(), names.iter().cloned().collect()));
    Circle { files: files.iter().map(|&file| file.to_owned()).collect(), edges: edges.collect() }
}

/// Returns the files that a file uses, directly or indirectly.
fn reachable<'a>(file: &'a str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for &used in next.get(file).into_iter().flatten() {
            if reached.insert(used) {
                open.push(used);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pairs: &[(&str, &str)], expected: &[&[&str]]) {
        let uses = pairs.iter().map(|(from, to)| {
            ((from.to_string(), to.to_string()), BTreeSet::from(["name".to_owned()]))
        });
        let found = circles(&uses.collect());
        let files: Vec<Vec<&str>> =
            found.iter().map(|circle| circle.files.iter().map(String::as_str).collect()).collect();
        assert_eq!(files, expected);
    }

    #[test]
    fn finds_circles() {
        check(&[("a", "b"), ("b", "c")], &[]);
        check(&[("a", "b"), ("b", "a"), ("b", "c")], &[&["a", "b"]]);
        check(
            &[("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("a", "c")],
            &[&["c", "d", "e"], &["a", "b"]],
        );
    }
}
