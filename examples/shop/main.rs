//! A small shop: users, products, carts, orders. The main example.
//!
//! `cargo run -p stockade-examples --example shop` starts it on port 3000 and
//! prints three lines to try. `PORT` chooses another port; 0 takes any.
//! `SHOP_SECRET` signs the tokens, else each start has a secret of its own; with
//! `SHOP_ADMIN_PASSWORD` there is an account admin@example.org.
//! It keeps its data in the file `shop.db`, in the folder where it is started;
//! `SHOP_DATABASE` chooses another file, `postgres://…`, or `:memory:`, which is gone when
//! the program ends.
//! With `-- routes`, `-- explain POST /users`, `-- audit` or `-- openapi` behind it, it says
//! what it knows about its routes, and ends.
//!
//! Read it from [`api`], the whole interface as one tree, down to the handlers;
//! `options` is what holds for every request, and how it is loosened.
//! Products are a REST resource, whose routes are made; all others have handlers.
//! `graphql` has products and orders once more, by the same functions.
//! `stock` has the tables, `database` what they are kept in.

mod database;
mod home;
mod letters;
mod options;

// Public for the tests, which build some of the routes anew.
pub mod graphql;
pub mod guards;
pub mod orders;
pub mod pages;
pub mod products;
pub mod stock;
pub mod users;

use std::env;
use std::time::Duration;

use stockade::auth::generate_token;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::{
    Metrics, hash_password_with_async, named, with_compression, with_decompression, with_etag,
    with_idempotency, with_permission, with_role, with_serialization,
};
use stockade::openapi::{OpenApiOptions, Webhook, tool, with_open_api};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::serialization::SerializationOptions;
use stockade::server::ServerOptions;
use stockade::websockets::{Rooms, WebSocketOptions};
use stockade::{Docs, Tag};

use self::graphql::graphql;
use self::guards::{is_own_or_admin, known_account, strict, tag_response};
use self::home::home;
use self::letters::{letter_rules, report, report_errors, subscribe, subscription};
use self::orders::{
    OrderShipped, add_item, check_out, open_cart, order_events, remove_item, ship_order, show_cart,
    show_order,
};
use self::pages::{chat, help, live_page};
use self::products::{
    catalogue, compare_products, download_image, export_products, search_products, upload_image,
};
use self::stock::Product;
use self::users::{
    delete_user, give_role, hasher, list_users, log_in, rename_user, show_user, sign_up,
};

// For the tests, which call the shop without a socket.
pub use self::database::Table;
pub use self::options::{loose, options};
pub use self::stock::{Profile, Role, Shop};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let secret = match env::var("SHOP_SECRET") {
        Ok(secret) => Secret::new(secret)?,
        Err(_) => Secret::new(generate_token(32)?)?,
    };
    let shop = open(secret).await?;
    if let Ok(password) = env::var("SHOP_ADMIN_PASSWORD") {
        let hash = hash_password_with_async(password, hasher()).await?;
        shop.let_admin_in("admin@example.org", &hash).await?;
    }

    let app = router(shop).build()?;
    // `shop routes`, `shop explain POST /users`, `shop openapi`.
    if let Some(text) = tool(&app, &document_options(), env::args()) {
        print!("{}", text?);
        return Ok(());
    }

    // Whoever asks `/health/ready` has this time to learn of a shutdown.
    let limits = ServerOptions::new().shutdown_delay(Duration::from_millis(500));
    let server = app.create_server_with(limits)?.bind(port).await?;
    let address = server.local_addr();
    println!("the shop is open at http://{address}; try");
    println!("  curl 'http://{address}/products?category=tea&sort=-price_cents'");
    println!("  curl http://{address}/users -H 'content-type: application/json' -d '{NEW_USER}'");
    println!("  curl -i -X DELETE http://{address}/products");
    server.with_signals().serve().await?;
    println!("the shop is closed");
    Ok(())
}

/// Opens the shop with the data that the environment names.
async fn open(secret: Secret) -> Result<Shop, BoxError> {
    let named = env::var("SHOP_DATABASE");
    let address = match &named {
        Ok(address) => address,
        Err(env::VarError::NotPresent) => "shop.db",
        Err(error) => return Err(format!("SHOP_DATABASE: {error}").into()),
    };
    // A tool looks at the routes alone, and leaves no file.
    let address = if env::args().len() > 1 { ":memory:" } else { address };
    let shop = Shop::open(address, secret).await;
    shop.map_err(|error| format!("SHOP_DATABASE: {error}").into())
}

const NEW_USER: &str =
    r#"{"name": "Ada", "email": "ada@example.org", "password": "correct horse"}"#;

/// The router that is served.
pub fn router(shop: Shop) -> Router {
    let metrics = Metrics::new();
    let mut router = router_with(shop, &metrics, options(&metrics));
    router.policy(policy());
    router
}

/// The rules that keep the router from being built where a route breaks one.
pub fn policy() -> Policy {
    Policy::recommended()
        .rule("stock-is-guarded", "what changes a product needs the role of a clerk", |route| {
            let changes_stock = route.path.starts_with("/products") && route.may_change();
            !changes_stock || !route.access.roles.is_empty()
        })
        .allow("wildcard-exposed", "GET /help/**", "the topics have any depth")
}

