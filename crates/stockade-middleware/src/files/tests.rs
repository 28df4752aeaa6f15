//! Tests that serve files of a temporary folder.

use std::io::Read as _;
use std::time::Duration;

use stockade_core::HttpBody;

use super::*;

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stockade-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file with this time of the last change.
    fn file(&self, name: &str, bytes: &[u8], modified: SystemTime) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns 1994-11-06 08:49:37.5.
fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_500)
}

fn file_request(method: &Method, head: &str) -> FileRequest {
    let mut headers = http::HeaderMap::new();
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        headers.append(http::HeaderName::try_from(name).unwrap(), value.parse().unwrap());
    }
    FileRequest {
        conditions: Some(Preconditions::of(method, &headers)),
        range: RangeRequest::of(method, &headers),
    }
}

async fn bytes_of(mut body: HttpBody) -> Result<Vec<Vec<u8>>, stockade_core::BoxError> {
    use http_body::Body as _;

    let mut chunks = Vec::new();
    while let Some(frame) =
        std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await
    {
        chunks.push(frame?.into_data().unwrap().to_vec());
    }
    Ok(chunks)
}

/// Returns the status, the named headers, and the text of a response.
async fn answer(reply: Result<FileReply, ApiError>, names: &[&str]) -> String {
    let (status, headers, text) = match reply.and_then(Reply::into_response) {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let shown =
                |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            let headers: Vec<_> = names.iter().map(|name| shown(name)).collect();
            let text = bytes_of(body).await.unwrap().concat();
            (head.status.as_u16(), headers, String::from_utf8(text).unwrap())
        }
        Err(error) => {
            let shown = |name: &str| {
                error.headers().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
            };
            (error.status(), names.iter().map(|name| shown(name)).collect(), String::new())
        }
    };
    let headers = headers.into_iter().map(|value| value.unwrap_or_else(|| "-".into()));
    format!("{status} {} {text}", headers.collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn conditions_and_ranges_determine_the_response() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let folder = Folder::new("conditions");
    let path = folder.file("a.txt", b"0123456789", long_ago());
    let tag = Opened { file: File::open(&path).unwrap(), length: 10, modified: Some(long_ago()) }
        .etag(true)
        .unwrap()
        .to_string();
    for (head, expected) in [
        (String::new(), "200 - 0123456789"),
        ("range: bytes=2-4".into(), "206 bytes 2-4/10 234"),
        ("range: bytes=-1".into(), "206 bytes 9-9/10 9"),
        ("range: bytes=0-".into(), "206 bytes 0-9/10 0123456789"),
        ("range: bytes=10-".into(), "416 bytes */10 "),
        ("range: bytes=0-1,4-5".into(), "200 - 0123456789"),
        ("range: bytes=x".into(), "200 - 0123456789"),
        (format!("range: bytes=2-4\nif-range: {tag}"), "206 bytes 2-4/10 234"),
        (format!("range: bytes=2-4\nif-range: {DATE}"), "206 bytes 2-4/10 234"),
        ("range: bytes=2-4\nif-range: \"other\"".into(), "200 - 0123456789"),
        (format!("if-none-match: W/{tag}"), "304 - "),
        (format!("if-none-match: {tag}\nrange: bytes=2-4"), "304 - "),
        ("if-none-match: \"other\"\nrange: bytes=2-4".into(), "206 bytes 2-4/10 234"),
        (format!("if-modified-since: {DATE}"), "304 - "),
        (format!("if-match: {tag}"), "200 - 0123456789"),
        ("if-match: \"other\"\nrange: bytes=99-".into(), "412 - "),
        ("if-unmodified-since: Sun, 06 Nov 1994 08:49:36 GMT".into(), "412 - "),
    ] {
        let reply = file_request(&Method::GET, &head).open(&path).await;
        assert_eq!(answer(reply, &["content-range"]).await, expected, "{head}");
    }
    let reply = file_request(&Method::GET, "").open(&path).await;
    let names = ["content-type", "accept-ranges", "etag", "last-modified"];
    let expected = format!("200 text/plain; charset=utf-8 bytes {tag} {DATE} 0123456789");
    assert_eq!(answer(reply, &names).await, expected);
}

#[tokio::test]
async fn finds_only_files_of_the_folder() {
    let outside = Folder::new("outside");
    let secret = outside.file("secret.txt", b"secret", long_ago());
    let folder = Folder::new("inside");
    folder.file("a.txt", b"a", long_ago());
    fs::create_dir_all(folder.0.join("sub")).unwrap();
    let find = async |name: &str| {
        let name: FileName = name.parse().unwrap();
        answer(file_request(&Method::GET, "").within(&folder.0, &name).await, &[]).await
    };
    assert_eq!(find("a.txt").await, "200  a");
    assert_eq!(find("b.txt").await, "404  ");
    assert_eq!(find("sub").await, "404  ");
    let long = "x".repeat(255);
    assert_eq!(find(&long).await, "404  ");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;

        symlink(&secret, folder.0.join("out.txt")).unwrap();
        symlink(&outside.0, folder.0.join("folder")).unwrap();
        symlink(folder.0.join("a.txt"), folder.0.join("in.txt")).unwrap();
        symlink("loop", folder.0.join("loop")).unwrap();
        assert_eq!(find("out.txt").await, "404  ");
        assert_eq!(find("folder").await, "404  ");
        assert_eq!(find("in.txt").await, "200  a");
        assert_eq!(find("loop").await, "500  ");
    }
    let open =
        async |path: PathBuf| answer(file_request(&Method::GET, "").open(path).await, &[]).await;
    assert_eq!(open(secret).await, "200  secret");
    assert_eq!(open(folder.0.clone()).await, "404  ");
    assert_eq!(open("a\0b".into()).await, "404  ");
    assert_eq!(open(folder.0.join("a.txt/b")).await, "404  ");
    #[cfg(unix)]
    assert_eq!(open("/dev/null".into()).await, "404  ");
    let missing = folder.0.join("no folder");
    let name: FileName = "a.txt".parse().unwrap();
    let reply = file_request(&Method::GET, "").within(missing, &name).await;
    assert_eq!(answer(reply, &[]).await, "500  ");
}

