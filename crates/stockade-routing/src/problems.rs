//! The problem types of a router. All routes must declare a type with the same
//! members.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::Location;

use stockade_core::Languages;
use stockade_core::description::{ContentSchema, DescribedRoute, ProblemDoc};
use stockade_errors::{ConfigIssue, ProblemBase};
use stockade_path::problem_type;

use crate::options::RouterOptions;
use crate::settings::Placed;

type Place = Option<&'static Location<'static>>;

/// The members of a problem type: the name, true for a member that is always
/// present, and the type.
type Members = Vec<(Cow<'static, str>, bool, Option<TypeId>)>;

/// The problem types of the routes that are already compiled.
#[derive(Default)]
pub(crate) struct KnownProblems {
    is_on: bool,
    pub(crate) base: Option<ProblemBase>,
    /// The key is the sent type. The value has its members, and the first place
    /// that declares them.
    known: HashMap<String, (Members, Place)>,
    /// The types with messages that clients receive.
    shown: BTreeSet<String>,
    /// The errors that are already reported. Many routes may have the same
    /// type.
    reported: HashSet<(Place, String)>,
}

impl KnownProblems {
    /// Reads the option `problem_details`, which may be malformed.
    pub(crate) fn of(options: &RouterOptions) -> (Self, Option<ConfigIssue>) {
        let mut known = Self::default();
        let setting = &options.problem_details;
        known.is_on = !setting.is_off() && !setting.is_inherited();
        let Some(placed) = setting.value() else { return (known, None) };
        match placed.value.base.as_deref().map(ProblemBase::new).transpose() {
            Ok(base) => {
                known.base = base;
                (known, None)
            }
            Err(error) => {
                // Otherwise each relative type would also be an error.
                known.is_on = false;
                let message = format!("problem_details: {error}");
                (known, Some(ConfigIssue::new(message).at(placed.place)))
            }
        }
    }

    /// Returns true if errors are sent as problem details.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns the configuration errors in the texts of the recorded types.
    pub(crate) fn text_issues(&self, languages: &Placed<Languages>) -> Vec<ConfigIssue> {
        let members = |uri: &String| {
            let members = self.known.get(uri).map(|(members, _)| members.as_slice());
            members.unwrap_or_default().iter().map(|(name, ..)| &**name).collect()
        };
        let problems: Vec<(&str, Vec<&str>)> =
            self.shown.iter().map(|uri| (uri.as_str(), members(uri))).collect();
        let issues = languages.value.issues(&problems).into_iter();
        issues.map(|issue| ConfigIssue::new(issue).at(languages.place)).collect()
    }

    /// Records the problem types of a route, and returns the configuration
    /// errors in them.
    pub(crate) fn note(&mut self, route: &DescribedRoute) -> Vec<ConfigIssue> {
        let mut issues = Vec::new();
        for answer in &route.answers {
            let own = answer.problem.as_deref().filter(|problem| !problem.is_of_framework());
            let Some(problem) = own else { continue };
            issues.extend(self.issue(problem));
            // The message of a 5xx is withheld.
            if answer.status.exact().is_none_or(|status| status < 500) {
                self.shown.insert(self.sent(problem));
            }
        }
        issues
    }

    /// Returns the type as it is sent.
    fn sent(&self, problem: &ProblemDoc) -> String {
        let uri = &*problem.type_uri;
        self.base.map_or_else(|| uri.to_owned(), |base| base.resolve(uri).into_owned())
    }

    fn issue(&mut self, problem: &ProblemDoc) -> Option<ConfigIssue> {
        let message = self.fault(problem)?;
        let place = problem.place();
        if !self.reported.insert((place, message.clone())) {
            return None;
        }
        let issue = ConfigIssue::new(message);
        Some(match place {
            Some(place) => issue.at(place),
            None => issue,
        })
    }

    fn fault(&mut self, problem: &ProblemDoc) -> Option<String> {
        let uri = &*problem.type_uri;
        let is_absolute = match problem_type::check(uri) {
            Ok(is_absolute) => is_absolute,
            Err(reason) => return Some(format!("the problem type {uri:?} {reason}")),
        };
        if self.is_on && !is_absolute && self.base.is_none() {
            return Some(format!(
                "the problem type {uri:?} is relative, but `problem_details` has no base: pass the \
                 base instead of `true`, such as `\"https://shop.example/problems/\"`"
            ));
        }
        for member in &problem.members {
            if let Err(reason) = problem_type::check_member(&member.name) {
                let name = &member.name;
                return Some(format!("the member {name:?} of the problem type {uri:?} {reason}"));
            }
        }
        self.contradiction(problem)
    }

    /// Returns the configuration error of a type that another place declares
    /// with different members.
    fn contradiction(&mut self, problem: &ProblemDoc) -> Option<String> {
        let members = members_of(problem);
        let sent = self.sent(problem);
        let (first, place) =
            self.known.entry(sent).or_insert_with(|| (members.clone(), problem.place()));
        if *first == members {
            return None;
        }
        let place = place.map(|place| format!(" at {}:{}", place.file(), place.line()));
        Some(format!(
            "the problem type {:?} does not have the same members as{}: use the same members, \
             or another type for one of them",
            problem.type_uri,
            place.unwrap_or_else(|| " elsewhere".to_owned())
        ))
    }
}

/// Returns the members sorted by name. A 5xx does not have any, because they
/// are withheld.
fn members_of(problem: &ProblemDoc) -> Members {
    let members = problem.members.iter().map(|member| {
        let id = match &member.schema {
            ContentSchema::Of(schema) => Some(schema.type_id()),
            _ => None,
        };
        (member.name.clone(), member.required, id)
    });
    let mut members: Members = members.collect();
    members.sort();
    members
}