/// The same interface with other options.
pub fn router_with(shop: Shop, metrics: &Metrics, options: RouterOptions) -> Router {
    let api = api(metrics, shop.products.clone());
    let options = options.state(shop).state(Rooms::default()).middleware(tag_response);
    // `/openapi.json`, `/docs` for people, and `/docs/try` to send requests.
    with_open_api(create_router(api, options), document_options())
}

/// The words of the document about the shop.
fn document_options() -> OpenApiOptions {
    OpenApiOptions::new("A small shop", "1.0.0")
        .description("Users, products, carts and orders. They are kept in a database.")
        .webhook("order.shipped", Webhook::of::<OrderShipped>().summary("An order is on its way"))
        .public("the shop is an example")
        .license("MIT OR Apache-2.0")
        .swagger_ui(true)
}

/// The whole interface.
fn api(metrics: &Metrics, products: Table<Product>) -> RouteTree {
    let signed_in = with_auth(Auth::lookup(known_account));
    let perhaps_signed_in = with_auth(Auth::lookup(known_account).required(false));
    let clerks = with_role(["clerk", "admin"]);
    let admins = with_role("admin");
    // A client that got no answer asks again with the same key, and gets the first one.
    let once = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()));
    routes! {
        GET: {
            handler: home,
            public: "everybody may look around",
            docs: Docs::new("Where to go on")
                .description("A page for browsers, links for who takes JSON as gladly.")
                .tags(["pages"]),
        },
        ..home::files(),
        // `/health/live` and `/health/ready`, which no rate limit counts.
        ..health_routes().docs(watching()),
        // For those who watch, and nobody else.
        "metrics": {
            docs: watching(),
            GET: {
                handler: metrics.handler(),
                middleware: [signed_in.clone(), admins.clone()],
                docs: "Counters and durations, for Prometheus",
            },
        },
        // Passwords are not to be guessed: a limit beside that of the router.
        // A hash takes its time, but not for ever: then 503.
        "login": {
            docs: accounts(),
            POST: {
                handler: log_in,
                max_body: 16 * 1024,
                rate_limit: 10 / MINUTE,
                timeout: Duration::from_secs(10),
                public: "it gives the token",
                docs: Docs::new("A token for an account")
                    .description("The token is good for an hour: `Authorization: Bearer …`.")
                    .example(json!({ "email": "ada@example.org", "password": "correct horse" })),
            },
        },
        "users": {
            docs: accounts(),
            POST: {
                handler: sign_up,
                name: "users.create",
                max_body: 16 * 1024,
                public: "it makes the account",
                docs: Docs::new("A new account")
                    .description("Whoever signs up is a customer.")
                    .example(json!({
                        "name": "Ada",
                        "email": "ada@example.org",
                        "password": "correct horse",
                    }))
                    .reply_example(
                        201,
                        Profile {
                            id: 1,
                            name: "Ada".into(),
                            email: "ada@example.org".into(),
                            role: Role::Customer,
                        },
                    ),
            },
            GET: {
                handler: list_users,
                middleware: [signed_in.clone(), admins.clone()],
                docs: "All accounts",
            },
            r":id(\d+)": {
                middleware: [
                    signed_in.clone(),
                    with_permission(named("own account or admin", is_own_or_admin)),
                ],
                GET: { handler: show_user, name: "users.show", docs: "One account" },
                PATCH: { handler: rename_user, docs: "Another name for an account" },
                DELETE: { handler: delete_user, docs: "The end of an account" },
                "role": {
                    PUT: {
                        handler: give_role,
                        middleware: [admins.clone()],
                        docs: Docs::new("Another role for an account")
                            .description("It holds from the next request on."),
                    },
                },
            },
        },
        "products": {
            docs: goods(),
            // Everyone may read them, so that compression tells no secret; what a client
            // has already is not sent again.
            middleware: [with_compression(), with_etag()],
            // A page of them, one, and the writes.
            ..products::resource(products, &signed_in).routes(),
            "search": {
                GET: {
                    handler: search_products,
                    public: "everybody may look around",
                    validation_options: strict(),
                    docs: Docs::new("Products by a part of their name")
                        .description("Of some categories or of all, page by page."),
                },
            },
            r":id(\d+)": {
                "image": {
                    POST: {
                        handler: upload_image,
                        // It may come compressed; `max_body` counts what comes out.
                        middleware: [signed_in.clone(), clerks.clone(), with_decompression()],
                        max_body: 4 * 1024 * 1024,
                        accepts: ["multipart/form-data"],
                        docs: Docs::new("An image of a product")
                            .description("The part `image` of a form; it replaces an earlier one."),
                    },
                    ":name": {
                        GET: {
                            handler: download_image,
                            public: "everybody may look around",
                            docs: "The image, as a file",
                        },
                    },
                },
            },
            "export.:format(json|csv)": {
                GET: {
                    handler: export_products,
                    public: "everybody may look around",
                    docs: "All products, as JSON or CSV",
                },
            },
            "compare": {
                ":left-:right": {
                    GET: {
                        handler: compare_products,
                        public: "everybody may look around",
                        docs: "The prices of two products",
                    },
                },
            },
        },
        r"catalogue/:category?/:page(\d+)?": {
            docs: goods(),
            GET: {
                handler: catalogue,
                public: "everybody may look around",
                docs: "The products of a category, page by page",
            },
        },
        "carts": {
            docs: Tag::new("carts", "What a user may buy. Each has carts of their own."),
            middleware: [signed_in.clone()],
            POST: { handler: open_cart, docs: "A new cart" },
            r":cart(\d+)": {
                GET: {
                    handler: show_cart,
                    docs: Docs::new("One cart, with prices")
                        .description("The cart of somebody else is as good as none."),
                },
                "items": {
                    POST: {
                        handler: add_item,
                        docs: Docs::new("More of a product")
                            .description("Counts add up; `count` is one piece by default.")
                            .example(json!({ "product": 1, "count": 2 })),
                    },
                    r":product(\d+)": {
                        DELETE: { handler: remove_item, docs: "Nothing more of a product" },
                    },
                },
                "checkout": {
                    POST: {
                        handler: check_out,
                        middleware: [once],
                        docs: Docs::new("An order of all that is in the cart").description(
                            "The cart is gone then; the same `Idempotency-Key` gives the same \
                             answer again.",
                        ),
                    },
                },
            },
        },
        "orders": {
            docs: Tag::new("orders", "What users have bought, until it is on its way."),
            middleware: [signed_in.clone()],
            r":id(\d+)": {
                GET: {
                    handler: show_order,
                    name: "orders.show",
                    docs: Docs::new("One order")
                        .description("For who ordered, and for clerks and admins."),
                },
                "events": {
                    GET: {
                        handler: order_events,
                        docs: Docs::new("The status of an order, as it changes").description(
                            "Events called `status`, until the order is shipped: \
                             `\"placed\"`, then `\"shipped\"`.",
                        ),
                    },
                },
                "ship": {
                    POST: {
                        handler: ship_order,
                        middleware: [clerks],
                        docs: "An order is on its way",
                    },
                },
            },
        },
        // By POST and GET, with events too, by a WebSocket, and as a page for browsers.
        "graphql": {
            docs: Tag::new("graphql", "Products and orders over GraphQL."),
            middleware: [perhaps_signed_in],
            ..graphql().routes(),
        },
        "live": {
            docs: pages(),
            GET: {
                handler: live_page,
                public: "everybody may look around",
                docs: "A page that watches an order",
            },
        },
        "newsletter": {
            docs: Tag::new("newsletter", "A letter for those who want to know what is new."),
            POST: {
                handler: subscribe,
                middleware: [letter_rules()],
                public: "a letter needs no account",
                docs: Docs::new("A subscription").description("A cookie remembers it."),
            },
            GET: {
                handler: subscription,
                public: "a letter needs no account",
                docs: "Has this browser subscribed?",
            },
        },
        "report": {
            docs: Tag::new("report", "Sales, for those who run the shop."),
            GET: {
                handler: report,
                middleware: [
                    signed_in.clone(),
                    admins.clone(),
                    with_serialization(SerializationOptions::new()),
                ],
                error_handling: report_errors(),
                docs: "What has sold",
            },
        },
        // A WebSocket: short messages, and not too many of them.
        "chat": {
            docs: Tag::new("chat", "Talk among customers."),
            ":topic": {
                ws: {
                    handler: chat,
                    public: "everybody may talk",
                    options: WebSocketOptions::new().max_payload(4 * 1024).max_rate(Some(10)),
                    docs: Docs::new("A chat about a topic")
                        .description("The first message says how many are here."),
                },
            },
        },
        "help": {
            docs: pages(),
            "**": {
                GET: {
                    handler: help,
                    public: "everybody may look around",
                    docs: "Help on a topic",
                },
            },
        },
        ..about(),
    }
}

// The groups under which documents list the routes.

fn watching() -> Tag {
    Tag::new("watching", "For those who watch the program.")
}

fn accounts() -> Tag {
    Tag::new("accounts", "Users, and how they log in.")
}

fn goods() -> Tag {
    Tag::new("products", "Everybody may read them; clerks and admins change them.")
}

fn pages() -> Tag {
    Tag::new("pages", "For people.")
}

/// Routes can be written elsewhere and spread into a tree.
fn about() -> RouteTree {
    routes! {
        docs: pages(),
        "about": {
            GET: {
                handler: async || Html("<h1>A small shop</h1>"),
                public: "everybody may look around",
                docs: "About the shop",
            },
        },
        "old-about": {
            GET: {
                handler: async || Redirect::permanent("/about"),
                public: "everybody may look around",
                docs: Docs::new("Where the page about the shop was before")
                    .deprecated_since("2026-11-01")
                    .sunset("2027-06-30"),
            },
        },
    }
}
