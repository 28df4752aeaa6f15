//! Checks the JSON configuration of a service, using only stockade-validation.
//!
//! `cargo run -p validation-only -- examples/validation-only/bad.json` shows
//! each problem with its line. With `good.json` it shows the configuration with
//! defaults. The exit code is 0 for a valid file, 1 for a file with problems,
//! and 2 for invalid arguments or an unreadable file.
//!
//! - `config`: the schema.
//! - `locate`: finds values in the file.
//! - `report`: formats a problem.

mod config;
mod locate;
mod report;

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::str::Utf8Error;

use serde_json::Value;

use self::locate::{Part, locate};
use self::report::Problem;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let code = run(&arguments, &mut io::stdout().lock(), &mut io::stderr().lock());
    code.unwrap_or_else(|error| {
        // If stderr is closed too, the exit code is the only report.
        let _ = writeln!(io::stderr(), "error: {error}");
        USAGE_FAULT
    })
    .into()
}

/// Runs the command line and returns the exit code.
fn run(
    arguments: &[OsString],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Box<dyn Error>> {
    let [path] = arguments else {
        writeln!(err, "usage: validation-only <config.json>")?;
        return Ok(USAGE_FAULT);
    };
    let path = Path::new(path);
    let bytes = read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&path.display().to_string(), &bytes, out, err)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One extra byte, to distinguish a file that is too long from one that just
    // fits.
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Writes the effective configuration to `out`, or the problems to `err`.
fn check(
    name: &str,
    bytes: &[u8],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Box<dyn Error>> {
    // Some editors write a byte order mark before the text.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let (config, mut problems) = match str::from_utf8(bytes) {
        Ok(text) => validate(text)?,
        Err(error) => (Value::Null, vec![not_utf8(error)]),
    };
    if problems.is_empty() {
        writeln!(out, "{config:#}")?;
        return Ok(VALID);
    }
    let count = problems.len();
    problems.truncate(MAX_PROBLEMS);
    problems.sort_by_key(|problem| problem.place.start);
    for problem in &problems {
        report::write(err, name, &text, problem)?;
    }
    writeln!(err, "{}", summary(count))?;
    Ok(INVALID)
}

/// Returns the configuration with defaults, and its problems.
fn validate(text: &str) -> Result<(Value, Vec<Problem>), Box<dyn Error>> {
    let config = match serde_json::from_str(text) {
        Ok(config) => config,
        Err(error) => return Ok((Value::Null, vec![not_json(text, &error)])),
    };
    let outcome = config::check(config)?;
    let problems = outcome.errors.into_iter().enumerate().map(|(index, error)| {
        let part = if error.rule == "additionalProperties" { Part::Key } else { Part::Value };
        // Locating a value scans the text, so only visible problems are
        // located.
        let shown = index < MAX_PROBLEMS;
        let place = if shown { locate(text, &error.field, part) } else { 0..0 };
        Problem { place, field: error.field, message: error.message.into_owned() }
    });
    Ok((outcome.data, problems.collect()))
}

fn not_utf8(error: Utf8Error) -> Problem {
    let start = error.valid_up_to();
    problem(start, "Not UTF-8 text".to_owned())
}

/// Converts a parser error. Its position is removed, because the report shows
/// it in its own format.
fn not_json(text: &str, error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let start = if error.is_eof() {
        text.trim_end().len()
    } else {
        let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
        // The parser counts bytes from 1; column 0 is the end of the previous
        // line.
        (lines.map(str::len).sum::<usize>() + column).saturating_sub(1)
    };
    let said = error.to_string();
    let said = said.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&said);
    problem(start, format!("Invalid JSON: {said}"))
}

fn problem(start: usize, message: String) -> Problem {
    Problem { place: start..start + 1, field: String::new(), message }
}

fn summary(count: usize) -> String {
    match count {
        1 => "1 problem".to_owned(),
        2..=MAX_PROBLEMS => format!("{count} problems"),
        _ => format!("{count} problems, {MAX_PROBLEMS} of them shown"),
    }
}

const VALID: u8 = 0;
const INVALID: u8 = 1;
const USAGE_FAULT: u8 = 2;

