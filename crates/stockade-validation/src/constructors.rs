//! Constructors of [`Rule`].

use std::panic::Location;

use crate::rule::Rule;

/// Constructors.
impl Rule {
    /// Creates a rule that accepts any value.
    #[track_caller]
    pub fn any() -> Self {
        Self::at(Location::caller())
    }

    /// Creates a rule that rejects every value, like the schema `false`.
    #[track_caller]
    pub fn never() -> Self {
        Self { boolean: Some(false), ..Self::any() }
    }

    /// Creates a rule for one type, such as `integer` or `credit-card`.
    #[track_caller]
    pub fn kind(name: &str) -> Self {
        Self::any().with("type", name)
    }

    /// Creates a rule that accepts any of these types.
    #[track_caller]
    pub fn kinds<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::any().with("type", names.into_iter().collect::<Vec<_>>())
    }

    /// Creates a rule for an array. Each element must match `items`.
    #[track_caller]
    pub fn array(items: Self) -> Self {
        Self::kind("array").items(items)
    }

    /// Creates a rule for an object with these properties.
    #[track_caller]
    pub fn object<N: Into<String>>(properties: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::kind("object").properties(properties)
    }

    /// Creates a rule for an object with arbitrary keys. Each value must match
    /// `values`.
    #[track_caller]
    pub fn map(values: Self) -> Self {
        Self::kind("object").additional_properties(values)
    }
}

/// Generates a constructor for each type.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $kind:literal;)*) => {
        impl Rule {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name() -> Self {
                Self::kind($kind)
            }
            )*
        }
    };
}

kinds! {
    /// Creates a rule for a string.
    string: "string";

    /// Creates a rule for a number.
    number: "number";

    /// Creates a rule for a number without a fraction. 1.0 is accepted.
    integer: "integer";

    /// Creates a rule for `true` or `false`.
    boolean: "boolean";

    /// Creates a rule for an email address, as accepted by HTML forms.
    email: "email";

    /// Creates a rule for an absolute URL.
    url: "url";

    /// Creates a rule for a UUID.
    uuid: "uuid";

    /// Creates a rule for a phone number.
    phone: "phone";

    /// Creates a rule for a credit card number.
    credit_card: "credit-card";

    /// Creates a rule for a date or date-time.
    date: "date";
}
