//! Serves the shop on port 3000 and prints three lines to try: `cargo run -p shop`.
//!
//! `PORT` sets another port; 0 selects a free one. `SHOP_ADDRESS` sets another
//! address, such as `0.0.0.0:3000` in a container. `SHOP_SECRET` signs the
//! tokens; without it, each start has a new secret. `SHOP_ADMIN_PASSWORD`
//! creates the account admin@example.org. The data is in the file `shop.db` of
//! the current folder. `SHOP_DATABASE` sets another file, `:memory:`, which is
//! lost when the program ends, or `postgres://…` with the feature `postgres`.
//! `SHOP_REDIS` is the address of a Redis for several processes, with the
//! feature `redis`.
//! With `-- routes`, `-- explain POST /users`, `-- audit`, `-- openapi`,
//! `-- graphql`, `-- dashboard` or `-- lock`, the program prints information
//! about its routes and exits without opening the database. `-- health` exits
//! with 0 if the shop at this address is ready.

use std::env;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use shop::{closed, new_user};
use stockade::auth::generate_token;
use stockade::prelude::*;
use stockade::server::ServerOptions;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listen = env::var("SHOP_ADDRESS").unwrap_or_else(|_| format!("127.0.0.1:{port}"));
    if env::args().nth(1).as_deref() == Some("health") {
        return check_health(&listen);
    }
    let secret = env::var("SHOP_SECRET").or_else(|_| generate_token(32))?;
    let address = match env::var("SHOP_DATABASE") {
        Err(env::VarError::NotPresent) => "shop.db".to_owned(),
        named => named.map_err(|error| format!("SHOP_DATABASE: {error}"))?,
    };
    let app = closed(address, Secret::new(secret)?)?.build()?;
    // Commands such as `routes` do not open the shop, so they need no database.
    if app.run_command(env::args()).await? {
        return Ok(());
    }

    // Readiness probes at `/health/ready` have this time to notice a shutdown.
    let limits = ServerOptions::new().shutdown_delay(Duration::from_millis(500));
    let server = app.create_server_with(limits)?.bind(listen.as_str()).await?;
    let address = server.local_addr();
    println!("the shop is open at http://{address}; try");
    println!("  curl 'http://{address}/products?category=tea&sort=-price_cents'");
    println!("  curl http://{address}/users --json '{}'", new_user());
    println!("  curl -i -X DELETE http://{address}/products");
    server.with_signals().serve().await?;
    println!("the shop is closed");
    Ok(())
}

/// Returns an error unless the shop at this address accepts requests.
fn check_health(address: &str) -> Result<(), BoxError> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let request = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    if response.starts_with("HTTP/1.1 200 ") { Ok(()) } else { Err(response.into()) }
}
