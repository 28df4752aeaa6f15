//! Functions and a handler that return `anyhow::Error` with `?`. The response
//! contains the text of the error.

use stockade::ErrorReply;
use stockade::prelude::*;

async fn handler() -> Result<(), BoxError> {
    try_thing()?;
    Ok(())
}

fn try_thing() -> anyhow::Result<()> {
    anyhow::bail!("it failed!")
}

/// Shows clients the text of every error. By default only the log contains the
/// text of a 5xx.
fn tell(reply: &mut ErrorReply) {
    let text = format!("Something went wrong: {}", reply.error());
    reply.set_body("text/plain; charset=utf-8", text);
}

fn router() -> Router {
    create_router(routes! { GET: handler }, RouterOptions::new().error_handling(tell))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn responds_with_the_error() {
        let response = TestClient::new(router()).get("/").await;
        response.assert_status(500).assert_text("Something went wrong: it failed!");
    }
}
