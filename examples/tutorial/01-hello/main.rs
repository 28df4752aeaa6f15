//! Chapter 1 of the tutorial: a server with one route.

use stockade::prelude::*;

async fn hello() -> &'static str {
    "Hello from the notes API\n"
}

fn router() -> Router {
    let api = routes! {
        "hello": { GET: hello },
    };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    router().listen(3000).await
}

#[cfg(test)]
mod tests;
