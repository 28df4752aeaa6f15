//! [`Sink`]: receives the errors and changes of a walk.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};

use stockade_errors::short_name::short_name;
use stockade_errors::{ApiError, ErrorText, FieldError};

use super::patch::Patch;
use super::path::Path;
use crate::node::Violation;
use crate::options::ValidationOptions;

/// Receives each violation and decides whether the walk continues.
pub(super) trait Sink<'s> {
    /// True if only the outcome matters. The walk then produces neither
    /// messages nor changes.
    const IS_QUIET: bool;

    /// A change to a value, if the sink collects changes.
    type Change: Clone + Into<Patch<'s>>;

    /// Returns true if the walk should stop.
    fn is_done(&self) -> bool;

    /// Returns true if the caller should make a change. Otherwise, this call
    /// may end the walk.
    fn takes_change(&mut self) -> bool;

    /// Records a change to a value.
    fn change(&mut self, make: impl FnOnce() -> Patch<'s>) -> Option<Self::Change>;

    /// Ends the walk without an outcome because a function failed.
    fn fail(&mut self, failure: ApiError);

    /// Reports a violation, with the message of the schema or the default
    /// message.
    fn note(&mut self, path: &Path<'_>, message: Option<&str>, broken: Violation<'_>);

    /// Reports a violation and returns whether the walk continues.
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

    /// Reports an error of a `custom` function.
    fn note_custom(&mut self, path: &Path<'_>, text: ErrorText);

    /// Reports an existing error.
    fn note_error(&mut self, error: FieldError);

    /// Returns the number of errors so far.
    fn count(&self) -> usize;

    /// Sets whether a change ends the walk, and returns the previous setting.
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

    /// Returns true if an error was reported since the start of a trial, or if
    /// the sink accepts no more errors.
    fn has_noted_since(&self, before: &Checkpoint) -> bool;
}

/// The state of a sink at the start of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    errors: usize,
    error_bytes: usize,
    done: bool,
    /// The setting of [`Quiet::keep`] before the trial.
    keep: bool,
}

/// Ends the walk at the first violation. If `keep` is set, a change also ends
/// it.
pub(super) struct Quiet {
    keep: bool,
    done: bool,
    /// True if a trial changed a value or failed. Only a walk with changes can find the outcome.
    pub(super) needs_changes: bool,
    /// The number of trials in progress.
    trials: usize,
    /// The violation that leaves the outcome undecided.
    pub(super) undecided: Option<Violation<'static>>,
    /// The error of a failed function, which leaves the walk without an outcome.
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

    /// Returns true if the value is valid.
    ///
    /// # Errors
    ///
    /// Returns the error of a failed function, or `None` if the outcome is
    /// undecided.
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

/// Collects an error for each violation.
pub(super) struct Collecting {
    abort_early: bool,
    most_errors: usize,
    errors: Vec<FieldError>,
    /// Total size of field names and messages, in bytes.
    error_bytes: usize,
    /// The error of a failed function, which leaves the walk without an outcome.
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

/// Returns the message for a missing value, with the id of the message.
fn missing(path: &Path<'_>) -> (Cow<'static, str>, Option<&'static str>) {
    let message = match (path, path.name()) {
        (Path::Root, _) => return (Violation::Required.message(), Some("required-value")),
        (_, "") => format!("Required field '{}' is missing", path.shown()),
        (_, name) => format!("Required field '{}' is missing", short_name(name)),
    };
    (message.into(), Some("required"))
}

/// Average size limit of the text of one error. It matters if a long key
/// encloses many invalid values, because the path of each error contains the
/// key.
const BYTES_PER_ERROR: usize = 1 << 10;
