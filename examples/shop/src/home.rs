//! The home page: products and a live order for browsers, links for programs.

use std::fmt::Write as _;

use serde::Serialize;
use stockade::description::HeaderDoc;
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::middleware::with_etag;
use stockade::prelude::*;
use stockade::rest::Store as _;
use stockade::{RouteDescription, RouteDocs};

use crate::stock::{NoData, Product, Shop, first};

/// The content security policy: the page and its files load nothing from other
/// hosts and contain nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const PAGE: &str = include_str!("home/page.html");

/// The maximum number of products on the page.
const MOST_PRODUCTS: usize = 100;

/// Links to the parts of the API.
#[derive(Serialize, Schema)]
pub struct Links {
    pub shop: &'static str,
    pub products: &'static str,
    pub docs: &'static str,
    pub openapi: &'static str,
    pub health: &'static str,
}

const LINKS: Links = Links {
    shop: "A small shop",
    products: "/products",
    docs: "/docs",
    openapi: "/openapi.json",
    health: "/health/ready",
};

/// Two formats of the same resource; the client's preference decides.
pub enum Home {
    Page(String),
    Links(Links),
}

impl Reply for Home {
    fn into_response(self) -> Result<Response, ApiError> {
        let vary = (header::VARY, "Accept");
        match self {
            Self::Page(page) => {
                ([vary, (header::CONTENT_SECURITY_POLICY, POLICY)], Html(page)).into_response()
            }
            Self::Links(links) => ([vary], links).into_response(),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        let describe = |doc: &mut RouteDescription| {
            Links::describe(doc);
            Html::<String>::describe(doc);
        };
        doc.responses_changed(describe, |answer| {
            answer.headers.push(HeaderDoc::new("Vary", "The header that the form depends on"));
        });
    }
}

pub async fn home(shop: State<Shop>, headers: Headers) -> Result<Home, NoData> {
    if !prefers_html(&headers) {
        return Ok(Home::Links(LINKS));
    }
    let page = shop.products.list(&first(MOST_PRODUCTS)).await?;
    let mut products = String::new();
    for Product { id, name, category, price_cents, .. } in page.items.into_iter().map(|it| it.value)
    {
        let (name, category) = (text(&name), text(&category));
        let (euros, cents) = (price_cents / 100, price_cents % 100);
        // Writing to a string cannot fail.
        let _ = writeln!(
            products,
            "<li><b>{name}</b> <span class=price>{euros}.{cents:02} €</span> <i>{category}</i> \
             <button type=button value={id} aria-label=\"Order {name}\" hidden>Order</button>"
        );
    }
    Ok(Home::Page(PAGE.replace("PRODUCTS\n", &products)))
}

/// Returns a text with escaped markup.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns true for a client that prefers a page to JSON (RFC 9110, section
/// 12.5.1): a browser, but not curl, which accepts anything.
fn prefers_html(headers: &HeaderMap) -> bool {
    let accept: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accept = accept.join(",");
    weight(&accept, "text/html") > weight(&accept, "application/json")
}

/// Returns the weight of a media type, in thousandths, from the most specific
/// range that matches.
fn weight(accept: &str, media_type: &str) -> u16 {
    let all_of_it = media_type.split_once('/').map(|(kind, _)| format!("{kind}/*"));
    let all_of_it = all_of_it.unwrap_or_default();
    let mut best = (0, 0);
    for item in accept.split(',') {
        let mut parts = item.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let depth = match range {
            _ if range.eq_ignore_ascii_case(media_type) => 3,
            _ if range.eq_ignore_ascii_case(&all_of_it) => 2,
            "*/*" => 1,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        let weight = weight.map_or(Some(1.0), |weight| weight.parse::<f32>().ok());
        // An invalid weight counts as 0.
        let weight = weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0);
        best = best.max((depth, (weight * 1_000.0) as u16));
    }
    best.1
}

/// The files of the page.
pub fn files() -> RouteTree {
    let file = |media_type: &'static str, content: &'static str| {
        let headers = [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "no-cache")];
        async move || (headers, content)
    };
    let docs = || RouteDocs::new("A file of the front page").hidden("it belongs to the front page");
    routes! {
        "home": {
            middleware: [with_etag()],
            public: "everybody may look around",
            "style.css": {
                GET: {
                    file("text/css; charset=utf-8", include_str!("home/style.css")),
                    docs: docs(),
                },
            },
            "script.js": {
                GET: {
                    file("text/javascript; charset=utf-8", include_str!("home/script.js")),
                    docs: docs(),
                },
            },
            "icon.svg": {
                GET: {
                    file("image/svg+xml", include_str!("home/icon.svg")),
                    docs: docs(),
                },
            },
        },
    }
}
