//! A GraphQL subscription: live messages of a room, over a WebSocket and as
//! server-sent events, with GraphiQL to try them.
//!
//! ```text
//! cargo run -p graphql --bin graphql_live
//! curl -N localhost:3000/graphql -H 'content-type: application/json' \
//!   -H 'accept: text/event-stream' -d '{"query":"subscription { messages { author text } }"}'
//! ```
//!
//! Open <http://localhost:3000/graphql> in a browser to use GraphiQL.
//! `cargo xtask graphql-clients` tests it with independent clients.

use futures_util::stream::{self, Stream, StreamExt as _};
use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql};
use stockade::middleware::rate_limit::MINUTE;
use stockade::prelude::*;
use tokio::sync::broadcast::{self, error::RecvError};

#[derive(Clone, gql::SimpleObject)]
#[graphql(crate = "gql")]
struct Message {
    author: String,
    text: String,
}

/// The messages from now on.
type Room = broadcast::Sender<Message>;

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    /// The number of listeners.
    async fn listeners(&self, ctx: &gql::Context<'_>) -> gql::Result<usize> {
        Ok(ctx.data::<RequestContext>()?.state::<Room>()?.receiver_count())
    }
}

struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    /// Sends a message. Requires a user.
    async fn say(
        &self,
        ctx: &gql::Context<'_>,
        #[graphql(validator(min_length = 1, max_length = 500))] text: String,
    ) -> gql::Result<Message> {
        let caller = ctx.data::<RequestContext>()?;
        let author: String = caller.user_as()?;
        let message = Message { author, text };
        // It fails if there are no listeners.
        let _ = caller.state::<Room>()?.send(message.clone());
        Ok(message)
    }
}

struct Subscription;

#[gql::Subscription(crate = "gql")]
impl Subscription {
    /// The messages from now on.
    async fn messages(
        &self,
        ctx: &gql::Context<'_>,
    ) -> gql::Result<impl Stream<Item = gql::Result<Message>> + use<>> {
        let room = ctx.data::<RequestContext>()?.state::<Room>()?.subscribe();
        Ok(stream::unfold(room, |mut room| async move {
            match room.recv().await {
                Ok(message) => Some((Ok(message), room)),
                Err(RecvError::Lagged(count)) => {
                    Some((Err(gql::Error::new(format!("{count} messages were missed"))), room))
                }
                Err(RecvError::Closed) => None,
            }
        }))
    }

    /// Counts without end.
    async fn count(&self) -> impl Stream<Item = u64> + use<> {
        stream::iter(1..).then(|number| async move {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            number
        })
    }
}

/// In a real program: `verify_token`, a session, or an API key.
fn user_of(token: &str) -> Option<Value> {
    token.strip_prefix("token-of-").map(Value::from)
}

fn router() -> Router {
    let (room, _) = broadcast::channel::<Message>(64);
    let token = Auth::bearer(async |token: String| user_of(&token));
    let schema = gql::Schema::build(Query, Mutation, Subscription);
    let graphql = GraphQl::new(schema)
        .introspection(true)
        .graphiql(true)
        .web_socket(true)
        // Browser scripts cannot set headers of a handshake.
        .on_init(|payload: Value| user_of(payload["token"].as_str()?));
    let api = routes! {
        "graphql": {
            auth: token.optional(),
            public: "the room is open to listen",
            ..graphql.routes(),
        },
    };
    let options = RouterOptions::new().enable_web_sockets(true).rate_limit(10_000 / MINUTE);
    create_router(api, options).state::<Room>(room)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let server = router().create_server()?.bind(port).await?;
    println!("listening on http://{} ; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
