//! Programs from public issues of other projects, written with stockade.
//!
//! Each test names the issue with its program. The other projects could not
//! express it, or only without a schema.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade::auth::{Revocations, TokenIssuer, TokenVerifier, UnixClock};
use stockade::extract::{FilePart, FileStream, Multipart};
use stockade::i18n::Catalogs;
use stockade::openapi::OpenApiOptions;
use stockade::prelude::*;
use stockade::testing::{MultipartForm, TestClient};
use stockade::upgrade::Upgrade;
use stockade::validation::{ValidationOptions, schema};
use stockade::websockets::{Deflate, WebSocketOptions};

use crate::support::{app, request};

fn client(tree: RouteTree) -> TestClient {
    client_with(tree, RouterOptions::new())
}

fn client_with(tree: RouteTree, options: RouterOptions) -> TestClient {
    let router = create_router(tree, options.rate_limit(false));
    TestClient::new(router.open_api(OpenApiOptions::new("Program", "1.0.0").public("a test")))
}

async fn document(client: &TestClient) -> Value {
    client.get("/openapi.json").await.json()
}

/// <https://github.com/serde-rs/serde/issues/773>: an error for an untagged
/// enum does not name the problem.
#[tokio::test]
async fn errors_of_an_untagged_enum_name_the_field() {
    #[derive(Deserialize, Serialize, Schema)]
    #[serde(untagged)]
    enum Payment {
        Card { token: String },
        Invoice { vat_id: String },
    }
    let api = routes! { "payments": { POST: async |Body(it): Body<Payment>| it } };
    let client = client(api);
    client.post("/payments").json(json!({ "token": "t" })).await.assert_status(200);
    let wrong = client.post("/payments").json(json!({ "vat_id": 7 })).await;
    wrong.assert_status(400).assert_field_error("vat_id", "type");
}

/// <https://github.com/nox/serde_urlencoded/issues/86>: an untagged enum of
/// numbers does not match `project_id=5`.
#[tokio::test]
async fn a_query_is_a_union_of_numbers() {
    #[derive(Deserialize, Serialize, Schema)]
    #[serde(untagged)]
    enum PipelineFilter {
        Project { project_id: i64 },
        Experiment { experiment_id: i64 },
        Measurement { plate_id: i64, meas_idx: i32 },
    }
    let api = routes! { "runs": { GET: async |Query(it): Query<PipelineFilter>| Json(it) } };
    let client = client(api);
    client.get("/runs?project_id=5").await.assert_json(json!({ "project_id": 5 }));
    let both = json!({ "plate_id": 1, "meas_idx": 2 });
    client.get("/runs?plate_id=1&meas_idx=2").await.assert_json(both);
    client.get("/runs?project_id=x").await.assert_field_error("project_id", "type");
}

