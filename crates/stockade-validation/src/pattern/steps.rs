//! [`Steps`]: the step limit of a search in one text.

use std::cell::Cell;

/// The search took too many steps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct GaveUp;

/// The number of remaining steps.
#[derive(Debug)]
pub(super) struct Steps {
    /// Steps for this text.
    own: u64,
    /// Steps that all texts of a validation share.
    shared: u64,
}

impl Steps {
    /// Returns the steps for a text of `length` bytes, with `per_byte` for each.
    pub(super) fn of_text(length: usize, per_byte: u64) -> Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX).saturating_add(1);
        Self { own: length.saturating_mul(per_byte), shared: SHARED.get() }
    }

    #[inline]
    pub(super) fn take(&mut self, count: u64) -> Result<(), GaveUp> {
        if let Some(left) = self.own.checked_sub(count) {
            self.own = left;
            return Ok(());
        }
        self.shared = self.shared.checked_sub(count).ok_or(GaveUp)?;
        Ok(())
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        SHARED.set(self.shared);
    }
}

/// Begins a validation and resets its shared steps.
pub(crate) fn begin() {
    SHARED.set(SHARED_STEPS);
}

thread_local! {
    /// The remaining shared steps of the current validation. A validation never
    /// leaves its thread.
    static SHARED: Cell<u64> = const { Cell::new(SHARED_STEPS) };
}

/// The shared steps for short texts that need many steps, about 20 ms.
const SHARED_STEPS: u64 = 2_000_000;
