//! Some routes of the shop with its own handlers, guards and options, from
//! which a test can remove a defense.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::RouteEntry;
use stockade::http::Method;
use stockade::middleware::health::Readiness;
use stockade::middleware::{
    ErrorHandlerOptions, Metrics, SecurityHeaders, create_error_handler, named, with_compression,
    with_etag, with_permission, with_role,
};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::rest::{Access, Entity, MemoryStore, NewRow, Op, Operation, Resource, Store};
use stockade::websockets::{Rooms, WebSocketOptions};

use crate::shop::example::guards::{is_own_or_admin, known_account, strict, tag_response};
use crate::shop::example::orders::{ship_order, show_order};
use crate::shop::example::pages::{chat, help};
use crate::shop::example::products::search_products;
use crate::shop::example::stock::{self, Role, Shop, UserError};
use crate::shop::example::users::{self, give_role, list_users, log_in, rename_user, show_user};
use crate::shop::example::{Table, options};
use crate::shop::stocked;

/// Builds the copy with one change; `""` means no change.
pub fn copy(change: &'static str) -> Router {
    let metrics = Metrics::new();
    let shop = stocked();
    let api = api(change, shop.products.clone());
    let options = changed(options(&metrics), change);
    let router = create_router(api, options.middleware(tag_response));
    let mut router = router.state(shop).state(Rooms::default()).state(Readiness::new());
    if change == "an open route" {
        router.get("/stock", async || "nobody says why this is open");
    }
    if change == "a second path" {
        router.get("/all-users", list_users);
    }
    router
}

fn changed(options: RouterOptions, change: &str) -> RouterOptions {
    match change {
        "body limit" => options.max_body_size(1024 * 1024 * 1024),
        "CORS list" => options.cors_origin("*"),
        "header" => options.security_headers(SecurityHeaders::default().without("x-frame-options")),
        "expose_errors" => options.expose_errors(true),
        "trust_proxy" => options.trust_proxy(1),
        _ => options,
    }
}

fn api(change: &'static str, table: Table<stock::Product>) -> RouteTree {
    let is = |name: &str| change == name;
    routes! {
        "login": { ..RouteTree::new().method(Method::POST, login(change)) },
        "users": { ..users(change) },
        "products": { ..products(change, table) },
        "orders": { ..orders(change) },
        "chat": {
            ":topic": {
                ws: {
                    handler: chat,
                    public: "everybody may talk",
                    options: {
                        let options = WebSocketOptions::new().max_payload(4 * 1024);
                        let options = options.max_rate(Some(10));
                        if is("WebSocket origin") { options.allowed_origins(["*"]) } else { options }
                    },
                },
            },
        },
        "help": { "**": { GET: { handler: help, public: "everybody may look around" } } },
    }
}

fn login(change: &str) -> RouteEntry {
    let mut login = RouteEntry::new(log_in).max_body(16 * 1024).public("it issues the token");
    if change != "rate limit" {
        login = login.rate_limit(10 / MINUTE);
    }
    if change != "timeout" {
        login = login.timeout(Duration::from_secs(10));
    }
    login
}

fn users(change: &'static str) -> RouteTree {
    let (signed_in, admins) = (with_auth(Auth::lookup(known_account)), with_role("admin"));
    let both = || vec![signed_in.clone(), admins.clone()];
    let if_there = |name: &str, list: Vec<Middleware>| {
        if change == name { Vec::new() } else { list }
    };
    let one: RouteEntry = match change {
        "secret" => RouteEntry::new(leaky::show_user),
        _ => RouteEntry::new(show_user),
    };
    let permission = with_permission(named("own account or admin", is_own_or_admin));
    let sign_up = match change {
        "pattern" => RouteEntry::new(any_email::sign_up),
        _ => RouteEntry::new(users::sign_up),
    };
    routes! {
        ..RouteTree::new().method(
            Method::POST,
            sign_up.name("users.create").max_body(16 * 1024).public("it creates the account"),
        ),
        GET: { handler: list_users, middleware: if_there("user", both()) },
        r":id(\d+)": {
            middleware: {
                let mut guards = vec![signed_in.clone()];
                guards.extend(if_there("permission", vec![permission]));
                guards
            },
            ..RouteTree::new().method(Method::GET, one.name("users.show")),
            PATCH: { handler: rename_user },
            "role": {
                PUT: { handler: give_role, middleware: if_there("role", vec![admins.clone()]) },
            },
        },
    }
}

