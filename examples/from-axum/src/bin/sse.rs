//! Server-sent events, one per second, and a page that shows them.

use std::convert::Infallible;
use std::time::Duration;

use stockade::extract::TypedHeader;
use stockade::extract::headers::UserAgent;
use stockade::middleware::SecurityHeaders;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use tokio_stream::StreamExt as _;
use tower_http::services::ServeDir;

async fn events(TypedHeader(user_agent): TypedHeader<UserAgent>) -> Sse {
    tracing::info!("`{user_agent}` connected");
    let events = futures_util::stream::repeat_with(|| Ok::<_, Infallible>(Event::data("hi!")));
    let second = Duration::from_secs(1);
    Sse::new(events.throttle(second)).keep_alive(second)
}

fn app() -> Result<App, ConfigError> {
    let page = ServeDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/sse"));
    let api = routes! { mount: page, "sse": { GET: events } };
    // The default policy does not allow scripts.
    let headers = SecurityHeaders::new().set("content-security-policy", "default-src 'self'")?;
    create_router(api, RouterOptions::new().access_log(true).security_headers(headers)).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn events_arrive() {
        let client = TestClient::new(app().unwrap());
        let mut stream = client.get("/sse").header("user-agent", "test").stream().await;
        stream.assert_status(200).assert_header("content-type", "text/event-stream");
        assert_eq!(stream.next_event().await.unwrap().data, "hi!");
        assert_eq!(stream.next_event().await.unwrap().data, "hi!");
        client.get("/sse").await.assert_status(400);
    }

    #[tokio::test]
    async fn the_page_can_load_its_script() {
        let client = TestClient::new(app().unwrap());
        let page = client.get("/").await;
        page.assert_status(200).assert_header("content-security-policy", "default-src 'self'");
        page.assert_text_contains("script.js");
        let script = client.get("/script.js").await;
        script.assert_status(200).assert_text_contains("new EventSource(\"/sse\")");
    }
}
