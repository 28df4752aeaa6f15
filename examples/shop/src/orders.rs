//! Carts and the orders created from them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, stream};
use serde::{Deserialize, Serialize};
#[cfg(feature = "graphql")]
use stockade::graphql::async_graphql as gql;
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::reply::{Event, Sse};
use stockade::rest::{
    Filter, ListQuery, NewRow, Op, RowFilter, Store as _, StoreError, VersionCheck, Versioned,
};
use tokio::sync::watch;

use crate::stock::{
    Cart, CartError, Claims, NoData, Order, OrderError, OrderLine, Product, ProductError, Role,
    Shop, Status, all,
};

#[derive(Serialize, Schema)]
pub struct NewCart {
    pub cart: u32,
}

pub async fn open_cart(
    shop: State<Shop>,
    User(user): User<Claims>,
) -> Result<Created<NewCart>, NoData> {
    let cart = [("owner", json!(user.sub)), ("items", json!({})), ("closed", json!(false))];
    let cart = shop.carts.create(NewRow::new(cart)).await?;
    Ok(Created::new(NewCart { cart: cart.value.id }))
}

/// Filters the carts of a user; other carts are not found.
fn own(user: &Claims) -> RowFilter {
    RowFilter::eq("owner", &*user.sub)
}

#[derive(Serialize, Schema)]
pub struct CartContent {
    pub cart: u32,
    pub lines: Vec<OrderLine>,
    pub total_cents: u64,
}

