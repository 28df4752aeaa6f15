//! GraphQL compared with async-graphql-axum, with the same schema and document:
//! the processor time of one request, as a ratio within each round. Also
//! measures the time to reject hostile requests.
//!
//! `cargo bench -p bench-micro --bench graphql`

mod beside;

use std::time::Duration;

use async_graphql::{EmptySubscription, Object, Schema, SchemaBuilder, SimpleObject};
use async_graphql_axum::{GraphQLRequest, GraphQLResponse};
use axum::extract::State;
use cpu_time::ThreadTime;
use stockade::graphql::GraphQl;
use stockade::prelude::*;
use stockade::{HttpBody, http};

use crate::beside::{Server, Side, runtime, servers, show};

#[derive(Clone, SimpleObject)]
#[graphql(complex)]
struct Product {
    id: u32,
    name: String,
    price_cents: u32,
    category: Option<String>,
}

#[async_graphql::ComplexObject]
impl Product {
    /// Returns the next product.
    async fn next(&self) -> Self {
        product(self.id + 1)
    }
}

fn product(id: u32) -> Product {
    Product {
        id,
        name: format!("product {id}"),
        price_cents: 100 + id,
        category: (id % 2 == 0).then(|| "tea".to_owned()),
    }
}

#[derive(async_graphql::InputObject)]
struct Filter {
    category: String,
    or: Option<Box<Filter>>,
}

struct Query;

#[Object]
impl Query {
    async fn product(&self, id: u32) -> Product {
        product(id)
    }

    async fn products(&self, first: u32) -> Vec<Product> {
        (1..=first).map(product).collect()
    }

    async fn count(&self, ids: Vec<u32>) -> usize {
        ids.len()
    }

    async fn search(&self, filter: Filter) -> String {
        filter.or.map_or(filter.category, |or| or.category)
    }
}

struct Mutation;

#[Object]
impl Mutation {
    async fn put(&self, id: u32) -> Product {
        product(id)
    }
}

fn schema() -> SchemaBuilder<Query, Mutation, EmptySubscription> {
    Schema::build(Query, Mutation, EmptySubscription)
}

fn app(options: RouterOptions) -> App {
    let routes = routes! { "graphql": { ..GraphQl::new(schema()).routes() } };
    create_router(routes, options.rate_limit(false)).build().expect("routes")
}

/// Returns the options of the mode `bare` in the comparison of servers: axum
/// does not have these features either.
fn bare() -> RouterOptions {
    RouterOptions::new().cors(false).enable_security_headers(false)
}

type Finished = Schema<Query, Mutation, EmptySubscription>;

async fn run(State(schema): State<Finished>, request: GraphQLRequest) -> GraphQLResponse {
    schema.execute(request.into_inner()).await.into()
}

fn beside_axum() {
    for (name, document) in [
        ("one product", "{ product(id: 7) { id name priceCents } }"),
        ("20 products", "{ products(first: 20) { id name priceCents category } }"),
    ] {
        let body = Some(json!({ "query": document }).to_string());
        for (mode, options) in [("bare", bare()), ("with defaults", RouterOptions::new())] {
            let ours = Side { app: app(options), target: "/graphql", body: body.clone() };
            let start = async || [ours.bind().await, axum(ours.written()).await];
            let found = servers(start, 101, 640);
            show(&format!("{name} over HTTP, {mode}"), 1.05, &found);
        }
    }
}

/// Binds a port for the axum server.
async fn axum(request: Vec<u8>) -> Server {
    let router = axum::Router::new().route("/graphql", axum::routing::post(run));
    let router = router.with_state(schema().finish());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serve = Box::pin(async { drop(axum::serve(listener, router).await) });
    Server { address, serve, request }
}

/// A request that the server must reject.
struct Attack {
    name: &'static str,
    request: http::Request<()>,
    body: String,
    status: u16,
}