/// <https://github.com/tdegrunt/jsonschema/issues/307>: a field is required if
/// another has a value.
#[tokio::test]
async fn a_field_is_required_by_the_value_of_another() {
    let validation = schema!({
        "type": "object",
        "properties": { "fieldA": { "type": "string" }, "fieldB": { "type": "string" } },
        "if": { "properties": { "fieldA": { "const": "hi" } }, "required": ["fieldA"] },
        "then": { "required": ["fieldB"] },
    });
    let client = client(routes! { "objects": { POST: { async || "ok", validation: validation } } });
    client.post("/objects").json(json!({ "fieldA": "other" })).await.assert_status(200);
    let lacking = client.post("/objects").json(json!({ "fieldA": "hi" })).await;
    lacking.assert_status(400).assert_field_error("fieldB", "required");
    let body = &document(&client).await["paths"]["/objects"]["post"]["requestBody"];
    assert!(body.to_string().contains(r#""then":{"required":["fieldB"]}"#), "{body}");
}

/// <https://github.com/tokio-rs/axum/issues/1479>: a multipart body becomes a
/// struct. <https://github.com/poem-web/poem/issues/976>: its fields have
/// limits.
#[tokio::test]
async fn a_multipart_body_becomes_a_struct() {
    #[derive(Deserialize, Schema)]
    struct Upload {
        title: String,
        #[schema(max_items = 2, max_bytes = 8, media_types = ["image/png"])]
        previews: Vec<FilePart>,
        file: FileStream,
    }
    async fn upload(Multipart(mut form): Multipart<Upload>) -> Result<String, ApiError> {
        let mut size = 0;
        while let Some(bytes) = form.file.chunk().await? {
            size += bytes.len();
        }
        Ok(format!("{}: {} previews, {size} bytes", form.title, form.previews.len()))
    }
    let client = client(routes! { "uploads": { POST: upload } });
    let form = |preview: &'static str| {
        MultipartForm::new()
            .text("title", "Tea")
            .file("previews", "a.png", "image/png", preview)
            .file("file", "tea.txt", "text/plain", "green tea")
    };
    let answer = client.post("/uploads").multipart(form("small")).await;
    answer.assert_status(200).assert_text("Tea: 1 previews, 9 bytes");
    client.post("/uploads").multipart(form("too large")).await.assert_status(413);
    let body = &document(&client).await["paths"]["/uploads"]["post"]["requestBody"]["content"];
    assert!(body["multipart/form-data"].is_object(), "{body}");
}

/// <https://github.com/status-im/nimbus-eth2/issues/2518>: a list in a query is
/// separated by commas.
#[tokio::test]
async fn a_list_in_a_query_is_separated_by_commas() {
    #[derive(Deserialize, Schema)]
    struct Validators {
        #[schema(separator = ",")]
        id: Vec<String>,
    }
    let api = routes! { "validators": { GET: async |Query(it): Query<Validators>| Json(it.id) } };
    let client = client(api);
    // Repeated names also work, and an encoded comma belongs to the value.
    let answer = client.get("/validators?id=1,0xab%2Ccd&id=3").await;
    answer.assert_json(json!(["1", "0xab,cd", "3"]));
    let parameter = &document(&client).await["paths"]["/validators"]["get"]["parameters"][0];
    assert_eq!((&parameter["style"], &parameter["explode"]), (&json!("form"), &json!(false)));
}

/// <https://github.com/python-openapi/openapi-core/issues/250>: a query has an
/// object, so `?abcd[a]=1` is valid and `?abcd=1` is an error.
#[tokio::test]
async fn an_object_in_a_query_is_read_and_checked() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Amounts {
        a: Option<f64>,
        b: Option<f64>,
    }
    #[derive(Deserialize, Schema)]
    struct Fruits {
        #[schema(style = "deepObject")]
        abcd: Amounts,
    }
    let client = client(routes! { "fruits": { GET: async |Query(it): Query<Fruits>| it.abcd } });
    client.get("/fruits?abcd[a]=1").await.assert_json_contains(json!({ "a": 1.0 }));
    client.get("/fruits?abcd=1").await.assert_status(400).assert_field_error("abcd", "type");
    client.get("/fruits?abcd[a]=x").await.assert_field_error("abcd.a", "type");
}

/// <https://github.com/vitalik/django-ninja/issues/807>: an empty parameter for
/// a number is absent.
#[tokio::test]
async fn an_empty_number_in_a_query_is_absent() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Search {
        serial_number: Option<String>,
        customer_number: Option<u32>,
    }
    let empty = ValidationOptions::query().empty_as_absent(true);
    let search = async |Query(it): Query<Search>| Json(it);
    let client =
        client(routes! { "products": { GET: { handler: search, validation_options: empty } } });
    let answer = client.get("/products?serial_number=SW1&customer_number=").await;
    answer.assert_json(json!({ "serial_number": "SW1", "customer_number": null }));
    client.get("/products?customer_number=x").await.assert_field_error("customer_number", "type");
}

/// <https://github.com/encode/django-rest-framework/issues/4624>: a checkbox of
/// a form sends `on`.
#[tokio::test]
async fn a_checkbox_is_a_boolean() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Settings {
        news: bool,
    }
    let boxes = ValidationOptions::query().checkboxes(true);
    let save = async |Body(it): Body<Settings>| it;
    let client =
        client(routes! { "settings": { POST: { handler: save, validation_options: boxes } } });
    client.post("/settings").form([("news", "on")]).await.assert_json(json!({ "news": true }));
    let none: [(&str, &str); 0] = [];
    client.post("/settings").form(none).await.assert_json(json!({ "news": false }));
}

/// <https://github.com/honojs/hono/issues/4562>: a custom method is separated by
/// a colon.
#[tokio::test]
async fn a_custom_method_follows_a_colon() {
    let client = client(routes! {
        r"books\:create": { POST: async || "created" },
        r"books/:id\:archive": { POST: async |Path(id): Path<u32>| format!("{id} is archived") },
    });
    client.post("/books:create").await.assert_text("created");
    client.post("/books/69420:archive").await.assert_text("69420 is archived");
    let paths = &document(&client).await["paths"];
    assert!(paths["/books:create"].is_object() && paths["/books/{id}:archive"].is_object());
}

/// <https://github.com/vercel/next.js/issues/10084>: a path beyond ASCII matches
/// its encoded form.
#[tokio::test]
async fn a_path_beyond_ascii_matches_its_encoded_form() {
    let client = client(routes! {
        "тест": { GET: async || "test" },
        "блог/:slug": { GET: async |Path(slug): Path<String>| slug },
    });
    client.get("/%D1%82%D0%B5%D1%81%D1%82").await.assert_text("test");
    client.get("/%d0%b1%d0%bb%d0%be%d0%b3/%D1%8F").await.assert_text("я");
}