/// The maximum file size: 4 MiB (4,194,304 bytes).
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The maximum number of problems shown.
const MAX_PROBLEMS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the exit code and the contents of both output streams.
    fn checked(name: &str, bytes: &[u8]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = check(name, bytes, &mut out, &mut err).expect("the schemas work");
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    /// Checks the first problem, which is `expected` without carets.
    #[track_caller]
    fn check_bad(bytes: impl AsRef<[u8]>, expected: [&str; 2]) {
        let (code, out, err) = checked("c", bytes.as_ref());
        assert_eq!(err.lines().take(2).collect::<Vec<_>>(), expected);
        assert_eq!((code, out.as_str()), (INVALID, ""));
    }

    const VALID_TEXT: &str =
        r#"{"admin_email": "a@b.example", "upstreams": [{"name": "a", "url": "http://a"}]}"#;

    #[test]
    fn shows_a_valid_file_with_its_defaults() {
        let (code, out, err) = checked("good.json", include_bytes!("../good.json"));
        assert_eq!(out, GOOD);
        assert_eq!((code, err.as_str()), (VALID, ""));
    }

    #[test]
    fn shows_an_invalid_file_with_its_problems() {
        let (code, out, err) = checked("bad.json", include_bytes!("../bad.json"));
        assert_eq!(err, BAD);
        assert_eq!((code, out.as_str()), (INVALID, ""));
    }

    #[test]
    fn the_output_for_a_valid_file_is_valid() {
        assert_eq!(checked("", GOOD.as_bytes()), (VALID, GOOD.to_owned(), String::new()));
    }

    #[test]
    fn reports_wrong_use() {
        for arguments in [&[][..], &["a".into(), "b".into()]] {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let code = run(arguments, &mut out, &mut err).unwrap();
            assert_eq!((code, out.len()), (USAGE_FAULT, 0));
            assert!(err.starts_with(b"usage: "));
        }
        let missing = run(&["no/such.json".into()], &mut io::sink(), &mut io::sink());
        assert!(missing.unwrap_err().to_string().starts_with("no/such.json: "));
        let folder = run(&[env!("CARGO_MANIFEST_DIR").into()], &mut io::sink(), &mut io::sink());
        assert!(folder.is_err());
    }

    #[test]
    fn shows_syntax_errors_at_their_position() {
        check_bad("{\n  \"a\": 1,\n}", ["c:3:1: Invalid JSON: trailing comma", "3 | }"]);
        check_bad("{\"ä\": tru}", ["c:1:10: Invalid JSON: expected ident", "1 | {\"ä\": tru}"]);
        check_bad("{}\n\n 7", ["c:3:2: Invalid JSON: trailing characters", "3 |  7"]);
        check_bad("[1,\n\n", ["c:1:4: Invalid JSON: EOF while parsing a value", "1 | [1,"]);
        let control = "control character (\\u0000-\\u001F) found while parsing a string";
        check_bad("\"a\nb\"", [&format!("c:1:3: Invalid JSON: {control}"), "1 | \"a"]);
    }

    #[test]
    fn rejects_empty_and_binary_files() {
        let end = "Invalid JSON: EOF while parsing a value";
        check_bad("", [&format!("c:1:1: {end}"), "1 | "]);
        check_bad(" \r\n", [&format!("c:1:1: {end}"), "1 |  "]);
        check_bad("\u{feff}", [&format!("c:1:1: {end}"), "1 | "]);
        check_bad("\0\x01ELF", ["c:1:1: Invalid JSON: expected value", "1 | ��ELF"]);
        check_bad(b"{\n \"\xff\": 1}", ["c:2:3: Not UTF-8 text", "2 |  \"�\": 1}"]);
        check_bad(b"\xff\xfe{\0}\0", ["c:1:1: Not UTF-8 text", "1 | ��{�}�"]);
    }

    #[test]
    fn accepts_a_byte_order_mark_and_any_white_space() {
        let text = VALID_TEXT.replace(' ', "\r\n\t");
        assert_eq!(checked("", format!("\u{feff}{text}\r\n").as_bytes()).0, VALID);
        let bad = format!("\u{feff}{}", VALID_TEXT.replace("b.example", "b"));
        let (_, _, err) = checked("c", bad.as_bytes());
        assert!(err.starts_with("c:1:17: admin_email: Invalid email format\n"), "{err}");
    }

    #[test]
    fn rejects_a_deeply_nested_file() {
        let line = format!("1 | …{}{}…", "[".repeat(60), "[".repeat(120));
        let message = "c:1:128: Invalid JSON: recursion limit exceeded";
        check_bad("[".repeat(1_000_000), [message, &line]);
        let line = format!("1 | …{}…", "{\"a\":".repeat(36));
        let message = "c:1:636: Invalid JSON: recursion limit exceeded";
        check_bad("{\"a\":".repeat(200_000), [message, &line]);
    }

    #[test]
    fn shows_the_first_of_many_problems() {
        let unknown = |index| format!("\"k{index}\": 0, ");
        let members: String = (0..1_000).map(unknown).collect();
        let (code, _, err) =
            checked("c", VALID_TEXT.replacen('{', &format!("{{{members}"), 1).as_bytes());
        assert_eq!(code, INVALID);
        assert_eq!(err.lines().count(), 3 * MAX_PROBLEMS + 1);
        assert!(err.starts_with("c:1:2: k0: Unknown field 'k0'\n"), "{err}");
        assert!(err.ends_with("\n1000 problems, 100 of them shown\n"));
    }

    #[test]
    fn escapes_control_characters_in_names() {
        let text = VALID_TEXT.replacen('{', "{\"\\u001b[2J\\n\u{202e}\": 0, ", 1);
        let message = "c:1:2: �[2J��: Unknown field '�[2J��'";
        let line = format!("1 | {}", text.replace('\u{202e}', "�"));
        check_bad(&text, [message, &line]);
    }

    const GOOD: &str = r#"{
  "listen": {
    "address": "::",
    "port": 8443
  },
  "log_level": "info",
  "tls": {
    "certificate": "/etc/shop/certificate.pem",
    "key": "/etc/shop/key.pem"
  },
  "limits": {
    "min_connections": 1,
    "max_connections": 500
  },
  "upstreams": [
    {
      "name": "catalogue",
      "url": "http://10.0.0.7:9000",
      "weight": 3,
      "timeout_ms": 5000
    },
    {
      "name": "search",
      "url": "https://search.example/v2",
      "weight": 1,
      "timeout_ms": 800
    }
  ],
  "admin_email": "ada@example.org",
  "features": {
    "new-checkout": true,
    "search.v2": false
  }
}
"#;

    const BAD: &str = r#"bad.json:3:16: listen.address: Expected an IPv4 or IPv6 address
