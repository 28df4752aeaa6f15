//! Tests of the header limit with bodies in chunks of any size. multer is the
//! reference for the framing.

use super::*;

const MAX: usize = crate::extract::MultipartLimits::MAX_PART_HEADER;

/// Returns true if a body passes in chunks of this size.
fn passes(boundary: &str, body: &[u8], size: usize) -> bool {
    let mut headers = PartHeaders::new(boundary);
    body.chunks(size)
        .all(|piece| headers.follow(&Bytes::copy_from_slice(piece), &mut VecDeque::new()).is_ok())
}

/// Returns the bytes that multer receives for a body in chunks of this size.
fn passed_on(body: &str, size: usize) -> String {
    let mut headers = PartHeaders::new("B");
    let mut ready = VecDeque::new();
    for piece in body.as_bytes().chunks(size) {
        headers.follow(&Bytes::copy_from_slice(piece), &mut ready).unwrap();
    }
    String::from_utf8(ready.into_iter().flatten().collect()).unwrap()
}

#[track_caller]
fn check(body: &str, expected: bool) {
    for size in [1, 2, 3, 7, 64, 8_192, usize::MAX] {
        let shown = &body[..body.len().min(60)];
        assert_eq!(passes("B", body.as_bytes(), size), expected, "{shown:?} in pieces of {size}");
    }
}

/// Creates a header of `length` bytes, including the empty line at its end.
fn header(length: usize) -> String {
    let begin = "Content-Disposition: form-data; name=\"";
    format!("{begin}{}\"\r\n\r\n", "x".repeat(length - begin.len() - 5))
}

#[test]
fn only_headers_are_bounded() {
    let long = "y".repeat(3 * MAX);
    check(&format!("--B\r\n{}{long}\r\n--B--\r\n", header(MAX)), true);
    check(&format!("--B\r\n{}content\r\n--B--\r\n", header(MAX + 1)), false);
    let part = format!("--B \t\r\n{}\r\n", header(100));
    check(&format!("{part}--B\r\n{}x\r\n--B--", header(MAX + 1)), false);
    check(&format!("{}--B--", part.repeat(200)), true);
    check(&format!("{part}--B--{long}"), true);
}

#[test]
fn a_header_without_an_end_is_too_long() {
    check(&format!("--B\r\nA: {}", "x".repeat(MAX)), false);
    // multer ignores an empty header and looks for the next empty line.
    check(&format!("--B\r\n\r\n{}", "x".repeat(MAX)), false);
    check(&format!("--B\r\n{}", "\r\n\n\r".repeat(MAX)), false);
}

#[test]
fn text_before_the_first_boundary_is_bounded() {
    check(&format!("{}--B\r\n", "-".repeat(MAX - 3)), true);
    check(&format!("{}--B\r\n", "-".repeat(MAX - 2)), false);
    check(&"-".repeat(2 * MAX), false);
}

#[test]
fn unfolds_only_headers() {
    let text = "x\r\n y\r\n\tz";
    let part = |line: &str| format!("--B\r\nA: b{line}c\r\nD: e\r\n\r\n {text}\r\n");
    let body = |lines: [&str; 3]| {
        let parts: String = lines.into_iter().map(part).collect();
        format!("{text}{parts}--B--\r\n {text}")
    };
    let sent = body(["\r\n ", ";", "\r\n\t \r\n "]);
    let expected = body(["   ", ";", "  \t    "]);
    for size in 1..=sent.len() {
        assert_eq!(passed_on(&sent, size), expected, "in pieces of {size}");
    }
    // A header without an end is not forwarded.
    assert_eq!(passed_on("--B\r\nA: b\r\n c", 5), "--B\r\n");
}

#[test]
fn finds_a_self_repeating_boundary() {
    let long = "y".repeat(2 * MAX);
    for boundary in ["-", "----", "-a-a", "aab"] {
        let body = format!("x---a-aa--{boundary}\r\n{}{long}\r\n--{boundary}--", header(80));
        for size in [1, 5, 4_096] {
            assert!(passes(boundary, body.as_bytes(), size), "{boundary:?}");
        }
    }
}

/// Returns the names of the parts that multer finds, or `None` if it rejects
/// the body.
fn names(body: &str) -> Option<Vec<Option<String>>> {
    let piece = Bytes::copy_from_slice(body.as_bytes());
    let pieces = http_body_util::BodyExt::into_data_stream(http_body_util::Full::new(piece));
    let mut parts = multer::Multipart::new(pieces, "B");
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.build().unwrap().block_on(async {
        let mut names = Vec::new();
        while let Some(part) = parts.next_field().await.ok()? {
            names.push(part.name().map(str::to_owned));
        }
        Some(names)
    })
}

#[test]
fn multer_reads_the_same_parts() {
    // Tokens of the framing, in every order.
    let tokens = ["--B", "\r\n", "\r\n\r\n", "A: b", "x", "--", " "];
    let mut accepted = 0;
    for number in 0..tokens.len().pow(5) {
        let mut rest = number;
        let mut body = String::from("--B\r\nA: b\r\n\r\n");
        for _ in 0..5 {
            body += tokens[rest % tokens.len()];
            rest /= tokens.len();
        }
        let mut headers = PartHeaders::new("B");
        let piece = Bytes::copy_from_slice(body.as_bytes());
        headers.follow(&piece, &mut VecDeque::new()).unwrap();
        if let Some(names) = names(&body) {
            accepted += 1;
            assert!(matches!(headers.place, Place::End), "{body:?} has {} parts", names.len());
        }
    }
    assert!(accepted > 100, "{accepted}");
}
