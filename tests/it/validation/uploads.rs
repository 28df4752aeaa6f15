//! Typed forms with files.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use stockade::RouteDocs;
use stockade::extract::{Body, FilePart, FileStream, Multipart, Query};
use stockade::openapi::OpenApiOptions;
use stockade::prelude::*;
use stockade::testing::{MultipartForm, TestClient, check_schemas};

#[derive(Deserialize, Schema)]
struct Upload {
    #[schema(min_length = 2)]
    title: String,
    #[serde(default)]
    pages: u32,
    #[serde(default)]
    public: bool,
    cover: Option<FilePart>,
    #[serde(default)]
    #[schema(max_items = 2, max_bytes = 8, media_types = ["image/png", "text/*"])]
    previews: Vec<FilePart>,
    #[schema(max_bytes = 20)]
    file: FileStream,
}

async fn upload(Multipart(mut form): Multipart<Upload>) -> Result<Json<Value>, ApiError> {
    let mut content = Vec::new();
    while let Some(bytes) = form.file.chunk().await? {
        content.extend_from_slice(&bytes);
    }
    let previews: Vec<String> = form.previews.iter().map(shown).collect();
    Ok(Json(json!({
        "title": form.title,
        "pages": form.pages,
        "public": form.public,
        "cover": form.cover.as_ref().map(shown),
        "previews": previews,
        "file": [form.file.file_name(), form.file.content_type(), String::from_utf8_lossy(&content)],
    })))
}

fn shown(file: &FilePart) -> String {
    let name = file.file_name.as_deref().unwrap_or("-");
    format!("{name} {}", String::from_utf8_lossy(&file.bytes))
}

fn client() -> TestClient {
    let tree = routes! { "uploads": { POST: upload } };
    let router = create_router(tree, RouterOptions::new());
    TestClient::new(router.open_api(OpenApiOptions::new("Uploads", "1.0.0").public("a test")))
}

fn form() -> MultipartForm {
    MultipartForm::new().text("title", "Tea").text("pages", "7").text("public", "on")
}

#[tokio::test]
async fn reads_a_form_into_a_type() {
    let form = form()
        .file("cover", "c.png", "image/png", "cover")
        .file("previews", "a.png", "image/png", "one")
        .file("previews", "b.txt", "text/plain; charset=utf-8", "two")
        .file("file", "t.txt", "text/plain", "green tea");
    let read: Value = client().post("/uploads").multipart(form).await.json();
    let expected = json!({
        "title": "Tea",
        "pages": 7,
        "public": true,
        "cover": "c.png cover",
        "previews": ["a.png one", "b.txt two"],
        "file": ["t.txt", "text/plain", "green tea"],
    });
    assert_eq!(read, expected);
}

#[tokio::test]
async fn wrong_parts_are_errors_of_their_fields() {
    let client = client();
    let post = async |form: MultipartForm| client.post("/uploads").multipart(form).await;
    let end = |form: MultipartForm| form.file("file", "t", "text/plain", "x");

    let error = post(MultipartForm::new().file("file", "t", "text/plain", "x")).await;
    error.assert_status(400).assert_field_error("title", "required");
    post(form()).await.assert_status(400).assert_field_error("file", "required");
    post(end(form().text("pages", "x"))).await.assert_status(400);
    post(end(MultipartForm::new().text("title", "T")))
        .await
        .assert_field_error("title", "minLength");
    let gif = form().file("previews", "a.gif", "image/gif", "x");
    post(end(gif)).await.assert_field_error("previews", "mediaType");
    let three = (0..3).fold(form(), |form, _| form.file("previews", "a", "image/png", "x"));
    post(end(three)).await.assert_field_error("previews", "maxItems");
    let two = form().file("cover", "a", "a/b", "x").file("cover", "b", "a/b", "x");
    post(end(two)).await.assert_field_error("cover", "type");
    let large = form().file("previews", "a", "image/png", "123456789");
    post(end(large)).await.assert_status(413).assert_error("A part is too large");
    let long = form().file("file", "t", "text/plain", "x".repeat(21));
    post(long).await.assert_status(413);
    let late = end(form()).text("public", "false");
    let error = post(late).await;
    error.assert_status(400).assert_error("The part 'public' must come before the file");
    // A text field with the index of a file is not a file.
    post(end(form().text("cover", "0"))).await.assert_status(200);
}

