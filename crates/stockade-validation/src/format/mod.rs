//! The text forms that a schema can name: [`Format`] for the keyword `format`,
//! [`TextType`] for `type`.
//!
//! ```
//! use stockade_validation::format::{Format, TextType};
//!
//! let format = Format::from_name("date-time").expect("a known name");
//! assert!(format.check("1998-12-31T23:59:60Z"));
//! assert_eq!(format.message(), "Invalid date-time");
//!
//! // The `format` follows the RFC. The `type` accepts the addresses of HTML forms.
//! assert!(Format::Email.check("\"joe bloggs\"@localhost"));
//! assert!(!TextType::Email.check("\"joe bloggs\"@localhost"));
//! ```
//!
//! # Grammars
//!
//! | Name | As `format` | As `type` |
//! |---|---|---|
//! | `credit-card` | as the type | 12 to 19 digits with a valid Luhn checksum; may contain spaces and hyphens |
//! | `binary`, `password` | any text | |
//! | `byte` | base64 by RFC 4648, section 4 | |
//! | `date` | RFC 3339 `full-date`, a valid calendar date | the same, or a date-time |
//! | `date-time` | RFC 3339 `date-time` | |
//! | `double` | any number; only checks numbers | |
//! | `duration` | RFC 3339, appendix A | |
//! | `email` | RFC 5321 `Mailbox` | as in HTML forms, with a dot in the domain; at most 64 bytes before the `@` and 254 in total |
//! | `float` | a number in the range of 32-bit floats; only checks numbers | |
//! | `hostname` | RFC 1123; labels with `xn--` by RFC 5891 and 5892 | |
//! | `idn-email` | RFC 6531 `Mailbox` | |
//! | `idn-hostname` | RFC 5890, with the rules of `hostname` | |
//! | `int32`, `int64` | a signed integer of 32 or 64 bits; only checks numbers | |
//! | `ipv4` | RFC 2673 `dotted-quad` | |
//! | `ipv6` | RFC 4291, without a zone | |
//! | `iri`, `iri-reference` | RFC 3987 | |
//! | `json-pointer` | RFC 6901 | |
//! | `phone` | as the type | an optional `+` and 7 to 15 digits; may contain spaces and `( ) . -` |
//! | `regex` | an ECMA-262 pattern with the flag `u` | |
//! | `relative-json-pointer` | draft-bhutton-relative-json-pointer-00 | |
//! | `time` | RFC 3339 `full-time` | |
//! | `uri` | RFC 3986 `URI` | |
//! | `uri-reference` | RFC 3986 `URI-reference` | |
//! | `uri-template` | RFC 6570 | |
//! | `url` | as the type | an absolute URL with a host, or with the scheme `mailto:` or `urn:`; at most 2,048 characters |
//! | `uuid` | RFC 9562, any version, any case | the same |
//!
//! Each grammar's module documents its decisions on points that its source
//! leaves open.
//!
//! # Cost
//!
//! Each check reads the text a fixed number of times. Only `idn-email` and
//! `regex` allocate. If a grammar has a maximum length, longer text is rejected
//! without reading it.
// Spec: Validation schemas › Types, Keywords.

// Modules:
// - `base64`, `card`, `date`, `duration`, `email`, `hostname`, `ip`, `iri`,
//   `phone`, `pointer`, `template`, `uri`, `url`, `uuid`: one grammar each.
// - `bytes`: tables of the bytes that a grammar allows.
// - `idna`: labels of internationalized names, for `hostname` and `url`.

mod base64;
mod bytes;
mod card;
mod date;
mod duration;
mod email;
mod hostname;
mod idna;
mod ip;
mod iri;
mod phone;
mod pointer;
mod template;
mod uri;
mod url;
mod uuid;

/// A text form that the keyword `format` can name.
///
/// The grammars are in the [module docs](self).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Format {
    /// Any text. Represents raw bytes.
    Binary,
    /// Base64 bytes: `YQ==`.
    Byte,
    /// The same as [`TextType::CreditCard`].
    CreditCard,
    /// `2024-02-29`.
    Date,
    /// `2024-02-29T23:20:50.52Z`; the offset is required.
    DateTime,
    /// Any number. Represents a 64-bit float.
    Double,
    /// `P3Y6M4DT12H30M5S`.
    Duration,
    /// A mailbox by RFC 5321, including `"joe bloggs"@localhost` and
    /// `joe@[127.0.0.1]`.
    Email,
    /// A number in the range of 32-bit floats.
    Float,
    /// `www.example.com`, in ASCII, without a trailing dot.
    Hostname,
    /// A mailbox that may contain characters beyond ASCII.
    IdnEmail,
    /// `www.münchen.example`.
    IdnHostname,
    /// A whole number from -2^31 to 2^31 - 1. Any text passes.
    Int32,
    /// A whole number from -2^63 to 2^63 - 1. Any text passes.
    Int64,
    /// `192.168.0.1`.
    Ipv4,
    /// `2001:db8::7`, without brackets.
    Ipv6,
    /// A URI that may contain characters beyond ASCII.
    Iri,
    /// An IRI or a relative reference.
    IriReference,
    /// `/users/0/name`.
    JsonPointer,
    /// Any text; forms hide it.
    Password,
    /// The same as [`TextType::Phone`].
    Phone,
    /// An ECMA-262 pattern with the flag `u`.
    Regex,
    /// `1/name`.
    RelativeJsonPointer,
    /// `23:20:50.52Z`; the offset is required.
    Time,
    /// Any absolute URI by RFC 3986, including `data:`, `tel:` and other
    /// schemes without a host.
    Uri,
    /// A URI or a relative reference such as `../a?b`.
    UriReference,
    /// `/users{/id}{?page}`.
    UriTemplate,
    /// The same as [`TextType::Url`].
    Url,
    /// `2eb8aa08-aa98-11ea-b4aa-73b441d16380`.
    Uuid,
}

