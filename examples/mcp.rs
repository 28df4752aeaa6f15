//! Routes as tools for AI agents (MCP): a public tool, tools for users, a tool
//! that reports its progress, and their tests.
//!
//! ```text
//! cargo run -p stockade-examples --bin mcp
//! ```
//!
//! The program prints a token. Connect a host, then ask it to borrow a book:
//!
//! ```text
//! claude mcp add --transport http library http://127.0.0.1:3000/mcp \
//!     --header "Authorization: Bearer $TOKEN"
//! gemini mcp add --transport http library http://127.0.0.1:3000/mcp \
//!     --header "Authorization: Bearer $TOKEN"
//! opencode mcp add library --url http://127.0.0.1:3000/mcp \
//!     --header "Authorization=Bearer $TOKEN"
//! codex mcp add library --url http://127.0.0.1:3000/mcp --bearer-token-env-var TOKEN
//! ```
//!
//! The Inspector calls tools without a model:
//!
//! ```text
//! npx @modelcontextprotocol/inspector --cli http://127.0.0.1:3000/mcp --method tools/list
//! npx @modelcontextprotocol/inspector --cli http://127.0.0.1:3000/mcp --method tools/call \
//!     --tool-name books_search --tool-arg title=sea
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use stockade::auth::{TokenIssuer, TokenVerifier, generate_token};
use stockade::mcp::{Mcp, Progress, Tool};
use stockade::middleware::with_role;
use stockade::prelude::*;
use stockade::reply::Created;

/// The public URL of the endpoint, which is also the audience of tokens for
/// agents. A real program reads it from its configuration.
const URL: &str = "http://127.0.0.1:3000/mcp";

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Book {
    id: u32,
    #[schema(max_length = 100)]
    title: String,
    /// The name of the borrower.
    borrower: Option<String>,
}

/// The books by id.
struct Library(Mutex<BTreeMap<u32, Book>>);

impl Library {
    fn new() -> Self {
        let titles = ["The Old Man and the Sea", "Emma", "The Sea, the Sea"];
        let books = (1..).zip(titles).map(|(id, title)| (id, Book::new(id, title)));
        Self(Mutex::new(books.collect()))
    }

    fn books(&self) -> MutexGuard<'_, BTreeMap<u32, Book>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn new(id: u32, title: impl Into<String>) -> Self {
        Self { id, title: title.into(), borrower: None }
    }
}

/// The authenticated user.
#[derive(Deserialize)]
struct Reader {
    sub: String,
}

#[derive(Deserialize, Schema)]
struct Search {
    /// A part of the title.
    #[schema(max_length = 100)]
    title: String,
}

async fn search(library: State<Library>, Query(wanted): Query<Search>) -> Json<Vec<Book>> {
    let title = wanted.title.to_lowercase();
    let mut found: Vec<Book> = library.books().values().cloned().collect();
    found.retain(|book| book.title.to_lowercase().contains(&title));
    // Everybody may search, and nobody may see who reads a book.
    found.iter_mut().for_each(|book| book.borrower = None);
    Json(found)
}

async fn list_loans(library: State<Library>, User(reader): User<Reader>) -> Json<Vec<Book>> {
    let books = library.books();
    let own = books.values().filter(|book| book.borrower.as_ref() == Some(&reader.sub));
    Json(own.cloned().collect())
}

#[derive(Debug, ApiError)]
enum LoanError {
    #[status(404, "book {0} does not exist")]
    Missing(u32),
    #[status(409, "book {0} is already lent")]
    Lent(u32),
    #[status(404, "you have not borrowed book {0}")]
    NotYours(u32),
}

#[derive(Deserialize, Schema)]
struct NewLoan {
    /// The id of a book.
    book: u32,
}

async fn borrow(
    library: State<Library>,
    User(reader): User<Reader>,
    Body(NewLoan { book: id }): Body<NewLoan>,
) -> Result<Created<Book>, LoanError> {
    let mut books = library.books();
    let book = books.get_mut(&id).ok_or(LoanError::Missing(id))?;
    if book.borrower.is_some() {
        return Err(LoanError::Lent(id));
    }
    book.borrower = Some(reader.sub);
    Ok(Created::new(book.clone()))
}

async fn give_back(
    library: State<Library>,
    User(reader): User<Reader>,
    Path(id): Path<u32>,
) -> Result<(), LoanError> {
    let mut books = library.books();
    let book = books.get_mut(&id).filter(|book| book.borrower.as_ref() == Some(&reader.sub));
    book.ok_or(LoanError::NotYours(id))?.borrower = None;
    Ok(())
}

#[derive(Deserialize, Schema)]
struct Import {
    #[schema(min_items = 1, max_items = 100, items(min_length = 1, max_length = 100))]
    titles: Vec<String>,
}

#[derive(Serialize, Schema)]
struct Imported {
    books: u64,
}

