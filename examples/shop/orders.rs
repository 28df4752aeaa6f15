//! Carts, and the orders that they become.

use std::collections::BTreeMap;
use std::convert::Infallible;

use futures_util::stream;
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use tokio::sync::watch;

use super::stock::{
    Cart, Claims, NoCart, NoOrder, NoProduct, Order, OrderLine, Shop, Status, Stock,
};

#[derive(Serialize, Reply, Schema)]
pub struct NewCart {
    pub cart: u32,
}

pub async fn open_cart(shop: State<Shop>, User(user): User<Claims>) -> Created<NewCart> {
    let mut stock = shop.stock.write().await;
    let id = stock.new_id();
    stock.carts.insert(id, Cart { owner: user.sub, items: BTreeMap::new() });
    Created::new(NewCart { cart: id })
}

#[derive(Serialize, Reply, Schema)]
pub struct CartContent {
    pub cart: u32,
    pub lines: Vec<OrderLine>,
    pub total_cents: u64,
}

pub async fn show_cart(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<CartContent, NoCart> {
    let mut stock = shop.stock.write().await;
    let items = stock.cart(id, &user)?.items.clone();
    let lines = lines_of(&stock, &items);
    let total_cents = lines.iter().map(|line| u64::from(line.cents)).sum();
    Ok(CartContent { cart: id, lines, total_cents })
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

#[derive(Debug, ApiError)]
pub enum ItemError {
    #[status(transparent)]
    Cart(#[from] NoCart),
    #[status(transparent)]
    Product(#[from] NoProduct),
    #[status(404, "there is no item {0}")]
    Item(u32),
}

pub async fn add_item(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(cart): Path<u32>,
    Body(item): Body<NewItem>,
) -> Result<(), ItemError> {
    let mut stock = shop.stock.write().await;
    if !stock.products.contains_key(&item.product) {
        return Err(NoProduct(item.product).into());
    }
    let count = stock.cart(cart, &user)?.items.entry(item.product).or_default();
    *count = count.saturating_add(item.count.into());
    Ok(())
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
) -> Result<(), ItemError> {
    let mut stock = shop.stock.write().await;
    let cart = stock.cart(item.cart, &user)?;
    cart.items.remove(&item.product).map(drop).ok_or(ItemError::Item(item.product))
}

#[derive(Serialize, Reply, Schema)]
pub struct NewOrder {
    pub order: u32,
}

#[derive(Debug, ApiError)]
pub enum CheckOutError {
    #[status(transparent)]
    Cart(#[from] NoCart),
    #[status(409, "the cart is empty")]
    EmptyCart,
}

pub async fn check_out(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(cart): Path<u32>,
) -> Result<Created<NewOrder>, CheckOutError> {
    let mut stock = shop.stock.write().await;
    let items = stock.cart(cart, &user)?.items.clone();
    let lines = lines_of(&stock, &items);
    if lines.is_empty() {
        return Err(CheckOutError::EmptyCart);
    }
    stock.carts.remove(&cart);
    let id = stock.new_id();
    let status = watch::Sender::new(Status::Placed);
    stock.orders.insert(id, Order { owner: user.sub, lines, status });
    Ok(Created::new(NewOrder { order: id }))
}

#[derive(Serialize, Reply, Schema)]
pub struct OrderContent {
    pub order: u32,
    pub status: Status,
    pub lines: Vec<OrderLine>,
}

pub async fn show_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<OrderContent, NoOrder> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    let status = *order.status.borrow();
    Ok(OrderContent { order: id, status, lines: order.lines.clone() })
}

#[derive(Debug, ApiError)]
pub enum ShipError {
    #[status(transparent)]
    Order(#[from] NoOrder),
    #[status(409, "order {0} was shipped already")]
    Shipped(u32),
}

/// The message to an application of the owner, if the shop knew any.
#[derive(Serialize, Schema)]
pub struct OrderShipped {
    pub order: u32,
    pub status: Status,
}

pub async fn ship_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<(), ShipError> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    match order.status.send_replace(Status::Shipped) {
        Status::Placed => Ok(()),
        Status::Shipped => Err(ShipError::Shipped(id)),
    }
}

/// The status now and each time it changes, until the order is shipped.
pub async fn order_events(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Sse, NoOrder> {
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
