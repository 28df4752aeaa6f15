//! Tests tables of accepted and rejected bytes.

use super::Guard;

/// Returns the position of the first rejected byte, for pieces of this size.
pub(super) fn refused(bytes: &[u8], piece: usize) -> Option<usize> {
    let mut guard = Guard::new();
    for (index, piece_of) in bytes.chunks(piece).enumerate() {
        if let Err(good) = guard.read(piece_of) {
            return Some(index * piece + good);
        }
    }
    None
}

/// Checks that the bytes after `|` are rejected, or that all are accepted
/// without a `|`.
#[track_caller]
fn check(case: impl AsRef<[u8]>) {
    let case = case.as_ref();
    let bar = case.iter().position(|byte| *byte == b'|');
    let bytes: Vec<u8> = case.iter().copied().filter(|byte| *byte != b'|').collect();
    for piece in 1..=bytes.len() {
        let shown = String::from_utf8_lossy(case);
        assert_eq!(refused(&bytes, piece), bar, "{shown:?} in pieces of {piece}");
    }
}

/// Checks the lines of a head, followed by another request.
#[track_caller]
fn check_lines(lines: &str) {
    check(format!("POST /x HTTP/1.1\r\nHost: a\r\n{lines}"));
}

/// Checks a chunked body, followed by another request.
#[track_caller]
fn check_body(body: impl AsRef<[u8]>) {
    let head = b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    check([head, body.as_ref()].concat());
}