/// <https://github.com/julienschmidt/httprouter/issues/277>: a subdomain is a
/// parameter.
#[tokio::test]
async fn a_subdomain_is_a_parameter() {
    let tenant = routes! {
        host: ":tenant.example.com",
        "orders/:id": {
            GET: async |Path((tenant, id)): Path<(String, u32)>| format!("{tenant} {id}"),
        },
    };
    let client = client(routes! { ..tenant, "status": { GET: async || "ok" } });
    let at = |host: &str, path: &str| client.get(path).header("host", host);
    at("acme.example.com", "/orders/7").await.assert_text("acme 7");
    at("acme.example.com", "/status").await.assert_text("ok");
    at("example.org", "/orders/7").await.assert_status(404);
}

/// <https://github.com/hapijs/joi/issues/1737>: messages are in the language of
/// the request header.
#[tokio::test]
async fn messages_are_in_the_language_of_the_request() {
    let validation = schema!({ "name": { "type": "string", "required": true } });
    let api = routes! { "people": { POST: { async || "ok", validation: validation } } };
    let client = client_with(api, RouterOptions::new().languages(Catalogs::builtin()));
    for (language, message) in
        [("en", "Required field 'name' is missing"), ("de", "Das Pflichtfeld „name“ fehlt")]
    {
        let request = client.post("/people").header("accept-language", language);
        let answer = request.json(json!({})).await;
        answer.assert_status(400).assert_header("content-language", language);
        assert_eq!(answer.json::<Value>()["details"]["errors"][0]["message"], message);
    }
}

/// <https://github.com/salvo-rs/salvo/issues/1690>: errors are problem details
/// (RFC 9457) in responses and in the document.
#[tokio::test]
async fn errors_are_problem_details_with_a_schema() {
    #[derive(ApiError, Debug)]
    #[status(409, "{sku} is sold out", type = "sold-out")]
    struct SoldOut {
        #[member]
        sku: String,
    }
    let order = async |Path(sku): Path<String>| Err::<(), _>(SoldOut { sku });
    let options = RouterOptions::new().problem_details("https://shop.example/problems/");
    let client = client_with(routes! { "orders/:sku": { POST: order } }, options);
    client.post("/orders/7").await.assert_status(409).assert_json(json!({
        "type": "https://shop.example/problems/sold-out",
        "title": "Conflict",
        "status": 409,
        "detail": "7 is sold out",
        "sku": "7",
    }));
    let document = document(&client).await.to_string();
    assert!(document.contains(r#""const":"https://shop.example/problems/sold-out""#), "{document}");
}

/// <https://github.com/wazuh/wazuh/issues/35043>: a token that is issued within
/// the second of a revocation is valid.
#[tokio::test]
async fn a_login_within_the_second_of_a_revocation_is_valid() {
    const MILLIS: u64 = 1_700_000_000_000;
    let secret = || Secret::new("s".repeat(32)).unwrap();
    let revocations = Revocations::in_memory().clock(UnixClock::at_millis(MILLIS));
    let verifier = TokenVerifier::new().clock(UnixClock::at_millis(MILLIS + 900));
    let auth = Auth::tokens(secret(), verifier).revocations(revocations.clone());
    let client = client(routes! { auth: auth, "me": { GET: async || "ok" } });
    let token = |millis: u64| {
        let issuer = TokenIssuer::new().clock(UnixClock::at_millis(MILLIS + millis));
        issuer.issue(json!({ "sub": "ada" }), "1h", &secret()).unwrap()
    };
    let revoked_at = UNIX_EPOCH + Duration::from_millis(MILLIS + 500);
    revocations.revoke_before(None, "ada", revoked_at).await.unwrap();
    client.get("/me").bearer(token(499)).await.assert_status(401);
    client.get("/me").bearer(token(600)).await.assert_text("ok");
}

/// <https://github.com/http4s/http4s/issues/2252>: a server compresses the
/// messages of a WebSocket.
#[tokio::test]
async fn messages_of_a_web_socket_are_compressed() {
    async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(text) = socket.recv_text().await {
            socket.send(text?).await?;
        }
        Ok(())
    }
    let options = WebSocketOptions::new().compression(Deflate::new().window_bits(12));
    let api = routes! { "echo": { ws: { echo, options: options } } };
    let app = app(create_router(api, RouterOptions::new().enable_web_sockets(true)));
    let mut request = request(
        "GET /echo\nhost: example.com\nconnection: upgrade\nupgrade: websocket\n\
         sec-websocket-version: 13\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\n\
         sec-websocket-extensions: permessage-deflate; client_max_window_bits",
    );
    request.extensions_mut().insert(Upgrade::http1());
    let response = app.handle(request).await;
    assert_eq!(response.status(), 101);
    let agreed = response.headers()["sec-websocket-extensions"].to_str().unwrap();
    assert!(agreed.starts_with("permessage-deflate; ") && agreed.contains("max_window_bits=12"));
}
