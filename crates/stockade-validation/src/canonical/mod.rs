//! [`CanonicalForms`]: the canonical forms of an object's fields.
//!
//! Validation accepts several spellings of a value: a UUID in upper case, an
//! IPv6 address with all its zeros, a time with any offset. Stores save only
//! the canonical spelling. Ids, filters, unique values and sort orders
//! therefore compare values instead of spellings.

mod times;

use serde_json::Value;

use crate::format::{Format, TextType};
use crate::node::{Compiled, Inner, Node};
use crate::schema::Schema;

/// A function that returns the canonical form of a string.
pub(crate) type CanonicalText = fn(&str) -> Option<String>;

/// The canonical forms of an object's fields. Fields without a canonical form
/// are absent.
#[derive(Clone, Debug, Default)]
pub struct CanonicalForms {
    fields: Box<[(Box<str>, Form)]>,
}

#[derive(Clone, Copy, Debug)]
struct Form {
    /// The canonical form defined by the type or the rule. It takes precedence
    /// over `kind`.
    own: Option<CanonicalText>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// A string without a built-in canonical form.
    Other,
    Uuid,
    Ipv6,
    Date,
    /// A time with an offset. The canonical form is in UTC.
    Time,
    /// An exact number, written as a string or a number.
    Decimal,
}

impl CanonicalForms {
    /// Returns the canonical forms of a schema's properties.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        let compiled = schema.compiled();
        let object = resolved(compiled, &compiled.root, |node| node.object.as_deref());
        let properties = object.into_iter().flat_map(|object| object.properties());
        let form = |node| resolved(compiled, node, Form::of);
        let fields = properties.filter_map(|it| Some((it.name.clone(), form(&it.node)?)));
        Self { fields: fields.collect() }
    }

    /// Returns true if no field has a canonical form.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns true if the field is an exact number. Its values may be strings.
    #[must_use]
    pub fn is_decimal(&self, field: &str) -> bool {
        self.get(field).is_some_and(|form| form.kind == Kind::Decimal)
    }

    /// Returns the canonical form of a field's value.
    ///
    /// Returns `None` if the value is already canonical, or if the field does
    /// not accept it.
    #[must_use]
    pub fn canonical(&self, field: &str, value: &Value) -> Option<Value> {
        let form = self.get(field)?;
        match value {
            Value::String(text) => {
                let canonical = form.canonical(text)?;
                (canonical != *text).then_some(Value::String(canonical))
            }
            Value::Number(number) if form.kind == Kind::Decimal => {
                form.canonical(&number.to_string()).map(Value::String)
            }
            _ => None,
        }
    }

    /// Returns an error message if a time or date is outside the years 0001 to
    /// 9999 in UTC. Such values do not have a canonical form, and PostgreSQL
    /// cannot read them.
    #[must_use]
    pub fn misfit(&self, field: &str, value: &Value) -> Option<&'static str> {
        let form = self.get(field).filter(|it| matches!(it.kind, Kind::Date | Kind::Time))?;
        let text = value.as_str()?;
        let own = form.own.and_then(|own| own(text));
        let text = own.as_deref().unwrap_or(text);
        let (is_valid, fits) = match form.kind {
            Kind::Date => (Format::Date.check(text), !text.starts_with("0000")),
            _ => (Format::DateTime.check(text), times::in_utc(text).is_some()),
        };
        let is_misfit = if own.is_some() { !(is_valid && fits) } else { is_valid && !fits };
        is_misfit.then_some("Year must be from 0001 to 9999")
    }

    fn get(&self, field: &str) -> Option<Form> {
        self.fields.iter().find(|(name, _)| **name == *field).map(|(_, form)| *form)
    }
}

impl Form {
    fn of(node: &Node) -> Option<Self> {
        let (mut own, mut kind) = (None, Kind::Other);
        if let Some(rules) = node.text.as_deref() {
            own = rules.canonical;
            let named = rules.form.and_then(|form| form.format);
            kind =
                named.or_else(|| rules.format.map(Format::name)).map_or(Kind::Other, Kind::named);
        }
        if node.types.only_format() == Some(TextType::Uuid) {
            kind = Kind::Uuid;
        }
        (own.is_some() || kind != Kind::Other).then_some(Self { own, kind })
    }

    fn canonical(self, text: &str) -> Option<String> {
        let own = self.own.and_then(|own| own(text));
        let read = own.as_deref().unwrap_or(text);
        let canonical = match self.kind {
            Kind::Uuid => Format::Uuid.check(read).then(|| read.to_ascii_lowercase()),
            Kind::Ipv6 => read.parse::<std::net::Ipv6Addr>().ok().map(|it| it.to_string()),
            Kind::Time => times::in_utc(read),
            Kind::Date | Kind::Decimal | Kind::Other => None,
        };
        canonical.or(own)
    }
}

impl Kind {
    /// Returns the kind for the name of a format.
    fn named(format: &str) -> Self {
        match format {
            "uuid" => Self::Uuid,
            "ipv6" => Self::Ipv6,
            "date" => Self::Date,
            "date-time" => Self::Time,
            "decimal" => Self::Decimal,
            _ => Self::Other,
        }
    }
}

