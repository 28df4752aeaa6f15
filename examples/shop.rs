//! A small shop: users, products, carts, orders. The main example.
//!
//! `cargo run -p stockade-examples --example shop` starts it on port 3000 and
//! prints three lines to try. `PORT` chooses another port; 0 takes any.
//! `SHOP_SECRET` signs the tokens, else each start has a secret of its own; with
//! `SHOP_ADMIN_PASSWORD` there is an account admin@example.org.
//!
//! Read it from [`api`], the whole interface as one tree, down to the handlers.
//! Everything is kept in memory and gone when the program ends.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::env;

use futures_util::stream;
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use tokio::sync::{RwLock, watch};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let secret = match env::var("SHOP_SECRET") {
        Ok(secret) => Secret::new(secret)?,
        Err(_) => Secret::new(generate_token(32)?)?,
    };
    let mut shop = Shop::stocked(secret);
    if let Ok(password) = env::var("SHOP_ADMIN_PASSWORD") {
        let hash = hash_password_async(password).await?;
        shop.add_account("Admin", "admin@example.org", Role::Admin, hash);
    }

    let server = router(shop).create_server()?.bind(port).await?;
    let address = server.local_addr();
    println!("the shop is open at http://{address}; try");
    println!("  curl 'http://{address}/products?q=tea'");
    println!("  curl http://{address}/users -H 'content-type: application/json' -d '{NEW_USER}'");
    println!("  curl -i -X DELETE http://{address}/products");
    server.with_signals().serve().await?;
    println!("the shop is closed");
    Ok(())
}

const NEW_USER: &str =
    r#"{"name": "Ada", "email": "ada@example.org", "password": "correct horse"}"#;

/// The router that is served, and that the tests call without a socket.
pub fn router(shop: Shop) -> Router {
    create_router(api(), RouterOptions::new().state(shop).middleware(tag_response))
}

