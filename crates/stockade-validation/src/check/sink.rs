//! [`Sink`]: the listeners of a walk.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};

use stockade_errors::short_name::short_name;
use stockade_errors::{ApiError, ErrorText, FieldError};

use super::patch::Patch;
use super::path::Path;
use crate::node::Violation;
use crate::options::ValidationOptions;

/// A listener that gets each broken rule and decides if the walk goes on.
pub(super) trait Sink<'s> {
    /// Only the outcome is of interest: no words, no changes.
    const IS_QUIET: bool;

    /// A change of a value, if changes are of interest.
    type Change: Clone + Into<Patch<'s>>;

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
    fn note_custom(&mut self, path: &Path<'_>, text: ErrorText);

    /// Notes an error that is made already.
    fn note_error(&mut self, error: FieldError);

    /// Returns the number of errors so far.
    fn count(&self) -> usize;

    /// Sets if a change ends the walk, and returns the old setting.
    fn set_keep(&mut self, keep: bool) -> bool {
        keep
    }

    /// Begins a trial. End it with [`rewind`](Self::rewind) or [`resume`](Self::resume). A change
    /// during the trial ends a quiet walk.
    fn checkpoint(&mut self) -> Checkpoint;

    /// Ends a trial and discards its results.
    fn rewind(&mut self, before: Checkpoint);

    /// Ends a trial and keeps its results.
    fn resume(&mut self, before: &Checkpoint);

    /// Returns true if the walk ends without an outcome.
    fn has_given_up(&self) -> bool;

    /// Returns true if a broken rule was noted since the beginning of a trial, or none can be.
    fn has_noted_since(&self, before: &Checkpoint) -> bool;
}

/// The state of a sink at the beginning of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    errors: usize,
    error_bytes: usize,
    done: bool,
    /// The setting of [`Quiet::keep`] before the trial.
    keep: bool,
}

/// Ends the walk at the first broken rule, and with `keep` at the first change.
pub(super) struct Quiet {
    keep: bool,
    done: bool,
    /// True if a trial changed a value or failed. Only a walk with changes can find the outcome.
    pub(super) needs_changes: bool,
    /// The number of trials around the current value.
    trials: usize,
    /// The broken rule that leaves the outcome open.
    pub(super) undecided: Option<Violation<'static>>,
    /// The reason why there is no outcome: a function failed.
    failure: Option<Box<ApiError>>,
}

impl Quiet {
    pub(super) fn new(keep: bool) -> Self {
        Self { keep, done: false, needs_changes: false, trials: 0, undecided: None, failure: None }
    }

    #[inline]
    fn note_change(&mut self) {
        if self.keep && !self.done {
            self.done = true;
            self.needs_changes = self.trials > 0;
        }
    }

    /// Returns true if no rule is broken. The error is the failure of a function, or `None`
    /// if the outcome is open.
    pub(super) fn finish(&mut self) -> Result<bool, Option<Box<ApiError>>> {
        match self.failure.take() {
            Some(failure) => Err(Some(failure)),
            None if self.undecided.is_some() => Err(None),
            None => Ok(!self.done),
        }
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
        self.note_change();
        false
    }

    #[inline]
    fn change(&mut self, _make: impl FnOnce() -> Patch<'s>) -> Option<Infallible> {
        self.note_change();
        None
    }

    fn fail(&mut self, failure: ApiError) {
        self.failure.get_or_insert_with(|| Box::new(failure));
        self.done = true;
    }

    #[inline]
    fn note(&mut self, _path: &Path<'_>, _message: Option<&str>, broken: Violation<'_>) {
        if self.undecided.is_none() {
            self.undecided = broken.undecided();
        }
        self.done = true;
    }

    fn note_custom(&mut self, _path: &Path<'_>, _text: ErrorText) {
        self.done = true;
    }

    fn note_error(&mut self, _error: FieldError) {
        self.done = true;
    }

    fn count(&self) -> usize {
        usize::from(self.done)
    }

    fn set_keep(&mut self, keep: bool) -> bool {
        std::mem::replace(&mut self.keep, keep)
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let before = Checkpoint { errors: 0, error_bytes: 0, done: self.done, keep: self.keep };
        self.keep = true;
        self.trials += 1;
        before
    }

    /// A walk that can change values decides instead.
    fn rewind(&mut self, before: Checkpoint) {
        self.resume(&before);
        self.done = true;
        self.needs_changes = true;
    }

    fn resume(&mut self, before: &Checkpoint) {
        self.keep = before.keep;
        self.trials -= 1;
    }

    fn has_given_up(&self) -> bool {
        self.done
    }

    fn has_noted_since(&self, _before: &Checkpoint) -> bool {
        self.done
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

    fn push(&mut self, make: impl FnOnce() -> FieldError) {
        if self.done {
            return;
        }
        self.add(make());
    }

    fn add(&mut self, error: FieldError) {
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
        self.push(|| {
            let own = message.filter(|_| broken.accepts_message());
            let (message, text_id) = match own {
                Some(message) => (message.to_owned().into(), None),
                None if matches!(broken, Violation::Required) => missing(path),
                None => (broken.message(), Some(broken.text_id())),
            };
            let error = FieldError::new(path.shown(), message, broken.rule());
            let error = broken.add_params(error);
            match text_id {
                Some(id) => error.with_text_id(id),
                None => error,
            }
        });
    }

    fn note_custom(&mut self, path: &Path<'_>, text: ErrorText) {
        self.push(|| FieldError::of_text(path.shown(), text, "custom"));
    }

    fn note_error(&mut self, error: FieldError) {
        if !self.done {
            self.add(error);
        }
    }

    fn count(&self) -> usize {
        self.errors.len()
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let Self { errors, error_bytes, done, .. } = self;
        Checkpoint { errors: errors.len(), error_bytes: *error_bytes, done: *done, keep: true }
    }

    fn rewind(&mut self, before: Checkpoint) {
        self.errors.truncate(before.errors);
        self.error_bytes = before.error_bytes;
        self.done = before.done;
    }

    fn resume(&mut self, _before: &Checkpoint) {}

    fn has_given_up(&self) -> bool {
        self.failure.is_some()
    }

    fn has_noted_since(&self, before: &Checkpoint) -> bool {
        self.errors.len() > before.errors || self.done
    }
}

/// Returns the message for a value that is not there, and the id of the message.
fn missing(path: &Path<'_>) -> (Cow<'static, str>, Option<&'static str>) {
    let message = match (path, path.name()) {
        (Path::Root, _) => return (Violation::Required.message(), Some("required-value")),
        (_, "") => format!("Required field '{}' is missing", path.shown()),
        (_, name) => format!("Required field '{}' is missing", short_name(name)),
    };
    (message.into(), Some("required"))
}

/// Of text, on the average: a long key before many wrong values is part of the
/// path of each.
const BYTES_PER_ERROR: usize = 1 << 10;
