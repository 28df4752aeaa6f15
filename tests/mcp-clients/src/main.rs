//! An application with the tools of the conformance suite. The suite calls them
//! by name.

use std::time::Duration;

use serde::Deserialize;
use stockade::http::HeaderMap;
use stockade::http::header::HeaderValue;
use stockade::mcp::{Mcp, Progress, Tool};
use stockade::prelude::*;

fn router() -> Router {
    let api = routes! {
        public: "the fixture is for tests",
        "mcp": { ..Mcp::new("fixture", "1.0.0").routes() },
        "text": {
            GET: {
                async || "This is a simple text response for testing.",
                name: "test_simple_text",
                tool: "Returns a text.",
            },
        },
        "image": {
            GET: {
                async || media("image/png", PNG),
                name: "test_image_content",
                tool: "Returns an image with one pixel.",
            },
        },
        "audio": {
            GET: {
                async || media("audio/wav", WAV),
                name: "test_audio_content",
                tool: "Returns a sound without samples.",
            },
        },
        "resource": {
            GET: {
                async || media("application/xml", b"<text>This is an embedded resource.</text>"),
                name: "test_embedded_resource",
                tool: "Returns a file.",
            },
        },
        "error": {
            POST: {
                async || Err::<(), _>(ApiError::new(409, "This tool intentionally fails")),
                name: "test_error_handling",
                tool: "Fails.",
            },
        },
        "progress": {
            POST: { slow, name: "test_tool_with_progress", tool: "Reports its progress." },
        },
        // These two only must not send messages that the client did not request.
        "log": { POST: { done, name: "test_logging_tool", tool: "Does nothing." } },
        "stream": { POST: { done, name: "test_streaming_elicitation", tool: "Does nothing." } },
        "greetings": {
            POST: {
                greet,
                tool: Tool::new("Greets somebody.").name("test_with_arguments").destructive(false),
            },
        },
    };
    // The suite sends hundreds of requests.
    create_router(api, RouterOptions::new().rate_limit(false))
}

async fn done() -> &'static str {
    "done"
}

/// Reports three steps, with the pauses that the suite describes.
async fn slow(progress: Progress) -> &'static str {
    for step in [0, 50, 100] {
        progress.report(step, 100);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "done"
}

#[derive(Deserialize, Schema)]
struct Greeting {
    #[schema(min_length = 1, max_length = 40)]
    name: String,
    #[schema(minimum = 1, maximum = 9, default = 1)]
    count: u8,
}

async fn greet(Body(Greeting { name, count }): Body<Greeting>) -> String {
    format!("Hello {name}, {count} times")
}

/// Returns a file of this type.
fn media(kind: &'static str, bytes: &'static [u8]) -> (HeaderMap, Bytes) {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    (headers, Bytes::from_static(bytes))
}

/// A red pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDATx\xdac\xf8\xcf\xc0\0\0\x03\x01\x01\0\xf7\x03AC\0\0\0\0IEND\xaeB`\x82";

/// A wave file with 8,000 samples of 8 bits a second, and no sample.
const WAV: &[u8] = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\
    \0\0\0\0";

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port: u16 = std::env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let server = router().create_server()?.bind(port).await?;
    println!("listening on http://{} ; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
