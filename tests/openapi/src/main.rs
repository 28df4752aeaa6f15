//! The shop for `cargo xtask openapi`: the same routes with the same options,
//! behind a proxy that may name any client, and with an admin whose token is
//! printed.

#[allow(
    dead_code,
    unused_imports,
    reason = "the example is a program; its `main` is not called here"
)]
#[path = "../../../examples/shop/main.rs"]
mod shop;

use std::time::Duration;

use stockade::auth::{generate_jwt, generate_token};
use stockade::middleware::Metrics;
use stockade::prelude::*;

use self::shop::{Role, Shop};

/// The id of the admin: one that no generated request is likely to delete.
const ADMIN: u32 = 1_777_666_555;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let secret = generate_token(32)?;
    let mut shop = Shop::stocked(Secret::new(&*secret)?);
    let stock = shop.stock.get_mut();
    let last_id = std::mem::replace(&mut stock.last_id, ADMIN - 1);
    shop.add_account("Admin", "admin@example.org", Role::Admin, String::new());
    shop.stock.get_mut().last_id = last_id;
    let token = generate_jwt(json!({ "sub": ADMIN.to_string() }), DAY, &Secret::new(secret)?)?;

    let metrics = Metrics::new();
    let options = shop::options(&metrics).trust_proxy(1);
    let server = shop::router_with(shop, &metrics, options).create_server()?.bind(0).await?;
    println!("listening on http://{} {token}", server.local_addr());
    server.serve().await?;
    Ok(())
}
