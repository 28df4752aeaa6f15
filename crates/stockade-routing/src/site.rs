//! [`Site`]: the tables of the routes of one host, or of all routes without a host.

use stockade_path::spelling::Spelling;

use crate::table_set::{SpelledTables, TableSet};

/// The tables of some routes, also for other spellings of their paths.
pub(crate) struct Site {
    pub(crate) tables: TableSet,
    /// The tables for paths in other spellings, if their routes differ from `tables`.
    pub(crate) spelled: Option<Box<SpelledTables>>,
}

impl Site {
    /// Returns the tables for a spelling; `None` means the original path.
    pub(crate) fn get(&self, spelling: Option<Spelling>) -> &TableSet {
        let spelled = self.spelled.as_ref().zip(spelling);
        spelled.map_or(&self.tables, |(spelled, spelling)| spelled.get(spelling))
    }
}
