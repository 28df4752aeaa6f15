//! A small shop: users, products, carts, orders. The main example.
//!
//! `cargo run -p stockade-examples --example shop` starts it on port 3000 and
//! prints three lines to try. `PORT` chooses another port; 0 takes any.
//!
//! Read it from [`api`], the whole interface as one tree, down to the handlers.
//! Everything is kept in memory and gone when the program ends.

use std::collections::BTreeMap;
use std::convert::Infallible;

use futures_util::stream;
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use tokio::sync::{RwLock, watch};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = std::env::var("PORT").map_or(Ok(3000), |port| port.parse())?;

    let server = router().create_server()?.bind(port).await?;
    let address = server.local_addr();
    println!("the shop is open at http://{address}; try");
    println!("  curl 'http://{address}/products?q=tea'");
    println!("  curl http://{address}/users -H 'content-type: application/json' -d '{NEW_USER}'");
    println!("  curl -i -X DELETE http://{address}/products");
    server.with_signals().serve().await?;
    println!("the shop is closed");
    Ok(())
}

const NEW_USER: &str = r#"{"name": "Ada", "email": "ada@example.org"}"#;

/// The router that is served, and that the tests call without a socket.
pub fn router() -> Router {
    let options = RouterOptions::new().state(Shop::stocked()).middleware(tag_response);
    create_router(api(), options)
}

/// The whole interface.
fn api() -> RouteTree {
    routes! {
        GET: home,
        "health": { GET: async || json!({ "ok": true }) },
        "users": {
            GET: list_users,
            POST: { handler: create_user, name: "users.create", max_body: 16 * 1024 },
            r":id(\d+)": {
                GET: { handler: show_user, name: "users.show" },
                PATCH: rename_user,
                DELETE: delete_user,
            },
        },
        "products": {
            GET: { handler: search_products, validation_options: strict() },
            POST: { handler: create_product, middleware: [clerks_only], validation_options: strict() },
            r":id(\d+)": {
                GET: { handler: show_product, name: "products.show" },
                "image": { POST: { handler: upload_image, middleware: [clerks_only], max_body: 4 * 1024 * 1024 } },
            },
            "export.:format(json|csv)": { GET: export_products },
            "compare": { ":left-:right": { GET: compare_products } },
        },
        r"catalogue/:category?/:page(\d+)?": { GET: catalogue },
        "carts": {
            POST: open_cart,
            r":cart(\d+)": {
                GET: show_cart,
                "items": {
                    POST: add_item,
                    r":product(\d+)": { DELETE: remove_item },
                },
                "checkout": { POST: check_out },
            },
        },
        "orders": {
            r":id(\d+)": {
                GET: { handler: show_order, name: "orders.show" },
                "events": { GET: order_events },
                "ship": { POST: { handler: ship_order, middleware: [clerks_only] } },
            },
        },
        "help": { "**": { GET: help } },
        ..about(),
    }
}

/// Routes can be written elsewhere and spread into a tree.
fn about() -> RouteTree {
    routes! {
        "about": { GET: async || Html("<h1>A small shop</h1>") },
        "old-about": { GET: async || Redirect::permanent("/about") },
    }
}

// Middleware, in its three forms.

/// Runs around everything: it sees each response of a route, errors included.
async fn tag_response(req: Request, next: Next) -> Response {
    let mut response = next.run(req).await;
    response.headers_mut().insert("x-shop", header::HeaderValue::from_static("stockade"));
    response
}

/// Runs before the handler and lets it run, or answers with an error.
fn clerks_only(req: &mut Request) -> Result<(), ApiError> {
    match req.headers().get("x-clerk") {
        Some(_) => Ok(()),
        None => Err(ApiError::authorization().with_message("Only clerks may do this")),
    }
}

/// A misspelt field is an error and not silently left out.
fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}

// What the shop keeps.

struct Shop {
    stock: RwLock<Stock>,
}

#[derive(Default)]
struct Stock {
    users: BTreeMap<u32, User>,
    products: BTreeMap<u32, Product>,
    carts: BTreeMap<u32, BTreeMap<u32, u32>>,
    orders: BTreeMap<u32, Order>,
    last_id: u32,
}

