//! URLs part by part, and the web-platform-tests.

use serde_json::Value;

use super::*;

#[test]
fn absolute_urls_with_a_host_pass() {
    for text in [
        "http://a",
        "https://example.com",
        "HTTPS://EXAMPLE.COM/",
        "http://localhost:3000/path?query=1#fragment",
        "http://a?b",
        "http://a#b",
        "http://a.b.",
        "http://a_b.c-d",
        "http://a--b",
        "http://a:",
        "http://a:0",
        "http://a:65535/",
        "http://joe:secret@a",
        "http://@a",
        "http://joe%40b@a:80",
        "http://127.0.0.1/",
        "http://[::1]",
        "http://[::1]:8080/",
        "http://joe@[2001:db8::7]/",
        "http://a/b//c/../d;e=f,g",
        "http://a/%20%C3%A9",
        "http://a/?b[]=1&c={d}|e^f",
        "http://a/é日本?ü#💩",
        "http://münchen.de",
        "http://MÜNCHEN.de",
        "http://日本語.jp/",
        "http://xn--mnchen-3ya.de",
        "ftp://a/b",
        "ws://a",
        "wss://a:1/b",
        "postgres://user:password@db/name",
        "mailto:joe@a.b",
        "MAILTO:joe@a.b?subject=x%20y",
        "mailto:?to=joe@a.b",
        "urn:isbn:0451450523",
        "URN:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "urn:ab:c?+d?=e#f",
    ] {
        assert!(is_url(text), "{text:?}");
    }
}

#[test]
fn rejects_schemes_for_code_and_files() {
    for text in [
        "javascript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "JavaScript:alert(1)",
        "JAVASCRIPT://a",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript://a",
        "\u{1}javascript://a",
        "data:text/html,<script>",
        "data:,a",
        "DATA://a",
        "data://a/b",
        "vbscript:a",
        "VBScript://a/b",
        "file:///etc/passwd",
        "file://server/share",
        "FILE://a",
        "intent://a/#Intent;scheme=http;end",
        "Intent:a",
        "view-source:http://a",
        "view-source://a",
        "blob:http://a/b",
        "blob://a/b",
        "about:blank",
    ] {
        assert!(!is_url(text), "{text:?}");
    }
}

#[test]
fn rejects_a_missing_scheme_or_host() {
    for text in [
        "",
        ":",
        "/",
        "a",
        "a.b",
        "www.example.com",
        "//a",
        "/a",
        "?a",
        "#a",
        "://a",
        "http",
        "http:",
        "http:/",
        "http://",
        "http:a",
        "http:/a",
        "http:///a",
        "http://?",
        "http://#",
        "http://:80",
        "http://@",
        "http://joe@",
        "http://joe@/",
        "http://joe@:80",
        "1a://b",
        "a_b://c",
        "é://a",
        "file:///etc/passwd",
        "tel:+15551234",
        "http:\\\\a",
        "http:/\\a",
        "mailto:",
        "mailto:/",
        "mailto://a",
        "mailto:joe b",
        "mailto:a\nb",
        "urn:",
        "urn:a",
        "urn:ab",
        "urn:ab:",
        "urn::c",
        "urn:a:c",
        "urn:a_b:c",
        "urn:-a:c",
        "urn:ab:#c",
        "urn:abcdefghijklmnopqrstuvwxyzabcdefg:c",
        "urn://a",
        "urn:ab:c d",
    ] {
        assert!(!is_url(text), "{text:?}");
    }
}

