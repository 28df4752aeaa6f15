//! Carts, and the orders that they become.

use std::collections::BTreeMap;
use std::convert::Infallible;

use futures_util::stream;
use serde::Deserialize;
use stockade::prelude::*;
use tokio::sync::watch;

use super::stock::{Cart, Claims, Order, OrderLine, Shop, ShopError, Status, Stock, unknown};

pub async fn open_cart(shop: State<Shop>, User(user): User<Claims>) -> (StatusCode, Value) {
    let mut stock = shop.stock.write().await;
    let id = stock.new_id();
    stock.carts.insert(id, Cart { owner: user.sub, items: BTreeMap::new() });
    (StatusCode::CREATED, json!({ "cart": id }))
}

pub async fn show_cart(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Value, ShopError> {
    let mut stock = shop.stock.write().await;
    let items = stock.cart(id, &user)?.items.clone();
    let lines = lines_of(&stock, &items);
    let total: u64 = lines.iter().map(|line| u64::from(line.cents)).sum();
    Ok(json!({ "cart": id, "lines": lines, "total_cents": total }))
}

fn lines_of(stock: &Stock, items: &BTreeMap<u32, u32>) -> Vec<OrderLine> {
    let line = |(&product, &count): (&u32, &u32)| {
        let price = stock.products.get(&product)?.price_cents;
        Some(OrderLine { product, count, cents: price.saturating_mul(count) })
    };
    items.iter().filter_map(line).collect()
}

#[derive(Deserialize, Schema)]
pub struct NewItem {
    pub product: u32,
    #[schema(minimum = 1, maximum = 99, default = 1)]
    pub count: u8,
}

pub async fn add_item(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(cart): Path<u32>,
    Body(item): Body<NewItem>,
) -> Result<StatusCode, ShopError> {
    let mut stock = shop.stock.write().await;
    if !stock.products.contains_key(&item.product) {
        return Err(unknown("product", item.product));
    }
    let count = stock.cart(cart, &user)?.items.entry(item.product).or_default();
    *count = count.saturating_add(item.count.into());
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, Schema)]
pub struct CartItem {
    pub cart: u32,
    pub product: u32,
}

pub async fn remove_item(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(item): Path<CartItem>,
) -> Result<(), ShopError> {
    let mut stock = shop.stock.write().await;
    let cart = stock.cart(item.cart, &user)?;
    cart.items.remove(&item.product).map(drop).ok_or(unknown("item", item.product))
}

pub async fn check_out(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(cart): Path<u32>,
) -> Result<(StatusCode, Value), ShopError> {
    let mut stock = shop.stock.write().await;
    let items = stock.cart(cart, &user)?.items.clone();
    let lines = lines_of(&stock, &items);
    if lines.is_empty() {
        return Err(ShopError::EmptyCart);
    }
    stock.carts.remove(&cart);
    let id = stock.new_id();
    let status = watch::Sender::new(Status::Placed);
    stock.orders.insert(id, Order { owner: user.sub, lines, status });
    Ok((StatusCode::CREATED, json!({ "order": id })))
}

pub async fn show_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Value, ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    Ok(json!({ "order": id, "status": *order.status.borrow(), "lines": order.lines }))
}

pub async fn ship_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<(), ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    match order.status.send_replace(Status::Shipped) {
        Status::Placed => Ok(()),
        Status::Shipped => Err(ShopError::Shipped { id }),
    }
}

/// The status now and each time it changes, until the order is shipped.
pub async fn order_events(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Sse, ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    let mut status = order.status.subscribe();
    status.mark_changed();
    Ok(Sse::new(stream::unfold((status, false), |(mut status, done)| async move {
        if done || status.changed().await.is_err() {
            return None;
        }
        let now = *status.borrow_and_update();
        let event = Event::data(json!(now).to_string()).name("status");
        Some((Ok::<_, Infallible>(event), (status, now == Status::Shipped)))
    })))
}
