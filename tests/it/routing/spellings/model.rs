//! A slow but obvious implementation of the rule for encoded paths, and paths
//! to compare with it. It does not share code with the router.

use std::fmt::Write as _;

use stockade_errors::random::Random;

/// A route: its path, and true if it is a mount.
pub type Route = (&'static str, bool);

/// Returns the expected response: `200` and the path of the route, `400` or `404`.
pub fn expected(routes: &[Route], path: &str) -> String {
    if has_control_escape(path) {
        return "400".to_owned();
    }
    // A raw character and its escape are two spellings of the same route text.
    let has_other_text = routes.iter().any(|(it, _)| it.contains('%') || !it.is_ascii());
    let mut found = best(routes, path, encoded);
    if has_other_text {
        found = best(routes, &encoded(path), encoded).or(found);
    }
    let Some(found) = found else { return "404".to_owned() };
    let (pattern, is_mount) = routes[found.route];
    if !found.has_params {
        return format!("200 {pattern}");
    }
    let differs = |spell: fn(&str) -> String, form: &str| {
        best(routes, form, spell).is_some_and(|other| other.route != found.route)
    };
    let mut is_ambiguous = false;
    let is_compared = path.contains('%') || has_other_text && !path.is_ascii();
    if is_compared {
        is_ambiguous |= differs(unreserved, &unreserved(path));
    }
    let slash = found.rest.and_then(|segment| path.match_indices('/').nth(segment));
    if let Some(start) = slash.map(|(slash, _)| slash + 1) {
        for spell in [once, twice] {
            let (before, rest) = (spell(&path[..start]), spell(&path[start..]));
            if is_compared {
                is_ambiguous |= differs(spell, &format!("{before}{rest}"));
            }
            if is_compared || is_mount {
                let whole = format!("/{}", cleaned(&format!("{before}{rest}")));
                for clean in [format!("{before}{}", cleaned(&rest)), whole] {
                    is_ambiguous |= differs(spell, &clean);
                    let bare = clean.trim_end_matches('/');
                    if bare.len() > before.len() && !path.ends_with('/') {
                        is_ambiguous |= differs(spell, bare);
                    }
                }
            }
            let has_dots = rest.split('/').any(|segment| segment == "." || segment == "..");
            is_ambiguous |= is_mount && has_dots;
        }
        is_ambiguous |= is_mount && path[start..].starts_with('/');
    }
    if is_ambiguous { "400".to_owned() } else { format!("200 {pattern}") }
}

struct Found {
    route: usize,
    has_params: bool,
    /// The number of segments before the wildcard.
    rest: Option<usize>,
}

/// Returns the best route for a path, with the route texts spelled by `spell`.
fn best(routes: &[Route], path: &str, spell: fn(&str) -> String) -> Option<Found> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (index, (pattern, is_mount)) in routes.iter().enumerate() {
        if *is_mount {
            all.push((index, (*pattern).to_owned()));
            all.push((index, format!("{}/**", pattern.trim_end_matches('/'))));
        } else {
            all.push((index, (*pattern).to_owned()));
        }
    }
    let matches = |(index, pattern): &(usize, String)| {
        let segments: Vec<String> = pattern[1..]
            .split('/')
            .flat_map(|segment| {
                let spelled = spell(segment);
                spelled.split('/').map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let (ranks, rest) = ranks(&segments, path)?;
        let has_params = ranks.iter().any(|rank| *rank > 0);
        Some((ranks, Found { route: *index, has_params, rest }))
    };
    all.iter().filter_map(matches).min_by(|one, other| one.0.cmp(&other.0)).map(|it| it.1)
}

/// Returns the ranks of the segments of a pattern that matches a path, and the
/// number of segments before its wildcard.
fn ranks(pattern: &[String], path: &str) -> Option<(Vec<u8>, Option<usize>)> {
    let texts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let mut ranks = Vec::new();
    let mut rest = None;
    for (index, segment) in pattern.iter().enumerate() {
        let text = texts.get(index)?;
        if segment == "**" {
            ranks.push(5);
            return Some((ranks, Some(index)));
        }
        let rank = match segment.as_str() {
            "*" if !text.is_empty() => {
                rest = Some(index);
                4
            }
            segment if segment.starts_with(':') && !text.is_empty() => 3,
            segment if segment == *text => 0,
            _ => return None,
        };
        ranks.push(rank);
    }
    (pattern.len() == texts.len()).then_some((ranks, rest))
}

fn has_control_escape(path: &str) -> bool {
    let codes = (0..0x20).chain([0x7F]);
    let path = path.to_ascii_lowercase();
    codes.into_iter().any(|code: u8| path.contains(&format!("%{code:02x}")))
}

/// Encodes non-ASCII characters and converts the digits of escapes to upper
/// case.
fn encoded(text: &str) -> String {
    respelled(text, |_| false)
}

fn unreserved(text: &str) -> String {
    respelled(text, |byte| byte.is_ascii_alphanumeric() || "-._~".contains(char::from(byte)))
}

fn respelled(text: &str, is_decoded: fn(u8) -> bool) -> String {
    let bytes = text.as_bytes();
    let (mut spelled, mut at) = (String::new(), 0);
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match code {
            Some(code) => {
                let byte = u8::from_str_radix(code, 16).unwrap();
                if is_decoded(byte) {
                    spelled.push(char::from(byte));
                } else {
                    write!(spelled, "%{}", code.to_uppercase()).unwrap();
                }
                at += 3;
            }
            None => {
                if bytes[at].is_ascii() {
                    spelled.push(char::from(bytes[at]));
                } else {
                    write!(spelled, "%{:02X}", bytes[at]).unwrap();
                }
                at += 1;
            }
        }
    }
    spelled
}

/// Decodes the text once: escapes, then overlong forms, then backslashes.
pub fn once(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        match code {
            Some(code) => {
                let code = std::str::from_utf8(code).unwrap();
                decoded.push(u8::from_str_radix(code, 16).unwrap());
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    // The search is slow, and without such a byte it would find nothing.
    let has_first_byte = decoded.iter().any(|byte| *byte >= 0xC0);
    for code in (0..0x80).filter(|_| has_first_byte) {
        for length in 2..=4 {
            replace(&mut decoded, &overlong(code, length), code);
        }
    }
    String::from_utf8_lossy(&decoded).replace('\\', "/")
}

pub fn twice(text: &str) -> String {
    once(&once(text))
}

fn replace(text: &mut Vec<u8>, sequence: &[u8], code: u8) {
    while let Some(at) = text.windows(sequence.len()).position(|part| part == sequence) {
        text.splice(at..at + sequence.len(), [code]);
    }
}

/// Returns an ASCII character encoded in two to four bytes.
fn overlong(code: u8, length: usize) -> Vec<u8> {
    let (high, low) = (0x80 | code >> 6, 0x80 | code & 0x3F);
    match length {
        2 => vec![0xC0 | code >> 6, low],
        3 => vec![0xE0, high, low],
        _ => vec![0xF0, 0x80, high, low],
    }
}

/// Removes empty segments, `.` and `..`, like a file system.
pub fn cleaned(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        if segment == ".." {
            kept.pop();
        } else if !segment.is_empty() && segment != "." {
            kept.push(segment);
        }
    }
    let last = path.rsplit('/').next().unwrap();
    let is_open = ["", ".", ".."].contains(&last) && !kept.is_empty();
    kept.join("/") + if is_open { "/" } else { "" }
}

/// Returns a path with some of its characters in alternative spellings. Some
/// program decodes each of these spellings to the same path.
pub fn spelled(path: &str, random: &mut Random) -> String {
    let one_in = [1, 3, 8, 20][random.index(4)];
    let mut spelled = String::from("/");
    for character in path[1..].chars() {
        if random.index(one_in) > 0 {
            spelled.push(character);
            continue;
        }
        if character == '/' {
            spelled += random.pick(&[
                "%2F",
                "%2f",
                "%5c",
                "%5C",
                "%252F",
                "%252f",
                "%255C",
                "%c0%af",
                "%C0%AF",
                "%e0%80%af",
                "%f0%80%80%af",
                "%25c0%25af",
                "//",
                "%2F/",
                "/%2F",
                "/%2e/",
                "/./",
                "%2f.%2f",
                "/x/%2e%2e/",
                "/x/..%2F",
                "/%252e/",
                "/%c0%ae/",
            ]);
            continue;
        }
        for byte in character.to_string().bytes() {
            spelled += &escape(byte, random);
        }
    }
    // Some escapes do not have a meaning, or have a unique one.
    if random.index(10) == 0 {
        spelled += random.pick(&[
            "%", "%6", "%zz", "%2F", "%252f%5C", "%20", "%ff", "%2B", "%C3%A9", "%e9", "/%2e",
        ]);
    }
    spelled
}

fn escape(byte: u8, random: &mut Random) -> String {
    let hex = |byte: u8, random: &mut Random| match random.index(2) {
        0 => format!("{byte:02x}"),
        _ => format!("{byte:02X}"),
    };
    let bytes = match random.index(8) {
        kind @ 0..=2 if byte.is_ascii() => overlong(byte, kind + 2),
        _ => vec![byte],
    };
    let percent = random.pick(&["%", "%", "%", "%25", "%25", "%2525"]);
    bytes.iter().map(|byte| format!("{percent}{}", hex(*byte, random))).collect()
}
