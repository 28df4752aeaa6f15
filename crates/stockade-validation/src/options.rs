//! [`ValidationOptions`]: the options of a validation.
// Spec: Validation schemas › Validation options.

mod serde_impls;

use stockade_errors::__internal::setters;

/// Options of a validation. By default, all errors are listed, unknown keys
/// remain, and nothing is converted.
///
/// ```
/// use stockade_validation::ValidationOptions;
///
/// let options = ValidationOptions::new().abort_early(true).allow_unknown(false);
/// assert_eq!(options.allow_unknown, Some(false));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub struct ValidationOptions {
    /// Stops at the first error. Default: false, which lists all errors.
    #[doc(alias = "abortEarly")]
    pub abort_early: bool,
    /// Removes unknown keys without an error, at every level that lists
    /// properties. Default: false.
    #[doc(alias = "stripUnknown")]
    pub strip_unknown: bool,
    /// `Some(false)` rejects unknown keys at every level, even in objects
    /// without listed properties, unless the object sets
    /// `additionalProperties`. `Some(true)` allows unknown keys even with
    /// `additionalProperties: false`. Default: `None`, which follows the
    /// schema.
    ///
    /// A key that an `additionalProperties` schema describes is not unknown. A
    /// rule that does not describe its value, such as `{}`, still allows every
    /// object. Objects listed by `enum` or `const` do not have unknown keys.
    #[doc(alias = "allowUnknown")]
    pub allow_unknown: Option<bool>,
    /// Converts decimal text to numbers, and `true` and `false` to booleans, if
    /// the schema requires these types and does not allow a string. Default:
    /// false.
    #[doc(alias = "coerceTypes")]
    pub coerce_types: bool,
    /// Treats a single value as a list with one element if a field of the root
    /// has the type array. Query strings need this. Default: false.
    pub list_from_one: bool,
    /// Treats an empty text in a query string or a form as absent, unless the
    /// type is text. Default: false, so `?age=` is an error if `age` is a
    /// number.
    ///
    /// A text with a format or an `enum` does not count as text here: `?from=`
    /// for a date and `?state=` for an enum are absent. In a list, empty
    /// elements are absent. An empty required value fails with the rule
    /// `required`. Forms treat optional empty fields as absent even without
    /// this option.
    #[doc(alias = "emptyAsAbsent")]
    pub empty_as_absent: bool,
    /// Reads the values of checkboxes in a query string: `on` is true, and an absent
    /// required boolean is false. Default: false. Forms always do this.
    ///
    /// Source: WHATWG HTML, section 4.10.22.4 (constructing the entry list).
    pub checkboxes: bool,
    /// Accepts a number only in JSON syntax without an exponent: `+5`, `1e1`,
    /// `" 5"`, `007` and `.5` are rejected. Default: false, which accepts
    /// decimal text as described for `coerce_types`.
    #[doc(alias = "strictNumbers")]
    pub strict_numbers: bool,
    /// The maximum number of errors. Validation stops after the last one.
    /// Default: 1,000. 0 counts as 1.
    ///
    /// The size of the error texts is also limited: the list ends when they
    /// reach 1 KiB (1,024 bytes) per allowed error.
    ///
    /// # Beyond the spec
    ///
    /// If there were no limit, 1 MB of invalid values would cause a response of
    /// tens of megabytes.
    #[doc(alias = "maxErrors")]
    pub max_errors: usize,
}

impl Default for ValidationOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ValidationOptions {
    /// Returns the default options.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            abort_early: false,
            strip_unknown: false,
            allow_unknown: None,
            coerce_types: false,
            list_from_one: false,
            empty_as_absent: false,
            checkboxes: false,
            strict_numbers: false,
            max_errors: DEFAULT_MAX_ERRORS,
        }
    }

    /// Returns the options for query strings: conversion, and single values as
    /// lists.
    #[must_use]
    pub fn query() -> Self {
        Self { coerce_types: true, list_from_one: true, ..Self::new() }
    }

    setters! {
        /// Sets [`abort_early`](Self::abort_early).
        abort_early: bool;

        /// Sets [`strip_unknown`](Self::strip_unknown).
        strip_unknown: bool;

        /// Sets [`allow_unknown`](Self::allow_unknown).
        allow_unknown: some bool;

        /// Sets [`coerce_types`](Self::coerce_types).
        coerce_types: bool;

        /// Sets [`list_from_one`](Self::list_from_one).
        list_from_one: bool;

        /// Sets [`empty_as_absent`](Self::empty_as_absent).
        empty_as_absent: bool;

        /// Sets [`checkboxes`](Self::checkboxes).
        checkboxes: bool;

        /// Sets [`strict_numbers`](Self::strict_numbers).
        strict_numbers: bool;

        /// Sets [`max_errors`](Self::max_errors).
        max_errors: usize;
    }
}

const DEFAULT_MAX_ERRORS: usize = 1_000;
