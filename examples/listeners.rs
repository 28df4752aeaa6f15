//! One server on several listeners: a port, a Unix socket, and systemd sockets.
//!
//! ```text
//! cargo run -p stockade-examples --bin listeners -- 127.0.0.1:3000 unix:/tmp/app.sock
//! curl localhost:3000/
//! curl --unix-socket /tmp/app.sock http://localhost/
//!
//! cargo build -p stockade-examples --bin listeners
//! systemd-socket-activate -l 3001 target/debug/listeners
//! curl localhost:3001/
//! ```
//!
//! One proxy is trusted, so clients of the Unix socket have the address that it
//! writes to `X-Forwarded-For`.

use stockade::prelude::*;
use stockade::server::Listeners;
#[cfg(unix)]
use stockade::server::{InheritedSockets, UnixSocket};

async fn hello(req: Request) -> String {
    let client = req.client_ip().map(|ip| ip.to_string());
    format!("Hello, {}\n", client.as_deref().unwrap_or("whoever you are"))
}

/// Returns the listeners that the arguments name.
fn listeners(arguments: impl Iterator<Item = String>) -> Result<Listeners, BoxError> {
    let mut all = Listeners::new();
    for argument in arguments {
        #[cfg(unix)]
        if let Some(path) = argument.strip_prefix("unix:") {
            all = all.add(UnixSocket::new(path).mode(0o660));
            continue;
        }
        all = all.add(argument);
    }
    #[cfg(unix)]
    {
        let inherited = InheritedSockets::from_env()?;
        if !inherited.is_empty() {
            all = all.add(inherited);
        }
    }
    Ok(all)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let api = routes! { GET: hello };
    let router = create_router(api, RouterOptions::new().trust_proxy(1));
    router.listen(listeners(std::env::args().skip(1))?).await?;
    Ok(())
}