/// The whole interface.
fn api() -> RouteTree {
    let signed_in = with_auth(Auth::verify(known_account));
    let clerks = with_role(["clerk", "admin"]);
    let admins = with_role("admin");
    routes! {
        GET: home,
        "health": { GET: async || json!({ "ok": true }) },
        "login": { POST: { handler: log_in, max_body: 16 * 1024 } },
        "users": {
            POST: { handler: sign_up, name: "users.create", max_body: 16 * 1024 },
            GET: { handler: list_users, middleware: [signed_in.clone(), admins.clone()] },
            r":id(\d+)": {
                middleware: [signed_in.clone(), with_permission(is_own_or_admin)],
                GET: { handler: show_user, name: "users.show" },
                PATCH: rename_user,
                DELETE: delete_user,
                "role": { PUT: { handler: give_role, middleware: [admins] } },
            },
        },
        "products": {
            GET: { handler: search_products, validation_options: strict() },
            POST: {
                handler: create_product,
                middleware: [signed_in.clone(), clerks.clone()],
                validation_options: strict(),
            },
            r":id(\d+)": {
                GET: { handler: show_product, name: "products.show" },
                "image": {
                    POST: {
                        handler: upload_image,
                        middleware: [signed_in.clone(), clerks.clone()],
                        max_body: 4 * 1024 * 1024,
                    },
                },
            },
            "export.:format(json|csv)": { GET: export_products },
            "compare": { ":left-:right": { GET: compare_products } },
        },
        r"catalogue/:category?/:page(\d+)?": { GET: catalogue },
        "carts": {
            middleware: [signed_in.clone()],
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
            middleware: [signed_in],
            r":id(\d+)": {
                GET: { handler: show_order, name: "orders.show" },
                "events": { GET: order_events },
                "ship": { POST: { handler: ship_order, middleware: [clerks] } },
            },
        },
        "live": { GET: live_page },
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

// What runs before and around the handlers.

/// Runs around everything: it sees each response of a route, errors included.
async fn tag_response(req: Request, next: Next) -> Response {
    let mut response = next.run(req).await;
    response.headers_mut().insert("x-shop", header::HeaderValue::from_static("stockade"));
    response
}

/// The account of the token that a request brings: a token says who, and the
/// shop what they are by now, so that a role that was taken away is gone.
async fn known_account(req: &mut Request) -> Option<Claims> {
    let token = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let shop = req.state::<Shop>()?;
    let claims = verify_token(token, &shop.secret)?;
    let id: u32 = claims.subject()?.parse().ok()?;
    let role = shop.stock.read().await.users.get(&id)?.profile.role;
    Some(Claims { sub: id.to_string(), role })
}

/// Accounts are seen and changed by their owners, and by admins.
fn is_own_or_admin(user: &Value, req: &Request) -> bool {
    user["role"] == "admin" || user["sub"].as_str() == req.param("id").as_deref()
}

/// A misspelt field is an error and not silently left out.
fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}

// What the shop keeps.

pub struct Shop {
    secret: Secret,
    stock: RwLock<Stock>,
}

#[derive(Default)]
struct Stock {
    users: BTreeMap<u32, Account>,
    products: BTreeMap<u32, Product>,
    carts: BTreeMap<u32, Cart>,
    orders: BTreeMap<u32, Order>,
    last_id: u32,
}

/// What others may see of an account.
#[derive(Clone, Serialize, Reply)]
struct Profile {
    id: u32,
    name: String,
    email: String,
    role: Role,
}

struct Account {
    profile: Profile,
    password_hash: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Schema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Customer,
    Clerk,
    Admin,
}

/// Who asks, as handlers see it. A token holds only `sub`.
#[derive(Deserialize, Serialize)]
struct Claims {
    /// The id of the account, which is text in a token.
    sub: String,
    role: Role,
}

struct Cart {
    owner: String,
    items: BTreeMap<u32, u32>,
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
    owner: String,
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
    #[status(401, "the email or the password is wrong")]
    WrongLogin,
    #[status(409, "{email} has an account already")]
    Known { email: String },
    #[status(409, "the cart is empty")]
    EmptyCart,
    #[status(409, "order {id} was shipped already")]
    Shipped { id: u32 },
}

impl Shop {
    /// A shop with a few products; `secret` signs the tokens.
    pub fn stocked(secret: Secret) -> Self {
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
        Self { secret, stock: RwLock::new(stock) }
    }

    /// Opens an account before the shop does, and gives its id.
    pub fn add_account(&mut self, name: &str, email: &str, role: Role, hash: String) -> u32 {
        self.stock.get_mut().add_account(name.into(), email.into(), role, hash).id
    }
}

impl Stock {
    fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn add_account(&mut self, name: String, email: String, role: Role, hash: String) -> Profile {
        let profile = Profile { id: self.new_id(), name, email, role };
        let account = Account { profile: profile.clone(), password_hash: hash };
        self.users.insert(profile.id, account);
        profile
    }

    /// A cart of this owner; that of somebody else is as good as none.
    fn cart(&mut self, id: u32, owner: &Claims) -> Result<&mut Cart, ShopError> {
        let cart = self.carts.get_mut(&id).filter(|cart| cart.owner == owner.sub);
        cart.ok_or(unknown("cart", id))
    }

    /// An order that this user may see.
    fn order(&self, id: u32, user: &Claims) -> Result<&Order, ShopError> {
        let may_see = |order: &&Order| order.owner == user.sub || user.role != Role::Customer;
        self.orders.get(&id).filter(may_see).ok_or(unknown("order", id))
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

async fn list_users(shop: State<Shop>) -> Json<Vec<Profile>> {
    let stock = shop.stock.read().await;
    Json(stock.users.values().map(|account| account.profile.clone()).collect())
}

/// The schema says more than the types: what does not follow it is a 400 that
/// names the field, and the handler never runs.
#[derive(Deserialize, Schema)]
struct NewUser {
    #[schema(trim, required, max_length = 100)]
    name: String,
    #[schema(kind = "email")]
    email: String,
    #[schema(min_length = 8, max_length = 200)]
    password: String,
}

/// Whoever signs up is a customer.
async fn sign_up(
    shop: State<Shop>,
    Body(new): Body<NewUser>,
) -> Result<(StatusCode, Profile), ApiError> {
    // A hash takes its time, so it is made before anything is locked.
    let password_hash = hash_password_async(new.password).await?;
    let mut stock = shop.stock.write().await;
    if stock.users.values().any(|it| it.profile.email.eq_ignore_ascii_case(&new.email)) {
        return Err(ShopError::Known { email: new.email }.into());
    }
    let profile = stock.add_account(new.name, new.email, Role::Customer, password_hash);
    Ok((StatusCode::CREATED, profile))
}

#[derive(Deserialize, Schema)]
struct Login {
    email: String,
    #[schema(max_length = 200)]
    password: String,
}

async fn log_in(shop: State<Shop>, Body(login): Body<Login>) -> Result<Value, ApiError> {
    let found = {
        let stock = shop.stock.read().await;
        let account = stock.users.values().find(|account| account.profile.email == login.email);
        account.map(|account| (account.profile.clone(), account.password_hash.clone()))
    };
    // An unknown email takes as long as a wrong password.
    let (profile, stored) =
        found.map_or((None, DUMMY_HASH.into()), |(profile, stored)| (Some(profile), stored));
    let is_right = verify_password_async(login.password, stored).await?;
    let profile = profile.filter(|_| is_right).ok_or(ShopError::WrongLogin)?;
    let claims = json!({ "sub": profile.id.to_string() });
    let token = generate_jwt(claims, "1h", &shop.secret).map_err(ApiError::internal)?;
    Ok(json!({ "token": token }))
}

/// In the form of a hash, of no password.
const DUMMY_HASH: &str = concat!(
    "00000000000000000000000000000000:",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000",
);

/// `None` would be 204 and a missing user is 404, so this is a `Result`.
async fn show_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<Profile, ShopError> {
    let stock = shop.stock.read().await;
    stock.users.get(&id).map(|account| account.profile.clone()).ok_or(unknown("user", id))
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
) -> Result<Profile, ShopError> {
    let mut stock = shop.stock.write().await;
    let account = stock.users.get_mut(&id).ok_or(unknown("user", id))?;
    account.profile.name = new.name;
    Ok(account.profile.clone())
}

#[derive(Deserialize, Schema)]
struct NewRole {
    role: Role,
}

/// It holds for the next request already.
async fn give_role(
    shop: State<Shop>,
    Path(id): Path<u32>,
    Body(new): Body<NewRole>,
) -> Result<Profile, ShopError> {
    let mut stock = shop.stock.write().await;
    let account = stock.users.get_mut(&id).ok_or(unknown("user", id))?;
    account.profile.role = new.role;
    Ok(account.profile.clone())
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

async fn open_cart(shop: State<Shop>, User(user): User<Claims>) -> (StatusCode, Value) {
    let mut stock = shop.stock.write().await;
    let id = stock.new_id();
    stock.carts.insert(id, Cart { owner: user.sub, items: BTreeMap::new() });
    (StatusCode::CREATED, json!({ "cart": id }))
}

async fn show_cart(
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
struct NewItem {
    product: u32,
    #[schema(minimum = 1, maximum = 99, default = 1)]
    count: u8,
}

async fn add_item(
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
struct CartItem {
    cart: u32,
    product: u32,
}

async fn remove_item(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(item): Path<CartItem>,
) -> Result<(), ShopError> {
    let mut stock = shop.stock.write().await;
    let cart = stock.cart(item.cart, &user)?;
    cart.items.remove(&item.product).map(drop).ok_or(unknown("item", item.product))
}

async fn check_out(
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

async fn show_order(
    shop: State<Shop>,
    User(user): User<Claims>,
    Path(id): Path<u32>,
) -> Result<Value, ShopError> {
    let stock = shop.stock.read().await;
    let order = stock.order(id, &user)?;
    Ok(json!({ "order": id, "status": *order.status.borrow(), "lines": order.lines }))
}

async fn ship_order(
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
async fn order_events(
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

/// A page that shows the status of an order as it changes. A page that is
/// opened sends no token, so it asks for one, and its script sends it.
///
/// The usual policy lets no script run; this one lets exactly the script run
/// that has the nonce of this response.
async fn live_page() -> Result<(HeaderMap, Html<String>), ApiError> {
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

/// `EventSource` cannot send a token, so the stream of events is read by hand.
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

/// `**` takes the rest of the path as `splat`.
async fn help(Path(topic): Path<String>, ip: Option<ClientIp>) -> String {
    let reader = ip.map_or("you".to_owned(), |ClientIp(ip)| ip.to_string());
    format!("No help on {topic:?} yet, {reader}.\n")
}