pub async fn show_cart(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<CartContent, CartError> {
    let cart = shop.carts.get(&id, &own(&user)).await?.ok_or(CartError::Missing(id))?.value;
    let lines = lines_of(&shop, &cart.items).await?;
    let total_cents = lines.iter().map(|line| u64::from(line.cents)).sum();
    Ok(CartContent { cart: id, lines, total_cents })
}

/// Returns order lines for the products that the shop still has.
async fn lines_of(shop: &Shop, items: &BTreeMap<u32, u32>) -> Result<Vec<OrderLine>, StoreError> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let values = items.keys().map(|id| json!(id)).collect();
    let wanted = vec![Filter { field: "id".into(), op: Op::Eq, values }];
    let products = all(&shop.products, wanted, |product| product.id).await?;
    let line = |product: &Product| {
        let count = *items.get(&product.id)?;
        let cents = product.price_cents.saturating_mul(count);
        Some(OrderLine { product: product.id, count, cents })
    };
    Ok(products.iter().filter_map(line).collect())
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
    Cart(#[from] CartError),
    #[status(transparent)]
    Product(#[from] ProductError),
    #[status(404, "there is no item {0}")]
    Item(u32),
    #[status(409, "other requests keep changing cart {0}")]
    Contended(u32),
    #[status(409, "cart {0} has 50 products, as many as it may have")]
    Full(u32),
}

/// The maximum number of different products in a cart; see [`ItemError::Full`].
const MAX_ITEMS: usize = 50;

pub async fn add_item(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(cart): Path<u32>,
    Body(item): Body<NewItem>,
) -> Result<(), ItemError> {
    let product = shop.products.get(&item.product, &RowFilter::all()).await;
    if product.map_err(ProductError::from)?.is_none() {
        return Err(ProductError::Missing(item.product).into());
    }
    change_items(&shop, cart, &user, |items| {
        if items.len() >= MAX_ITEMS && !items.contains_key(&item.product) {
            return Err(ItemError::Full(cart));
        }
        let count = items.entry(item.product).or_default();
        *count = count.saturating_add(item.count.into());
        Ok(())
    })
    .await
}

/// Changes the items of a cart. Several requests may change the row
/// concurrently: it is written at the version that was read, and read again if
/// another write came first.
async fn change_items(
    shop: &Shop,
    id: u32,
    user: &Claims,
    change: impl Fn(&mut BTreeMap<u32, u32>) -> Result<(), ItemError>,
) -> Result<(), ItemError> {
    let open = own(user).and_eq("closed", false);
    for _ in 0..TRIES {
        let cart = shop.carts.get(&id, &open).await.map_err(CartError::from)?;
        let Versioned { value: mut cart, version } = cart.ok_or(CartError::Missing(id))?;
        change(&mut cart.items)?;
        let items = NewRow::new([("items", json!(cart.items))]);
        match shop.carts.replace(&id, items, VersionCheck::Version(version), &open).await {
            Ok(_) => return Ok(()),
            Err(StoreError::Changed) => {}
            Err(StoreError::Missing) => return Err(CartError::Missing(id).into()),
            Err(error) => return Err(CartError::from(error).into()),
        }
    }
    Err(ItemError::Contended(id))
}

/// The maximum number of attempts to write a cart. One of several writes to a
/// version always succeeds, so this number of requests may change a cart
/// concurrently.
const TRIES: usize = 16;

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
    change_items(&shop, item.cart, &user, |items| {
        items.remove(&item.product).map(drop).ok_or(ItemError::Item(item.product))
    })
    .await
}

#[derive(Serialize, Schema)]
#[cfg_attr(feature = "graphql", derive(gql::SimpleObject), graphql(crate = "gql"))]
pub struct NewOrder {
    pub order: u32,
}

#[derive(Debug, ApiError)]
pub enum CheckOutError {
    #[status(transparent)]
    Cart(#[from] CartError),
    #[status(409, "the cart is empty")]
    EmptyCart,
    #[status(409, "cart {0} is already an order")]
    Ordered(u32),
}

pub async fn check_out(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Created<NewOrder>, CheckOutError> {
    order_cart(&shop, &user, id).await.map(Created::new)
}

/// Creates an order from a cart in three atomic writes. A crash between them
/// loses nothing: the next checkout of the cart continues.
pub async fn order_cart(shop: &Shop, user: &Claims, id: u32) -> Result<NewOrder, CheckOutError> {
    let cart = shop.carts.get(&id, &own(user)).await.map_err(CartError::from)?;
    let cart = cart.ok_or(CartError::Missing(id))?.value;
    if lines_of(shop, &cart.items).await.map_err(CartError::from)?.is_empty() {
        return Err(CheckOutError::EmptyCart);
    }
    // From here on nothing can be added, so the order contains all items.
    let closed = NewRow::new([("closed", json!(true))]);
    let cart: Cart = match shop.carts.replace(&id, closed, VersionCheck::Any, &own(user)).await {
        Ok(cart) => cart.value,
        Err(StoreError::Missing) => return Err(CartError::Missing(id).into()),
        Err(error) => return Err(CartError::from(error).into()),
    };
    let lines = lines_of(shop, &cart.items).await.map_err(CartError::from)?;
    let order = [
        ("cart", json!(id)),
        ("owner", json!(user.sub)),
        ("lines", json!(lines)),
        ("status", json!(Status::Placed)),
    ];
    // A cart has at most one order, even with concurrent requests.
    let order = match shop.orders.create(NewRow::new(order)).await {
        Ok(order) => Ok(NewOrder { order: order.value.id }),
        Err(StoreError::Taken { .. }) => Err(CheckOutError::Ordered(id)),
        Err(error) => return Err(CartError::from(error).into()),
    };
    // The order exists even if the cart is not deleted.
    if let Err(error) = shop.carts.delete(&id, VersionCheck::Any, &RowFilter::all()).await {
        log::debug!("cart {id} stays: {error}");
    }
    order
}

#[derive(Serialize, Schema)]
#[cfg_attr(feature = "graphql", derive(gql::SimpleObject), graphql(crate = "gql", name = "Order"))]
pub struct OrderContent {
    pub order: u32,
    pub status: Status,
    pub lines: Vec<OrderLine>,
}

impl From<Order> for OrderContent {
    fn from(Order { id, status, lines, .. }: Order) -> Self {
        Self { order: id, status, lines }
    }
}

pub async fn show_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<OrderContent, OrderError> {
    Ok(find_order(&shop, &user, id).await?.into())
}

/// Finds an order that this user may see.
pub async fn find_order(shop: &Shop, user: &Claims, id: u32) -> Result<Order, OrderError> {
    let scope = if user.role == Role::Customer { own(user) } else { RowFilter::all() };
    let order = shop.orders.get(&id, &scope).await?;
    Ok(order.ok_or(OrderError::Missing(id))?.value)
}

/// Lists the user's own orders, also for clerks and admins.
pub async fn list_orders(
    shop: &Shop,
    user: &Claims,
    query: ListQuery,
) -> Result<Vec<Order>, NoData> {
    let page = shop.orders.list(&ListQuery { scope: own(user), ..query }).await?;
    Ok(page.items.into_iter().map(|it| it.value).collect())
}

#[derive(Debug, ApiError)]
pub enum ShipError {
    #[status(transparent)]
    Order(#[from] OrderError),
    #[status(409, "order {0} was already shipped")]
    Shipped(u32),
}

/// The webhook for an application of the owner. The shop has none yet.
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
    find_order(&shop, &user, id).await?;
    // Only one of two concurrent requests finds the order placed.
    let placed = RowFilter::eq("status", json!(Status::Placed));
    let shipped = NewRow::new([("status", json!(Status::Shipped))]);
    match shop.orders.replace(&id, shipped, VersionCheck::Any, &placed).await {
        Ok(_) => shop.shipped.send_replace(()),
        Err(StoreError::Missing) => return Err(ShipError::Shipped(id)),
        Err(error) => return Err(OrderError::from(error).into()),
    }
    Ok(())
}

/// Sends the statuses of [`watch_order`] as events.
pub async fn order_events(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Sse, OrderError> {
    let statuses = watch_order(shop.0, &user, id).await?;
    Ok(Sse::new(
        statuses.map(|status| {
            Ok::<_, Infallible>(Event::data(json!(status).to_string()).name("status"))
        }),
    ))
}

/// Streams the current status of an order that this user may see, and each
/// change until the order is shipped.
pub async fn watch_order(
    shop: Arc<Shop>,
    user: &Claims,
    id: u32,
) -> Result<impl Stream<Item = Status> + use<>, OrderError> {
    // Subscribe before the order is read, to miss no change.
    let changes = shop.shipped.subscribe();
    let order = find_order(&shop, user, id).await?;
    let watch = Watch { shop, changes, id, told: None, status: order.status };
    Ok(stream::unfold(watch, |mut watch| async move {
        let status = watch.next().await?;
        Some((status, watch))
    }))
}

/// A client that watches an order.
struct Watch {
    shop: Arc<Shop>,
    changes: watch::Receiver<()>,
    id: u32,
    told: Option<Status>,
    status: Status,
}

impl Watch {
    /// Returns the next status. Returns `None` after the last status, or if the
    /// shop cannot access its data; clients then reconnect by themselves.
    async fn next(&mut self) -> Option<Status> {
        while self.told == Some(self.status) {
            if self.status == Status::Shipped {
                return None;
            }
            self.changes.changed().await.ok()?;
            self.status =
                self.shop.orders.get(&self.id, &RowFilter::all()).await.ok()??.value.status;
        }
        self.told = Some(self.status);
        self.told
    }
}
