//! Calls the methods of `examples/rpc.rs` with the clients of jsonrpsee.

use std::error::Error;

use jsonrpsee::core::ClientError;
use jsonrpsee::core::client::{ClientT, SubscriptionClientT};
use jsonrpsee::core::params::{ArrayParams, BatchRequestBuilder, ObjectParams};
use jsonrpsee::http_client::HttpClient;
use jsonrpsee::rpc_params;
use jsonrpsee::ws_client::WsClientBuilder;
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("URL")?;
    let http = HttpClient::builder().build(&url)?;
    calls(&http).await?;
    let socket = WsClientBuilder::default().build(url.replacen("http", "ws", 1)).await?;
    calls(&socket).await?;
    let mut ticks = socket.subscribe_to_method::<Value>("tick").await?;
    let begun: String = socket.request("tick", rpc_params![]).await?;
    assert_eq!(begun, "begun");
    for number in 1..=3 {
        let tick = ticks.next().await.ok_or("the notifications end")??;
        assert_eq!(tick["tick"], number);
    }
    println!("jsonrpsee understands every answer");
    Ok(())
}

/// Makes the same calls with any client.
async fn calls(client: &impl ClientT) -> Result<(), Box<dyn Error>> {
    let difference: i64 = client.request("subtract", rpc_params![42, 23]).await?;
    assert_eq!(difference, 19);
    let mut named = ObjectParams::new();
    named.insert("subtrahend", 23)?;
    named.insert("minuend", 42)?;
    assert_eq!(client.request::<i64, _>("subtract", named).await?, 19);
    client.notification("sum", rpc_params![1]).await?;
    for (method, code) in [("unknown", -32601), ("tasks.add", -32602), ("fails", -32603)] {
        let error = client.request::<Value, _>(method, ArrayParams::new()).await;
        assert!(matches!(&error, Err(ClientError::Call(it)) if it.code() == code), "{error:?}");
    }
    let mut batch = BatchRequestBuilder::new();
    batch.insert("sum", rpc_params![1, 2])?;
    batch.insert("sum", rpc_params![3])?;
    batch.insert("unknown", rpc_params![])?;
    let answers = client.batch_request::<i64>(batch).await?;
    assert_eq!((answers.num_successful_calls(), answers.num_failed_calls()), (2, 1));
    let sums: Vec<i64> = answers.iter().flatten().copied().collect();
    assert_eq!(sums, [3, 3]);
    Ok(())
}
