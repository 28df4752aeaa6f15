//! Text pages: help, and a page with a script.

use stockade::auth::generate_token;
use stockade::extract::ClientIp;
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::websockets::{Audience, Rooms};

/// Returns a page that shows status changes of an order. Opening a page sends
/// no token, so the page asks for one, and its script sends it.
///
/// The default policy allows no scripts; this one allows only the script with
/// the nonce of this response.
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

/// `EventSource` cannot send a token, so the script reads the event stream
/// itself.
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

/// Broadcasts messages to everyone in the chat of a topic. The first message
/// contains the number of members.
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

/// Returns help for a topic. `**` matches the rest of the path as `splat`.
pub async fn help(Path(topic): Path<String>, ip: Option<ClientIp>) -> String {
    let reader = ip.map_or("you".to_owned(), |ClientIp(ip)| ip.to_string());
    format!("No help on {topic:?} yet, {reader}.\n")
}
