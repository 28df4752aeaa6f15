//! Lists and objects in query strings, and the options for query values.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade::FromRequest;
use stockade::extract::{Path, Query};
use stockade::openapi::OpenApiOptions;
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade::validation::ValidationOptions;

#[derive(Deserialize, Serialize, Schema)]
struct Filter {
    #[schema(values = ["open", "closed"])]
    state: Option<String>,
    year: Option<u16>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Search {
    #[serde(default)]
    #[schema(separator = ",", max_items = 3)]
    ids: Vec<u32>,
    #[serde(default)]
    #[schema(separator = "|")]
    tags: Vec<String>,
    #[serde(default)]
    #[schema(separator = " ")]
    words: Vec<String>,
    #[schema(style = "deepObject")]
    filter: Option<Filter>,
}

async fn search(Query(search): Query<Search>) -> Json<Search> {
    Json(search)
}

fn router() -> Router {
    create_router(routes! { "search": { GET: search } }, RouterOptions::new())
        .open_api(OpenApiOptions::new("Search", "1.0.0").public("a test"))
}

async fn found(client: &TestClient, query: &str) -> Value {
    let response = client.get(format!("/search?{query}")).await;
    response.assert_status(200);
    response.json()
}

#[tokio::test]
async fn lists_are_split_at_their_separator() {
    let client = TestClient::new(router());
    let read = found(&client, "ids=1,2&tags=a|b%7Cc&words=x+y%20z").await;
    assert_eq!(read["ids"], json!([1, 2]));
    assert_eq!(read["tags"], json!(["a", "b", "c"]));
    assert_eq!(read["words"], json!(["x", "y", "z"]));
    assert_eq!(found(&client, "ids=1&ids=2,3").await["ids"], json!([1, 2, 3]));
    assert_eq!(found(&client, "ids=").await["ids"], json!([]));
    assert_eq!(found(&client, "").await["ids"], json!([]));

    let error = client.get("/search?ids=1,x").await;
    error.assert_status(400).assert_field_error("ids[1]", "type");
    // An encoded comma belongs to the element.
    client.get("/search?ids=1%2C2").await.assert_field_error("ids[0]", "type");
    client.get("/search?ids=1,2,3,4").await.assert_field_error("ids", "maxItems");
    let many = vec!["1"; 1_001].join(",");
    client.get(format!("/search?ids={many}")).await.assert_error("Too many parameters");
}

#[tokio::test]
async fn fills_an_object_from_its_pairs() {
    let client = TestClient::new(router());
    let expected = json!({ "state": "open", "year": 2026 });
    for query in
        ["filter[state]=open&filter[year]=2026", "filter%5Byear%5D=2026&filter%5Bstate%5D=open"]
    {
        assert_eq!(found(&client, query).await["filter"], expected, "{query}");
    }
    assert_eq!(found(&client, "ids=1").await["filter"], Value::Null);
    client.get("/search?filter[state]=new").await.assert_field_error("filter.state", "enum");
    client.get("/search?filter[year]=x").await.assert_field_error("filter.year", "type");
    client.get("/search?filter=open").await.assert_field_error("filter", "type");
    client.get("/search?filter[year]=1&filter=x").await.assert_field_error("filter", "type");
    client
        .get("/search?filter[year]=1&filter[year]=2")
        .await
        .assert_field_error("filter.year", "type");
}

#[tokio::test]
async fn documents_show_the_styles() {
    let document: Value = TestClient::new(router()).get("/openapi.json").await.json();
    let parameters = document["paths"]["/search"]["get"]["parameters"].as_array().unwrap();
    let styles: Vec<Value> =
        parameters.iter().map(|it| json!([it["name"], it["style"], it["explode"]])).collect();
    let expected = json!([
        ["ids", "form", false],
        ["tags", "pipeDelimited", false],
        ["words", "spaceDelimited", false],
        ["filter", "deepObject", true],
    ]);
    assert_eq!(Value::from(styles), expected);
    let schemas: Vec<String> = parameters.iter().map(|it| it["schema"].to_string()).collect();
    assert!(schemas.iter().all(|it| !it.contains("x-") && !it.contains("deepObject")));
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Point {
    x: i32,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WithoutStyle {
    point: Point,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Points {
    points: Vec<Point>,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Line {
    start: Point,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Nested {
    #[schema(style = "deepObject")]
    line: Line,
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WrongSeparator {
    #[schema(separator = ";")]
    ids: Vec<u32>,
}

fn built<T: 'static>() -> String
where
    Query<T>: FromRequest,
{
    let mut router = Router::new();
    router.get("/", async |_: Query<T>| "");
    router.build().unwrap_err().to_string()
}

#[test]
fn an_unsupported_query_type_is_a_configuration_error() {
    let error = built::<WithoutStyle>();
    assert!(error.contains("field `point`: a query string cannot contain objects"), "{error}");
    assert!(error.contains("?point[key]=value"), "{error}");
    let error = built::<Points>();
    assert!(error.contains("field `points`: a list in a query string cannot contain"), "{error}");
    let error = built::<Nested>();
    assert!(error.contains("field `line.start`: an object with the style"), "{error}");
    let error = built::<WrongSeparator>();
    assert!(error.contains("`separator` is \";\""), "{error}");

    let tree = routes! {
        GET: { async || "", query: schema!({ "a": { "type": "object", "properties": {} } }) },
    };
    let error = create_router(tree, RouterOptions::new()).build().unwrap_err().to_string();
    assert!(error.contains("query: field `a`: a query string cannot contain objects"), "{error}");
    assert!(error.contains("queries.rs"), "{error}");
}

#[derive(Deserialize, Serialize, Schema)]
struct Form {
    name: Option<String>,
    age: Option<u32>,
    #[schema(kind = "date")]
    from: Option<String>,
    #[schema(values = ["open", "closed"])]
    state: Option<String>,
    #[serde(default)]
    sizes: Vec<u32>,
    needed: Option<bool>,
}

async fn form(Query(form): Query<Form>) -> Json<Form> {
    Json(form)
}

#[tokio::test]
async fn empty_texts_are_absent_if_the_option_is_set() {
    let options = ValidationOptions::query().empty_as_absent(true);
    let tree = routes! {
        "plain": { GET: form },
        "lenient": { GET: { form, validation_options: options } },
    };
    let client = TestClient::new(create_router(tree, RouterOptions::new()));
    let query = "name=&age=&from=&state=&sizes=&sizes=5";
    let read: Value = client.get(format!("/lenient?{query}")).await.json();
    assert_eq!(
        read,
        json!({ "name": "", "age": null, "from": null, "state": null, "sizes": [5], "needed": null })
    );
    for field in ["age", "state", "from", "sizes"] {
        client.get(format!("/plain?{field}=")).await.assert_status(400);
        client.get(format!("/lenient?{field}=")).await.assert_status(200);
    }
    // Text is not absent, and non-empty values are checked as usual.
    client.get("/lenient?age=x").await.assert_field_error("age", "type");
}

#[derive(Deserialize, Serialize, Schema)]
struct Boxes {
    news: bool,
    #[serde(default)]
    terms: bool,
}

#[tokio::test]
async fn reads_checkboxes_if_the_option_is_set() {
    let handler = async |Query(boxes): Query<Boxes>| Json(boxes);
    let tree = routes! {
        "plain": { GET: handler },
        "boxes": { GET: { handler, validation_options: ValidationOptions::query().checkboxes(true) } },
    };
    let client = TestClient::new(create_router(tree, RouterOptions::new()));
    for (query, news, terms) in
        [("news=on", true, false), ("terms=on", false, true), ("news=false", false, false)]
    {
        let read: Value = client.get(format!("/boxes?{query}")).await.json();
        assert_eq!(read, json!({ "news": news, "terms": terms }), "{query}");
    }
    client.get("/boxes?news=yes").await.assert_field_error("news", "type");
    client.get("/plain?news=on").await.assert_field_error("news", "type");
    client.get("/plain").await.assert_field_error("news", "required");
}

#[derive(Deserialize, Schema)]
struct Numbers {
    #[serde(default)]
    whole: i64,
    #[serde(default)]
    float: f64,
    #[serde(default)]
    wide: u128,
}

#[tokio::test]
async fn strict_numbers_are_json_numbers_without_an_exponent() {
    let query = async |Query(n): Query<Numbers>| format!("{} {} {}", n.whole, n.float, n.wide);
    let path = async |Path(id): Path<u32>| id.to_string();
    let strict = || ValidationOptions::query().strict_numbers(true);
    let tree = routes! {
        "plain": { GET: query, ":id": { GET: path } },
        "strict": {
            GET: { query, validation_options: strict() },
            ":id": { GET: { path, validation_options: strict() } },
        },
    };
    let client = TestClient::new(create_router(tree, RouterOptions::new()));
    for text in ["%2B5", "1e1", "+5", "007", ".5", "5.0e0"] {
        client.get(format!("/plain?float={text}")).await.assert_status(200);
        client.get(format!("/strict?float={text}")).await.assert_field_error("float", "type");
    }
    for text in ["%2B5", "007"] {
        for field in ["whole", "wide"] {
            client.get(format!("/plain?{field}={text}")).await.assert_status(200);
            client.get(format!("/strict?{field}={text}")).await.assert_status(400);
        }
        client.get(format!("/plain/{text}")).await.assert_status(200);
        client.get(format!("/strict/{text}")).await.assert_field_error("id", "type");
    }
    client.get("/strict?whole=-5&float=1.50&wide=7").await.assert_text("-5 1.5 7");
    client.get("/strict/7").await.assert_text("7");
}
