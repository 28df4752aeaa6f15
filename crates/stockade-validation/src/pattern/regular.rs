//! Patterns that finite automata match, in linear time.

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Class, Hir, Look, Repetition};

use super::syntax::{Place, Side, Syntax};

/// Regular expressions that together decide whether a text matches.
///
/// Look-around at the ends of a pattern becomes a separate expression: a text
/// matches `^(?=.*\d).{8,}$` if it matches `^.*\d` and `^.{8,}$`.
#[derive(Clone, Debug)]
pub(super) struct Regular {
    /// A text matches if all conditions of one choice hold.
    choices: Choices,
}

type Choices = Box<[Box<[Condition]>]>;

#[derive(Clone, Debug)]
struct Condition {
    regex: Regex,
    /// True if the text must not match.
    is_negative: bool,
}

impl Regular {
    /// Compiles a pattern. Returns `None` if no set of regular expressions
    /// describes the pattern, or if it is larger than [`SIZE_LIMIT`].
    pub(super) fn new(syntax: &Syntax) -> Result<Option<Self>, String> {
        let mut choices = Vec::new();
        choices_of(syntax, &mut choices);
        let choices: Option<Vec<_>> = choices.into_iter().map(conditions).collect();
        let Some(choices) = choices else { return Ok(None) };
        let compiled: Result<Choices, Box<BuildError>> =
            choices.into_iter().map(|all| all.into_iter().map(Condition::new).collect()).collect();
        match compiled {
            Ok(choices) => Ok(Some(Self { choices })),
            Err(error) if error.size_limit().is_some() => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    #[inline]
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.choices.iter().any(|conditions| {
            conditions
                .iter()
                .all(|condition| condition.regex.is_match(text) != condition.is_negative)
        })
    }
}

impl Condition {
    fn new((hir, is_negative): (Hir, bool)) -> Result<Self, Box<BuildError>> {
        let config =
            Config::new().nfa_size_limit(Some(SIZE_LIMIT)).which_captures(WhichCaptures::None);
        let regex = Regex::builder().configure(config).build_from_hir(&hir).map_err(Box::new)?;
        Ok(Self { regex, is_negative })
    }
}

/// The maximum size of one compiled expression in bytes. Each repetition of a
/// Unicode class takes about 47 KiB.
const SIZE_LIMIT: usize = 4 << 20;

/// Collects the alternatives of the whole pattern.
fn choices_of<'s>(syntax: &'s Syntax, choices: &mut Vec<Vec<&'s Syntax>>) {
    let mut parts = Vec::new();
    flatten(syntax, &mut parts);
    if syntax.is_regular() {
        choices.push(parts);
    } else if let [Syntax::Alternation(all)] = parts.as_slice() {
        all.iter().for_each(|choice| choices_of(choice, choices));
    } else {
        choices.push(parts);
    }
}

/// Collects the parts that follow each other.
fn flatten<'s>(syntax: &'s Syntax, parts: &mut Vec<&'s Syntax>) {
    match syntax {
        Syntax::Concat(all) => all.iter().for_each(|part| flatten(part, parts)),
        Syntax::Group(_, inner) => flatten(inner, parts),
        _ => parts.push(syntax),
    }
}

/// Returns the conditions that are equivalent to these consecutive parts.
/// Conditions with `true` must not match.
fn conditions(mut parts: Vec<&Syntax>) -> Option<Vec<(Hir, bool)>> {
    let is_assertion = |part: &&Syntax| matches!(part, Syntax::At(_) | Syntax::Around(_));
    let mut conditions = Vec::new();
    for (place, side) in [(Place::Start, Side::Ahead), (Place::End, Side::Behind)] {
        if side == Side::Behind {
            parts.reverse();
        }
        let count = parts.iter().take_while(|part| is_assertion(part)).count();
        let (edge, middle) = parts.split_at(count);
        // All assertions of the edge hold at the same position.
        if edge.contains(&&Syntax::At(place)) {
            let mut kept = Vec::new();
            for part in edge {
                let Syntax::Around(around) = part else {
                    kept.push(*part);
                    continue;
                };
                if around.side != side || !around.inner.is_regular() {
                    return None;
                }
                let ends = [Hir::look(look(place)?), hir(&around.inner)?];
                let ends = if side == Side::Ahead { ends } else { reversed(ends) };
                conditions.push((Hir::concat(ends.into()), around.is_negative));
            }
            kept.extend(middle);
            parts = kept;
        }
    }
    parts.reverse();
    let core: Option<Vec<Hir>> = parts.into_iter().map(hir).collect();
    conditions.push((Hir::concat(core?), false));
    // The pattern itself is the most selective condition.
    conditions.reverse();
    Some(conditions)
}

fn reversed<T>([first, second]: [T; 2]) -> [T; 2] {
    [second, first]
}

/// Returns a regular pattern for `regex_automata`.
pub(super) fn hir(syntax: &Syntax) -> Option<Hir> {
    let all = |parts: &[Syntax]| parts.iter().map(hir).collect::<Option<Vec<Hir>>>();
    Some(match syntax {
        Syntax::Class(set) => Hir::class(Class::Unicode(set.clone())),
        Syntax::At(place) => Hir::look(look(*place)?),
        Syntax::Group(_, inner) => hir(inner)?,
        Syntax::Concat(parts) => Hir::concat(all(parts)?),
        Syntax::Alternation(parts) => Hir::alternation(all(parts)?),
        Syntax::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.least,
            max: repeat.most,
            greedy: repeat.is_greedy,
            sub: Box::new(hir(&repeat.inner)?),
        }),
        Syntax::Around(_) | Syntax::Reference(_) => return None,
    })
}

fn look(place: Place) -> Option<Look> {
    match place {
        Place::Start => Some(Look::Start),
        Place::End => Some(Look::End),
        Place::WordBoundary => Some(Look::WordAscii),
        Place::NotWordBoundary => None,
    }
}
