//! A second, simple and slow matcher, for comparison with the fast one.
//!
//! It follows the definition in the docs of `stockade_path` sentence by
//! sentence. It shares only the parser of the notation with the matcher.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::{Regex, RegexBuilder};
use stockade_path::{Pattern, Segment, SegmentPart};

use super::tests::{find, table};

/// Returns the index of the best pattern, and its captures by name.
fn model(patterns: &[Pattern], path: &str) -> Option<(usize, Vec<(String, String)>)> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let mut found = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        for (number, variant) in variants(pattern).iter().enumerate() {
            if let Some(captured) = captures(variant, &segments) {
                let ranks: Vec<_> = variant.iter().map(|piece| piece.rank.clone()).collect();
                let whole: Vec<_> = pattern.segments().iter().map(whole_rank).collect();
                let skips = number > 0;
                found.push(((ranks, skips, whole, pattern.canonical(), number), index, captured));
            }
        }
    }
    found.sort();
    found.into_iter().next().map(|(_, index, captured)| (index, captured))
}

type Rank = (u8, Reverse<usize>, String);

/// A segment of a variant.
#[derive(Clone, Default)]
struct Piece {
    names: Vec<String>,
    /// The expression that a segment of the path must match.
    regex: String,
    shape: String,
    rank: Rank,
}

