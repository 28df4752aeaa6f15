//! Negotiation of compression in the handshake.
//!
//! Source: RFC 7692, sections 5 and 7.1; RFC 6455, section 9.1.

use std::fmt;

use http::HeaderMap;
use http::header::SEC_WEBSOCKET_EXTENSIONS;

use super::options::{Deflate, MAX_BITS, MIN_BITS};

/// The negotiated parameters of a connection. `Display` writes the response to
/// the offer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Agreed {
    /// The base-two logarithm of the server's window, 9 to 15.
    pub(crate) server_bits: u8,
    /// The base-two logarithm of the client's window, 8 to 15.
    pub(crate) client_bits: u8,
    /// True if the server keeps its window between messages.
    pub(crate) server_takeover: bool,
    /// True if the client keeps its window between messages.
    pub(crate) client_takeover: bool,
}

/// The parameters of one offer.
#[derive(Debug, Default)]
struct Offer {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_bits: Option<u8>,
    /// `Some(None)` if the client can limit its window but does not give a
    /// number.
    client_bits: Option<Option<u8>>,
}

/// Returns the parameters of the first acceptable offer, or `None` to decline
/// all of them. Messages are then not compressed.
pub(crate) fn negotiate(headers: &HeaderMap, ours: Deflate) -> Option<Agreed> {
    let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| split(text, b',')).find_map(|offer| accept(&read(offer)?, ours))
}

fn accept(offer: &Offer, ours: Deflate) -> Option<Agreed> {
    let server_bits = offer.server_bits.unwrap_or(MAX_BITS).min(ours.window_bits);
    if server_bits < MIN_BITS {
        return None;
    }
    // The server may request a smaller window only from a client that offers
    // it.
    let client_bits = match offer.client_bits {
        None => MAX_BITS,
        Some(bits) => bits.unwrap_or(MAX_BITS).min(ours.window_bits),
    };
    Some(Agreed {
        server_bits,
        client_bits,
        server_takeover: ours.context_takeover && !offer.server_no_context_takeover,
        client_takeover: ours.context_takeover && !offer.client_no_context_takeover,
    })
}

/// Parses one offer. Returns `None` for another extension. An unknown,
/// duplicate or invalid parameter also declines the offer (section 7.1).
fn read(offer: &str) -> Option<Offer> {
    let mut parts = split(offer, b';');
    if parts.next()?.trim() != NAME {
        return None;
    }
    let mut offer = Offer::default();
    for parameter in parts {
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value.trim())),
            None => (parameter, None),
        };
        match (name.trim(), value) {
            ("server_no_context_takeover", None) if !offer.server_no_context_takeover => {
                offer.server_no_context_takeover = true;
            }
            ("client_no_context_takeover", None) if !offer.client_no_context_takeover => {
                offer.client_no_context_takeover = true;
            }
            ("server_max_window_bits", Some(value)) if offer.server_bits.is_none() => {
                offer.server_bits = Some(bits(value)?);
            }
            ("client_max_window_bits", value) if offer.client_bits.is_none() => {
                offer.client_bits = Some(match value {
                    Some(value) => Some(bits(value)?),
                    None => None,
                });
            }
            _ => return None,
        }
    }
    Some(offer)
}

/// Parses a number from 8 to 15 without leading zeros. It may be a quoted
/// string.
fn bits(value: &str) -> Option<u8> {
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let digits = quoted.unwrap_or(value);
    let is_number = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = if is_number { digits.parse().ok()? } else { return None };
    (8..=MAX_BITS).contains(&bits).then_some(bits)
}

/// Splits a text at a character outside quoted strings.
fn split(text: &str, at: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_quoted => is_escaped = true,
                b'"' => is_quoted = !is_quoted,
                _ => return byte == at && !is_quoted,
            }
            false
        });
        rest = end.and_then(|end| text.get(end + 1..));
        end.map_or(Some(text), |end| text.get(..end))
    })
}

impl fmt::Display for Agreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        if !self.server_takeover {
            f.write_str("; server_no_context_takeover")?;
        }
        if !self.client_takeover {
            f.write_str("; client_no_context_takeover")?;
        }
        if self.server_bits < MAX_BITS {
            write!(f, "; server_max_window_bits={}", self.server_bits)?;
        }
        if self.client_bits < MAX_BITS {
            write!(f, "; client_max_window_bits={}", self.client_bits)?;
        }
        Ok(())
    }
}

