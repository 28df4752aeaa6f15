//! Static files over a real port: ranges, conditional requests, HEAD and file
//! names.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use stockade::extract::FileName;
use stockade::middleware::{FileReply, FileRequest, with_compression};
use stockade::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::block_on;

/// A folder with a 300,000-byte file that was last changed long ago.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("stockade-it-files-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let file = path.join("lines.txt");
        std::fs::write(&file, lines()).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns 30,000 lines of ten bytes each.
fn lines() -> String {
    (0..30_000).map(|line| format!("{line:09}\n")).collect()
}

async fn show(
    file: FileRequest,
    State(folder): State<PathBuf>,
    Path(name): Path<FileName>,
) -> Result<FileReply, ApiError> {
    file.within(folder.as_path(), &name).await
}

async fn download(file: FileRequest, State(folder): State<PathBuf>) -> Result<FileReply, ApiError> {
    Ok(file.open(folder.join("lines.txt")).await?.download("Zeilen für alle.txt"))
}

/// Sends a request on a new connection and returns the head and the body.
async fn exchange(address: std::net::SocketAddr, request: &str, more: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

#[track_caller]
fn has(head: &str, lines: &[&str]) {
    for line in lines {
        assert!(head.split("\r\n").any(|known| known.starts_with(line)), "{line} in {head}");
    }
}

#[test]
fn sends_a_file_completely_and_in_ranges_over_a_port() {
    let folder = Folder::new();
    let tree = routes! {
        "files": { ":name": { GET: show } },
        "download": { GET: download },
        "packed": { middleware: [with_compression()], ":name": { GET: show } },
    };
    let options = RouterOptions::new().rate_limit(false);
    block_on(async {
        let router = create_router(tree, options).state(folder.0.clone());
        let server = router.create_server().unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        let served = tokio::spawn(server.serve());
        let get = async |more: &str| exchange(address, "GET /files/lines.txt", more).await;

        let (head, body) = get("").await;
        has(
            &head,
            &[
                "http/1.1 200 ",
                "content-length: 300000",
                "content-type: text/plain; charset=utf-8",
                "accept-ranges: bytes",
                "last-modified: sun, 06 nov 1994 08:49:37 gmt",
                "x-content-type-options: nosniff",
            ],
        );
        assert_eq!(body, lines());
        let etag = head.split("\r\n").find_map(|line| line.strip_prefix("etag: ")).unwrap();

        let (head, body) = get("Range: bytes=10-19\r\n").await;
        has(&head, &["http/1.1 206 ", "content-length: 10", "content-range: bytes 10-19/300000"]);
        assert_eq!(body, "000000001\n");
        // The client resumes an interrupted download.
        let more = format!("Range: bytes=100000-\r\nIf-Range: {etag}\r\n");
        let (head, body) = get(&more).await;
        has(&head, &["http/1.1 206 ", "content-length: 200000"]);
        assert_eq!(body, &lines()[100_000..]);
        let (head, _) = get("Range: bytes=300000-\r\n").await;
        has(&head, &["http/1.1 416 ", "content-range: bytes */300000"]);

        let (head, body) = get(&format!("If-None-Match: {etag}\r\n")).await;
        has(&head, &["http/1.1 304 ", &format!("etag: {etag}")]);
        assert_eq!(body, "");
        assert!(!head.contains("content-type:"), "{head}");
        has(&get("If-Match: \"other\"\r\n").await.0, &["http/1.1 412 "]);

        let (head, body) =
            exchange(address, "HEAD /files/lines.txt", "Range: bytes=10-19\r\n").await;
        has(&head, &["http/1.1 200 ", "content-length: 300000"]);
        assert_eq!(body, "");
        let (head, _) = exchange(address, "GET /download", "").await;
        has(
            &head,
            &["content-disposition: attachment; filename=\"zeilen f_r alle.txt\"; \
               filename*=utf-8''zeilen%20f%c3%bcr%20alle.txt"],
        );
        for (name, status) in
            [("other.txt", "404"), ("..%2flines.txt", "400"), ("%2e%2e", "400"), ("a%00b", "400")]
        {
            let (head, _) = exchange(address, &format!("GET /files/{name}"), "").await;
            has(&head, &[&format!("http/1.1 {status} ")]);
        }
        // A range applies to the file rather than to its compressed bytes.
        let packed = async |more: &str| exchange(address, "HEAD /packed/lines.txt", more).await.0;
        let head = packed("Accept-Encoding: gzip\r\n").await;
        has(&head, &["content-encoding: gzip", &format!("etag: w/{etag}")]);
        let more = "Accept-Encoding: gzip\r\nRange: bytes=10-19\r\n";
        let (head, body) = exchange(address, "GET /packed/lines.txt", more).await;
        has(&head, &["http/1.1 206 "]);
        assert_eq!(body, "000000001\n");

        handle.shutdown();
        served.await.unwrap().unwrap();
    });
}