#[test]
fn rejects_malformed_hosts_and_ports() {
    for text in [
        "http://.",
        "http://..",
        "http://.a",
        "http://a..b",
        "http://a..",
        "http://-a",
        "http://a-",
        "http://a.-b",
        "http://a b",
        "http://a%20b",
        "http://%61",
        "http://a,b",
        "http://a!",
        "http://a*",
        "http://a\\b",
        "http://a\\@b",
        "http://a<b",
        "http://a\0",
        "http://a\n",
        "http://a\u{7f}",
        "http://a\u{a0}b",
        "http://a。b",
        "http://％41",
        "http://💩.a",
        "http://\u{ad}",
        "http://\u{301}a",
        "http://1",
        "http://1.2.3",
        "http://1.2.3.256",
        "http://01.2.3.4",
        "http://1.2.3.4.",
        "http://0x7f.1",
        "http://0x",
        "http://a.1",
        "http://a.0xF",
        "http://a.1.",
        "http://1.2.3.4.5",
        "http://[",
        "http://]",
        "http://[]",
        "http://[::1",
        "http://::1",
        "http://[::1]a",
        "http://a[::1]",
        "http://[1.2.3.4]",
        "http://[fe80::1%25eth0]",
        "http://[fe80::1%eth0]",
        "http://[v1.a]",
        "http://a:b",
        "http://a:65536",
        "http://a:-1",
        "http://a:+1",
        "http://a:1:2",
        "http://a: 1",
        "http://a:８",
        "http://a:999999999999999999999",
        "http://a@b@c",
        "http://jo e@a",
        "http://jö@a",
        "http://a%4@b",
        "http://xn--",
        "http://xn--a",
        "http://xn--i-7iq.ws",
        "http://a.xn--pokxncvks",
    ] {
        assert!(!is_url(text), "{text:?}");
    }
}

#[test]
fn rejects_unescaped_characters() {
    for text in [
        "http://a/b c",
        "http://a/b ",
        " http://a/b",
        "http://a/\"",
        "http://a/<",
        "http://a/>",
        "http://a/\\",
        "http://a/`",
        "http://a/\n",
        "http://a/\t",
        "http://a/\r",
        "http://a/\0",
        "http://a/\u{1f}",
        "http://a/\u{7f}",
        "http://a/\u{85}",
        "http://a/\u{a0}",
        "http://a/\u{2028}",
        "http://a/\u{fdd0}",
        "http://a/\u{ffff}",
        "http://a/\u{10fffe}",
        "http://a/%",
        "http://a/%4",
        "http://a/%4g",
        "http://a/%é",
        "http://a/#b#c",
        "http://a/? ",
        "http://a/#\"",
    ] {
        assert!(!is_url(text), "{text:?}");
    }
}

#[test]
fn lengths_end_at_63_253_and_2048() {
    let label = "a".repeat(63);
    assert!(is_url(&format!("http://{label}")));
    assert!(!is_url(&format!("http://{label}a")));
    let name = format!("{label}.{label}.{label}.{}", &label[..61]);
    assert!(is_url(&format!("http://{name}./")));
    assert!(!is_url(&format!("http://{name}a/")));

    let base = "http://a/";
    for filler in ["b", "é", "日", "💩"] {
        let longest = format!("{base}{}", filler.repeat(2_048 - base.len()));
        assert!(is_url(&longest), "{filler:?}");
        assert!(!is_url(&format!("{longest}{filler}")), "{filler:?}");
    }
}

/// The web-platform-tests for URL parsing.
///
/// The tests give the result of a parser for any text, and a parser repairs
/// many invalid URLs. Its successes on `http:/a`, tabs, backslashes, a single
/// `%` and similar texts therefore prove nothing here. But every text that a
/// parser rejects must also be rejected here.
///
/// The failures that `uri` accepts are valid by RFC 3986. It allows a host that
/// is empty, contains any escape or resembles an address, and a port of any
/// size.
#[test]
fn rejects_urls_that_no_browser_parses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/url/urltestdata.json");
    let text = std::fs::read_to_string(path).expect("the vectors are in the repository");
    let tests: Vec<Value> = serde_json::from_str(&text).expect("the vectors are JSON");

    let (mut failing, mut failing_http) = (0, 0);
    let (mut passing_http, mut accepted) = (0, 0);
    let (mut accepted_failures, mut uri_exceptions) = (Vec::new(), 0);
    for test in tests.iter().filter(|it| it.is_object()) {
        let input = test["input"].as_str().expect("an input");
        let is_http =
            ["http:", "https:"].iter().any(|it| input.to_ascii_lowercase().starts_with(it));
        if test["failure"] == true {
            failing += 1;
            failing_http += u32::from(is_http);
            if is_url(input) {
                accepted_failures.push(input);
            }
            uri_exceptions += u32::from(is_http && uri::is_uri(input));
        } else if is_http {
            passing_http += 1;
            accepted += u32::from(is_url(input));
        }
    }
    assert_eq!((failing, failing_http), (273, 203));
    assert_eq!((passing_http, accepted), (172, 83));
    assert!(accepted_failures.is_empty(), "{accepted_failures:?}");
    assert_eq!(uri_exceptions, 118);
}