/// Adds books. A client that disconnects cancels the rest of the import.
async fn import(
    library: State<Library>,
    progress: Progress,
    Body(Import { titles }): Body<Import>,
) -> Json<Imported> {
    let total = titles.len() as u64;
    for (done, title) in (1..).zip(titles) {
        let id = library.books().last_key_value().map_or(1, |(last, _)| last + 1);
        progress.report_text(done, total, &title);
        library.books().insert(id, Book::new(id, title));
        // A real program waits for its database here.
        tokio::task::yield_now().await;
    }
    Json(Imported { books: total })
}

fn router(secret: Secret) -> Router {
    // Agents have tokens of their own, which other programs do not accept.
    let token = Auth::tokens(secret, TokenVerifier::new().audience(URL));
    let agents = Mcp::new("Library", "1.0.0")
        .url(URL)
        .instructions("Search for a book before you borrow it.");
    let api = routes! {
        "mcp": {
            auth: token.clone().optional(),
            public: "everybody may search; all other tools require a user",
            ..agents.routes()
        },
        "books": {
            GET: {
                search,
                name: "books.search",
                public: "everybody may search",
                tool: "Finds books by a part of their title. Returns their ids.",
            },
            "import": {
                POST: {
                    import,
                    name: "books.import",
                    auth: token.clone(),
                    middleware: with_role("librarian"),
                    tool: Tool::new("Adds new books.").destructive(false),
                },
            },
        },
        "loans": {
            auth: token,
            GET: { list_loans, name: "loans.list", tool: "Lists the loans of the user." },
            POST: {
                borrow,
                name: "loans.borrow",
                tool: Tool::new("Borrows a book for the user.").destructive(false),
            },
            ":id": {
                DELETE: {
                    give_back,
                    name: "loans.give_back",
                    tool: Tool::new("Gives a borrowed book back.").rename("id", "book"),
                },
            },
        },
    };
    create_router(api, RouterOptions::new()).state(Library::new())
}

/// Issues a token for agents.
fn token(name: &str, role: &str, secret: &Secret) -> Result<String, BoxError> {
    let claims = json!({ "sub": name, "role": role, "aud": URL });
    Ok(TokenIssuer::new().issue(claims, "8h", secret)?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let secret = Secret::new(generate_token(32)?)?;
    let app = router(secret.clone()).build()?;
    // Such as `mcp --stdio`, for hosts that start the program themselves.
    if app.run_command(std::env::args()).await? {
        return Ok(());
    }
    println!("TOKEN={}", token("Ada", "librarian", &secret)?);
    app.create_server()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    /// Returns a client for a new library, with the secret of its tokens.
    fn library() -> (TestClient, Secret) {
        let secret = Secret::new("a secret of tests only, 32 bytes").unwrap();
        (TestClient::new(router(secret.clone())), secret)
    }

    #[tokio::test]
    async fn a_caller_sees_the_tools_that_it_may_call() {
        let (client, secret) = library();
        let agent = client.mcp("/mcp");
        agent.tools().await.assert_names(["books_search"]);
        agent.call("loans_list", json!({})).await.assert_login_required();

        let reader = client.mcp("/mcp").bearer(token("Ada", "reader", &secret).unwrap());
        let names = ["books_search", "loans_borrow", "loans_give_back", "loans_list"];
        reader.tools().await.assert_names(names);
        let import = reader.call("books_import", json!({ "titles": ["Ulysses"] })).await;
        import.assert_error(-32602, "Unknown tool: books_import");
    }

    #[tokio::test]
    async fn a_reader_borrows_a_book() {
        let (client, secret) = library();
        let agent = client.mcp("/mcp").bearer(token("Ada", "reader", &secret).unwrap());
        let found: Vec<Book> = agent.call("books_search", json!({ "title": "emma" })).await.json();
        let id = found[0].id;
        let loan = json!({ "id": id, "title": "Emma", "borrower": "Ada" });
        agent.call("loans_borrow", json!({ "book": id })).await.assert_json(&loan);
        agent.call("loans_list", json!({})).await.assert_json([&loan]);
        let second = agent.call("loans_borrow", json!({ "book": id })).await;
        second.assert_failed("book 2 is already lent");
        agent.call("loans_give_back", json!({ "book": id })).await.assert_text("Done (HTTP 204).");
        agent.call("loans_list", json!({})).await.assert_json([0; 0]);
    }

    #[tokio::test]
    async fn an_import_reports_its_progress() {
        let (client, secret) = library();
        let agent = client.mcp("/mcp").bearer(token("Eve", "librarian", &secret).unwrap());
        let imported = agent.call("books_import", json!({ "titles": ["Ulysses", "Dune"] })).await;
        imported.assert_json(json!({ "books": 2 }));
        let reports = imported.reports().iter();
        let reports: Vec<Value> =
            reports.map(|it| json!([it["progress"], it["message"]])).collect();
        assert_eq!(reports, [json!([1, "Ulysses"]), json!([2, "Dune"])]);
    }

    #[tokio::test]
    async fn a_token_for_another_program_is_invalid() {
        let (client, secret) = library();
        let other = TokenIssuer::new().issue(json!({ "sub": "Ada" }), "1h", &secret).unwrap();
        let agent = client.mcp("/mcp").bearer(other);
        agent.call("loans_list", json!({})).await.assert_login_required();
    }
}
