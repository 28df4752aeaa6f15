//! Names of ids, collections and methods.

use http::Method;

/// The effect of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verb {
    Read,
    Create,
    Change,
    Delete,
}

/// Returns the effect of a request, or of a JSON-RPC method with this name.
pub(super) fn verb_of(method: &Method, rpc: Option<&str>) -> Verb {
    let Some(name) = rpc else {
        return match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Verb::Read,
            Method::POST => Verb::Create,
            Method::DELETE => Verb::Delete,
            _ => Verb::Change,
        };
    };
    let words = words(name);
    let has = |verbs: &[&str]| words.iter().any(|word| verbs.contains(&word.as_str()));
    if has(&["get", "list", "show", "read", "find", "search", "fetch", "count"]) {
        Verb::Read
    } else if has(&["create", "add", "new", "open", "insert"]) {
        Verb::Create
    } else if has(&["delete", "remove"]) {
        Verb::Delete
    } else {
        Verb::Change
    }
}

/// Returns the name of the objects of a JSON-RPC method: `issue` for
/// `issues.get` and for `getIssue`.
pub(super) fn method_noun(name: &str) -> String {
    const VERBS: &[&str] = &[
        "get", "list", "show", "read", "find", "search", "fetch", "count", "create", "add", "new",
        "open", "insert", "delete", "remove", "update", "set", "change", "close", "rename", "edit",
        "patch", "copy", "move", "archive", "restore", "cancel", "assign", "publish", "upload",
        "download", "all", "my", "by", "id",
    ];
    let words = words(name);
    let noun = words.iter().find(|word| !VERBS.contains(&word.as_str()));
    noun.map_or_else(String::new, |noun| singular(noun))
}

/// Returns the name of the objects that a member identifies: `project` for
/// `projectId`, `project_ids` and `project`.
pub(super) fn noun_of(member: &str) -> String {
    let mut words = words(member);
    if words.len() > 1 && words.last().is_some_and(|word| is_id_word(word)) {
        words.pop();
    }
    singular(&words.concat())
}

/// Returns true if the name of a member shows that its value is an id.
pub(super) fn is_reference(member: &str) -> bool {
    let words = words(member);
    words.len() > 1 && words.last().is_some_and(|word| is_id_word(word))
}

fn is_id_word(word: &str) -> bool {
    matches!(word, "id" | "ids" | "uuid" | "uuids")
}

/// Returns the name of the objects of a path: `note` for `/notes` and
/// `/notes/{}`.
pub(super) fn collection_noun(shape: &str) -> String {
    let last = shape.split('/').rev().find(|segment| !segment.is_empty() && *segment != "{}");
    last.map_or_else(String::new, |segment| singular(&words(segment).concat()))
}

/// Returns true if a query parameter is the position of a page.
pub(super) fn is_cursor(name: &str) -> bool {
    matches!(
        &*words(name).concat(),
        "cursor"
            | "after"
            | "before"
            | "pagetoken"
            | "startingafter"
            | "endingbefore"
            | "continuation"
            | "since"
            | "next"
            | "token"
            | "from"
    )
}

/// Returns true if a query parameter is the size of a page.
pub(super) fn is_page_size(name: &str) -> bool {
    matches!(
        &*words(name).concat(),
        "limit" | "pagesize" | "perpage" | "first" | "size" | "take" | "count" | "maxresults"
    )
}

/// Returns true if a response member is the position of the next page.
pub(super) fn is_next(name: &str) -> bool {
    is_cursor(name)
        || matches!(&*words(name).concat(), "nextcursor" | "endcursor" | "nextpagetoken")
}

/// Returns true if a request may invalidate the credentials of its user.
pub(super) fn ends_login(shape: &str) -> bool {
    let last = shape.rsplit('/').find(|segment| *segment != "{}").unwrap_or_default();
    let last = words(last).concat();
    ["logout", "signout", "logoff", "revoke", "deactivate", "refresh", "password"]
        .iter()
        .any(|word| last.contains(word))
}

/// Splits a name into lowercase words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_new = true;
    let mut was_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            is_new = true;
            continue;
        }
        is_new |= was_lower && character.is_uppercase();
        if is_new {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
        is_new = false;
    }
    words
}

fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let stem = ["sses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end));
    if stem {
        return word.strip_suffix("es").unwrap_or(word).to_owned();
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && !stem.ends_with('u') => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_object_in_a_name() {
        for name in ["projectId", "project_id", "projectIds", "project", "projects", "project-uuid"]
        {
            assert_eq!(noun_of(name), "project", "{name}");
        }
        assert_eq!(noun_of("id"), "id");
        assert_eq!(collection_noun("/orgs/{}/categories/{}"), "category");
        assert_eq!(collection_noun("/boxes"), "box");
        for name in ["issues.get", "getIssue", "issue_list", "renameIssue", "issueById"] {
            assert_eq!(method_noun(name), "issue", "{name}");
        }
    }

    #[test]
    fn finds_the_effect_of_a_method() {
        assert_eq!(verb_of(&Method::POST, Some("issues.get")), Verb::Read);
        assert_eq!(verb_of(&Method::POST, Some("createIssue")), Verb::Create);
        assert_eq!(verb_of(&Method::POST, Some("issues.remove")), Verb::Delete);
        assert_eq!(verb_of(&Method::POST, None), Verb::Create);
    }

    #[test]
    fn finds_requests_that_end_a_login() {
        assert!(ends_login("/log-out") && ends_login("/sessions/{}/revoke"));
        assert!(!ends_login("/notes"));
    }
}
