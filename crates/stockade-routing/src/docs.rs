//! [`DocsSetting`]: the documentation of a level, and the defaults of the
//! levels around it.

use std::panic::Location;
use std::sync::Arc;

use stockade_core::RouteDocs;
use stockade_core::boxed_or::BoxedOr;
use stockade_core::setting_internals::Inherit;
use stockade_errors::ConfigIssue;

use crate::settings::Placed;

/// The setting `docs` of a router, a group, a node or a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocsSetting {
    own: Option<Placed<Arc<RouteDocs>>>,
    /// The documentation of the levels around it.
    defaults: Option<Arc<RouteDocs>>,
}

impl DocsSetting {
    pub(crate) fn new(docs: RouteDocs, place: &'static Location<'static>) -> Self {
        Self { own: Some(Placed::new(Arc::new(docs), place)), defaults: None }
    }

    /// Returns the configuration errors of a router, a group or a node. Removes
    /// its documentation if it has errors, so its routes do not report them
    /// again.
    pub(crate) fn check_defaults(&mut self) -> Vec<ConfigIssue> {
        let Some(Placed { value: docs, place }) = &self.own else { return Vec::new() };
        let mut issues = docs.issues();
        if docs.summary.is_some() {
            issues.push(SUMMARY_OF_MANY.to_owned());
        }
        let placed = issues.into_iter().map(|issue| ConfigIssue::new(issue).at(place));
        let issues: Vec<ConfigIssue> = placed.collect();
        if !issues.is_empty() {
            self.own = None;
        }
        issues
    }

    /// Returns the documentation of a route with the defaults, except responses and examples.
    pub(crate) fn of_route(&self) -> BoxedOr<RouteDocs> {
        let own = self.own.as_ref().map(|own| RouteDocs::clone(&own.value)).unwrap_or_default();
        match &self.defaults {
            None => own.into(),
            Some(defaults) => with_texts(own, defaults).into(),
        }
    }

    /// Adds the default responses and examples that are valid for a route.
    /// `issues` returns the number of errors in the documentation of the route.
    pub(crate) fn add_fitting(
        &self,
        docs: &mut BoxedOr<RouteDocs>,
        issues: impl Fn(&RouteDocs) -> usize,
    ) {
        let Some(defaults) = &self.defaults else { return };
        let known = issues(docs);
        let mut changed = RouteDocs::clone(docs);
        add_missing(&mut changed, defaults, |changed| issues(changed) == known);
        *docs.make_mut() = changed;
    }

    /// Returns the documentation of this level merged with the levels around
    /// it.
    fn joined(&self) -> Option<Arc<RouteDocs>> {
        match (&self.own, &self.defaults) {
            (Some(own), Some(defaults)) => Some(Arc::new(joined(&own.value, defaults))),
            (own, defaults) => own.as_ref().map(|own| &own.value).or(defaults.as_ref()).cloned(),
        }
    }
}

impl Inherit for DocsSetting {
    fn inherit(&mut self, outer: &Self) {
        let Some(outer) = outer.joined() else { return };
        self.defaults = Some(match &self.defaults {
            Some(inner) => Arc::new(joined(inner, &outer)),
            None => outer,
        });
    }
}

const SUMMARY_OF_MANY: &str = "`docs` has a summary, but it describes several routes: use \
                               `tag: Tag::new(name, text)` to describe them as a group";

/// Returns the documentation, with defaults for everything that it does not
/// set.
fn joined(own: &RouteDocs, defaults: &RouteDocs) -> RouteDocs {
    let mut docs = with_texts(own.clone(), defaults);
    add_missing(&mut docs, defaults, |_| true);
    docs
}

/// Adds default responses and examples for statuses without them, and the
/// default example of the body. Omits the defaults that do not fit the
/// documentation.
fn add_missing(docs: &mut RouteDocs, defaults: &RouteDocs, fits: impl Fn(&RouteDocs) -> bool) {
    let responses = missing(&docs.responses, &defaults.responses);
    let examples = missing(&docs.reply_examples, &defaults.reply_examples);
    let lacks_example = docs.example.is_none() && defaults.example.is_some();
    let mut add = |change: &dyn Fn(&mut RouteDocs)| {
        let mut changed = docs.clone();
        change(&mut changed);
        if fits(&changed) {
            *docs = changed;
        }
    };
    for response in &responses {
        add(&|docs| docs.responses.push(response.clone()));
    }
    for example in &examples {
        add(&|docs| docs.reply_examples.push(example.clone()));
    }
    if lacks_example {
        add(&|docs| docs.example.clone_from(&defaults.example));
    }
}

/// Returns the default values of statuses without a value.
fn missing<T: Clone>(own: &[(u16, T)], defaults: &[(u16, T)]) -> Vec<(u16, T)> {
    let is_missing = |(status, _): &&(u16, T)| own.iter().all(|(known, _)| known != status);
    defaults.iter().filter(is_missing).cloned().collect()
}

/// Returns the documentation with the defaults, except responses and examples.
fn with_texts(mut docs: RouteDocs, defaults: &RouteDocs) -> RouteDocs {
    docs.description = docs.description.or_else(|| defaults.description.clone());
    if docs.tags.is_empty() {
        docs.tags.clone_from(&defaults.tags);
    }
    docs.hidden = docs.hidden.or_else(|| defaults.hidden.clone());
    docs.deprecated |= defaults.deprecated;
    docs.deprecated_since = docs.deprecated_since.or_else(|| defaults.deprecated_since.clone());
    for (status, media_type) in &defaults.contents {
        if docs.contents.iter().all(|(known, _)| known != status) {
            docs.contents.push((*status, media_type.clone()));
        }
    }
    docs.sunset = docs.sunset.or_else(|| defaults.sunset.clone());
    docs
}