/// Calls a function for a node and the definitions it refers to, and returns
/// the first result.
fn resolved<'n, T>(
    compiled: &'n Compiled,
    mut node: &'n Node,
    find: impl Fn(&'n Node) -> Option<T>,
) -> Option<T> {
    for _ in 0..=compiled.definitions.len() {
        if let Some(found) = find(node) {
            return Some(found);
        }
        let Some(Inner::Definition(place)) = node.inner.as_deref() else { return None };
        node = &compiled.definitions.get(*place)?.node;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Rule;

    fn forms(rule: Rule) -> CanonicalForms {
        CanonicalForms::of(&Rule::object([("it", rule)]).build().unwrap())
    }

    #[track_caller]
    fn check(rule: Rule, text: &str, expected: &str) {
        let value = forms(rule).canonical("it", &json!(text));
        assert_eq!(value.unwrap_or_else(|| json!(text)), json!(expected), "{text}");
    }

    #[test]
    fn formats_have_canonical_forms() {
        let uuid = "2eb8aa08-aa98-11ea-b4aa-73b441d16380";
        check(Rule::string().format(Format::Uuid), &uuid.to_uppercase(), uuid);
        check(Rule::kind("uuid"), &uuid.to_uppercase(), uuid);
        check(Rule::string().format(Format::Uuid), "NOT A UUID", "NOT A UUID");
        check(Rule::string().format(Format::Ipv6), "2001:DB8:0:0:0:0:0:7", "2001:db8::7");
        let time = "2026-11-23T10:00:00.50+01:00";
        check(Rule::string().format(Format::DateTime), time, "2026-11-23T09:00:00.5+00:00");
        check(
            Rule::string().format(Format::DateTime).nullable(),
            time,
            "2026-11-23T09:00:00.5+00:00",
        );
        check(Rule::string().format(Format::Email), "Ada@Example.org", "Ada@Example.org");
        check(Rule::string(), time, time);
        check(Rule::string().canonical(|text| Some(text.to_uppercase())), "ab", "AB");
    }

    #[test]
    fn addresses_have_the_form_of_std() {
        use crate::HasSchema as _;
        use std::net::{IpAddr, Ipv6Addr, SocketAddr};

        check(IpAddr::rule(), "2001:DB8::0:7", "2001:db8::7");
        check(IpAddr::rule(), "192.0.2.1", "192.0.2.1");
        check(Ipv6Addr::rule(), "::0001", "::1");
        check(SocketAddr::rule(), "[::0001]:80", "[::1]:80");
        check(Option::<IpAddr>::rule(), "2001:DB8::0:7", "2001:db8::7");
    }

    #[test]
    fn years_beyond_four_digits_do_not_fit() {
        let message = Some("Year must be from 0001 to 9999");
        let times = forms(Rule::string().format(Format::DateTime));
        for (text, expected) in [
            ("0000-12-31T23:59:59Z", message),
            ("0001-01-01T00:30:00+01:00", message),
            ("9999-12-31T23:59:59-00:01", message),
            ("0001-01-01T00:00:00Z", None),
            ("9999-12-31T23:59:59.9Z", None),
            ("no time", None),
        ] {
            assert_eq!(times.misfit("it", &json!(text)), expected, "{text}");
        }
        let dates = forms(Rule::string().format(Format::Date));
        assert_eq!(dates.misfit("it", &json!("0000-01-01")), message);
        assert_eq!(dates.misfit("it", &json!("0001-01-01")), None);
        assert_eq!(dates.misfit("it", &Value::Null), None);
    }

    #[cfg(feature = "uuid")]
    #[test]
    fn a_uuid_has_one_form() {
        use crate::HasSchema as _;

        let uuid = "2eb8aa08-aa98-11ea-b4aa-73b441d16380";
        for text in [
            "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
            "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
            "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "2eb8aa08aa9811eab4aa73b441d16380",
            uuid,
        ] {
            check(uuid::Uuid::rule(), text, uuid);
            check(Option::<uuid::Uuid>::rule(), text, uuid);
        }
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn a_timestamp_has_one_form() {
        use crate::HasSchema as _;

        let rule = jiff::Timestamp::rule;
        for text in ["2026-11-23T10:00:00+01:00", "2026-11-23T09:00:00.000Z", "2026-11-23 09:00Z"] {
            check(rule(), text, "2026-11-23T09:00:00+00:00");
        }
        let forms = forms(rule());
        assert!(forms.misfit("it", &json!("-000001-01-01T00:00:00Z")).is_some());
        assert!(forms.misfit("it", &json!("2026-11-23T10:00:00+01:00")).is_none());
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn a_time_with_an_offset_is_one_in_utc() {
        use crate::HasSchema as _;

        let rule = chrono::DateTime::<chrono::FixedOffset>::rule();
        check(rule, "2026-11-23T10:00:00.120+01:00", "2026-11-23T09:00:00.12+00:00");
    }

    #[cfg(feature = "time")]
    #[test]
    fn a_time_with_the_text_of_its_crate_is_one_in_utc() {
        use crate::HasSchema as _;

        let rule = time::OffsetDateTime::rule();
        check(rule, "2024-02-29 12:30:00.0 +01:00:00", "2024-02-29 11:30:00.0 +00:00:00");
    }

    #[cfg(feature = "rust_decimal")]
    #[test]
    fn a_decimal_is_a_text() {
        use crate::HasSchema as _;

        check(rust_decimal::Decimal::rule(), "+1.50", "1.50");
        let forms = forms(rust_decimal::Decimal::rule());
        assert_eq!(forms.canonical("it", &json!(1.5)), Some(json!("1.5")));
        assert!(forms.is_decimal("it"));
    }
}