#[derive(Clone, Serialize, Reply)]
struct User {
    id: u32,
    name: String,
    email: String,
}

#[derive(Clone, Serialize, Reply)]
struct Product {
    id: u32,
    name: String,
    category: String,
    price_cents: u32,
    image_bytes: usize,
}

struct Order {
    lines: Vec<OrderLine>,
    status: watch::Sender<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Placed,
    Shipped,
}

#[derive(Clone, Serialize)]
struct OrderLine {
    product: u32,
    count: u32,
    cents: u32,
}

/// What can go wrong, each with its status and message.
#[derive(Debug, ApiError)]
enum ShopError {
    #[status(404, "there is no {what} {id}")]
    Unknown { what: &'static str, id: u32 },
    #[status(409, "the cart is empty")]
    EmptyCart,
    #[status(409, "order {id} was shipped already")]
    Shipped { id: u32 },
}

impl Shop {
    fn stocked() -> Self {
        let mut stock = Stock::default();
        for (name, category, price_cents) in [
            ("Green tea", "tea", 450),
            ("Black tea", "tea", 390),
            ("Teapot", "crockery", 2_900),
            ("Coffee", "coffee", 780),
            ("Cup", "crockery", 600),
        ] {
            stock.add_product(name.into(), category.into(), price_cents);
        }
        Self { stock: RwLock::new(stock) }
    }
}

impl Stock {
    fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn add_product(&mut self, name: String, category: String, price_cents: u32) -> Product {
        let id = self.new_id();
        let product = Product { id, name, category, price_cents, image_bytes: 0 };
        self.products.insert(id, product.clone());
        product
    }
}

fn unknown(what: &'static str, id: u32) -> ShopError {
    ShopError::Unknown { what, id }
}

// Handlers.

async fn home() -> &'static str {
    "Welcome. Try /products, /catalogue/tea or /help/getting/started.\n"
}

async fn list_users(shop: State<Shop>) -> Json<Vec<User>> {
    Json(shop.stock.read().await.users.values().cloned().collect())
}

/// The schema says more than the types: what does not follow it is a 400 that
/// names the field, and the handler never runs.
#[derive(Deserialize, Schema)]
struct NewUser {
    #[schema(trim, required, max_length = 100)]
    name: String,
    #[schema(kind = "email")]
    email: String,
}

async fn create_user(shop: State<Shop>, Body(new): Body<NewUser>) -> (StatusCode, User) {
    let mut stock = shop.stock.write().await;
    let user = User { id: stock.new_id(), name: new.name, email: new.email };
    stock.users.insert(user.id, user.clone());
    (StatusCode::CREATED, user)
}

/// `None` would be 204 and a missing user is 404, so this is a `Result`.
async fn show_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<User, ShopError> {
    shop.stock.read().await.users.get(&id).cloned().ok_or(unknown("user", id))
}

#[derive(Deserialize, Schema)]
struct NewName {
    #[schema(trim, required, max_length = 100)]
    name: String,
}

async fn rename_user(
    shop: State<Shop>,
    Path(id): Path<u32>,
    Body(new): Body<NewName>,
) -> Result<User, ShopError> {
    let mut stock = shop.stock.write().await;
    let user = stock.users.get_mut(&id).ok_or(unknown("user", id))?;
    user.name = new.name;
    Ok(user.clone())
}

/// Nothing is 204 No Content.
async fn delete_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<(), ShopError> {
    let removed = shop.stock.write().await.users.remove(&id);
    removed.map(drop).ok_or(unknown("user", id))
}

#[derive(Deserialize, Schema)]
struct Search {
    #[serde(default)]
    #[schema(trim, max_length = 100)]
    q: String,
    #[serde(default)]
    #[schema(max_items = 10)]
    category: Vec<String>,
    #[schema(minimum = 1, default = 1)]
    page: usize,
}

