//! The maximum sizes of documents and operations.

/// The limits of documents and operations, with their defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of text.
    pub(crate) document: usize,
    pub(crate) tokens: usize,
    /// Nested braces, brackets and parentheses.
    pub(crate) nesting: usize,
    /// Nested fields.
    pub(crate) depth: usize,
    /// Per operation, or for all operations of a batch together.
    pub(crate) complexity: usize,
    /// Per field, fragment or operation.
    pub(crate) directives: usize,
    /// Per operation, including its fragments.
    pub(crate) aliases: usize,
    pub(crate) root_fields: usize,
    /// The number of operations in a batch; 0 disables batches.
    pub(crate) batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            document: 64 * 1_024,
            tokens: 4_000,
            nesting: 64,
            depth: 12,
            complexity: 1_000,
            directives: 5,
            aliases: 50,
            root_fields: 20,
            batch: 0,
        }
    }
}
