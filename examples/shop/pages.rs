//! Texts to read: help, and a page with a script.

use stockade::auth::generate_token;
use stockade::extract::ClientIp;
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::websockets::{Audience, Rooms};

/// A page that shows the status of an order as it changes. A page that is
/// opened sends no token, so it asks for one, and its script sends it.
///
/// The usual policy lets no script run; this one lets exactly the script run
/// that has the nonce of this response.
pub async fn live_page() -> Result<(HeaderMap, Html<String>), ApiError> {
    let nonce = generate_token(16).map_err(ApiError::internal)?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut headers = HeaderMap::new();
    let policy = header::HeaderValue::try_from(policy).map_err(ApiError::internal)?;
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    Ok((headers, Html(LIVE_PAGE.replace("NONCE", &nonce))))
}

/// `EventSource` cannot send a token, so the stream of events is read by hand.
const LIVE_PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>An order, live</title>
<h1>An order, live</h1>
<p><label>Order <input id="order" inputmode="numeric"></label>
<p><label>Token <input id="token" type="password"></label>
<p><button id="watch">Watch</button>
<p role="status" id="status"></p>
<script nonce="NONCE">
const of = (id) => document.getElementById(id);
const show = (text) => { of("status").textContent = text; };
async function watch() {
  const order = encodeURIComponent(of("order").value);
  const headers = { authorization: `Bearer ${of("token").value}` };
  const response = await fetch(`/orders/${order}/events`, { headers });
  if (!response.ok) return show((await response.json()).error);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) show(JSON.parse(data.slice(6)));
    }
  }
}
of("watch").addEventListener("click", () => watch().catch((error) => show(String(error))));
</script>
</html>
"#;

/// Everybody who has opened the chat of a topic reads what the others write. The
/// first message says how many they are.
pub async fn chat(
    mut socket: WebSocket,
    Path(topic): Path<String>,
    rooms: State<Rooms>,
) -> Result<(), ApiError> {
    let member = rooms.enter(socket.sender())?;
    member.join(&topic)?;
    socket.send(rooms.members(&topic).len().to_string()).await?;
    while let Some(text) = socket.recv_text().await {
        rooms.broadcast_except(Audience::Room(&topic), text?, socket.id());
    }
    Ok(())
}

/// `**` takes the rest of the path as `splat`.
pub async fn help(Path(topic): Path<String>, ip: Option<ClientIp>) -> String {
    let reader = ip.map_or("you".to_owned(), |ClientIp(ip)| ip.to_string());
    format!("No help on {topic:?} yet, {reader}.\n")
}
