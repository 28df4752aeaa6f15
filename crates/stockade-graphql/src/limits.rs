//! [`Limits`]: the largest documents and operations that a client may send.

/// The limits of documents and operations, with their defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In bytes of text.
    pub(crate) document: usize,
    pub(crate) tokens: usize,
    /// Of braces, brackets and parentheses within each other.
    pub(crate) nesting: usize,
    /// Of fields within each other.
    pub(crate) depth: usize,
    /// Of an operation, or of all operations of a batch together.
    pub(crate) complexity: usize,
    /// Of one field, fragment or operation.
    pub(crate) directives: usize,
    /// Of an operation, with those that its fragments add.
    pub(crate) aliases: usize,
    pub(crate) root_fields: usize,
    /// The number of operations in a batch; 0 for none.
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
