//! The rules about tools for AI agents.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::{Need, RouteInfo};

pub(super) const TOOL_WRITE_NEEDS_USER: BuiltIn = BuiltIn {
    id: "tool-write-needs-user",
    text: "a tool that may change data requires authentication",
    owasp: "API2",
    find: |map| each(map, open_write),
};

/// Finds a tool that changes data for everybody. A reason to be public does not
/// suffice, because any text that an agent reads may ask for the call.
fn open_write(route: &RouteInfo) -> Option<Finding> {
    let tool = route.tool.as_ref()?;
    let is_write = route.may_change() && !tool.hints.read_only;
    if !is_write || route.access.user == Need::Required {
        return None;
    }
    let message = format!(
        "the tool {} may change data, but does not require authentication: any text that an \
         agent reads may ask for a call",
        tool.name
    );
    Some(Finding::on(route, message).mend(
        "set `auth` at the route, its node or the router, or remove `tool`; if the route only \
         reads, add `.read_only(true)` to the tool",
    ))
}

pub(super) const TOOL_HINTS_LOOSENED: BuiltIn = BuiltIn {
    id: "tool-hints-loosened",
    text: "no tool declares a hint that makes clients less careful than its method",
    owasp: "API6",
    find: |map| each(map, loosened),
};

fn loosened(route: &RouteInfo) -> Option<Finding> {
    let tool = route.tool.as_ref().filter(|tool| !tool.loosened.is_empty())?;
    let hints: Vec<String> = tool.loosened.iter().map(|hint| format!("`{hint}`")).collect();
    let message = format!(
        "the tool {} changes the hint {} of {}, so clients may call it before the user agrees",
        tool.name,
        hints.join(", "),
        route.method
    );
    let mend = "remove the hint, or list the tool with `allow` and the reason why it is harmless";
    Some(Finding::on(route, message).mend(mend))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::{RouteMap, ToolHints, ToolInfo};

    fn map(method: &str, user: Need, hints: ToolHints, loosened: &[&str]) -> RouteMap {
        let loosened = loosened.iter().map(|hint| (*hint).to_owned()).collect();
        let tool = ToolInfo { name: "orders".to_owned(), hints, loosened, ..ToolInfo::default() };
        let mut route = RouteInfo {
            method: method.to_owned(),
            path: "/orders".to_owned(),
            tool: Some(Box::new(tool)),
            ..RouteInfo::default()
        };
        route.access.user = user;
        route.access.public = (user != Need::Required).then(|| "anybody may order".to_owned());
        RouteMap { routes: vec![route], ..RouteMap::default() }
    }

    fn found(rule: &str, map: &RouteMap) -> Vec<String> {
        let findings = Policy::strict().check(map).into_iter();
        findings.filter(|it| it.rule == rule).map(|it| it.to_string()).collect()
    }

    #[test]
    fn a_tool_that_writes_needs_a_user() {
        let check = |method: &str, user: Need, reads: bool, expected: usize| {
            let map = map(method, user, ToolHints::new(reads, !reads, false, true), &[]);
            let found = found("tool-write-needs-user", &map);
            assert_eq!(found.len(), expected, "{method} {user:?} {reads} {found:?}");
        };
        check("POST", Need::None, false, 1);
        check("DELETE", Need::Optional, false, 1);
        check("POST", Need::Required, false, 0);
        check("GET", Need::None, true, 0);
        check("POST", Need::None, true, 0);
        let hints = ToolHints::new(false, true, false, true);
        let texts = found("tool-write-needs-user", &map("PATCH", Need::None, hints, &[]));
        let start = "PATCH /orders: [tool-write-needs-user] the tool orders may change data";
        assert!(texts[0].starts_with(start), "{texts:?}");
    }

    #[test]
    fn a_loosened_hint_is_listed() {
        let hints = ToolHints::new(false, false, true, true);
        let map = |loosened: &[&str]| map("DELETE", Need::Required, hints, loosened);
        assert!(found("tool-hints-loosened", &map(&[])).is_empty());
        let texts = found("tool-hints-loosened", &map(&["destructive", "open_world"]));
        let text = "changes the hint `destructive`, `open_world` of DELETE";
        assert!(texts.len() == 1 && texts[0].contains(text), "{texts:?}");
        let policy = Policy::strict().allow("tool-hints-loosened", "DELETE /orders", "a draft");
        let findings = policy.check(&map(&["destructive"]));
        assert!(findings.iter().all(|it| it.rule != "tool-hints-loosened"), "{findings:?}");
        let recommended = Policy::recommended();
        assert!(recommended.rules().all(|rule| rule.id != "tool-hints-loosened"));
    }
}
