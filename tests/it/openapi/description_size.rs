//! The size of a document of many routes, and the work to create it.
//!
//! The work is counted in allocations, which are exactly repeatable, unlike
//! durations.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use stockade::middleware::with_auth;
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::validation::{HasSchema, Rule};

/// The maximum size of a document of 300 routes, in bytes: 350 KiB.
const MAX_BYTES: usize = 358_400;

/// The maximum size of a document of 300 routes with gzip, in bytes.
const MAX_COMPRESSED: usize = 30_000;

/// The maximum number of allocations for a map of 300 routes: 86,807 plus 10 %.
const MAX_OF_MAP: u64 = 95_500;

/// The maximum number of allocations for a document of 300 routes, including
/// its map: 159,836 plus 10 %.
const MAX_OF_DOCUMENT: u64 = 176_000;

#[derive(serde::Deserialize, Schema)]
struct Page {
    #[schema(min = 1, max = 100)]
    limit: Option<u32>,
    q: Option<String>,
}

#[derive(Debug, ApiError)]
enum Failed {
    #[status(404, "there is no such thing")]
    Missing,
    #[status(409, "it is known already")]
    Known,
}

/// Creates modules with two types and three routes each, and a list of the
/// modules.
macro_rules! things {
    ($($name:ident)*) => {
        $(mod $name {
            use serde::{Deserialize, Serialize};
            use stockade::prelude::*;

            use super::{Failed, Page};

            #[derive(Deserialize, Schema)]
            #[schema(name = concat!("New", stringify!($name)))]
            struct New {
                #[schema(trim, min_length = 1, max_length = 100)]
                name: String,
                #[schema(kind = "email")]
                email: Option<String>,
                #[schema(min = 0, max = 1000)]
                count: u32,
            }

            #[derive(Serialize, Schema)]
            #[schema(name = concat!("Item", stringify!($name)))]
            struct Item {
                id: u64,
                name: String,
                email: Option<String>,
                #[serde(rename = "isOpen")]
                is_open: bool,
            }

            async fn list(Query(page): Query<Page>) -> Json<Vec<Item>> {
                let id = u64::from(page.limit.unwrap_or(1));
                let name = page.q.unwrap_or_default();
                Json(vec![Item { id, name, email: None, is_open: true }])
            }

            async fn add(Body(new): Body<New>) -> Result<Json<Item>, Failed> {
                let New { name, email, count } = new;
                let item = Item { id: u64::from(count), name, email, is_open: true };
                (count < 1000).then_some(Json(item)).ok_or(Failed::Known)
            }

            async fn change(Path(id): Path<u64>, new: Body<New>) -> Result<Json<Item>, Failed> {
                let Body(New { name, email, .. }) = new;
                let item = Item { id, name, email, is_open: true };
                (id < 1000).then_some(Json(item)).ok_or(Failed::Missing)
            }

            pub(super) fn routes() -> RouteTree {
                routes! { GET: list, POST: add, ":id": { PUT: change } }
            }
        })*

        fn all() -> Vec<(&'static str, RouteTree)> {
            vec![$((stringify!($name), $name::routes())),*]
        }
    };
}

things! {
    t00 t01 t02 t03 t04 t05 t06 t07 t08 t09 t10 t11 t12 t13 t14 t15 t16
    t17 t18 t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29 t30 t31 t32 t33
    t34 t35 t36 t37 t38 t39 t40 t41 t42 t43 t44 t45 t46 t47 t48 t49
}

/// Creates an application with 300 routes; half of them require a user.
fn app() -> App {
    let group = || all().into_iter().fold(RouteTree::new(), |tree, (name, it)| tree.key(name, it));
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let own = group().middleware(with_auth(Auth::secret(secret)));
    let api = RouteTree::new().key("open", group()).key("own", own);
    create_router(api, RouterOptions::new()).build().unwrap()
}

#[test]
fn the_document_of_300_routes_stays_small() {
    let document = open_api(&app(), &OpenApiOptions::new("Things", "1.0.0")).unwrap();
    let operations = document["paths"].as_object().unwrap().values();
    assert_eq!(operations.map(|path| path.as_object().unwrap().len()).sum::<usize>(), 300);
    assert!(document["components"]["schemas"].as_object().unwrap().len() >= 100);
    let text = document.to_string();
    assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());

    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let compressed = gzip.finish().unwrap().len();
    assert!(compressed <= MAX_COMPRESSED, "{compressed} bytes");
}

#[test]
fn the_work_for_300_routes_stays_bounded() {
    let app = app();
    let of_map = allocation_counter::measure(|| drop(app.route_map())).count_total;
    assert!(of_map <= MAX_OF_MAP, "{of_map} allocations");
    let options = OpenApiOptions::new("Things", "1.0.0");
    let of_document = allocation_counter::measure(|| drop(open_api(&app, &options))).count_total;
    assert!(of_document <= MAX_OF_DOCUMENT, "{of_document} allocations");
}

static RULES: AtomicUsize = AtomicUsize::new(0);

/// A type that counts how often its rules are created.
#[derive(serde::Deserialize, serde::Serialize)]
struct Counted(String);

impl HasSchema for Counted {
    fn rule() -> Rule {
        RULES.fetch_add(1, Ordering::Relaxed);
        String::rule()
    }
}

#[test]
fn a_type_is_compiled_once_for_all_routes() {
    let echo = async |Body(value): Body<Counted>| Json(value);
    let routes = ["one", "two", "three"].into_iter();
    let api = routes.fold(RouteTree::new(), |tree, name| tree.key(name, routes! { POST: echo }));
    let app = create_router(api, RouterOptions::new()).build().unwrap();
    assert_eq!(RULES.swap(0, Ordering::Relaxed), 1, "that of the body");
    let map = app.route_map();
    assert_eq!(RULES.swap(0, Ordering::Relaxed), 1, "that of the reply");
    assert!(map.routes.iter().all(|route| route.body.is_some()));
}
