//! Uploaded files that a browser may run as a page, one way at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;

use stockade::auth::generate_jwt;
use stockade::extract::{FileName, FilePart, Headers, Multipart};
use stockade::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use stockade::http::{HeaderMap, HeaderValue};
use stockade::middleware::files::{FileDownload, FileReply, FileRequest};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::reply::Download;
use stockade::testing::{AttackFamily, Credentials, Hardening, HardeningReport, TestClient};
use stockade::{HttpBody, Reply};

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

/// The defect of a program that serves the files of its clients.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    ClientType,
    Name,
    Sniffed,
}

struct Stored {
    name: String,
    media_type: String,
    bytes: Bytes,
}

/// The files by their ids.
#[derive(Default)]
struct Files(Mutex<BTreeMap<String, Stored>>);

impl Files {
    fn put(&self, id: Option<&str>, stored: Stored) -> String {
        let mut files = self.0.lock().unwrap();
        let id = id.map_or_else(|| format!("file-{}", files.len()), str::to_owned);
        files.insert(id.clone(), stored);
        id
    }

    fn get(&self, id: &str, fault: Fault) -> Result<Response, ApiError> {
        let files = self.0.lock().unwrap();
        let Stored { name, media_type, bytes } = files.get(id).ok_or_else(ApiError::not_found)?;
        let (media_type, disposition) = match fault {
            Fault::None => {
                let file = Download::new(bytes.clone()).media_type(media_type);
                return file.named(name).into_response();
            }
            Fault::ClientType => (media_type.as_str(), "inline".to_owned()),
            Fault::Name => ("application/octet-stream", format!("attachment; filename=\"{name}\"")),
            Fault::Sniffed => ("application/octet-stream", "attachment".to_owned()),
        };
        let mut response = Response::new(HttpBody::from(bytes.clone()));
        let value = |text: &str| HeaderValue::from_bytes(text.as_bytes()).unwrap();
        response.headers_mut().insert(CONTENT_TYPE, value(media_type));
        response.headers_mut().insert(CONTENT_DISPOSITION, value(&disposition));
        Ok(response)
    }
}

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

async fn add(files: State<Files>, Multipart(upload): Multipart<Upload>) -> Value {
    let FilePart { file_name, content_type, bytes, .. } = upload.file;
    let (name, media_type) = (file_name.unwrap_or_default(), content_type.unwrap_or_default());
    json!({ "id": files.put(None, Stored { name, media_type, bytes }) })
}

fn raw(headers: &HeaderMap, bytes: Bytes) -> Stored {
    let media_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    Stored { name: String::new(), media_type: media_type.to_owned(), bytes }
}

async fn add_raw(
    files: State<Files>,
    Headers(headers): Headers,
    bytes: Bytes,
) -> (StatusCode, HeaderMap, &'static str) {
    let id = files.put(None, raw(&headers, bytes));
    let location = HeaderValue::from_str(&format!("/posts/{id}/picture")).unwrap();
    (StatusCode::CREATED, HeaderMap::from_iter([(LOCATION, location)]), "saved")
}

async fn put_raw(
    files: State<Files>,
    Path(name): Path<FileName>,
    Headers(headers): Headers,
    bytes: Bytes,
) -> &'static str {
    files.put(Some(&name), raw(&headers, bytes));
    "saved"
}

/// Programs with one kind of upload each: forms with an id in the response, names
/// in the path, and a link in `Location`.
fn programs(fault: Fault) -> [(&'static str, Router); 3] {
    let show =
        move || async move |files: State<Files>, Path(id): Path<String>| files.get(&id, fault);
    let trees = [
        (
            "GET /files/:id",
            routes! { auth: Auth::secret(secret()), "files": { POST: add, ":id": { GET: show() } } },
        ),
        ("GET /avatars/:name", routes! { "avatars/:name": { PUT: put_raw, GET: show() } }),
        (
            "GET /posts/:post/picture",
            routes! { "pictures": { POST: add_raw }, "posts/:post/picture": { GET: show() } },
        ),
    ];
    let options = || RouterOptions::new().enable_security_headers(fault != Fault::Sniffed);
    trees.map(|(route, api)| (route, create_router(api, options()).state(Files::default())))
}

fn attacked(router: Router) -> HardeningReport {
    let user = |_: &[&str]| {
        let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret());
        Some(Credentials::bearer(token.unwrap()))
    };
    let hardening = Hardening::new(router).users(user).only([AttackFamily::Uploads]);
    block_on(hardening.run())
}

#[test]
fn finds_files_that_a_browser_would_run() {
    #[track_caller]
    fn check(fault: Fault, uploaded: &str, found: &str, programs_with_names: bool) {
        for (route, router) in programs(fault) {
            let report = attacked(router);
            if programs_with_names && route != "GET /files/:id" {
                report.assert();
                continue;
            }
            let failure = report.failures.iter().find(|it| it.attack.starts_with(uploaded));
            let failure = failure.unwrap_or_else(|| panic!("{fault:?}, {route}\n{report}"));
            assert_eq!(failure.family, AttackFamily::Uploads);
            assert_eq!(failure.route.as_deref(), Some(route), "{report}");
            assert!(failure.found.contains(found), "{report}");
            assert!(failure.rule.contains("never runs an uploaded file"), "{report}");
            let place = failure.location.as_ref().unwrap();
            assert!(place.file.ends_with("guards/uploads.rs") && place.line > 0, "{report}");
        }
    }
    let inline = "a browser runs it: its type is text/html, and it is shown inline";
    check(Fault::ClientType, "HTML with the type text/html", inline, false);
    let inline = "a browser runs it: its type is image/svg+xml";
    check(Fault::ClientType, "SVG", inline, false);
    let guessed = "the response has application/octet-stream and no `X-Content-Type-Options";
    check(Fault::Sniffed, "HTML with the type image/png", guessed, false);
    check(Fault::Name, "HTML with the type text/html", "has a path", true);
    check(Fault::Name, "SVG", "adds a parameter", true);
}

#[test]
fn reports_nothing_about_downloads() {
    for (route, router) in programs(Fault::None) {
        let report = attacked(router);
        report.assert();
        assert_eq!(report.count(AttackFamily::Uploads).passed, 3, "{route}\n{report}");
    }
    // Nothing leads to the file.
    let hidden = attacked(create_router(routes! { "in": { POST: replace } }, RouterOptions::new()));
    hidden.assert();
    let count = hidden.count(AttackFamily::Uploads);
    assert_eq!((count.passed, count.not_attacked), (0, 0), "{hidden}");
}