impl Attack {
    /// Creates a POST with a document.
    fn document(name: &'static str, document: &str) -> Self {
        Self::json(name, json!({ "query": document }).to_string())
    }

    fn json(name: &'static str, body: String) -> Self {
        let request = http::Request::post("/graphql").header("content-type", "application/json");
        let request = request.header("accept", "application/graphql-response+json");
        Self { name, request: request.body(()).expect("a request"), body, status: 400 }
    }
}

fn attacks() -> Vec<Attack> {
    let nested =
        format!("{{ product(id: 1) {{ {} id {}}} }}", "next { ".repeat(50), "} ".repeat(50));
    let aliases: String = (0..1_000).map(|index| format!("a{index}: __typename ")).collect();
    let directives = "@skip(if: false) ".repeat(500);
    let mut bomb = "{ product(id: 1) { ...F0 } }".to_owned();
    for level in 0..20 {
        let next = level + 1;
        bomb += &format!(" fragment F{level} on Product {{ ...F{next} ...F{next} }}");
    }
    bomb += " fragment F20 on Product { id }";
    let cycle = "{ product(id: 1) { ...A } } fragment A on Product { ...B } \
                 fragment B on Product { ...A }";
    let deep =
        [r#"{"category":"a","or":"#.repeat(1_000), "null".into(), "}".repeat(1_000)].concat();
    let form = http::Request::post("/graphql")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("sec-fetch-site", "cross-site");
    let mutation = "query=mutation%7Bput(id%3A1)%7Bid%7D%7D";
    vec![
        Attack::document("fields within each other", &nested),
        Attack::document("1,000 aliases", &format!("{{ {aliases} }}")),
        Attack::document("500 directives", &format!("{{ product(id: 1) {directives} {{ id }} }}")),
        Attack::document("fragments, doubled 20 times", &bomb),
        Attack::document("fragments in a circle", cycle),
        Attack::document("64 KiB of braces", &"{".repeat(65_536)),
        Attack::document(
            "a list of 30,000",
            &format!("{{ count(ids: [{}]) }}", "1 ".repeat(30_000)),
        ),
        Attack::json(
            "a batch of 10,000",
            json!(vec![json!({ "query": "{ __typename }" }); 10_000]).to_string(),
        ),
        Attack::document("introspection, off", "{ __schema { types { name } } }"),
        Attack::document("suggestions, off", "{ produc(id: 1) { id } }"),
        Attack {
            name: "a form of another site",
            request: form.body(()).expect("a request"),
            body: mutation.to_owned(),
            status: 415,
        },
        Attack {
            name: "a mutation by GET",
            request: http::Request::get(format!("/graphql?{mutation}"))
                .body(())
                .expect("a request"),
            body: String::new(),
            status: 405,
        },
        Attack::json(
            "a variable 1,000 deep",
            format!(
                r#"{{"query":"query($f: Filter!) {{ search(filter: $f) }}","variables":{{"f":{deep}}}}}"#
            ),
        ),
    ]
}

/// Returns the median time to reject an attack.
fn refused(app: &App, attack: &Attack) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let body = HttpBody::from(attack.body.clone());
            let request = attack.request.clone().map(|()| body);
            runtime().block_on(async {
                let begin = ThreadTime::now();
                let response = app.handle(request).await;
                let time = begin.elapsed();
                assert_eq!(response.status(), attack.status, "{}", attack.name);
                time
            })
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

const TIMES: usize = 301;

/// The maximum time to reject a request.
const GOAL: Duration = Duration::from_micros(200);

fn main() {
    let app = app(RouterOptions::new());
    println!("{:<30} {:>10} {:>10}", "refused, in process", "found", "wanted");
    for attack in attacks() {
        let found = refused(&app, &attack);
        let mark = if found > GOAL { "  <- too long" } else { "" };
        println!(
            "{:<30} {:>7} µs {:>7} µs{mark}",
            attack.name,
            found.as_micros(),
            GOAL.as_micros()
        );
    }
    beside_axum();
}
