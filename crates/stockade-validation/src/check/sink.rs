//! [`Sink`]: the listeners of a walk.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};

use stockade_errors::short_name::short_name;
use stockade_errors::{ApiError, FieldError};

use super::patch::Patch;
use super::path::Path;
use crate::node::Violation;
use crate::options::ValidationOptions;

/// A listener that gets each broken rule and decides if the walk goes on.
pub(super) trait Sink<'s> {
    /// Only the outcome is of interest: no words, no changes.
    const IS_QUIET: bool;

    /// A change of a value, if changes are of interest.
    type Change: Into<Patch<'s>>;

    /// Returns true if nothing more is looked at.
    fn is_done(&self) -> bool;

    /// Returns true if a change is to be made; if not, this may end the walk.
    fn takes_change(&mut self) -> bool;

    /// Notes that a value changes.
    fn change(&mut self, make: impl FnOnce() -> Patch<'s>) -> Option<Self::Change>;

    /// Ends the walk without a verdict: a function failed.
    fn fail(&mut self, failure: ApiError);

    /// Notes a broken rule, with the message of the schema or the usual one.
    fn note(&mut self, path: &Path<'_>, message: Option<&str>, broken: Violation<'_>);

    /// Notes a broken rule, and tells the caller if the walk goes on.
    #[inline]
    fn tell(
        &mut self,
        path: &Path<'_>,
        message: Option<&str>,
        broken: Violation<'_>,
    ) -> ControlFlow<()> {
        self.note(path, message, broken);
        if self.is_done() { Break(()) } else { Continue(()) }
    }

    /// Notes the verdict of a `custom` function.
    fn note_custom(&mut self, path: &Path<'_>, message: String);
}

/// Ends the walk at the first broken rule, and with `keep` at the first change.
pub(super) struct Quiet {
    keep: bool,
    done: bool,
}

impl Quiet {
    pub(super) fn new(keep: bool) -> Self {
        Self { keep, done: false }
    }
}

impl<'s> Sink<'s> for Quiet {
    const IS_QUIET: bool = true;

    type Change = Infallible;

    #[inline]
    fn is_done(&self) -> bool {
        self.done
    }

    #[inline]
    fn takes_change(&mut self) -> bool {
        self.done |= self.keep;
        false
    }

    #[inline]
    fn change(&mut self, _make: impl FnOnce() -> Patch<'s>) -> Option<Infallible> {
        self.done |= self.keep;
        None
    }

    fn fail(&mut self, _failure: ApiError) {
        self.done = true;
    }

    #[inline]
    fn note(&mut self, _path: &Path<'_>, _message: Option<&str>, _broken: Violation<'_>) {
        self.done = true;
    }

    fn note_custom(&mut self, _path: &Path<'_>, _message: String) {
        self.done = true;
    }
}

/// Makes an error of each broken rule.
pub(super) struct Collecting {
    abort_early: bool,
    most_errors: usize,
    errors: Vec<FieldError>,
    /// Of the texts of the errors.
    error_bytes: usize,
    /// The reason why there is no verdict: a function failed.
    failure: Option<ApiError>,
    done: bool,
}

impl Collecting {
    pub(super) fn new(options: &ValidationOptions) -> Self {
        Self {
            abort_early: options.abort_early,
            most_errors: options.max_errors,
            errors: Vec::new(),
            error_bytes: 0,
            failure: None,
            done: false,
        }
    }

    pub(super) fn finish(self) -> Result<Vec<FieldError>, ApiError> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.errors),
        }
    }

    fn push(&mut self, path: &Path<'_>, message: Cow<'static, str>, rule: &'static str) {
        if self.done {
            return;
        }
        let error = FieldError::new(path.shown(), message, rule);
        self.error_bytes += error.field.len() + error.message.len();
        self.errors.push(error);
        self.done = self.abort_early
            || self.errors.len() >= self.most_errors
            || self.error_bytes >= self.most_errors.saturating_mul(BYTES_PER_ERROR);
    }
}

impl<'s> Sink<'s> for Collecting {
    const IS_QUIET: bool = false;

    type Change = Patch<'s>;

    fn is_done(&self) -> bool {
        self.done
    }

    fn takes_change(&mut self) -> bool {
        true
    }

    fn change(&mut self, make: impl FnOnce() -> Patch<'s>) -> Option<Patch<'s>> {
        Some(make())
    }

    fn fail(&mut self, failure: ApiError) {
        self.failure.get_or_insert(failure);
        self.done = true;
    }

    #[cold]
    fn note(&mut self, path: &Path<'_>, message: Option<&str>, broken: Violation<'_>) {
        let message = match message.filter(|_| broken.accepts_message()) {
            Some(message) => message.to_owned().into(),
            None if matches!(broken, Violation::Required) => missing(path),
            None => broken.message(),
        };
        self.push(path, message, broken.rule());
    }

    fn note_custom(&mut self, path: &Path<'_>, message: String) {
        self.push(path, message.into(), "custom");
    }
}

/// Returns the message for a value that is not there.
fn missing(path: &Path<'_>) -> Cow<'static, str> {
    match (path, path.name()) {
        (Path::Root, _) => Violation::Required.message(),
        (_, "") => format!("Required field '{}' is missing", path.shown()).into(),
        (_, name) => format!("Required field '{}' is missing", short_name(name)).into(),
    }
}

/// Of text, on the average: a long key before many wrong values is part of the
/// path of each.
const BYTES_PER_ERROR: usize = 1 << 10;