/// One page of products, with what is needed to turn the page.
#[derive(Serialize, Reply)]
struct Page {
    page: usize,
    pages: usize,
    products: Vec<Product>,
}

impl Page {
    fn of(products: Vec<Product>, page: usize) -> Self {
        let pages = products.len().div_ceil(PAGE_SIZE);
        let skipped = (page - 1).saturating_mul(PAGE_SIZE);
        Self { page, pages, products: products.into_iter().skip(skipped).take(PAGE_SIZE).collect() }
    }
}

const PAGE_SIZE: usize = 10;

async fn search_products(shop: State<Shop>, Query(search): Query<Search>) -> Page {
    let text = search.q.to_lowercase();
    let stock = shop.stock.read().await;
    let found = stock.products.values().filter(|product| {
        product.name.to_lowercase().contains(&text)
            && (search.category.is_empty() || search.category.contains(&product.category))
    });
    Page::of(found.cloned().collect(), search.page)
}

#[derive(Deserialize, Schema)]
struct Shelf {
    #[schema(max_length = 40)]
    category: Option<String>,
    #[schema(minimum = 1, default = 1)]
    page: usize,
}

/// `/catalogue`, `/catalogue/tea`, `/catalogue/tea/2`.
async fn catalogue(shop: State<Shop>, Path(shelf): Path<Shelf>) -> Page {
    let stock = shop.stock.read().await;
    let wanted = |product: &&Product| {
        shelf.category.as_ref().is_none_or(|category| *category == product.category)
    };
    Page::of(stock.products.values().filter(wanted).cloned().collect(), shelf.page)
}

#[derive(Deserialize, Schema)]
struct NewProduct {
    #[schema(trim, required, max_length = 100)]
    name: String,
    #[schema(one_of = ["tea", "coffee", "crockery"])]
    category: String,
    #[schema(minimum = 1, maximum = 1_000_000)]
    price_cents: u32,
}

/// Takes JSON or a form: the content type decides.
async fn create_product(shop: State<Shop>, Body(new): Body<NewProduct>) -> (StatusCode, Product) {
    let mut stock = shop.stock.write().await;
    (StatusCode::CREATED, stock.add_product(new.name, new.category, new.price_cents))
}

async fn show_product(shop: State<Shop>, Path(id): Path<u32>) -> Result<Product, ShopError> {
    shop.stock.read().await.products.get(&id).cloned().ok_or(unknown("product", id))
}

/// `/products/compare/1-3`: two parameters in one segment.
async fn compare_products(
    shop: State<Shop>,
    Path((left, right)): Path<(u32, u32)>,
) -> Result<Value, ShopError> {
    let stock = shop.stock.read().await;
    let price = |id| stock.products.get(&id).map(|p| p.price_cents).ok_or(unknown("product", id));
    let (left, right) = (price(left)?, price(right)?);
    Ok(
        json!({ "left_cents": left, "right_cents": right, "cheaper": if left <= right { "left" } else { "right" } }),
    )
}

/// A form with a file, read part by part and never as a whole.
async fn upload_image(
    shop: State<Shop>,
    Path(id): Path<u32>,
    mut form: Multipart,
) -> Result<Product, ApiError> {
    let mut bytes = 0;
    while let Some(mut part) = form.next().await? {
        if part.name() == Some("image") {
            while let Some(chunk) = part.chunk().await? {
                bytes += chunk.len();
            }
        }
    }
    let mut stock = shop.stock.write().await;
    let product = stock.products.get_mut(&id).ok_or(unknown("product", id))?;
    product.image_bytes = bytes;
    Ok(product.clone())
}

/// Sends each product as it is read: the handler writes the response itself.
async fn export_products(
    shop: State<Shop>,
    Path(format): Path<String>,
    mut res: ResponseWriter,
) -> Result<(), ApiError> {
    let products: Vec<Product> = shop.stock.read().await.products.values().cloned().collect();
    if format == "json" {
        return res.json(&products).await;
    }
    res.header(header::CONTENT_TYPE, "text/csv; charset=utf-8")?;
    res.write("id,name,category,price_cents\n").await?;
    for Product { id, name, category, price_cents, .. } in products {
        res.write(format!("{id},{name},{category},{price_cents}\n")).await?;
    }
    res.end().await
}

