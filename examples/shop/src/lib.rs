//! A small shop with users, products, carts and orders. This is the main
//! example.
//!
//! Start with [`api`], the whole API as one tree, and continue with the
//! handlers. `options` contains the options for all requests. The product
//! routes come from a REST resource; all others have handlers. `graphql`, which
//! needs the feature of this name, offers products and orders again, with the
//! same functions. `stock` contains the
//! tables, and `database` their storage.

mod database;
mod home;
mod letters;
mod options;

// Public for the tests, which rebuild some of the routes.
#[cfg(feature = "graphql")]
pub mod graphql;
pub mod guards;
pub mod orders;
pub mod pages;
pub mod products;
pub mod stock;
pub mod users;

use std::env;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stockade::mcp::{Mcp, Tool};
use stockade::middleware::health::Readiness;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::{
    Metrics, hash_password_with_async, named, with_idempotency, with_permission, with_role,
    with_serialization,
};
use stockade::openapi::{OpenApiOptions, Webhook};
use stockade::policy::Policy;
use stockade::prelude::*;
#[cfg(feature = "redis")]
use stockade::redis::{Redis, RedisOptions};
use stockade::reply::Redirect;
use stockade::rest::Store;
use stockade::routing::health_routes;
use stockade::serialization::SerializationOptions;
use stockade::websockets::{Rooms, WebSocketOptions};
use stockade::{RouteDocs, Tag};

use self::orders::OrderShipped;
use self::stock::Product;

// For the tests, which call the shop in process.
pub use self::database::Table;
pub use self::options::{loose, options};
pub use self::stock::{Role, Shop};

const ADA: &str = "ada@example.org";

/// Returns the body of a request that creates an account.
pub fn new_user() -> Value {
    json!({ "name": "Ada", "email": ADA, "password": "correct horse" })
}

/// Returns the router for the server. It opens the shop with the data at
/// `address` when it starts.
///
/// Repeated requests are recognized in Redis if `SHOP_REDIS` is its address, and
/// otherwise in the memory of this process.
///
/// # Errors
///
/// If `SHOP_REDIS` is not a valid address.
pub fn closed(address: String, secret: Secret) -> Result<Router, BoxError> {
    let metrics = Metrics::new();
    let products = Arc::new(OnceLock::new());
    let later = Arc::clone(&products);
    let once = match env::var("SHOP_REDIS") {
        Err(env::VarError::NotPresent) => once_in_memory(),
        #[cfg(feature = "redis")]
        url => {
            let options = RedisOptions::new().prefix("shop");
            with_idempotency(Idempotency::new(Redis::open(&url?, options)?.idempotency()))
        }
        #[cfg(not(feature = "redis"))]
        _ => return Err("SHOP_REDIS needs the feature `redis` of the shop".into()),
    };
    let database = Arc::new(OnceLock::new());
    metrics.add_source(Arc::clone(&database));
    let router = without_shop(products, &metrics, options(&metrics), once).policy(policy());
    Ok(router.state_at_start(async move |_| {
        let shop = Shop::open(&address, secret).await;
        let shop = shop.map_err(|error| format!("SHOP_DATABASE: {error}"))?;
        if let Ok(password) = env::var("SHOP_ADMIN_PASSWORD") {
            let hash = hash_password_with_async(password, users::hasher()).await?;
            shop.let_admin_in("admin@example.org", &hash).await?;
        }
        let _ = later.set(shop.products.clone());
        let _ = database.set(shop.database.clone());
        Ok::<_, BoxError>(shop)
    }))
}

/// Returns a middleware that recognizes repeated requests in the memory of this
/// process.
fn once_in_memory() -> Middleware {
    with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()))
}

/// Returns the same router for an open shop.
pub fn router(shop: Shop) -> Router {
    let metrics = Metrics::new();
    metrics.add_source(shop.database.clone());
    router_with(shop, &metrics, options(&metrics)).policy(policy())
}

/// Returns the policy; the build fails if a route violates a rule.
pub fn policy() -> Policy {
    Policy::recommended()
        .rule("stock-is-guarded", "changes of products require the role of a clerk", |route| {
            let changes_stock = route.path.starts_with("/products") && route.may_change();
            !changes_stock || !route.access.roles.is_empty()
        })
        .allow("wildcard-exposed", "GET /help/**", "the topics have any depth")
}

/// Returns the same API with other options.
pub fn router_with(shop: Shop, metrics: &Metrics, options: RouterOptions) -> Router {
    without_shop(shop.products.clone(), metrics, options, once_in_memory()).state(shop)
}