#[tokio::test]
async fn an_empty_file_of_a_browser_is_absent() {
    let form = form().file("cover", "", "application/octet-stream", "").file(
        "file",
        "t",
        "text/plain",
        "x",
    );
    let read: Value = client().post("/uploads").multipart(form).await.json();
    assert_eq!(read["cover"], Value::Null);
}

#[tokio::test]
async fn the_body_must_be_a_form_with_files() {
    let client = client();
    client.post("/uploads").json(json!({ "title": "Tea" })).await.assert_status(415);
    let broken = client.post("/uploads").header("content-type", "multipart/form-data; boundary=x");
    broken.body("--x\r\nbroken").await.assert_status(400);
}

#[tokio::test]
async fn documents_show_files_and_their_media_types() {
    let document: Value = client().get("/openapi.json").await.json();
    let operation = &document["paths"]["/uploads"]["post"];
    let content = &operation["requestBody"]["content"]["multipart/form-data"];
    assert_eq!(content["encoding"], json!({ "previews": { "contentType": "image/png, text/*" } }));
    let reference = content["schema"]["$ref"].as_str().unwrap();
    let schema = document.pointer(reference.trim_start_matches('#')).unwrap();
    let file = &schema["properties"]["file"];
    assert_eq!((&file["type"], &file["format"]), (&json!("string"), &json!("binary")));
    assert_eq!(schema["properties"]["previews"]["items"]["format"], "binary");
    assert_eq!(schema["required"], json!(["title", "file"]));
}

#[tokio::test]
async fn check_schemas_sends_forms_with_files() {
    let router = create_router(routes! { "uploads": { POST: upload } }, RouterOptions::new());
    let report = check_schemas(router).cases(32).kept_in(None).try_run().await.unwrap();
    assert!(report.is_passed(), "{report}");
    let route = &report.routes[0];
    assert_eq!((route.valid, route.replies.get(&200)), (32, Some(&32)), "{report}");
    assert_eq!((route.rules, route.not_checked.len()), (8, 0), "{report}");
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WithFile {
    file: FilePart,
}

#[test]
fn files_outside_of_forms_with_files_are_configuration_errors() {
    let mut router = Router::new();
    router.post("/body", async |_: Body<WithFile>| "");
    router.get("/query", async |_: Query<WithFile>| "");
    let error = router.build().unwrap_err().to_string();
    assert_eq!(error.matches("only `Multipart<T>` reads files").count(), 2, "{error}");
}

#[test]
fn a_part_above_the_limit_of_the_body_is_a_configuration_error() {
    #[derive(Deserialize, Schema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Large {
        #[schema(max_bytes = 2_000_000)]
        file: FilePart,
    }
    let handler = async |_: Multipart<Large>| "";
    let built = |tree| create_router(tree, RouterOptions::new()).build();
    let error = built(routes! { POST: handler }).unwrap_err().to_string();
    assert!(error.contains("field `file`: `max_bytes` is above the body limit"), "{error}");
    built(routes! { POST: { handler, max_body: 3_000_000 } }).unwrap();
}

#[tokio::test]
async fn a_download_documents_its_media_type() {
    let picture = async || Bytes::from_static(b"png");
    let docs = || RouteDocs::new("A picture").content(200, "image/png");
    let tree = routes! { "picture": { GET: { picture, docs: docs() } } };
    let router = create_router(tree, RouterOptions::new());
    let client =
        TestClient::new(router.open_api(OpenApiOptions::new("Pictures", "1.0.0").public("a test")));
    let document: Value = client.get("/openapi.json").await.json();
    let content = &document["paths"]["/picture"]["get"]["responses"]["200"]["content"];
    let expected = json!({ "image/png": { "schema": { "type": "string", "format": "binary" } } });
    assert_eq!(*content, expected);

    let wrong = RouteDocs::new("A picture").content(200, "png");
    let tree = routes! { GET: { picture, docs: wrong } };
    let error = create_router(tree, RouterOptions::new()).build().unwrap_err().to_string();
    assert!(error.contains("\"png\" is not a media type"), "{error}");
}
