//! [`Coding`]: the content codings, and the choice between them.
//!
//! Source: RFC 9110, sections 8.4.1 (content codings) and 12.5.3
//! (Accept-Encoding); RFC 7932 (br), RFC 8878 (zstd), RFC 1952 (gzip).

use http::{HeaderMap, HeaderValue};

use crate::accept_encoding::Wishes;

/// A content coding, which compresses the bytes of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Coding {
    /// `zstd`: the fastest.
    Zstd,
    /// `br`: the smallest output for text.
    Brotli,
    /// `gzip`: every client supports it.
    Gzip,
}

impl Coding {
    /// Returns the name used in headers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the coding with this name, in any case; `x-gzip` is gzip.
    ///
    /// ```
    /// use stockade::middleware::Coding;
    ///
    /// assert_eq!(Coding::parse("BR"), Some(Coding::Brotli));
    /// assert_eq!(Coding::parse("deflate"), None);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.as_str()));
        known.or_else(|| name.eq_ignore_ascii_case("x-gzip").then_some(Self::Gzip))
    }

    /// All codings, in the order of preference.
    pub const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    pub(super) fn header_value(self) -> HeaderValue {
        HeaderValue::from_static(self.as_str())
    }
}

/// Returns the offered coding with the highest weight; the earlier one wins a
/// tie. `None` means that the bytes are sent uncompressed.
pub(super) fn choose(headers: &HeaderMap, offered: &[Coding]) -> Option<Coding> {
    let wishes = Wishes::of(headers);
    let rest = wishes.weight(|name| name == "*").unwrap_or(0);
    let identity = wishes.weight(|name| name.eq_ignore_ascii_case("identity")).unwrap_or(0);

    let mut best = None;
    let mut best_quality = 0;
    for coding in offered {
        let wanted = wishes.weight(|name| Coding::parse(name) == Some(*coding)).unwrap_or(rest);
        if wanted > best_quality {
            (best, best_quality) = (Some(*coding), wanted);
        }
    }
    best.filter(|_| best_quality >= identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, expected: &str) {
        let mut headers = HeaderMap::new();
        for line in accept.lines() {
            headers.append(http::header::ACCEPT_ENCODING, line.parse().unwrap());
        }
        let chosen = choose(&headers, &Coding::ALL).map_or("identity", Coding::as_str);
        assert_eq!(chosen, expected, "{accept:?}");
    }

    #[test]
    fn the_highest_weight_wins() {
        check("gzip;q=0.5, br;q=0.8", "br");
        check("gzip;q=1.0, br;q=0.8, zstd;q=0.2", "gzip");
        check("GZIP", "gzip");
        check("x-gzip", "gzip");
        check("br ; Q=0.3 , gzip ; q=0.4", "gzip");
    }

    #[test]
    fn the_server_order_decides_between_equal_weights() {
        check("gzip, deflate, br, zstd", "zstd");
        check("gzip, deflate, br", "br");
        check("gzip\nbr", "br");
        check("*", "zstd");
        check("*;q=0.5, gzip;q=0.6", "gzip");
    }

    #[test]
    fn sends_identity_if_no_coding_is_accepted() {
        check("", "identity");
        check("deflate, compress", "identity");
        check("gzip;q=0", "identity");
        check("*;q=0", "identity");
        check("zstd;q=0, *", "br");
        check("identity, gzip;q=0.5", "identity");
        check("identity;q=0.5, gzip;q=0.5", "gzip");
        check("identity;q=0, gzip", "gzip");
    }

    #[test]
    fn ignores_a_coding_with_a_malformed_weight() {
        for weight in ["", "2", "1.1", "0.1234", "-1", "+1", "a", "0.+1", ".5"] {
            check(&format!("gzip;q={weight}"), "identity");
        }
        check("gzip;q=0.", "identity");
        check("gzip;q=1.", "gzip");
        check("gzip;q=0.001", "gzip");
        check(",,;q=1,gzip,", "gzip");
    }
}
