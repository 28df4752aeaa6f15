//! Makes the names of types with equal names unique.

use std::collections::{BTreeMap, BTreeSet};

use stockade_errors::{ConfigError, ConfigIssue};

use super::candidate::Candidate;

/// A holder of a name: the index of the candidate, and the direction.
type Holder = (usize, bool);

/// The priority of a holder of a name. The holder with the highest priority
/// keeps the name.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Priority {
    /// A name longer than the short name.
    Made,
    /// The short name of a type.
    Short,
    /// A name set by the author.
    Pinned,
}

/// Changes the names until they are unique.
pub(super) fn resolve(candidates: &mut [Candidate]) -> Result<(), ConfigError> {
    loop {
        let mut holders: BTreeMap<String, Vec<Holder>> = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let directions: &[bool] = if candidate.differs { &[true, false] } else { &[true] };
            for is_reply in directions {
                let name = candidate.name(*is_reply);
                holders.entry(name).or_default().push((index, *is_reply));
            }
        }
        holders.retain(|_, holders| holders.len() > 1);
        if holders.is_empty() {
            return Ok(());
        }
        let mistakes =
            holders.iter().filter_map(|(name, holders)| clash(name, holders, candidates));
        ConfigError::check(mistakes.collect())?;
        let mut raised = BTreeSet::new();
        for holders in holders.values() {
            part(holders, candidates, &mut raised);
        }
        for index in raised {
            candidates[index].level += 1;
        }
    }
}

fn priority((index, is_reply): Holder, candidates: &[Candidate]) -> Priority {
    let candidate = &candidates[index];
    let is_short = candidate.level == 0 && candidate.number == 1;
    match (candidate.is_pinned, is_short) {
        _ if candidate.differs && !is_reply => Priority::Made,
        (true, _) => Priority::Pinned,
        (false, true) => Priority::Short,
        (false, false) => Priority::Made,
    }
}

/// Returns the configuration error for a name that two types are pinned to.
fn clash(name: &str, holders: &[Holder], candidates: &[Candidate]) -> Option<ConfigIssue> {
    let is_pinned = |holder: &&Holder| priority(**holder, candidates) == Priority::Pinned;
    let mut pinned = holders.iter().filter(is_pinned).map(|(index, _)| &candidates[*index]);
    let (first, second) = (pinned.next()?, pinned.next()?);
    let message = format!(
        "duplicate schema name `{name}` for the types `{}` and `{}`: rename one of them",
        first.type_name, second.type_name
    );
    Some(ConfigIssue::new(message).at(second.location))
}

/// Renames all holders except the one with the highest priority. If several
/// share that priority, renames all.
fn part(holders: &[Holder], candidates: &mut [Candidate], raised: &mut BTreeSet<usize>) {
    let priorities: Vec<Priority> =
        holders.iter().map(|holder| priority(*holder, candidates)).collect();
    let best = priorities.iter().copied().max().unwrap_or(Priority::Made);
    let is_alone = priorities.iter().filter(|priority| **priority == best).count() == 1;
    let keeps = is_alone && best > Priority::Made;
    let is_input = |(index, is_reply): &Holder| candidates[*index].differs && !is_reply;
    if holders.iter().all(is_input) {
        // The output names are equal too, and the input names follow them.
        return;
    }
    let moves =
        holders.iter().zip(&priorities).filter(|(_, priority)| !keeps || **priority != best);
    let path = |(index, _): &Holder| candidates[*index].type_name;
    let have_one_path = holders.iter().all(|holder| path(holder) == path(&holders[0]));
    // If nothing distinguishes them, the first keeps the name.
    let mut same = usize::from(keeps);
    for ((index, is_reply), _) in moves {
        let candidate = &mut candidates[*index];
        if candidate.differs && !is_reply {
            candidate.input_number += same;
            same += 1;
        } else if !have_one_path
            && !candidate.is_pinned
            && candidate.base(candidate.level + 1) != candidate.base(candidate.level)
        {
            raised.insert(*index);
        } else {
            candidate.number += same;
            same += 1;
        }
    }
}