3 |     "address": "localhost",
  |                ^^^^^^^^^^^
bad.json:4:13: listen.port: Number must be at most 65535
4 |     "port": 70000
  |             ^^^^^
bad.json:6:16: log_level: Must be one of: "error", "warn", "info", "debug", "trace"
6 |   "log_level": "loud",
  |                ^^^^^^
bad.json:7:10: tls.key: Required field 'key' is missing
7 |   "tls": { "certificate": "/etc/größe/証明書.pem" },
  |          ^
bad.json:8:13: limits: min_connections (20) is above max_connections (10)
8 |   "limits": { "min_connections": 20, "max_connections": 10 },
  |             ^
bad.json:10:15: upstreams[0].name: 2 upstreams have this name
10 |     { "name": "catalogue", "url": "http://10.0.0.7:9000", "wieght": 3 },
   |               ^^^^^^^^^^^
bad.json:10:59: upstreams[0].wieght: Unknown field 'wieght'
10 |     { "name": "catalogue", "url": "http://10.0.0.7:9000", "wieght": 3 },
   |                                                           ^^^^^^^^
bad.json:11:7: upstreams[1].名: Unknown field '名'
11 |     { "名": "検索", "name": "catalogue", "url": "search.example" }
   |       ^^^^
bad.json:11:26: upstreams[1].name: 2 upstreams have this name
11 |     { "名": "検索", "name": "catalogue", "url": "search.example" }
   |                             ^^^^^^^^^^^
bad.json:11:46: upstreams[1].url: Invalid URL format
11 |     { "名": "検索", "name": "catalogue", "url": "search.example" }
   |                                                 ^^^^^^^^^^^^^^^^
bad.json:13:18: admin_email: Required field 'admin_email' is missing
13 |   "admin_email": null,
   |                  ^^^^
bad.json:14:52: features.search.v2: Expected boolean, got string
14 |   "features": { "new-checkout": true, "search.v2": "no" }
   |                                                    ^^^^
12 problems
"#;
}
