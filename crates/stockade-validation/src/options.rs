//! [`ValidationOptions`]: the options of a validation.
//!
//! Spec: Validation schemas › Validation options.

mod serde_impls;

use stockade_errors::__internal::setters;

/// Options of a validation; by default all errors are listed, unknown keys are
/// kept, and nothing is converted.
///
/// ```
/// use stockade_validation::ValidationOptions;
///
/// let options = ValidationOptions::new().abort_early(true).allow_unknown(false);
/// assert_eq!(options.allow_unknown, Some(false));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ValidationOptions {
    /// Ends at the first error. Default: false, all errors are listed.
    #[doc(alias = "abortEarly")]
    pub abort_early: bool,
    /// Removes unknown keys without an error, at every level that lists
    /// properties. Default: false.
    #[doc(alias = "stripUnknown")]
    pub strip_unknown: bool,
    /// `Some(false)` refuses unknown keys at every level, also in objects for
    /// which no properties are listed, unless `additionalProperties` is written
    /// there; `Some(true)` allows them even against
    /// `additionalProperties: false`. Default: `None`, as the schema says.
    ///
    /// A key that an `additionalProperties` schema describes is not unknown. A
    /// rule without keywords for its value, such as `{}`, still allows every
    /// object, and `enum` and `const` list whole ones.
    #[doc(alias = "allowUnknown")]
    pub allow_unknown: Option<bool>,
    /// Turns decimal text into numbers and `true` and `false` into booleans
    /// where the type asks for those and not for a string. Default: false.
    #[doc(alias = "coerceTypes")]
    pub coerce_types: bool,
    /// Takes a single value as a list of one where a field of the root is of
    /// type array, as query strings need it. Default: false.
    pub list_from_one: bool,
    /// Treats an empty text in a query string or a form as absent, unless the type is
    /// text. Default: false, so `?age=` is an error if `age` is a number.
    ///
    /// Text with a format and `enum` is not text in this sense: `?from=` for a date and
    /// `?state=` for an enum are absent. In a list, empty elements are absent. A value that
    /// is required and empty fails with the rule `required`. Forms treat optional empty
    /// fields as absent without this option.
    #[doc(alias = "emptyAsAbsent")]
    pub empty_as_absent: bool,
    /// Reads the values of checkboxes in a query string: `on` is true, and an absent
    /// required boolean is false. Default: false. Forms always do this.
    ///
    /// Source: WHATWG HTML, section 4.10.22.4 (constructing the entry list).
    pub checkboxes: bool,
    /// Reads a number only if it is written as in JSON and has no exponent: `+5`, `1e1`,
    /// `" 5"`, `007` and `.5` are rejected. Default: false, so text that stands for a
    /// decimal number is accepted, as `coerce_types` says.
    #[doc(alias = "strictNumbers")]
    pub strict_numbers: bool,
    /// The number of errors that are listed; nothing is looked at after the last one.
    /// Default: 1,000. 0 counts as 1.
    ///
    /// The texts of the errors are bounded too: the list ends when they come to
    /// 1 KiB (1,024 bytes) for each error that is allowed.
    ///
    /// # Beyond the spec
    ///
    /// Without a bound, 1 MB of wrong values is answered with tens of MB.
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

    /// Returns the options for query strings: conversion, and lists of one.
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
