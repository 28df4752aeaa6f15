//! [`Visible`]: the tools that a caller sees. No handler runs for it.

use std::sync::OnceLock;

use bytes::Bytes;
use stockade_core::Request;
use stockade_map::RouteInfo;

use super::compile::CompiledTool;
use super::describe::requires_user;

/// The tools that a caller sees: a number for each distinct set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Visible {
    set: usize,
    has_user: bool,
}

/// The result of a search by name.
#[derive(Debug)]
pub(crate) enum FoundTool<'t> {
    /// The caller may call it.
    Found(&'t CompiledTool),
    /// It requires a user, and the caller is unauthenticated.
    LoginRequired,
    /// It does not exist, or the caller does not see it.
    Unknown,
}

/// The users that see a tool.
#[derive(Debug)]
pub(super) struct Audience {
    requires_user: bool,
    /// A user needs one role of each list.
    roles: Vec<Vec<String>>,
}

impl Audience {
    pub(super) fn of(route: &RouteInfo) -> Self {
        Self { requires_user: requires_user(route), roles: route.access.roles.clone() }
    }

    fn includes(&self, caller: Caller<'_>) -> bool {
        match caller {
            Caller::Unauthenticated => !self.requires_user,
            Caller::User(role) => self
                .roles
                .iter()
                .all(|list| role.is_some_and(|role| list.iter().any(|known| known == role))),
        }
    }
}

/// A kind of caller. A user has at most one role.
#[derive(Clone, Copy)]
enum Caller<'r> {
    Unauthenticated,
    User(Option<&'r str>),
}

/// The sets of visible tools, one for each kind of caller with different tools.
#[derive(Debug)]
pub(super) struct VisibleSets {
    sets: Vec<VisibleSet>,
    unauthenticated: usize,
    /// The set of users without a role that a tool requires.
    users: usize,
    /// By role, sorted.
    roles: Vec<(Box<str>, usize)>,
}

#[derive(Debug)]
struct VisibleSet {
    /// True for each visible tool.
    members: Vec<bool>,
    /// The serialized list, after its first use.
    list: OnceLock<Bytes>,
}

impl VisibleSets {
    pub(super) fn of(tools: &[CompiledTool]) -> Self {
        let mut sets: Vec<VisibleSet> = Vec::new();
        let mut set_of = |caller: Caller<'_>| {
            let members: Vec<bool> =
                tools.iter().map(|tool| tool.audience().includes(caller)).collect();
            sets.iter().position(|set| set.members == members).unwrap_or_else(|| {
                sets.push(VisibleSet { members, list: OnceLock::new() });
                sets.len() - 1
            })
        };
        let unauthenticated = set_of(Caller::Unauthenticated);
        let users = set_of(Caller::User(None));
        let roles = tools.iter().flat_map(|tool| tool.audience().roles.iter().flatten());
        let mut roles: Vec<&str> = roles.map(String::as_str).collect();
        roles.sort_unstable();
        roles.dedup();
        let roles = roles.into_iter();
        let roles = roles.map(|role| (role.into(), set_of(Caller::User(Some(role))))).collect();
        Self { sets, unauthenticated, users, roles }
    }

    /// Returns the tools that the sender of a request sees. A user's role is
    /// the field `role`, as for `with_role`.
    pub(super) fn of_caller(&self, req: &Request) -> Visible {
        if self.sets.len() == 1 {
            return Visible { set: 0, has_user: req.user().is_some() };
        }
        let Some(user) = req.user() else {
            return Visible { set: self.unauthenticated, has_user: false };
        };
        let role = user.get("role").and_then(serde_json::Value::as_str);
        let known = role.and_then(|role| {
            let index = self.roles.binary_search_by(|(known, _)| (**known).cmp(role)).ok()?;
            Some(self.roles[index].1)
        });
        Visible { set: known.unwrap_or(self.users), has_user: true }
    }

    /// Returns true if the tool at an index is visible.
    pub(super) fn includes(&self, visible: &Visible, index: usize) -> bool {
        let set = self.sets.get(visible.set);
        set.is_some_and(|set| set.members.get(index).copied().unwrap_or(false))
    }

    /// Returns the list of a set. The first lists are stored.
    pub(super) fn list(&self, visible: &Visible, write: impl FnOnce(&[bool]) -> Bytes) -> Bytes {
        match self.sets.get(visible.set) {
            Some(set) if visible.set < MAX_STORED => {
                set.list.get_or_init(|| write(&set.members)).clone()
            }
            Some(set) => write(&set.members),
            None => write(&[]),
        }
    }

    /// Returns true if some callers see other tools than others.
    pub(super) fn depends_on_caller(&self) -> bool {
        self.sets.len() > 1
    }
}

impl Visible {
    /// Returns the result for a tool that is not visible.
    pub(super) fn hidden<'t>(&self, tool: &CompiledTool) -> FoundTool<'t> {
        match self.has_user || !tool.audience().requires_user {
            true => FoundTool::Unknown,
            false => FoundTool::LoginRequired,
        }
    }
}

/// The maximum number of stored lists.
const MAX_STORED: usize = 64;
