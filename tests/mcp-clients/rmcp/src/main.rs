//! Calls the fixture with the client of rmcp, in each of its modes.

use std::error::Error;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ProgressNotificationParam};
use rmcp::model::{JsonObject, ProtocolVersion};
use rmcp::service::{NotificationContext, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// A client that sends each progress to a channel.
struct Caller(UnboundedSender<(f64, Option<f64>)>);

impl ClientHandler for Caller {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send((progress.progress, progress.total));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("URL")?;
    let modern = vec![ProtocolVersion::V_2026_07_28];
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: modern.clone() },
        ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None },
    ] {
        let name = format!("{mode:?}");
        let (sender, progress) = unbounded_channel();
        let transport = StreamableHttpClientTransport::from_uri(url.as_str());
        let client = Caller(sender).serve_with_lifecycle(transport, mode).await?;
        check(&client, progress).await?;
        client.cancel().await?;
        println!("ok  rmcp, {}", name.split(' ').next().unwrap_or_default());
    }
    Ok(())
}

async fn check(
    client: &RunningService<RoleClient, Caller>,
    mut progress: UnboundedReceiver<(f64, Option<f64>)>,
) -> Result<(), Box<dyn Error>> {
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert!(names.contains(&"test_with_arguments") && names.is_sorted(), "{names:?}");
    let known = call(client, "test_with_arguments", &json!({ "name": "Ada", "count": 2 })).await?;
    assert_eq!((known.is_error, text_of(&known)), (Some(false), "Hello Ada, 2 times".to_owned()));
    let image = call(client, "test_image_content", &json!({})).await?;
    let image = image.content.first().and_then(|part| part.as_image()).ok_or("no image")?;
    assert_eq!(image.mime_type, "image/png");
    let invalid =
        call(client, "test_with_arguments", &json!({ "name": "Ada", "count": 10 })).await?;
    assert!(invalid.is_error == Some(true) && text_of(&invalid).starts_with("HTTP 400: "));
    let failing = call(client, "test_error_handling", &json!({})).await?;
    assert_eq!(failing.is_error, Some(true));
    let unknown = call(client, "unknown", &json!({})).await;
    let Err(ServiceError::McpError(error)) = unknown else { panic!("{unknown:?}") };
    assert_eq!((error.code.0, &*error.message), (-32602, "Unknown tool: unknown"));
    let slow = call(client, "test_tool_with_progress", &json!({})).await?;
    assert_eq!(slow.is_error, Some(false));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(timeout(PATIENCE, progress.recv()).await?.ok_or("no progress")?);
    }
    // The client handles notifications concurrently.
    seen.sort_by(|left, right| left.0.total_cmp(&right.0));
    assert_eq!(seen, [(0.0, Some(100.0)), (50.0, Some(100.0)), (100.0, Some(100.0))]);
    Ok(())
}

async fn call(
    client: &RunningService<RoleClient, Caller>,
    name: &'static str,
    arguments: &serde_json::Value,
) -> Result<CallToolResult, ServiceError> {
    let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
    client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await
}

fn text_of(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|part| Some(part.as_text()?.text.as_str())).collect()
}

const PATIENCE: Duration = Duration::from_secs(5);
