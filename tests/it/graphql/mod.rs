//! GraphQL over HTTP: requests, responses, limits, errors, and the rules that a
//! schema shares with routes.

mod batches;
mod errors;
mod graphiql;
mod guards;
mod hostile;
mod http;
mod limits;
mod marks;
mod persisted;
mod strange;
mod subscriptions;
mod subscriptions_ends;
mod subscriptions_sse;
mod uploads;

use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql, list_complexity};
use stockade::prelude::*;
use stockade::testing::{TestClient, TestResponse};

/// A node with child nodes.
struct Node {
    name: String,
}

#[gql::Object(crate = "gql")]
impl Node {
    async fn name(&self) -> &str {
        &self.name
    }

    async fn child(&self) -> Self {
        Self { name: format!("{}.", self.name) }
    }

    /// This many child nodes.
    #[graphql(complexity = "list_complexity(first, child_complexity)")]
    async fn children(&self, first: u32) -> Vec<Self> {
        (0..first).map(|index| Self { name: index.to_string() }).collect()
    }
}

/// A search filter.
#[derive(gql::InputObject)]
#[graphql(crate = "gql")]
struct Filter {
    text: String,
    or: Option<Box<Filter>>,
}

#[derive(Default)]
struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    async fn node(&self) -> Node {
        Node { name: "root".to_owned() }
    }

    /// The number of ids.
    async fn count(&self, ids: Vec<i32>) -> usize {
        ids.len()
    }

    async fn search(&self, filter: Filter) -> String {
        filter.or.map_or(filter.text, |or| or.text)
    }

    async fn me(&self, ctx: &gql::Context<'_>) -> gql::Result<String> {
        let caller = ctx.data::<RequestContext>()?;
        let user: Value = caller.user_as()?;
        Ok(user["name"].as_str().unwrap_or_default().to_owned())
    }

    async fn seen(&self, ctx: &gql::Context<'_>) -> gql::Result<String> {
        let caller = ctx.data::<RequestContext>()?;
        let greeting = caller.state::<&'static str>()?;
        Ok(format!("{greeting} {:?} {}", caller.ip(), caller.request_id().is_some()))
    }
}

#[derive(Default)]
struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    async fn put(&self, value: i32) -> i32 {
        value
    }
}

type Builder = gql::SchemaBuilder<Query, Mutation, gql::EmptySubscription>;

fn schema() -> Builder {
    gql::Schema::build(Query, Mutation, gql::EmptySubscription)
}

fn router(graphql: GraphQl) -> Router {
    let token = Auth::bearer(async |token: String| Some(json!({ "name": token })));
    let signed_in = with_auth(token.required(false));
    let api = routes! { "graphql": { middleware: [signed_in], ..graphql.routes() } };
    let options = RouterOptions::new().expose_errors(false).rate_limit(false);
    create_router(api, options)
}

/// Creates a client for a schema at `/graphql`, without a rate limit and with
/// hidden 5xx messages.
#[track_caller]
fn client(graphql: GraphQl) -> TestClient {
    TestClient::new(router(graphql)).with_contract()
}

/// Sends a document and returns the body of the 200 response.
async fn ask(client: &TestClient, query: &str) -> Value {
    let response = send(client, &json!({ "query": query })).await;
    response.assert_status(200);
    response.json()
}

/// Sends a request with GraphQL's media type.
async fn send(client: &TestClient, body: &Value) -> TestResponse {
    client.post("/graphql").json(body).await
}

/// Sends a request that must not run and returns its error message.
async fn refused(client: &TestClient, body: &Value) -> String {
    let sent = client.post("/graphql").header("accept", "application/graphql-response+json");
    let response = sent.json(body).await;
    response.assert_status(400);
    let answer: Value = response.json();
    assert!(answer.get("data").is_none(), "{answer}");
    let errors = answer["errors"].as_array().unwrap();
    assert!(errors.len() <= 10, "{answer}");
    let message = errors[0]["message"].as_str().unwrap();
    assert!(message.chars().count() <= 200, "{answer}");
    message.to_owned()
}
