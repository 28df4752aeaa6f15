//! Files that a multipart form sends with an operation.

use stockade::graphql::{GraphQl, UploadOptions, async_graphql as gql};
use stockade::prelude::*;
use stockade::testing::{MultipartForm, TestClient, TestResponse};

use super::client;

pub(super) struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    async fn upload(&self, ctx: &gql::Context<'_>, file: gql::Upload) -> gql::Result<String> {
        let file = file.value(ctx)?;
        let text = String::from_utf8_lossy(&file.content).into_owned();
        Ok(format!("{} {} {text}", file.filename, file.content_type.unwrap_or_default()))
    }

    async fn files(&self, ctx: &gql::Context<'_>, files: Vec<gql::Upload>) -> gql::Result<usize> {
        files.iter().try_fold(0, |sum, file| Ok(sum + file.value(ctx)?.content.len()))
    }
}

pub(super) fn schema() -> gql::SchemaBuilder<super::Query, Mutation, gql::EmptySubscription> {
    gql::Schema::build(super::Query, Mutation, gql::EmptySubscription)
}

const ONE: &str = "mutation($file: Upload!) { upload(file: $file) }";
const SEVERAL: &str = "mutation($files: [Upload!]!) { files(files: $files) }";

fn operations(query: &str, variables: &Value) -> String {
    json!({ "query": query, "variables": variables }).to_string()
}

fn one() -> MultipartForm {
    MultipartForm::new()
        .text("operations", operations(ONE, &json!({ "file": null })))
        .text("map", r#"{"0":["variables.file"]}"#)
}

async fn send(client: &TestClient, form: MultipartForm) -> TestResponse {
    client.post("/graphql").header("graphql-require-preflight", "1").multipart(form).await
}

#[tokio::test]
async fn a_file_replaces_a_variable() {
    let client = client(GraphQl::new(schema()).uploads(UploadOptions::new()));
    let form = one().file("0", "tea.txt", "text/plain", "green");
    let expected = json!({ "data": { "upload": "tea.txt text/plain green" } });
    send(&client, form).await.assert_json(&expected);

    let form = one().file("0", "tea.txt", "text/plain", "green");
    let apollo = client.post("/graphql").header("apollo-require-preflight", "true");
    apollo.multipart(form).await.assert_json(&expected);

    let form = MultipartForm::new()
        .text("operations", operations(SEVERAL, &json!({ "files": [null, null, null] })))
        .text("map", r#"{"a":["variables.files.0","variables.files.2"],"b":["variables.files.1"]}"#)
        .file("a", "a", "text/plain", "12345")
        .file("b", "b", "text/plain", "123");
    send(&client, form).await.assert_json(json!({ "data": { "files": 13 } }));
}

#[tokio::test]
async fn rejects_a_form_without_preflight() {
    let form = || one().file("0", "tea.txt", "text/plain", "green");
    let uploads = client(GraphQl::new(schema()).uploads(UploadOptions::new()));
    uploads.post("/graphql").multipart(form()).await.assert_status(403);
    let empty = uploads.post("/graphql").header("graphql-require-preflight", "");
    empty.multipart(form()).await.assert_status(403);
    let without = client(GraphQl::new(schema()));
    send(&without, form()).await.assert_status(415);
}

#[tokio::test]
async fn files_are_bounded() {
    let uploads = UploadOptions::new().max_files(1).max_file_bytes(200);
    let client = client(GraphQl::new(schema()).uploads(uploads).max_body(2_000));
    let large = |bytes: usize| one().file("0", "a", "text/plain", "x".repeat(bytes));
    send(&client, large(200)).await.assert_status(200);
    send(&client, large(201)).await.assert_status(413);
    send(&client, large(2_000)).await.assert_status(413);
    let form = MultipartForm::new()
        .text("operations", operations(SEVERAL, &json!({ "files": [null, null] })))
        .text("map", r#"{"a":["variables.files.0"],"b":["variables.files.1"]}"#)
        .file("a", "a", "text/plain", "1")
        .file("b", "b", "text/plain", "1");
    send(&client, form).await.assert_status(413);
}

#[tokio::test]
async fn a_form_follows_the_multipart_specification() {
    let client = client(GraphQl::new(schema()).uploads(UploadOptions::new()));
    let operations = || operations(ONE, &json!({ "file": null }));
    let file = |form: MultipartForm| form.file("0", "a", "text/plain", "1");
    for form in [
        MultipartForm::new(),
        MultipartForm::new().text("operations", operations()),
        MultipartForm::new().text("map", "{}").text("operations", operations()),
        MultipartForm::new().text("operations", "{").text("map", "{}"),
        MultipartForm::new().text("operations", format!("[{}]", operations())).text("map", "{}"),
        MultipartForm::new().text("operations", operations()).text("map", "[]"),
        // The file is missing, absent from the map, or mapped to an invalid
        // path.
        one(),
        file(MultipartForm::new().text("operations", operations()).text("map", "{}")),
        file(
            MultipartForm::new().text("operations", operations()).text("map", r#"{"0":["file"]}"#),
        ),
        file(
            MultipartForm::new()
                .text("operations", operations())
                .text("map", r#"{"0":["variables.file","variables.file"]}"#),
        ),
        file(
            MultipartForm::new()
                .text("operations", operations())
                .text("map", r#"{"0":["variables.file.0"]}"#),
        ),
    ] {
        send(&client, form).await.assert_status(400);
    }
    // With an empty map, the variable gets no file.
    let form = MultipartForm::new().text("operations", operations()).text("map", "{}");
    let answer: Value = send(&client, form).await.json();
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("$file"), "{answer}");
}
