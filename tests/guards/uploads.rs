//! Uploaded files that a browser may run as a page, one way at a time.

use stockade::extract::{FileName, FilePart, Multipart};
use stockade::middleware::files::{FileDownload, FileReply, FileRequest};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::reply::Download;
use stockade::testing::TestClient;

use crate::block_on;

#[derive(serde::Deserialize, Schema)]
struct Upload {
    #[schema(max_bytes = 1_000)]
    file: FilePart,
}

async fn save(Multipart(upload): Multipart<Upload>) -> String {
    upload.file.bytes.len().to_string()
}

async fn replace(body: Bytes) -> String {
    body.len().to_string()
}

/// A stored page, and the media type that its client chose.
const PAGE: &str = "<script>alert(1)</script>";

async fn download() -> Download {
    Download::new(PAGE).media_type("text/html").named("a.html")
}

async fn shown() -> ([(&'static str, &'static str); 1], &'static str) {
    ([("content-type", "text/html")], PAGE)
}

async fn file(file: FileRequest, Path(name): Path<FileName>) -> Result<FileReply, ApiError> {
    file.within(concat!(env!("CARGO_MANIFEST_DIR"), "/guards"), &name).await
}

async fn saved_file(request: FileRequest, name: Path<FileName>) -> Result<FileDownload, ApiError> {
    Ok(file(request, name).await?.uploaded("a.rs"))
}

/// Returns the findings of the rule.
fn findings(policy: &Policy, api: RouteTree) -> Vec<String> {
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    let found = policy.check(&map).into_iter().filter(|it| it.rule == "uploads-downloaded");
    found.map(|finding| finding.to_string()).collect()
}

#[test]
fn the_policy_finds_uploads_that_a_browser_may_run() {
    #[track_caller]
    fn check(api: RouteTree, route: &str) {
        let found = findings(&Policy::strict(), api);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&format!("{route}: [uploads-downloaded]")), "{found:?}");
        assert!(found[0].contains("return `Download`"), "{found:?}");
        assert!(found[0].contains(&format!("({}:", file!())), "{found:?}");
    }
    #[track_caller]
    fn check_none(policy: &Policy, api: RouteTree) {
        let found = findings(policy, api);
        assert!(found.is_empty(), "{found:?}");
    }
    let strict = &Policy::strict();
    check_none(strict, routes! { "files": { POST: save, ":id": { GET: download } } });
    check_none(strict, routes! { "files/:name": { PUT: replace, GET: saved_file } });
    check(routes! { "files": { POST: save, ":id": { GET: shown } } }, "GET /files/:id");
    check(routes! { "files/:name": { PUT: replace, GET: file } }, "GET /files/:name");
    // Nobody uploads these files.
    check_none(strict, routes! { "files/:name": { GET: file } });
    let reason = "only the staff uploads";
    let policy = Policy::strict().allow("uploads-downloaded", "GET /files/:id", reason);
    check_none(&policy, routes! { "files": { POST: save, ":id": { GET: shown } } });
}

#[test]
fn uploads_are_downloads() {
    let api = routes! {
        "download": { GET: download },
        "files/:name": { GET: saved_file },
    };
    let router = create_router(api, RouterOptions::new());
    let client = TestClient::new(router).with_contract();
    for path in ["/download", "/files/main.rs"] {
        let sent = block_on(async { client.get(path).await });
        sent.assert_status(200).assert_header("content-type", "application/octet-stream");
        sent.assert_header("x-content-type-options", "nosniff");
        sent.assert_header("content-security-policy", "sandbox; default-src 'none'");
        let disposition = sent.header("content-disposition").unwrap();
        assert!(disposition.starts_with("attachment; filename="), "{disposition}");
    }
}
