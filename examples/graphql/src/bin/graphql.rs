//! GraphQL over HTTP, in a tree with other routes: a query, a mutation that
//! requires a user, and errors that are visible or hidden to clients.
//!
//! ```text
//! cargo run -p graphql
//! curl localhost:3000/graphql -H 'content-type: application/json' \
//!   -d '{"query":"{ teas { name priceCents } }"}'
//! ```
//!
//! `cargo xtask graphql` runs the audits of the npm package `graphql-http`
//! against it.

use std::sync::Mutex;

use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql, list_complexity};
use stockade::middleware::rate_limit::MINUTE;
use stockade::prelude::*;

#[derive(Clone, gql::SimpleObject)]
#[graphql(crate = "gql")]
struct Tea {
    id: usize,
    name: String,
    price_cents: u32,
}

/// The teas of the shop.
#[derive(Default)]
struct Teas {
    list: Mutex<Vec<Tea>>,
}

impl Teas {
    fn add(&self, name: String, price_cents: u32) -> Result<Tea, ApiError> {
        let mut list = self.list.lock().map_err(|_| ApiError::new(500, "the list is broken"))?;
        if list.iter().any(|tea| tea.name == name) {
            return Err(ApiError::new(409, format!("A tea called {name} already exists")));
        }
        let tea = Tea { id: list.len() + 1, name, price_cents };
        list.push(tea.clone());
        Ok(tea)
    }
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    /// The first teas of the list.
    #[graphql(complexity = "list_complexity(first, child_complexity)")]
    async fn teas(
        &self,
        ctx: &gql::Context<'_>,
        #[graphql(default = 10, validator(maximum = 100))] first: u32,
    ) -> gql::Result<Vec<Tea>> {
        let teas = ctx.data::<RequestContext>()?.state::<Teas>()?;
        let list = teas.list.lock().map_err(|_| ApiError::new(500, "the list is broken"))?;
        Ok(list.iter().take(first as usize).cloned().collect())
    }

    /// A tea by its number.
    async fn tea(&self, ctx: &gql::Context<'_>, id: usize) -> gql::Result<Option<Tea>> {
        let teas = ctx.data::<RequestContext>()?.state::<Teas>()?;
        let list = teas.list.lock().map_err(|_| ApiError::new(500, "the list is broken"))?;
        Ok(list.iter().find(|tea| tea.id == id).cloned())
    }

    /// Fails with an error that hides its reason from clients.
    async fn supplier(&self) -> gql::Result<String> {
        Err("cannot connect to postgres://shop:secret@db")?
    }
}

struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    /// Adds a tea to the list. Requires a user.
    async fn add_tea(
        &self,
        ctx: &gql::Context<'_>,
        #[graphql(validator(min_length = 1, max_length = 100))] name: String,
        price_cents: u32,
    ) -> gql::Result<Tea> {
        let caller = ctx.data::<RequestContext>()?;
        let _user: Value = caller.user_as()?;
        Ok(caller.state::<Teas>()?.add(name, price_cents)?)
    }
}

fn router() -> Result<Router, ApiError> {
    let teas = Teas::default();
    teas.add("Green tea".to_owned(), 450)?;
    teas.add("Black tea".to_owned(), 390)?;
    // In a real program: `Auth::secret`, a session, or an API key.
    let token = Auth::bearer(async |token: String| match token.as_str() {
        "token-of-ada" => Some(json!({ "name": "Ada" })),
        _ => None,
    });
    let schema = gql::Schema::build(Query, Mutation, gql::EmptySubscription);
    // The schema of a public API is not secret.
    let graphql = GraphQl::new(schema).introspection(true).public("the list is open to read");
    let api = routes! { "graphql": { auth: token.optional(), ..graphql.routes() } };
    Ok(create_router(api, RouterOptions::new().rate_limit(10_000 / MINUTE)).state(teas))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let server = router()?.create_server()?.bind(port).await?;
    println!("listening on http://{} ; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