async fn open_cart(shop: State<Shop>) -> (StatusCode, Value) {
    let mut stock = shop.stock.write().await;
    let id = stock.new_id();
    stock.carts.insert(id, BTreeMap::new());
    (StatusCode::CREATED, json!({ "cart": id }))
}

async fn show_cart(shop: State<Shop>, Path(id): Path<u32>) -> Result<Value, ShopError> {
    let stock = shop.stock.read().await;
    let lines = lines_of(&stock, id)?;
    let total: u32 = lines.iter().map(|line| line.cents).sum();
    Ok(json!({ "cart": id, "lines": lines, "total_cents": total }))
}

fn lines_of(stock: &Stock, cart: u32) -> Result<Vec<OrderLine>, ShopError> {
    let items = stock.carts.get(&cart).ok_or(unknown("cart", cart))?;
    let line = |(&product, &count): (&u32, &u32)| {
        let price = stock.products.get(&product)?.price_cents;
        Some(OrderLine { product, count, cents: price.saturating_mul(count) })
    };
    Ok(items.iter().filter_map(line).collect())
}

#[derive(Deserialize, Schema)]
struct NewItem {
    product: u32,
    #[schema(minimum = 1, maximum = 99, default = 1)]
    count: u8,
}

async fn add_item(
    shop: State<Shop>,
    Path(cart): Path<u32>,
    Body(item): Body<NewItem>,
) -> Result<StatusCode, ShopError> {
    let mut stock = shop.stock.write().await;
    if !stock.products.contains_key(&item.product) {
        return Err(unknown("product", item.product));
    }
    let items = stock.carts.get_mut(&cart).ok_or(unknown("cart", cart))?;
    let count = items.entry(item.product).or_default();
    *count = count.saturating_add(item.count.into());
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, Schema)]
struct CartItem {
    cart: u32,
    product: u32,
}

async fn remove_item(shop: State<Shop>, Path(item): Path<CartItem>) -> Result<(), ShopError> {
    let mut stock = shop.stock.write().await;
    let items = stock.carts.get_mut(&item.cart).ok_or(unknown("cart", item.cart))?;
    items.remove(&item.product).map(drop).ok_or(unknown("item", item.product))
}

async fn check_out(
    shop: State<Shop>,
    Path(cart): Path<u32>,
) -> Result<(StatusCode, Value), ShopError> {
    let mut stock = shop.stock.write().await;
    let lines = lines_of(&stock, cart)?;
    if lines.is_empty() {
        return Err(ShopError::EmptyCart);
    }
    stock.carts.remove(&cart);
    let id = stock.new_id();
    stock.orders.insert(id, Order { lines, status: watch::Sender::new(Status::Placed) });
    Ok((StatusCode::CREATED, json!({ "order": id })))
}

async fn show_order(shop: State<Shop>, Path(id): Path<u32>) -> Result<Value, ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.orders.get(&id).ok_or(unknown("order", id))?;
    Ok(json!({ "order": id, "status": *order.status.borrow(), "lines": order.lines }))
}

async fn ship_order(shop: State<Shop>, Path(id): Path<u32>) -> Result<(), ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.orders.get(&id).ok_or(unknown("order", id))?;
    match order.status.send_replace(Status::Shipped) {
        Status::Placed => Ok(()),
        Status::Shipped => Err(ShopError::Shipped { id }),
    }
}

/// The status now and each time it changes, until the order is shipped.
async fn order_events(shop: State<Shop>, Path(id): Path<u32>) -> Result<Sse, ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.orders.get(&id).ok_or(unknown("order", id))?;
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

/// `**` takes the rest of the path as `splat`.
async fn help(Path(topic): Path<String>, ip: Option<ClientIp>) -> String {
    let reader = ip.map_or("you".to_owned(), |ClientIp(ip)| ip.to_string());
    format!("No help on {topic:?} yet, {reader}.\n")
}