/// A text form that the keyword `type` can name.
///
/// The grammars are in the [module docs](self).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TextType {
    /// `4111 1111 1111 1111`.
    CreditCard,
    /// A date or a date-time.
    Date,
    /// An address that HTML forms accept.
    Email,
    /// `+49 (30) 1234-567`.
    Phone,
    /// An absolute URL. Schemes such as `javascript:`, `data:` and `file:` are
    /// rejected.
    Url,
    /// The same as [`Format::Uuid`].
    Uuid,
}

/// Generates the functions of a form enum from the name, the message and the
/// grammar of each form.
macro_rules! forms {
    ($forms:ident { $($form:ident: $name:literal, $message:literal, $check:expr;)* }) => {
        impl $forms {
            /// All forms, in the order of the specification.
            pub(crate) const ALL: &[Self] = &[$(Self::$form),*];

            /// Returns the form with this name, such as `credit-card`. Names
            /// are case-sensitive.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|form| form.name() == name)
            }

            /// Returns the name in keyword spelling, such as `credit-card`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$form => $name,)*
                }
            }

            /// Returns true if the whole `text` has this form.
            #[must_use]
            pub fn check(self, text: &str) -> bool {
                match self {
                    $(Self::$form => $check(text),)*
                }
            }

            /// Returns the message for text that does not have this form.
            #[must_use]
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$form => $message,)*
                }
            }
        }
    };
}

forms! {
    Format {
        Email: "email", "Invalid email format", email::is_mailbox;
        Uri: "uri", "Invalid URI format", uri::is_uri;
        Url: "url", "Invalid URL format", url::is_url;
        Uuid: "uuid", "Invalid UUID format", uuid::is_uuid;
        Phone: "phone", "Invalid phone number format", phone::is_phone;
        CreditCard: "credit-card", "Invalid credit card number", card::is_card;
        Date: "date", "Invalid date", date::is_date;
        DateTime: "date-time", "Invalid date-time", date::is_date_time;
        Time: "time", "Invalid time", date::is_time;
        Hostname: "hostname", "Invalid hostname", hostname::is_hostname;
        Ipv4: "ipv4", "Invalid IPv4 address", ip::is_v4;
        Ipv6: "ipv6", "Invalid IPv6 address", ip::is_v6;
        Int32: "int32", "Number must be a 32-bit integer", every_text;
        Int64: "int64", "Number must be a 64-bit integer", every_text;
        Float: "float", "Number must fit in a 32-bit float", every_text;
        Double: "double", "Number must fit in a 64-bit float", every_text;
        Binary: "binary", "Invalid binary data", every_text;
        Byte: "byte", "Invalid base64", base64::is_base64;
        Password: "password", "Invalid password", every_text;
        Duration: "duration", "Invalid duration", duration::is_duration;
        IdnEmail: "idn-email", "Invalid email format", email::is_international_mailbox;
        IdnHostname: "idn-hostname", "Invalid hostname", hostname::is_international_hostname;
        Iri: "iri", "Invalid IRI format", iri::is_iri;
        IriReference: "iri-reference", "Invalid IRI reference", iri::is_iri_reference;
        UriReference: "uri-reference", "Invalid URI reference", uri::is_reference;
        UriTemplate: "uri-template", "Invalid URI template", template::is_template;
        Regex: "regex", "Invalid regular expression", crate::pattern::is_ecma;
        JsonPointer: "json-pointer", "Invalid JSON pointer", pointer::is_pointer;
        RelativeJsonPointer: "relative-json-pointer", "Invalid relative JSON pointer",
            pointer::is_relative_pointer;
    }
}

forms! {
    TextType {
        Email: "email", "Invalid email format", email::is_form_address;
        Url: "url", "Invalid URL format", url::is_url;
        Uuid: "uuid", "Invalid UUID format", uuid::is_uuid;
        Phone: "phone", "Invalid phone number format", phone::is_phone;
        CreditCard: "credit-card", "Invalid credit card number", card::is_card;
        Date: "date", "Invalid date", date::is_date_or_date_time;
    }
}

/// The check of number formats and unrestricted texts.
fn every_text(_text: &str) -> bool {
    true
}

#[cfg(test)]
mod tests;