/// Returns the API, which still needs the shop as state.
fn without_shop(
    products: impl Store<Product>,
    metrics: &Metrics,
    options: RouterOptions,
    once: Middleware,
) -> Router {
    let documents = OpenApiOptions::new("A small shop", "1.0.0")
        .description("Users, products, carts and orders. They are kept in a database.")
        .webhook("order.shipped", Webhook::of::<OrderShipped>().summary("Order shipped"))
        .public("the shop is an example")
        .license("MIT OR Apache-2.0");
    #[cfg(feature = "swagger-ui")]
    let documents = documents.swagger_ui(true);
    create_router(api(metrics, products, once), options.middleware(guards::tag_response))
        // `/openapi.json` and `/docs`. Swagger UI is at `/docs/try`.
        .open_api(documents)
        .state(Rooms::default())
        // The server sets it to false when a shutdown begins.
        .state(Readiness::new())
}

/// Returns the whole API.
fn api(metrics: &Metrics, products: impl Store<Product>, once: Middleware) -> RouteTree {
    let token = Auth::lookup(guards::known_account);
    let clerks = with_role(["clerk", "admin"]);
    let admins = with_role("admin");
    let owners = with_permission(named("own account or admin", guards::is_own_or_admin));
    routes! {
        // Every route requires a user unless it is `public`.
        auth: &token,
        ..routes! {
            tag: Tag::new("pages", "For people."),
            public: "everybody may look around",
            GET: { home::home, docs: "Where to go on" },
            "live": { GET: { pages::live_page, docs: "A page that watches an order" } },
            "help/**": { GET: { pages::help, docs: "Help on a topic" } },
            "about": { GET: { async || Html("<h1>A small shop</h1>"), docs: "About the shop" } },
            "old-about": {
                deprecated_since: "2026-11-01",
                sunset: "2027-06-30",
                GET: { async || Redirect::permanent("/about"), docs: "Moved to `/about`" },
            },
        },
        ..home::files(),
        ..routes! {
            tag: Tag::new("watching", "Health checks and metrics."),
            // `/health/live` and `/health/ready`, which no rate limit counts.
            ..health_routes(),
            "metrics": {
                middleware: &admins,
                GET: { metrics.handler(), docs: "Counters and durations, for Prometheus" },
            },
        },
        ..routes! {
            tag: Tag::new("accounts", "Users, and how they log in."),
            // The rate limit prevents guessing. Hashing is slow, but after ten
            // seconds the client gets a 503.
            "login": {
                POST: {
                    users::log_in,
                    max_body: 16 * 1024,
                    rate_limit: 10 / MINUTE,
                    timeout: Duration::from_secs(10),
                    public: "it issues the token",
                    docs: RouteDocs::new("A token for an account")
                        .description("The token is good for an hour: `Authorization: Bearer …`.")
                        .example(json!({ "email": ADA, "password": "correct horse" })),
                },
            },
            "users": {
                POST: {
                    users::sign_up,
                    name: "users.create",
                    max_body: 16 * 1024,
                    public: "it creates the account",
                    docs: RouteDocs::new("A new account")
                        .description("New accounts are customers.")
                        .example(new_user())
                        .reply_example(
                            201,
                            json!({ "id": 1, "name": "Ada", "email": ADA, "role": "customer" }),
                        ),
                },
                GET: {
                    users::list_users,
                    middleware: &admins,
                    docs: "All accounts",
                    tool: Tool::new("Lists all accounts.").name("users_list"),
                },
                r":id(\d+)": {
                    middleware: &owners,
                    GET: {
                        users::show_user,
                        name: "users.show",
                        docs: "One account",
                        tool: "Shows an account: the user's own, or any for admins.",
                    },
                    PATCH: { users::rename_user, docs: "Another name for an account" },
                    DELETE: { users::delete_user, docs: "The end of an account" },
                    "role": {
                        PUT: {
                            users::give_role,
                            middleware: &admins,
                            docs: "Change a role",
                            tool: Tool::new("Changes the role of an account.")
                                .name("users_give_role"),
                        },
                    },
                },
            },
        },
        ..routes! {
            tag: Tag::new("products", "Everybody may read them; clerks and admins change them."),
            public: "everybody may look around",
            "products": {
                middleware: guards::smaller(),
                // Lists, single products, and writes.
                ..products::resource(products, &with_auth(&token)).routes(),
                "search": {
                    GET: {
                        products::search_products,
                        validation_options: guards::strict(),
                        docs: RouteDocs::new("Products by a part of their name")
                            .description("Of some categories or of all, page by page."),
                        tool: Tool::new("Finds products by a part of their name.")
                            .name("products_search"),
                    },
                },
                r":id(\d+)/image": {
                    POST: {
                        products::upload_image,
                        auth: &token,
                        middleware: guards::decompressed(&clerks),
                        max_body: 4 * 1024 * 1024,
                        accepts: ["multipart/form-data"],
                        docs: RouteDocs::new("An image of a product")
                            .description("The part `image` of a form; it replaces an earlier one."),
                    },
                    ":name": { GET: { products::download_image, docs: "The image, as a file" } },
                },
                "export.:format(json|csv)": {
                    GET: { products::export_products, docs: "All products, as JSON or CSV" },
                },
                "compare/:left-:right": {
                    GET: {
                        products::compare_products,
                        docs: "Two prices",
                        tool: Tool::new("Compares the prices of two products.")
                            .name("products_compare"),
                    },
                },
            },
            r"catalogue/:category?/:page(\d+)?": {
                GET: { products::catalogue, docs: "The products of a category, page by page" },
            },
        },
        "carts": {
            tag: Tag::new("carts", "What a user may buy. Each has carts of their own."),
            POST: {
                orders::open_cart,
                docs: "A new cart",
                tool: Tool::new("Opens an empty cart.").name("carts_open").destructive(false),
            },
            r":cart(\d+)": {
                GET: {
                    orders::show_cart,
                    docs: "One cart, with prices",
                    tool: Tool::new("Shows a cart of the user.").name("carts_show"),
                },
                "items": {
                    POST: {
                        orders::add_item,
                        docs: RouteDocs::new("More of a product")
                            .description("Counts add up; `count` is one piece by default.")
                            .example(json!({ "product": 1, "count": 2 })),
                        tool: Tool::new("Adds pieces of a product to a cart.")
                            .name("carts_add_item")
                            .destructive(false),
                    },
                },
                r"items/:product(\d+)": {
                    DELETE: {
                        orders::remove_item,
                        docs: "Remove an item",
                        tool: Tool::new("Removes a product from a cart.")
                            .name("carts_remove_item"),
                    },
                },
                "checkout": {
                    POST: {
                        orders::check_out,
                        // A client without a response repeats its request
                        // with the same key.
                        middleware: once,
                        docs: RouteDocs::new("An order of everything in the cart")
                            .description("It removes the cart. `Idempotency-Key` allows a retry."),
                        tool: Tool::new("Orders everything in a cart, and removes the cart.")
                            .name("carts_check_out"),
                    },
                },
            },
        },
        "orders": {
            tag: Tag::new("orders", "Orders of users, until they are shipped."),
            r":id(\d+)": {
                GET: {
                    orders::show_order,
                    name: "orders.show",
                    docs: RouteDocs::new("One order").description("For its buyer and clerks."),
                    tool: "Shows an order and its status.",
                },
                "events": {
                    GET: {
                        orders::order_events,
                        docs: RouteDocs::new("The status of an order, as it changes")
                            .description("Events `status`: `\"placed\"`, then `\"shipped\"`."),
                    },
                },
                "ship": {
                    POST: {
                        orders::ship_order,
                        middleware: clerks,
                        docs: "Ship an order",
                        tool: Tool::new("Marks an order as shipped.").name("orders_ship"),
                    },
                },
            },
        },
        ..over_graphql(&token),
        // The tools of agents: the routes with the key `tool`.
        "mcp": {
            tag: Tag::new("agents", "Tools for AI agents (MCP)."),
            auth: token.clone().optional(),
            public: "tools for products are public, and all others check the user",
            ..Mcp::new("A small shop", "1.0.0").instructions("All prices are in cents.").routes(),
        },
        "newsletter": {
            tag: Tag::new("newsletter", "A newsletter."),
            public: "a letter needs no account",
            POST: {
                letters::subscribe,
                middleware: letters::letter_rules(),
                docs: RouteDocs::new("A subscription").description("A cookie remembers it."),
            },
            GET: { letters::subscription, docs: "Has this browser subscribed?" },
        },
        "report": {
            tag: Tag::new("report", "Sales statistics, for admins."),
            GET: {
                letters::report,
                middleware: [admins, with_serialization(SerializationOptions::new())],
                error_handling: letters::report_errors(),
                docs: "What has sold",
                tool: Tool::new("Shows the sales statistics.").name("report"),
            },
        },
        // A WebSocket with short messages and a message rate limit.
        "chat/:topic": {
            tag: Tag::new("chat", "Talk among customers."),
            ws: {
                pages::chat,
                public: "everybody may talk",
                options: WebSocketOptions::new().max_payload(4 * 1024).max_rate(Some(10)),
                docs: RouteDocs::new("A chat about a topic")
                    .description("The first message contains the number of members."),
            },
        },
    }
}

/// Returns the routes of GraphQL: over POST and GET, as server-sent events, over
/// a WebSocket, and as a page for browsers.
#[cfg(feature = "graphql")]
fn over_graphql(token: &Auth) -> RouteTree {
    routes! {
        "graphql": {
            tag: Tag::new("graphql", "Products and orders over GraphQL."),
            auth: token.clone().optional(),
            public: "products are public, and orders check the user",
            ..graphql::graphql().routes(),
        },
    }
}

/// Returns no routes, because the shop has no feature `graphql`.
#[cfg(not(feature = "graphql"))]
fn over_graphql(_token: &Auth) -> RouteTree {
    RouteTree::new()
}
