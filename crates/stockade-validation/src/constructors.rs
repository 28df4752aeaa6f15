//! The constructors of a [`Rule`].

use std::panic::Location;

use crate::rule::Rule;

/// The constructors of a rule.
impl Rule {
    /// Makes a rule for any value.
    #[track_caller]
    pub fn any() -> Self {
        Self::at(Location::caller())
    }

    /// Makes a rule that no value follows: `false` as a schema.
    #[track_caller]
    pub fn never() -> Self {
        Self { boolean: Some(false), ..Self::any() }
    }

    /// Makes a rule for a value of this type, such as `integer` or
    /// `credit-card`.
    #[track_caller]
    pub fn kind(name: &str) -> Self {
        Self::any().with("type", name)
    }

    /// Makes a rule for a value of any of these types.
    #[track_caller]
    pub fn kinds<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self::any().with("type", names.into_iter().collect::<Vec<_>>())
    }

    /// Makes a rule for an array whose elements follow `items`.
    #[track_caller]
    pub fn array(items: Self) -> Self {
        Self::kind("array").items(items)
    }

    /// Makes a rule for an object with these properties.
    #[track_caller]
    pub fn object<N: Into<String>>(properties: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::kind("object").properties(properties)
    }

    /// Makes a rule for an object with any keys, whose values follow `values`.
    #[track_caller]
    pub fn map(values: Self) -> Self {
        Self::kind("object").additional_properties(values)
    }
}

/// Writes a function for each type, which makes a rule for a value of it.
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
    /// Makes a rule for a string.
    string: "string";

    /// Makes a rule for a number.
    number: "number";

    /// Makes a rule for a number without a fraction; 1.0 is one.
    integer: "integer";

    /// Makes a rule for `true` or `false`.
    boolean: "boolean";

    /// Makes a rule for an email address, as the forms of the web take it.
    email: "email";

    /// Makes a rule for an absolute URL.
    url: "url";

    /// Makes a rule for a UUID.
    uuid: "uuid";

    /// Makes a rule for a phone number.
    phone: "phone";

    /// Makes a rule for the number of a credit card.
    credit_card: "credit-card";

    /// Makes a rule for a date or a date-time.
    date: "date";
}
