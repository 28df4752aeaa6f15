//! A chat room: each client chooses a unique name and then receives all
//! messages.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use stockade::prelude::*;
use stockade::websockets::{Audience, Rooms};

/// The names in use.
#[derive(Default)]
struct Names(Mutex<HashSet<String>>);

impl Names {
    fn take(&self, name: &str) -> bool {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !name.is_empty() && taken.insert(name.to_owned())
    }

    fn free(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

async fn chat(
    mut socket: WebSocket,
    rooms: State<Rooms>,
    names: State<Names>,
) -> Result<(), BoxError> {
    let Some(name) = socket.recv_text().await.transpose()? else { return Ok(()) };
    if !names.take(&name) {
        socket.send("Username already taken.").await?;
        return Ok(());
    }
    let talked = talk(&mut socket, &rooms, &name).await;
    rooms.broadcast(Audience::All, format!("{name} left."));
    names.free(&name);
    talked
}

async fn talk(socket: &mut WebSocket, rooms: &Rooms, name: &str) -> Result<(), BoxError> {
    let _member = rooms.enter(socket.sender())?;
    rooms.broadcast(Audience::All, format!("{name} joined."));
    while let Some(text) = socket.recv_text().await {
        rooms.broadcast(Audience::All, format!("{name}: {}", text?));
    }
    Ok(())
}

/// Returns the page, with a policy that allows its script and its connection.
async fn index() -> impl Reply {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; connect-src 'self'";
    ([("content-security-policy", policy)], Html(include_str!("chat.html")))
}

fn router() -> Router {
    let api = routes! { GET: index, "websocket": { ws: chat } };
    let options = RouterOptions::new().enable_web_sockets(true);
    create_router(api, options).state(Rooms::default()).state(Names::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::{TestClient, TestMessage, TestWebSocket};

    use super::*;

    async fn enter(client: &TestClient, name: &str) -> TestWebSocket {
        let mut socket = client.websocket("/websocket").connect().await;
        socket.send_text(name).await;
        socket
    }

    #[tokio::test]
    async fn all_clients_receive_messages() {
        let client = TestClient::new(router());
        let mut ada = enter(&client, "ada").await;
        assert_eq!(ada.receive_text().await, "ada joined.");
        let mut bob = enter(&client, "bob").await;
        for socket in [&mut ada, &mut bob] {
            assert_eq!(socket.receive_text().await, "bob joined.");
        }
        bob.send_text("tea?").await;
        for socket in [&mut ada, &mut bob] {
            assert_eq!(socket.receive_text().await, "bob: tea?");
        }
        bob.close().await;
        assert_eq!(ada.receive_text().await, "bob left.");
    }

    #[tokio::test]
    async fn a_name_is_reserved_until_its_owner_leaves() {
        let client = TestClient::new(router());
        let mut first = enter(&client, "ada").await;
        assert_eq!(first.receive_text().await, "ada joined.");
        let mut second = enter(&client, "ada").await;
        assert_eq!(second.receive_text().await, "Username already taken.");
        assert!(matches!(second.receive().await, TestMessage::Close(..)));
        let mut bob = enter(&client, "bob").await;
        first.close().await;
        assert_eq!(bob.receive_text().await, "bob joined.");
        assert_eq!(bob.receive_text().await, "ada left.");
        let mut third = enter(&client, "ada").await;
        assert_eq!(third.receive_text().await, "ada joined.");
    }

    #[tokio::test]
    async fn the_page_can_run_its_script() {
        let page = TestClient::new(router()).get("/").await;
        page.assert_status(200).assert_text_contains("/websocket");
        assert!(page.header("content-security-policy").unwrap().contains("script-src"));
    }
}