fn products(change: &'static str, table: Table<stock::Product>) -> RouteTree {
    let goods = match change {
        "bound" => goods(MemoryStore::<any_price::Product>::new()),
        "unknown members" => goods(MemoryStore::<any_members::Product>::new()),
        _ => goods(table),
    };
    let mut tree = RouteTree::new();
    if change.starts_with("text of a 5xx") {
        let tells = change == "text of a 5xx";
        tree = tree.error_handling(create_error_handler(ErrorHandlerOptions::new().transform(
            move |error, mut body| {
                body["cause"] = if tells { error.message() } else { "a fault of ours" }.into();
                body
            },
        )));
    }
    let mut search = RouteEntry::new(search_products)
        .public("everybody may look around")
        .validation_options(strict());
    if change == "CORS without credentials" {
        search = search.cors("*");
    }
    routes! {
        middleware: [with_compression(), with_etag()],
        ..tree.spread(goods),
        "search": { ..RouteTree::new().method(Method::GET, search) },
    }
}

/// Returns the routes of the shop's resource, with its own type or another one.
fn goods<T: Entity>(store: impl Store<T>) -> RouteTree {
    Resource::new("product", store)
        .server_fields(["id", "image_bytes"])
        .before(Operation::Create, async |_, mut draft: NewRow<T>| {
            draft.set("image_bytes", 0);
            Ok(draft)
        })
        .filter("category")
        .filter_by("price_cents", [Op::Gte, Op::Lte])
        .sort(["price_cents", "name"])
        .count(true)
        .read(Access::public("everybody may look around"))
        .write(Access::role(&with_auth(Auth::lookup(known_account)), ["clerk", "admin"]))
        .routes()
}

fn orders(change: &'static str) -> RouteTree {
    let signed_in = || with_auth(Auth::lookup(known_account));
    let guards: Vec<Middleware> = match change {
        "answers behind the guard" => vec![signed_in(), Middleware::new(kept_answer)],
        "answers before the guard" => vec![Middleware::new(kept_answer), signed_in()],
        _ => vec![signed_in()],
    };
    routes! {
        r":id(\d+)": {
            GET: { handler: show_order, name: "orders.show", middleware: guards },
            "ship": {
                POST: {
                    handler: ship_order,
                    middleware: [signed_in(), with_role(["clerk", "admin"])],
                },
            },
        },
    }
}

/// Returns its stored response to a repeated request.
async fn kept_answer(req: Request, next: Next) -> Result<Response, ApiError> {
    if req.param("id").as_deref() != Some("1") {
        return Ok(next.run(req).await);
    }
    Json(json!({ "order": 1, "status": "placed", "lines": [] })).into_response()
}

/// An account that exposes its password hash.
mod leaky {
    use super::*;

    #[derive(Clone, Serialize, Schema)]
    pub struct Profile {
        pub id: u32,
        pub name: String,
        pub email: String,
        pub role: Role,
        pub password_hash: String,
    }

    pub async fn show_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<Profile, UserError> {
        let stock::Profile { id, name, email, role } = users::show_user(shop, Path(id)).await?;
        Ok(Profile { id, name, email, role, password_hash: "$pbkdf2$".into() })
    }
}

/// A sign-up that accepts any email.
mod any_email {
    use super::*;

    #[derive(Deserialize, Schema)]
    pub struct NewUser {
        #[schema(trim, required, max_length = 100)]
        pub name: String,
        #[schema(max_length = 254)]
        pub email: String,
        #[schema(min_length = 8, max_length = 200)]
        pub password: String,
    }

    pub async fn sign_up(
        shop: State<Shop>,
        Body(new): Body<NewUser>,
    ) -> Result<Created<stock::Profile>, users::SignUpError> {
        let NewUser { name, email, password } = new;
        users::sign_up(shop, Body(users::NewUser { name, email, password })).await
    }
}

/// A product without a maximum price.
mod any_price {
    use super::*;

    #[derive(Clone, Deserialize, Serialize, Schema)]
    #[serde(deny_unknown_fields)]
    pub struct Product {
        pub id: u32,
        #[schema(trim, required, max_length = 100)]
        pub name: String,
        #[schema(values = ["tea", "coffee", "crockery"])]
        pub category: String,
        #[schema(minimum = 1)]
        pub price_cents: u32,
        pub image_bytes: u32,
    }

    impl Entity for Product {
        type Id = u32;
    }
}

/// A product that accepts unknown members.
mod any_members {
    use super::*;

    #[derive(Clone, Deserialize, Serialize, Schema)]
    pub struct Product {
        pub id: u32,
        #[schema(trim, required, max_length = 100)]
        pub name: String,
        #[schema(values = ["tea", "coffee", "crockery"])]
        pub category: String,
        #[schema(minimum = 1, maximum = 1_000_000)]
        pub price_cents: u32,
        pub image_bytes: u32,
    }

    impl Entity for Product {
        type Id = u32;
    }
}
