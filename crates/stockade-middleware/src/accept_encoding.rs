//! [`Wishes`]: the content codings that a client takes.
//!
//! Source: RFC 9110, section 12.5.3 (Accept-Encoding).

use http::{HeaderMap, header};

/// The content codings that a client takes, each with its weight.
#[derive(Debug)]
pub struct Wishes<'h>(Vec<(&'h str, u16)>);

impl<'h> Wishes<'h> {
    /// Reads `Accept-Encoding`. An item that is malformed does not count.
    #[must_use]
    pub fn of(headers: &'h HeaderMap) -> Self {
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
        let lines = lines.filter_map(|value| value.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(wish).collect())
    }

    /// Returns the weight of the first coding of these names, in thousandths.
    #[must_use]
    pub fn weight(&self, is_named: impl Fn(&str) -> bool) -> Option<u16> {
        self.0.iter().find(|(name, _)| is_named(name)).map(|(_, weight)| *weight)
    }
}

/// Reads a name with its weight in thousandths; `None` for malformed text.
fn wish(item: &str) -> Option<(&str, u16)> {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    Some((name, weight.map_or(Some(1_000), thousandths)?))
}

/// Reads a weight such as `0`, `1` or `0.25`: at most three digits, at most 1.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, digits) = weight.split_once('.').unwrap_or((weight, ""));
    if digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = format!("{digits:0<3}").parse().ok()?;
    match (whole, part) {
        ("0", part) => Some(part),
        ("1", 0) => Some(1_000),
        _ => None,
    }
}