const NAME: &str = "permessage-deflate";

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const NO_TAKEOVER: &str = "; server_no_context_takeover; client_no_context_takeover";

    #[track_caller]
    fn check(ours: Deflate, offer: &str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in offer.split('\n') {
            headers.append(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_str(line).unwrap());
        }
        let response = negotiate(&headers, ours).map(|agreed| agreed.to_string());
        let expected = expected.map(|parameters| format!("permessage-deflate{parameters}"));
        assert_eq!(response, expected, "{offer}");
    }

    #[test]
    fn accepts_an_offer_without_parameters() {
        check(Deflate::new(), "permessage-deflate", Some(NO_TAKEOVER));
        check(Deflate::new().context_takeover(true), "permessage-deflate", Some(""));
        assert_eq!(negotiate(&HeaderMap::new(), Deflate::new()), None);
    }

    #[test]
    fn keeps_windows_only_if_both_sides_agree() {
        let ours = Deflate::new().context_takeover(true);
        let server = "; server_no_context_takeover";
        let client = "; client_no_context_takeover";
        check(ours, &format!("permessage-deflate{server}"), Some(server));
        check(ours, &format!("permessage-deflate{client}"), Some(client));
        check(ours, &format!("permessage-deflate{client}{server}"), Some(NO_TAKEOVER));
    }

    #[test]
    fn the_smaller_window_counts() {
        let twelve = Deflate::new().context_takeover(true).window_bits(12);
        let fifteen = Deflate::new().context_takeover(true);
        let check_bits = |ours, offer: &str, expected| {
            check(ours, &format!("permessage-deflate; {offer}"), expected);
        };
        check_bits(fifteen, "client_max_window_bits", Some(""));
        check_bits(fifteen, "server_max_window_bits=10", Some("; server_max_window_bits=10"));
        check_bits(fifteen, "client_max_window_bits=10", Some("; client_max_window_bits=10"));
        check_bits(fifteen, "client_max_window_bits=8", Some("; client_max_window_bits=8"));
        check_bits(twelve, "server_max_window_bits=15", Some("; server_max_window_bits=12"));
        let both = Some("; server_max_window_bits=12; client_max_window_bits=12");
        check_bits(twelve, "client_max_window_bits", both);
        check_bits(twelve, r#"client_max_window_bits="15""#, both);
        // A client that does not offer the parameter must not get it.
        check(twelve, "permessage-deflate", Some("; server_max_window_bits=12"));
    }

    #[test]
    fn declines_unsupported_offers() {
        // zlib does not support a window of 256 bytes.
        check(Deflate::new(), "permessage-deflate; server_max_window_bits=8", None);
        for parameters in [
            "unknown",
            "unknown=1",
            "server_no_context_takeover=1",
            "client_no_context_takeover=\"\"",
            "server_no_context_takeover; server_no_context_takeover",
            "client_no_context_takeover; client_no_context_takeover",
            "server_max_window_bits",
            "server_max_window_bits=",
            "server_max_window_bits=7",
            "server_max_window_bits=16",
            "server_max_window_bits=09",
            "server_max_window_bits=+9",
            "server_max_window_bits=1e1",
            "server_max_window_bits=10; server_max_window_bits=10",
            "client_max_window_bits=",
            "client_max_window_bits=0",
            "client_max_window_bits=999999999999",
            "client_max_window_bits=\"10",
            "client_max_window_bits=\"1\\0\"",
            "client_max_window_bits; client_max_window_bits=10",
            "Server_No_Context_Takeover",
            "",
            "; ",
            "=",
        ] {
            check(Deflate::new(), &format!("permessage-deflate; {parameters}"), None);
        }
        for offer in [
            "",
            ",",
            "x-webkit-deflate-frame",
            "permessage-deflate2",
            "deflate",
            "\"permessage-deflate\"",
        ] {
            check(Deflate::new(), offer, None);
        }
    }

    #[test]
    fn accepts_the_first_supported_offer() {
        let offers = "permessage-deflate; unknown, x; y=\"a, permessage-deflate\", \
                      permessage-deflate; server_max_window_bits=10, permessage-deflate";
        let expected = format!("{NO_TAKEOVER}; server_max_window_bits=10");
        check(Deflate::new(), offers, Some(&expected));
        // Offers may span several header lines.
        check(Deflate::new(), "x, permessage-deflate; y\npermessage-deflate", Some(NO_TAKEOVER));
        check(Deflate::new(), "x; a=\"unclosed, permessage-deflate", None);
        let many = "permessage-deflate; x, ".repeat(2_000) + "permessage-deflate";
        check(Deflate::new(), &many, Some(NO_TAKEOVER));
    }
}
