//! Two echo handlers: one is tested with a client, the other with channels
//! instead of a connection.

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use stockade::prelude::*;
use stockade::websockets::Message;

async fn by_client(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(format!("You said: {}", text?)).await?;
    }
    Ok(())
}

async fn by_channels(socket: WebSocket) {
    let (read, write) = socket.split();
    echo(read, write).await;
}

async fn echo<E>(
    mut read: impl Stream<Item = Result<Message, E>> + Unpin,
    mut write: impl Sink<Message> + Unpin,
) {
    while let Some(Ok(message)) = read.next().await {
        if let Message::Text(text) = message
            && write.send(Message::Text(format!("You said: {text}"))).await.is_err()
        {
            return;
        }
    }
}

fn app() -> Result<App, ConfigError> {
    let api = routes! { "by-client": { ws: by_client }, "by-channels": { ws: by_channels } };
    create_router(api, RouterOptions::new().enable_web_sockets(true)).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_channel::mpsc;
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn a_client_hears_itself() {
        // A server on a port, as for every client.
        let server = app().unwrap().create_server().unwrap().bind(0).await.unwrap();
        let client = TestClient::live(&format!("http://{}", server.local_addr()));
        tokio::spawn(server.serve());
        for path in ["/by-client", "/by-channels"] {
            let mut socket = client.websocket(path).connect().await;
            socket.send_text("foo").await;
            assert_eq!(socket.receive_text().await, "You said: foo");
        }
    }

    #[tokio::test]
    async fn no_port_is_needed() {
        let mut socket = TestClient::new(app().unwrap()).websocket("/by-client").connect().await;
        socket.send_text("foo").await;
        assert_eq!(socket.receive_text().await, "You said: foo");
    }

    #[tokio::test]
    async fn channels_replace_the_halves_of_a_connection() {
        let (mut client, read) = mpsc::channel::<Result<Message, Infallible>>(8);
        let (write, mut answers) = mpsc::channel(8);
        tokio::spawn(echo(read, write));
        client.send(Ok(Message::Text("foo".to_owned()))).await.unwrap();
        assert_eq!(answers.next().await, Some(Message::Text("You said: foo".to_owned())));
        drop(client);
        assert_eq!(answers.next().await, None);
    }
}