#[tokio::test]
async fn does_not_overwrite_a_retained_chunk() {
    let folder = Folder::new("kept");
    let bytes: Vec<u8> = (0..400_000_u32).map(|index| (index % 251) as u8).collect();
    let path = folder.file("a.bin", &bytes, long_ago());
    let reply = file_request(&Method::GET, "").open(&path).await.unwrap();
    let mut body = reply.into_response().unwrap().into_body();
    let mut kept = Vec::new();
    while let Some(chunk) = body.chunk().await.unwrap() {
        // Every second chunk is dropped, so its memory may be reused.
        if kept.len() % 2 == 0 {
            kept.push(chunk);
        } else {
            kept.push(chunk.to_vec().into());
        }
    }
    assert_eq!(kept.concat(), bytes);
}

#[test]
fn completes_a_partially_read_chunk() {
    let folder = Folder::new("part");
    let mut file = File::open(folder.file("a", b"abcdef", long_ago())).unwrap();
    let mut chunk = bytes::BytesMut::zeroed(6);
    file.read_exact(&mut chunk[..2]).unwrap();
    let (_, chunk) = chunks::read(file, chunk, 2).unwrap();
    assert_eq!(chunk, "abcdef");
}

#[tokio::test]
async fn reads_a_file_in_chunks_up_to_its_announced_length() {
    let folder = Folder::new("chunks");
    let bytes: Vec<u8> = (0..200_000_u32).map(|index| (index % 251) as u8).collect();
    let path = folder.file("a.bin", &bytes, long_ago());
    let open = async || file_request(&Method::GET, "").open(&path).await.unwrap();
    let body = async || open().await.into_response().unwrap().into_body();

    let chunks = bytes_of(body().await).await.unwrap();
    assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [65_536, 65_536, 65_536, 3_392]);
    assert_eq!(chunks.concat(), bytes);
    let hint = http_body::Body::size_hint(&body().await).exact();
    assert_eq!(hint, Some(200_000));

    let longer = body().await;
    fs::write(&path, [bytes.as_slice(), b"more"].concat()).unwrap();
    assert_eq!(bytes_of(longer).await.unwrap().concat(), bytes);
    let shorter = body().await;
    fs::write(&path, "short").unwrap();
    assert!(bytes_of(shorter).await.is_err());
}

#[tokio::test]
async fn a_recently_changed_file_has_a_weak_tag_and_no_range() {
    let folder = Folder::new("young");
    let now = SystemTime::now();
    let path = folder.file("a.txt", b"0123", now);
    let etag =
        Opened { file: File::open(&path).unwrap(), length: 4, modified: Some(now) }.etag(false);
    let etag = etag.unwrap().to_string();
    assert!(etag.starts_with("W/"));
    for condition in [etag, httpdate::fmt_http_date(now)] {
        let head = format!("range: bytes=0-1\nif-range: {condition}");
        let reply = file_request(&Method::GET, &head).open(&path).await;
        assert_eq!(answer(reply, &["content-range"]).await, "200 - 0123", "{condition}");
    }
}

#[test]
fn the_type_follows_from_the_extension() {
    for (name, expected) in [
        ("a.png", "image/png"),
        ("a.HTML", "text/html; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml"),
        ("a.unknown", "application/octet-stream"),
        ("png", "application/octet-stream"),
        ("", "application/octet-stream"),
    ] {
        assert_eq!(content_type(Path::new(name)), expected, "{name}");
    }
}

#[test]
fn download_names_are_encoded() {
    for (name, expected) in [
        ("a b.csv", "attachment; filename=\"a b.csv\""),
        ("../a.csv", "attachment; filename=\"a.csv\""),
        ("c:\\a.csv", "attachment; filename=\"a.csv\""),
        ("é€.txt", "attachment; filename=\"__.txt\"; filename*=UTF-8''%C3%A9%E2%82%AC.txt"),
        ("a\"b", "attachment; filename=\"a_b\"; filename*=UTF-8''a%22b"),
        ("100%", "attachment; filename=\"100_\"; filename*=UTF-8''100%25"),
        ("a\r\nx: y", "attachment; filename=\"ax: y\""),
        ("", "attachment"),
    ] {
        assert_eq!(attachment(name), expected, "{name}");
    }
}