/// Returns the choices of optional parameters, in order, without choices that
/// an earlier choice covers.
fn variants(pattern: &Pattern) -> Vec<Vec<Piece>> {
    let mut all: Vec<Vec<Piece>> = vec![Vec::new()];
    for segment in pattern.segments() {
        let pieces = choices(segment);
        let with = |before: &Vec<Piece>| -> Vec<Vec<Piece>> {
            let is_there = |piece: &&Piece| !piece.shape.is_empty() || !segment.is_optional();
            let add = |piece| {
                [before.clone(), Some(piece).filter(is_there).into_iter().cloned().collect()]
                    .concat()
            };
            pieces.iter().map(add).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    let root =
        |variant: Vec<Piece>| if variant.is_empty() { vec![Piece::default()] } else { variant };
    let mut kept: Vec<Vec<Piece>> = Vec::new();
    for variant in all.into_iter().map(root) {
        if !kept.iter().any(|earlier| covers(earlier, &variant)) {
            kept.push(variant);
        }
    }
    kept
}

fn choices(segment: &Segment) -> Vec<Piece> {
    let splat = |regex: &str, shape: &str, rank| {
        let (names, regex, shape) = (vec!["splat".to_owned()], regex.to_owned(), shape.to_owned());
        vec![Piece { names, regex, shape, rank: (rank, Reverse(0), String::new()) }]
    };
    match segment {
        Segment::Literal(text) => {
            let (regex, shape) = (regex::escape(text), text.clone());
            vec![Piece { regex, shape, ..Piece::default() }]
        }
        Segment::Any => splat("([^/]+)", "*", 4),
        Segment::Rest => splat("((?s-u:.*))", "**", 5),
        Segment::Parts(parts) => part_choices(parts).iter().map(|parts| rank(parts)).collect(),
        _ => unreachable!(),
    }
}

fn part_choices(parts: &[SegmentPart]) -> Vec<Vec<SegmentPart>> {
    let Some((first, others)) = parts.split_first() else { return vec![Vec::new()] };
    let others = part_choices(others);
    let mut all: Vec<_> =
        others.iter().map(|it| [vec![first.clone()], it.clone()].concat()).collect();
    if matches!(first, SegmentPart::Param(param) if param.optional) {
        all.extend(others);
    }
    all
}

fn rank(parts: &[SegmentPart]) -> Piece {
    let mut piece = Piece::default();
    let (mut text_chars, mut is_constrained, mut params) = (0, false, 0);
    for part in parts {
        match part {
            SegmentPart::Literal(text) => {
                piece.regex += &regex::escape(text);
                piece.shape += text;
                text_chars += text.chars().count();
            }
            SegmentPart::Param(param) => {
                let constraint = param.constraint.as_ref().map(|it| it.as_str());
                piece.regex += &format!("({})", constraint.unwrap_or("[^/]+"));
                piece.shape += &constraint.map_or_else(|| ":".to_owned(), |it| format!(":({it})"));
                piece.names.push(param.name.clone());
                is_constrained |= constraint.is_some();
                params += 1;
            }
            _ => unreachable!(),
        }
    }
    piece.rank = match (params, parts.len(), is_constrained) {
        (0, ..) => (0, Reverse(0), String::new()),
        (_, _, true) => (1, Reverse(text_chars), piece.shape.clone()),
        (1, 1, _) => (3, Reverse(0), String::new()),
        _ => (2, Reverse(text_chars), piece.shape.clone()),
    };
    piece
}

/// Returns the rank of a segment of the original pattern.
fn whole_rank(segment: &Segment) -> Rank {
    let rank = choices(segment)[0].rank.clone();
    if rank.2.is_empty() { rank } else { (rank.0, rank.1, segment.shape()) }
}

fn covers(wide: &[Piece], narrow: &[Piece]) -> bool {
    let covers = |(wide, narrow): (&Piece, &Piece)| {
        let takes_all = wide.shape == ":" || wide.shape == "*";
        takes_all && !narrow.shape.is_empty() && narrow.shape != "**" || wide.shape == narrow.shape
    };
    wide.len() == narrow.len() && wide.iter().zip(narrow).all(covers)
}

/// Returns the parameters that the variant captures, if it matches.
fn captures(variant: &[Piece], segments: &[&str]) -> Option<Vec<(String, String)>> {
    let mut captured = Vec::new();
    for (index, piece) in variant.iter().enumerate() {
        let rest = segments.get(index..).filter(|rest| !rest.is_empty())?.join("/");
        let text = if piece.shape == "**" { rest.as_str() } else { segments[index] };
        let regex = compiled(&format!("^(?:{})$", piece.regex));
        let found = regex.captures(text.as_bytes())?;
        for (group, name) in piece.names.iter().enumerate() {
            let value = std::str::from_utf8(&found[group + 1]).ok()?;
            if value.is_empty() && piece.shape != "**" {
                return None;
            }
            captured.push((name.clone(), value.to_owned()));
        }
    }
    let takes_rest = variant.last().is_some_and(|piece| piece.shape == "**");
    (takes_rest || variant.len() == segments.len()).then_some(captured)
}

/// Compiles an expression and caches it. The tests use few expressions, and
/// compiling is slow.
fn compiled(text: &str) -> Regex {
    thread_local!(static KNOWN: RefCell<HashMap<String, Regex>> = RefCell::default());
    KNOWN.with_borrow_mut(|known| {
        let compile = || RegexBuilder::new(text).unicode(false).build().unwrap();
        known.entry(text.to_owned()).or_insert_with(compile).clone()
    })
}

fn any_pattern() -> impl Strategy<Value = String> {
    let segments = select(
        &[
            "a",
            "b",
            "ab",
            "a",
            "",
            ":#",
            ":#",
            ":#?",
            ":#?",
            "*",
            "**",
            ":#(a+)",
            ":#(b|ab)",
            ":#(a|b)?",
            ":#-:#",
            "a-:#",
            "a:#?",
            ":#b",
            ":#-:#?",
            ":#(a*)-:#",
            ":#?-:#?b",
            ":#(a|ab)b:#(b*)",
            ":#-:#-:#",
            ":#ab:#",
            "a:#b",
            "a:#(.+?)b-:#",
            ":#(.)",
        ][..],
    );
    vec(segments, 0..5).prop_map(|segments| {
        let mut names = ('p'..='z').chain('A'..='Z');
        let path: Vec<String> = segments
            .iter()
            .map(|segment| {
                let name = |part: &str| part.to_owned() + &String::from_iter(names.next());
                let mut parts: Vec<&str> = segment.split('#').collect();
                let last = parts.pop().unwrap();
                parts.into_iter().map(name).collect::<String>() + last
            })
            .collect();
        format!("/{}", path.join("/"))
    })
}

fn any_path() -> impl Strategy<Value = String> {
    let segments = select(
        &["", "a", "b", "ab", "aab", "abb", "a-b", "a-b-a", "-b", "--b", "-", "abab", "\u{e9}"][..],
    );
    vec(segments, 0..6).prop_map(|segments| format!("/{}", segments.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_500) })]

    #[test]
    fn the_table_agrees_with_the_model(
        texts in vec(any_pattern(), 1..7),
        paths in vec(any_path(), 1..7),
    ) {
        let parsed: Vec<&str> = texts.iter().map(String::as_str).filter(|it| Pattern::parse(it).is_ok()).collect();
        let (table, patterns) = table(&parsed);
        let shown: Vec<&str> = patterns.iter().map(Pattern::as_str).collect();
        for path in &paths {
            let expected = model(&patterns, path);
            prop_assert_eq!(find(&table, path), expected, "{:?} {:?}", shown, path);
        }
    }
}
