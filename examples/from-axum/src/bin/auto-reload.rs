//! A server that inherits the listener of its parent process. No request is
//! lost while the program is recompiled and restarted.
//!
//! ```text
//! systemfd --no-pid -s http::3000 -- cargo watch -x 'run --bin auto-reload'
//! ```

use stockade::prelude::*;
use stockade::server::InheritedSockets;

fn router() -> Router {
    create_router(routes! { GET: async || Html("<h1>Hello, World!</h1>") }, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let server = router().create_server()?;
    let inherited = InheritedSockets::from_env()?;
    if inherited.is_empty() {
        server.listen(3000).await?;
    } else {
        server.listen(inherited).await?;
    }
    Ok(())
}

// `tests/auto_reload.rs` starts the program with and without a listener.
