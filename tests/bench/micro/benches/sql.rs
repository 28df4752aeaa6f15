//! A resource over SQLite compared with handwritten routes with rusqlite, in
//! process: the processor time of GET for an item, including the database
//! threads, as a ratio within each round. The handwritten routes query either
//! on a blocking thread, as the tokio documentation recommends, or on the
//! runtime thread, which waits for the result.
//!
//! `cargo bench -p bench-micro --bench sql`

mod beside;
mod product;

use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use stockade::http::{HeaderValue, header};
use stockade::prelude::*;
use stockade::rest::{Access, Resource};
use stockade::sql::Sqlite;

use crate::beside::{Side, show, with_threads};
use crate::product::Product;

fn fill(file: &FilePath) -> Sqlite {
    let database = Sqlite::open(file).expect("a new file");
    let table = database.create_table_sql::<Product>("products").expect("a type for a table");
    let connection = Connection::open(file).expect("the same file");
    connection.execute_batch(&table).expect("a new table");
    connection
        .execute_batch(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1000)
             INSERT INTO products (id, name, price_cents, category)
             SELECT n, 'product ' || n, 100 + n, iif(n % 2 = 0, 'tea', NULL) FROM numbers",
        )
        .expect("rows");
    database
}

fn resource(database: &Sqlite) -> RouteTree {
    Resource::new("product", database.table::<Product>("products").expect("a table that fits"))
        .server_fields(["id"])
        .read(Access::public("a measurement"))
        .write(Access::public("a measurement"))
        .routes()
}

/// Idle connections, at most as many as the store has readers.
#[derive(Clone)]
struct Pool {
    connections: Arc<Mutex<Vec<Connection>>>,
}

impl Pool {
    fn open(file: &FilePath) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = |_| Connection::open_with_flags(file, flags).expect("the same file");
        Self { connections: Arc::new(Mutex::new((0..16).map(open).collect())) }
    }

    fn find(&self, id: i64) -> rusqlite::Result<Option<(Product, u64)>> {
        let connection = self.connections.lock().expect("a lock").pop().expect("a connection");
        let mut statement = connection.prepare_cached(
            "SELECT id, name, price_cents, category, version FROM products WHERE id = ?1",
        )?;
        let found = statement
            .query_row([id], |row| {
                let product = Product {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    price_cents: row.get(2)?,
                    category: row.get(3)?,
                };
                Ok((product, row.get::<_, u32>(4)?.into()))
            })
            .optional();
        drop(statement);
        self.connections.lock().expect("a lock").push(connection);
        found
    }
}

fn by_hand(pool: Pool, may_block: bool) -> RouteTree {
    let get = move |Path(id): Path<i64>, req: Request| {
        let pool = pool.clone();
        async move {
            let found = if may_block {
                let found = tokio::task::spawn_blocking(move || pool.find(id));
                found.await.map_err(ApiError::internal)?
            } else {
                pool.find(id)
            };
            let found = found.map_err(ApiError::internal)?;
            let (product, version) = found.ok_or_else(ApiError::not_found)?;
            let tag = format!("\"v{version}\"");
            if req.headers().get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag) {
                return Err(ApiError::new(412, "not measured"));
            }
            let mut response = Json(product).into_response()?;
            let headers = response.headers_mut();
            headers.insert(header::ETAG, HeaderValue::try_from(tag).expect("a tag"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            Ok::<_, ApiError>(response)
        }
    };
    routes! { ":id": { GET: get } }
}

fn side(routes: RouteTree) -> Arc<Side> {
    let options = RouterOptions::new().rate_limit(false);
    let app = create_router(routes! { "products": { ..routes } }, options);
    Arc::new(Side::get(app.build().expect("routes"), "/products/500"))
}

fn main() {
    let folder = std::env::temp_dir().join(format!("stockade-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a new folder");
    let file = folder.join("bench.db");
    let database = fill(&file);
    let (ours, pool) = (side(resource(&database)), Pool::open(&file));
    for (name, may_block) in
        [("GET item of SQLite / blocking threads", true), ("GET item of SQLite / in place", false)]
    {
        let by_hand = side(by_hand(pool.clone(), may_block));
        show(name, 1.30, &with_threads([&ours, &by_hand], 11, 4_000));
    }
    // A remaining folder belongs to a failed measurement.
    let _ = std::fs::remove_dir_all(folder);
}
