//! [`Wishes`]: the content codings that a client accepts.
//!
//! Source: RFC 9110, section 12.5.3 (Accept-Encoding).

use http::{HeaderMap, header};

/// The content codings that a client accepts, each with its weight.
#[derive(Debug)]
pub(crate) struct Wishes<'h>(Vec<(&'h str, u16)>);

impl<'h> Wishes<'h> {
    /// Reads `Accept-Encoding` and skips malformed items.
    #[must_use]
    pub(crate) fn of(headers: &'h HeaderMap) -> Self {
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
        let lines = lines.filter_map(|value| value.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(wish).collect())
    }

    /// Returns the weight, in thousandths, of the first coding with one of
    /// these names.
    #[must_use]
    pub(crate) fn weight(&self, is_named: impl Fn(&str) -> bool) -> Option<u16> {
        self.0.iter().find(|(name, _)| is_named(name)).map(|(_, weight)| *weight)
    }
}

/// Returns true if the client does not accept gzip. A request without the
/// header accepts every coding (RFC 9110, section 12.5.3).
#[must_use]
pub fn refuses_gzip(request: &HeaderMap) -> bool {
    if !request.contains_key(header::ACCEPT_ENCODING) {
        return false;
    }
    let wishes = Wishes::of(request);
    let gzip =
        wishes.weight(|name| ["gzip", "x-gzip"].iter().any(|it| name.eq_ignore_ascii_case(it)));
    gzip.or_else(|| wishes.weight(|name| name == "*")).is_none_or(|weight| weight == 0)
}

/// Reads a name and its weight in thousandths. Returns `None` if the text is
/// malformed.
fn wish(item: &str) -> Option<(&str, u16)> {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    Some((name, weight.map_or(Some(1_000), thousandths)?))
}

/// Reads a weight such as `0`, `1` or `0.25`, with at most three digits after
/// the point.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_accept_encoding_header_excludes_gzip() {
        assert!(!refuses_gzip(&HeaderMap::new()));
        for (value, refused) in [
            ("gzip, br", false),
            ("br, X-GZIP;q=0.5", false),
            ("*", false),
            ("*;q=0, gzip", false),
            ("", true),
            ("identity", true),
            ("br;q=1, gzip;q=0", true),
            ("gzip;q=0.000, *", true),
            ("*;q=0", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, http::HeaderValue::from_static(value));
            assert_eq!(refuses_gzip(&headers), refused, "{value:?}");
        }
    }
}
