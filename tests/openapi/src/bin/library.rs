//! A library for `cargo xtask openapi`. Its document has unions, forms with
//! files, lists and objects in queries, hosts, problem types, patterns, and
//! conditions.

use std::env;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::auth::{generate_jwt, generate_token};
use stockade::extract::{FilePart, FileStream, Multipart};
use stockade::openapi::OpenApiOptions;
use stockade::prelude::*;
use stockade::validation::schema;
use stockade::{RouteDocs, Tag};

/// The payment of a loan.
#[derive(Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Payment {
    Card {
        #[schema(max_length = 40)]
        token: String,
    },
    Invoice {
        #[schema(max_length = 20)]
        vat_id: String,
    },
}

/// The place at which a reader receives a book.
#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "delivery", rename_all = "lowercase")]
enum Delivery {
    Post {
        #[schema(max_length = 60)]
        city: String,
    },
    Desk {
        number: u16,
    },
}

#[derive(Deserialize, Serialize, Schema)]
struct Loan {
    #[schema(minimum = 1, maximum = 60)]
    days: u32,
    payment: Payment,
    #[serde(flatten)]
    delivery: Option<Delivery>,
}

/// Something that happened to a book.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Event {
    Lent(u32),
    Moved {
        #[schema(max_length = 20)]
        shelf: String,
    },
    Lost,
}

#[derive(Serialize, Schema)]
struct Book {
    id: u32,
    title: String,
}

#[derive(Deserialize, Schema)]
struct Filter {
    #[schema(values = ["open", "lent"])]
    state: String,
    #[serde(default)]
    year: u16,
}

#[derive(Deserialize, Schema)]
struct Search {
    #[serde(default)]
    #[schema(separator = ",", max_items = 10)]
    ids: Vec<u32>,
    #[serde(default)]
    #[schema(separator = "|", max_items = 10)]
    shelves: Vec<u16>,
    #[schema(style = "deepObject")]
    filter: Option<Filter>,
}

#[derive(Deserialize, Schema)]
struct Scan {
    #[schema(max_length = 60)]
    title: String,
    #[serde(default)]
    #[schema(max_items = 3, max_bytes = 65_536, media_types = ["image/png"])]
    covers: Vec<FilePart>,
    file: FileStream,
}

#[derive(Serialize, Schema)]
struct Scanned {
    title: String,
    covers: usize,
    bytes: usize,
}

#[derive(ApiError, Debug)]
enum BookError {
    #[status(404, "there is no book {id}", type = "no-book")]
    Missing {
        #[member]
        id: u32,
    },
    #[status(409, "{name} is lent", type = "book-lent")]
    Lent {
        #[member]
        name: String,
        #[member("returnedOn")]
        returned_on: Option<String>,
    },
}

fn book(id: u32) -> Book {
    Book { id, title: format!("Book {id}") }
}

async fn search(Query(search): Query<Search>) -> Json<Vec<Book>> {
    let Search { ids, shelves, filter } = search;
    let year = filter.filter(|it| it.state == "open").map(|it| u32::from(it.year));
    Json(ids.into_iter().chain(year).chain(shelves.into_iter().map(u32::from)).map(book).collect())
}

async fn find(Path(id): Path<u32>) -> Result<Json<Book>, BookError> {
    if id > 1_000 { Err(BookError::Missing { id }) } else { Ok(Json(book(id))) }
}

async fn lend(Path(id): Path<u32>, Body(loan): Body<Loan>) -> Result<Json<Loan>, BookError> {
    match id {
        0..=500 => Ok(Json(loan)),
        501..=1_000 => Err(BookError::Lent { name: book(id).title, returned_on: None }),
        _ => Err(BookError::Missing { id }),
    }
}

async fn scan(Multipart(mut form): Multipart<Scan>) -> Result<Json<Scanned>, ApiError> {
    let mut bytes = 0;
    while let Some(chunk) = form.file.chunk().await? {
        bytes += chunk.len();
    }
    Ok(Json(Scanned { title: form.title, covers: form.covers.len(), bytes }))
}

fn api(token: &Auth) -> RouteTree {
    let order = schema!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "enum": ["new", "used"] },
            "price": { "type": "number", "minimum": 0, "maximum": 1_000, "multipleOf": 0.5 },
            "condition": { "type": "string", "maxLength": 20 },
            "seller": { "type": "string", "maxLength": 20 },
        },
        "required": ["kind"],
        "if": { "properties": { "kind": { "const": "used" } }, "required": ["kind"] },
        "then": { "required": ["condition"] },
        "dependentRequired": { "seller": ["price"] },
    });
    let desk = async |Path((branch, number)): Path<(String, u16)>| format!("{branch} {number}");
    routes! {
        auth: token,
        "books": {
            tag: Tag::new("books", "The books."),
            GET: { search, name: "books.search", docs: RouteDocs::new("Find books") },
            ":id([0-9]{1,9})": { GET: { find, name: "books.find", docs: RouteDocs::new("A book") } },
            r":id([0-9]{1,9})\:lend": { POST: { lend, accepts: ["application/json"], name: "books.lend", docs: RouteDocs::new("Lend a book") } },
        },
        "events": {
            tag: Tag::new("events", "What happened."),
            POST: {
                async |Body(event): Body<Event>| Json(event),
                accepts: ["application/json"],
                name: "events.report",
                docs: RouteDocs::new("Report an event"),
            },
        },
        "orders": {
            tag: Tag::new("orders", "Orders of books."),
            POST: {
                async || "ordered",
                validation: order,
                name: "orders.create",
                docs: RouteDocs::new("Order a book"),
            },
        },
        "scans": {
            tag: Tag::new("scans", "Scanned books."),
            POST: { scan, name: "scans.create", docs: RouteDocs::new("Scan a book") },
        },
        "desks": {
            tag: Tag::new("desks", "The desks of a branch."),
            host: ":branch.library.example",
            ":number([0-9]{1,3})": { GET: { desk, name: "desks.find", docs: RouteDocs::new("A desk of a branch") } },
        },
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let secret = generate_token(32)?;
    let auth = Auth::secret(Secret::new(&*secret)?);
    let options =
        RouterOptions::new().trust_proxy(1).problem_details("https://library.example/problems/");
    let router = create_router(api(&auth), options).open_api(
        OpenApiOptions::new("A library", "1.0.0")
            .description("Books, loans and scans.")
            .license("MIT OR Apache-2.0")
            .public("the library is an example"),
    );
    let app = router.build()?;
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    let day = Duration::from_secs(24 * 60 * 60);
    let token = generate_jwt(json!({ "sub": "reader" }), day, &Secret::new(secret)?)?;
    let server = app.create_server()?.bind(0).await?;
    println!("listening on http://{} {token}", server.local_addr());
    server.serve().await?;
    Ok(())
}
