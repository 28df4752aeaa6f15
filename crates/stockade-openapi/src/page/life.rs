//! The life of a request: the stages of an operation in their order, from the
//! same data as `explain`.

use std::collections::BTreeSet;

use stockade_routing::map::{RouteInfo, Step, StepKind, steps_of};

use super::Contents;
use super::html::Html;

/// The start of a step, the name of its stage, and the source of its responses.
const STAGES: [(&str, &str, &str); 4] = [
    ("client address", "Client address", ""),
    ("CORS", "CORS", "CORS"),
    ("rate limit", "Rate limit", "rate limit"),
    ("bodies up to", "Body limit", "body"),
];

/// A stage with its statuses.
struct Stage {
    name: String,
    detail: Option<String>,
    statuses: BTreeSet<String>,
}

/// Adds the stages of a route, folded.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>, route: &RouteInfo) {
    let steps = steps_of(contents.router, route);
    let mut stages = vec![Stage::of("Routing", route, "routing")];
    for step in &steps {
        match stage(step, route, contents.detail.internals) {
            // All validation is one stage.
            Some(stage) if stages.last().is_some_and(|last| last.name == stage.name) => {}
            Some(stage) => stages.push(stage),
            None => {}
        }
    }
    let documented = route.docs.responses.iter().map(|(status, _)| status.to_string());
    if let Some(handler) = stages.last_mut() {
        let known: BTreeSet<String> =
            route.answers.iter().map(|it| it.status.to_string()).collect();
        handler.statuses.extend(documented.filter(|status| !known.contains(status)));
    }
    html.markup("<details class=life><summary>Life of a request</summary><ol>");
    for stage in stages {
        html.markup("<li><span>").text(&stage.name).markup("</span>");
        if let Some(detail) = &stage.detail {
            html.markup("<small>").text(detail).markup("</small>");
        }
        for status in &stage.statuses {
            html.markup("<b class=\"s s").anchor(&status[..1]).markup("\">").text(status);
            html.markup("</b>");
        }
    }
    html.markup("</ol></details>");
}

impl Stage {
    fn of(name: &str, route: &RouteInfo, by: &str) -> Self {
        let own = route.answers.iter().filter(|answer| answer.by == by);
        let statuses = own.map(|answer| answer.status.to_string()).collect();
        Self { name: name.to_owned(), detail: None, statuses }
    }
}

/// Returns the stage of a step. Middleware without its own responses is shown
/// only with `internals`, as are limits and names.
fn stage(step: &Step, route: &RouteInfo, internals: bool) -> Option<Stage> {
    match step.kind {
        StepKind::Stage => {
            let (_, name, by) = STAGES.iter().find(|(start, ..)| step.name.starts_with(start))?;
            let mut stage = Stage::of(name, route, by);
            stage.detail = internals.then(|| step.name.clone());
            Some(stage)
        }
        StepKind::Middleware => {
            let mut stage = Stage::of("", route, &step.name);
            let has = |status: &str| stage.statuses.contains(status);
            stage.name = match () {
                () if internals => step.name.clone(),
                () if stage.statuses.is_empty() => return None,
                () if has("401") => "Authentication".to_owned(),
                () if has("403") => "Authorization".to_owned(),
                () => "Middleware".to_owned(),
            };
            Some(stage)
        }
        StepKind::Check => Some(Stage::of("Validation", route, "validation")),
        StepKind::Handler => Some(Stage::of("Handler", route, "handler")),
        _ => None,
    }
}