#[test]
fn the_lines_of_a_head_end_with_cr_and_lf() {
    check("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    check("GET / HTTP/1.1|\nHost: a\r\n\r\n");
    check("GET / HTTP/1.1\r\nHost: a|\nX: y\r\n\r\n");
    check("GET / HTTP/1.1\r\nHost: a\r\n|\n");
    check("GET / HTTP/1.1\r\nHost: a\r\n\r|x");
    check("GET / HTTP/1.1\r\nCookie|\n\r\n");
    check("GET / HTTP/1.1\r\nT|\n\r\n");
    check("GET / HTTP/1.1\r\nContent-Length|\n\r\n");
    // Left to hyper, which rejects it.
    check("GET / HTTP/1.1\rHost: a\r\n\r\n");
}

#[test]
fn accepts_one_empty_line_before_a_request() {
    check("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET / HTTP/1.1\r\n");
    check("\r\n|\r\nGET / HTTP/1.1\r\n");
    check("|\nGET / HTTP/1.1\r\n");
    check("\r|xGET / HTTP/1.1\r\n");
    check("GET / HTTP/1.1\r\n\r\n\r\n|\r\n");
}

#[test]
fn rejects_a_fragment_in_the_target() {
    check("GET /x|#y HTTP/1.1\r\n");
    check("GET /x?y|# HTTP/1.1\r\n");
    check("GET http://a/|#y HTTP/1.1\r\n");
    check("GET /x HTTP/1.1\r\nX#y: #z\r\n\r\n");
    check("#G#T# /x|# HTTP/1.1\r\n");
    check("G#T /x HTTP/1.1\r\nX: y\r\n\r\n");
}

#[test]
fn a_length_is_a_number() {
    for value in ["0", "5", " 5", "\t5 ", "  5 \t", "10", "1000000000000000000"] {
        check_lines(&format!("Content-Length:{value}\r\n"));
        check_lines(&format!("cOnTeNt-LeNgTh:{value}\r\nX: y\r\nContent-Length:{value}\r\n"));
    }
    for value in [
        "|\r",
        " |\r",
        "|+5",
        "|-0",
        "|x",
        "5|x",
        "5|,5",
        "5|, 10",
        "1 |0",
        "1|_0",
        "0|x5",
        "0|o5",
        "0|0",
        "0|05",
        "5|\n",
        "5\r|x",
        "100000000000000000|1",
        "|\"5\"",
    ] {
        check_lines(&format!("Content-Length:{value}\r\n"));
    }
    check_lines("Content-Length: 5\r\nContent-Length: 6\r|\n");
    for other in ["Content-Lengths: x", "X-Content-Length: x", "Content-Leng: x", "Content-Type: x"]
    {
        check_lines(&format!("{other}\r\nContent-Length: 1\r\n\r\nxGET"));
    }
}

#[test]
fn a_body_of_a_length_ends_where_the_next_request_begins() {
    check("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\n\nGET / HTTP/1.1\r\n\r\n");
    check("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\n\n|\nGET / HTTP/1.1\r\n\r\n");
    check("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n|\n");
    // The length of one request does not apply to the next.
    check("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nxGET / HTTP/1.1\r\n\r\n|\n");
}

#[test]
fn chunked_is_the_last_coding() {
    for value in
        ["chunked", " Chunked", "\tCHUNKED \t", " gzip, chunked", ",chunked", "chunked,chunked"]
    {
        check_lines(&format!("Transfer-Encoding:{value}\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n"));
    }
    for value in
        ["", "chunked, gzip", "chunked,", "xchunked", "chunkedx", "chunk ed", "chunked;x=y"]
    {
        check_lines(&format!("Transfer-Encoding:{value}\r\n\r|\n"));
    }
    check_lines("Transfer-Encoding: chunked|\n\r\n");
    check_lines("Transfer-Encoding: chunked\r\ntransfer-encoding: gzip\r\n\r|\n");
    check_lines("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET");
}

#[test]
fn rejects_a_length_together_with_a_coding() {
    check_lines("Content-Length: 5\r\nTransfer-Encoding: chunked\r|\n");
    check_lines("Transfer-Encoding: chunked\r\nContent-Length: 5\r|\n");
    check_lines("Transfer-Encoding: identity\r\nX: y\r\nContent-Length: 0\r|\n");
}

#[test]
fn rejects_names_similar_to_framing_headers() {
    check_lines("Content_Length|: 5\r\n");
    check_lines("content_length|: 5\r\n");
    check_lines("Transfer_Encoding|: chunked\r\n");
    check_lines("Content_Type: x\r\nTransfer_Encodings: x\r\nX_Content_Length: x\r\n\r\n");
}

#[test]
fn chunks_have_a_size_and_an_end() {
    let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n|\n";
    check_body(format!("0\r\n\r\n{next}"));
    check_body(format!("5\r\nhello\r\n0\r\n\r\n{next}"));
    check_body(format!("000000000000000A\r\n\n\r\n\n\r\n\n\r\n\n\r\n00\r\n\r\n{next}"));
    check_body("0000000000000000|0");
    check_body("ffffffffffffffff\r\nx");
    check_body("ffffffffffffffff|f");
    for wrong in [
        "|\r\n",
        "|x",
        "| 5\r\n",
        "|-1\r\n",
        "|+5\r\n",
        "0|x5\r\n",
        "1|_0\r\n",
        "5|\n",
        "5\r|hello",
        "5 |\r\n",
        "5\t |5",
        "5\r\nhello|0\r\n",
        "5\r\nhello|!!",
        "5\r\nhello\r|0",
        "5\r\nhello|\n",
        "|;a\r\n",
    ] {
        check_body(wrong);
    }
}

#[test]
fn extensions_have_names_and_optional_values() {
    for good in [
        ";a",
        ";a=b",
        ";a=b;c",
        " ;a",
        "\t ; a \t= b",
        ";a=\"\"",
        ";a=\"b;\"",
        ";a ;b",
        ";a=\"\\\"\\\\ \t\u{e9}\";b",
        ";a=b ;c",
        ";a=\"b\" ;c",
        ";!#$%&'*+-.^_`~=1",
    ] {
        check_body(format!("5{good}\r\nhello\r\n0{good}\r\n\r\nGET"));
    }
    for wrong in [
        ";|\r\n",
        "; |\r\n",
        ";|=b",
        ";|;a",
        ";a=|\r\n",
        ";a= |;",
        ";a |\r\n",
        ";a |b",
        ";a=b |\r\n",
        ";a=b |c",
        ";bad|[=x",
        ";|\0ext",
        ";a=|[",
        ";a=b|\0",
        ";a=\"b|\r\n",
        ";a=\"b|\n",
        ";a=\"\\|\r",
        ";a=\"b\"|c",
        ";a|\n",
        ";a=b\r|\r",
    ] {
        check_body(format!("5{wrong}"));
    }
    let name = "a".repeat(1_024 - "5;\r\n".len());
    check_body(format!("5;{name}\r\nhello\r\n5;{name}\r\nhello"));
    check_body(format!("5;{name}a\r|\n"));
}

#[test]
fn trailers_are_lines_of_headers() {
    for good in ["X: y\r\n", "X:\r\n", "X: \u{e9}\t\r\nY:z\r\n"] {
        check_body(format!("0\r\n{good}\r\nGET / HTTP/1.1\r\n"));
    }
    for wrong in
        ["|\n", "\r|x", "X: y|\n", "X: y\r|x", "X|\r\n", "X| : y", "| X: y", "|: y", "X: |\0"]
    {
        check_body(format!("0\r\n{wrong}"));
    }
    // 16,384 bytes with the empty line, and then one more.
    let lines = "X: yyyyyyyyyyy\r\n".repeat(1_023);
    for (last, expected) in [("X: yyyyyyyyy\r\n", None), ("X: yyyyyyyyyy\r\n", Some(16_384))] {
        let mut guard = Guard::new();
        guard.read(b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n").unwrap();
        assert_eq!(guard.read(format!("{lines}{last}\r\n").as_bytes()).err(), expected);
    }
}
