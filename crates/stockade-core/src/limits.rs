//! The default limits of a request.

/// 1 MiB.
// Spec: Limits › Body size.
pub(crate) const DEFAULT_MAX_BODY_BYTES: u64 = 1_048_576;

/// Corresponds to at most 40 MB of parsed values. A body of 200,000 bytes
/// cannot contain more.
pub(crate) const DEFAULT_MAX_JSON_VALUES: usize = 100_000;
