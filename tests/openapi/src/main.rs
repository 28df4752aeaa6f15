//! The shop for `cargo xtask openapi`: the same routes and options, with the
//! database from `SHOP_DATABASE`. It trusts a proxy that may name any client,
//! and prints the token of an admin.

use std::env;
use std::time::Duration;

use stockade::auth::{generate_jwt, generate_token};
use stockade::middleware::Metrics;
use stockade::prelude::*;
use stockade::rest::{NewRow, Store as _};

use shop::{Role, Shop};

/// The id of the admin, which a generated request is unlikely to delete.
const ADMIN: u32 = 1_777_666_555;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let secret = generate_token(32)?;
    let database = env::var("SHOP_DATABASE")?;
    let shop = Shop::open(&database, Secret::new(&*secret)?).await?;
    let admin = [
        ("id", json!(ADMIN)),
        ("name", json!("Admin")),
        ("email", json!("admin@example.org")),
        ("role", json!(Role::Admin)),
        ("password_hash", json!("")),
    ];
    shop.users.create(NewRow::new(admin)).await?;
    let token = generate_jwt(json!({ "sub": ADMIN.to_string() }), DAY, &Secret::new(secret)?)?;

    let metrics = Metrics::new();
    let options = shop::options(&metrics).trust_proxy(1);
    let server = shop::router_with(shop, &metrics, options).create_server()?.bind(0).await?;
    println!("listening on http://{} {token}", server.local_addr());
    server.serve().await?;
    Ok(())
}
