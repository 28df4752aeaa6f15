//! The limits and defaults of the page, each with the code that sets it.

use super::page::{Page, Row, codes};
use super::source::Library;

/// Compares each row with [`LIMITS`], and [`LIMITS`] with the code.
pub fn check(page: &Page, library: &Library) -> Result<Vec<String>, String> {
    let mut faults = unknown_settings(page, library);
    let rows = page.rows();
    for row in &rows {
        let known = LIMITS.iter().find(|limit| limit.name == row.cell(0));
        match known {
            None => faults.push(format!(
                "{}: add the code of `{}` to LIMITS in xtask/src/reference/limits.rs",
                page.name,
                row.cell(0)
            )),
            Some(limit) if limit.default != row.cell(1) => faults.push(format!(
                "{}: the default of `{}` is `{}` in xtask/src/reference/limits.rs",
                page.name, limit.name, limit.default
            )),
            Some(_) => {}
        }
    }
    for limit in LIMITS {
        if !rows.iter().any(|row| row.cell(0) == limit.name) {
            faults.push(format!("{}: add the limit `{}`", page.name, limit.name));
        }
        for (file, code) in limit.code {
            if !library.file(&format!("stockade-{file}"))?.contains(code) {
                faults.push(format!(
                    "crates/stockade-{file}: `{code}` is missing: correct the limit `{}` in {} \
                     and in xtask/src/reference/limits.rs",
                    limit.name, page.name
                ));
            }
        }
    }
    Ok(faults)
}

/// Compares the settings that a row names with the public items.
fn unknown_settings(page: &Page, library: &Library) -> Vec<String> {
    let rows = page.rows();
    let names = rows.iter().flat_map(|row| codes(row.cells.last().map_or("", String::as_str)));
    let is_unknown = |name: &&str| !library.has_item(name.rsplit("::").next().unwrap_or(name));
    let unknown = names.filter(is_unknown);
    unknown.map(|name| format!("{}: no public item has the name `{name}`", page.name)).collect()
}

/// Compares the defaults of options on another page with the limits.
pub fn defaults(limits: &Page, options: &Page) -> Vec<String> {
    let limits = limits.rows();
    let mut faults = Vec::new();
    for row in options.rows() {
        // The type is between the name and the default on some pages.
        let default = row.cells.iter().skip(1).find(|cell| cell.starts_with(char::is_numeric));
        let Some(default) = default else { continue };
        for name in codes(row.cell(0)) {
            let has_name = |cell: &String| codes(cell).any(|code| code == name);
            let limit = limits.iter().find(|limit| limit.cells.last().is_some_and(has_name));
            // One of the pages may explain the value.
            let is_different = |limit: &&Row| {
                !limit.cell(1).contains(default.as_str()) && !default.contains(limit.cell(1))
            };
            if let Some(limit) = limit.filter(is_different) {
                faults.push(format!(
                    "{}: the default of `{name}` is {default}, but {} in limits.md",
                    options.name,
                    limit.cell(1)
                ));
            }
        }
    }
    faults
}

/// A row of the page, and the code that sets its default.
struct Limit {
    name: &'static str,
    default: &'static str,
    /// Files without `crates/stockade-`, and lines in them. Limits of other
    /// crates do not have code here.
    code: &'static [(&'static str, &'static str)],
}

const fn limit(
    name: &'static str,
    default: &'static str,
    code: &'static [(&'static str, &'static str)],
) -> Limit {
    Limit { name, default, code }
}

const LIMITS: &[Limit] = &[
    limit(
        "requests of a client",
        "100 in 60 s",
        &[
            ("stages/src/rate_limit/options.rs", "max_requests: 100,"),
            ("stages/src/rate_limit/options.rs", "window: Duration::from_secs(60),"),
        ],
    ),
    limit(
        "body",
        "1,048,576 bytes, inclusive",
        &[("path/src/route_settings.rs", "Ok(Some(bytes)) } = Some(1_048_576);")],
    ),
    limit(
        "untyped JSON values of a body",
        "100,000",
        &[("core/src/limits.rs", "DEFAULT_MAX_JSON_VALUES: usize = 100_000;")],
    ),
    limit("JSON nesting", "127 levels", &[("json/src/reader.rs", "const LEVELS: u8 = 128;")]),
    limit(
        "pairs of a query or a form",
        "1,000",
        &[("core/src/query.rs", "const MAX_PAIRS: usize = 1_000;")],
    ),
    limit(
        "parts of a multipart body",
        "100",
        &[("core/src/extract/multipart/mod.rs", "parts: 100,")],
    ),
    limit(
        "one part that is read as a whole",
        "1 MiB",
        &[("core/src/extract/multipart/mod.rs", "part_bytes: 1_048_576")],
    ),
    limit(
        "requests in flight",
        "unlimited",
        &[(
            "path/src/route_settings.rs",
            "-> Setting<Placed<ConcurrencyLimit>> {\n                    Ok(Placed::of(limit.into_setting(), Location::caller()))\n                } = Setting::Inherit;",
        )],
    ),
    limit(
        "time until the response",
        "unlimited",
        &[(
            "path/src/route_settings.rs",
            "-> Setting<Placed<Timeout>> {\n                    Ok(Placed::of(limit.into_setting(), Location::caller()))\n                } = Setting::Inherit;",
        )],
    ),
    limit(
        "handlers that continue after their clients have disconnected",
        "30 s, 1,024 at a time",
        &[
            ("core/src/completion.rs", "const STANDARD: Duration = Duration::from_secs(30);"),
            ("core/src/completions.rs", "const MAX_UNATTENDED: usize = 1_024;"),
        ],
    ),
    limit(
        "validation errors in a response",
        "1,000",
        &[("validation/src/options.rs", "const DEFAULT_MAX_ERRORS: usize = 1_000;")],
    ),
    limit(
        "validation steps with alternatives",
        "200,000, and 256 for each value",
        &[
            ("validation/src/check/walk.rs", "const STEPS: usize = 200_000;"),
            ("validation/src/check/walk.rs", "const STEPS_PER_VALUE: usize = 256;"),
        ],
    ),
    limit(
        "file name",
        "255 bytes",
        &[("core/src/extract/file_name.rs", "const MAX_BYTES: usize = 255;")],
    ),
    limit(
        "path pattern",
        "4,096 bytes, 8 optional parameters",
        &[
            ("path/src/parse/mod.rs", "const MAX_BYTES: usize = 4_096;"),
            ("path/src/parse/mod.rs", "const MAX_OPTIONAL: usize = 8;"),
        ],
    ),
    limit(
        "token",
        "16,384 bytes",
        &[("auth/src/token/mod.rs", "const MAX_TOKEN_LENGTH: usize = 16_384;")],
    ),
    limit(
        "lifetime of a token if its notation is not understood",
        "3,600 s",
        &[("auth/src/token/expiry.rs", "const DEFAULT_SECONDS: u64 = 3_600;")],
    ),
    limit(
        "random token",
        "32 bytes, at most 1 MiB",
        &[
            ("auth/src/random.rs", "const DEFAULT_TOKEN_BYTES: usize = 32;"),
            ("auth/src/random.rs", "const MAX_TOKEN_BYTES: usize = 1_048_576;"),
        ],
    ),
    limit(
        "password hash",
        "10,000 iterations (`hash_password`), 210,000 (`PasswordHasher::recommended`)",
        &[
            ("auth/src/password/cost.rs", "const SPECIFIED_ITERATIONS: u32 = 10_000;"),
            ("auth/src/password/cost.rs", "const ADVISED_ITERATIONS: u32 = 210_000;"),
        ],
    ),
    limit(
        "keys of a JWK set",
        "32, RSA of 2,048 to 8,192 bits",
        &[
            ("auth/src/jwks/set.rs", "const MAX_KEYS: usize = 32;"),
            ("auth/src/jwks/key.rs", "const MIN_RSA_BYTES: usize = 256;"),
            ("auth/src/jwks/key.rs", "const MAX_RSA_BYTES: usize = 1_024;"),
        ],
    ),
    limit("age of a JWK set", "3,600 s", &[("auth/src/jwks/source.rs", "max_age_seconds: 3_600,")]),
    limit(
        "revocations in a process",
        "1,000,000",
        &[("auth/src/revocations/table.rs", "const MAX_ENTRIES: usize = 1_000_000;")],
    ),
    limit(
        "revocation kept after the token has expired",
        "10 min",
        &[("auth/src/revocations/mod.rs", "const KEPT_SECONDS: u64 = 600;")],
    ),
    limit(
        "time without contact with the revocation log",
        "30 s, then 503",
        &[(
            "auth/src/revocations/mod.rs",
            "const STALE_AFTER: Duration = Duration::from_secs(30);",
        )],
    ),
    limit(
        "interval of checks of the user of a long-lived connection",
        "15 s; 5 min for a password",
        &[
            (
                "middleware/src/auth/recheck.rs",
                "const INTERVAL: Duration = Duration::from_secs(15);",
            ),
            (
                "middleware/src/auth/recheck.rs",
                "const PASSWORD_INTERVAL: Duration = Duration::from_secs(300);",
            ),
        ],
    ),
    limit(
        "session: idle time, lifetime",
        "30 min, 12 h",
        &[
            ("middleware/src/sessions/sessions.rs", "idle: Duration::from_secs(30 * 60),"),
            ("middleware/src/sessions/sessions.rs", "lifetime: Duration::from_secs(12 * 3_600),"),
        ],
    ),
    limit(
        "session data",
        "16 KiB",
        &[("middleware/src/sessions/sessions.rs", "max_bytes: 16_384,")],
    ),
    limit(
        "sessions in memory; of one subject",
        "100,000; 100",
        &[
            ("middleware/src/sessions/memory/mod.rs", "max_sessions: 100_000,"),
            ("middleware/src/sessions/memory/mod.rs", "max_per_subject: 100,"),
        ],
    ),
    limit(
        "cached sessions of a process",
        "none",
        &[("middleware/src/sessions/sessions.rs", "cache: None,")],
    ),
    limit(
        "keys of a rate limit",
        "100,000; further keys share windows",
        &[("stages/src/rate_limit/options.rs", "max_keys: 100_000,")],
    ),
    limit(
        "response time of a rate limit store",
        "1 s",
        &[("stages/src/rate_limit/options.rs", "store_timeout: Some(Duration::from_secs(1)),")],
    ),
    limit(
        "idempotency key",
        "255 characters",
        &[("middleware/src/idempotency/key.rs", "const MAX_KEY_LENGTH: usize = 255;")],
    ),
    limit(
        "lease of a running key",
        "30 s",
        &[("middleware/src/idempotency/options.rs", "lease: Duration::from_secs(30),")],
    ),
    limit(
        "stored response",
        "64 KiB, for 24 h",
        &[
            ("middleware/src/idempotency/options.rs", "max_body: 65_536,"),
            ("middleware/src/idempotency/options.rs", "ttl: Duration::from_secs(86_400),"),
        ],
    ),
    limit(
        "keys in memory; their responses",
        "100,000; 64 MiB",
        &[
            ("middleware/src/idempotency/memory/mod.rs", "max_keys: 100_000,"),
            ("middleware/src/idempotency/memory/mod.rs", "max_bytes: 64 << 20,"),
        ],
    ),
    limit(
        "share of one user or client",
        "a tenth of both",
        &[
            ("middleware/src/idempotency/memory/mod.rs", "(self.max_keys / 10)"),
            ("middleware/src/idempotency/memory/mod.rs", "(self.max_bytes / 10)"),
        ],
    ),
    limit(
        "keys of one user or client in Redis or SQL",
        "10,000",
        &[
            ("redis/src/idempotency/mod.rs", "max_keys_per_owner: 10_000,"),
            ("sql/src/stores/idempotency.rs", "max_keys_per_owner: 10_000,"),
        ],
    ),
    limit(
        "connections",
        "10,000, or the number of files that the system allows",
        &[("server/src/options.rs", "max_connections: 10_000,")],
    ),
    limit(
        "connections of one client",
        "a tenth, at least 100; unlimited if a proxy is trusted",
        &[
            ("server/src/options.rs", "(self.max_connections / 10).max(MIN_PER_CLIENT)"),
            ("server/src/options.rs", "const MIN_PER_CLIENT: u32 = 100;"),
        ],
    ),
    limit(
        "time for a request head",
        "10 s",
        &[("server/src/options.rs", "header_read_timeout: Duration::from_secs(10),")],
    ),
    limit(
        "size of a request head",
        "16,384 bytes, 100 header lines; then 431",
        &[
            ("server/src/options.rs", "max_header_bytes: 16_384,"),
            ("server/src/options.rs", "const DEFAULT_MAX_HEADERS: usize = 100;"),
        ],
    ),
    limit(
        "waiting time for a request body",
        "10 s for the first bytes, then 30 s; each 500 bytes give back one second; then 408",
        &[
            ("server/src/options.rs", "body_read_timeout: Duration::from_secs(30),"),
            ("server/src/options.rs", "min_read_rate: 500,"),
            ("server/src/time_budget.rs", "const GRACE: Duration = Duration::from_secs(10);"),
        ],
    ),
    limit(
        "waiting time for a client that does not read the response",
        "75 s; each 500 bytes give back one second",
        &[
            ("server/src/options.rs", "write_stall_timeout: Duration::from_secs(75),"),
            ("server/src/options.rs", "min_write_rate: 500,"),
        ],
    ),
    limit(
        "idle connection",
        "60 s",
        &[("server/src/options.rs", "idle_timeout: Duration::from_secs(60),")],
    ),
    limit(
        "time until an idle connection releases its buffers",
        "2 s",
        &[("server/src/options.rs", "const PARK_AFTER: Duration = Duration::from_secs(2);")],
    ),
    limit(
        "time for running requests at shutdown",
        "10 s",
        &[("server/src/options.rs", "shutdown_timeout: Duration::from_secs(10),")],
    ),
    limit(
        "normal operation between the signal and the shutdown",
        "0 s",
        &[("server/src/options.rs", "shutdown_delay: Duration::ZERO,")],
    ),
    limit(
        "concurrent requests of an HTTP/2 connection",
        "200",
        &[("server/src/options.rs", "http2_max_streams: 200,")],
    ),
    limit(
        "response bytes that the system buffers",
        "524,288 bytes, on Linux",
        &[("server/src/options.rs", "const TCP_NOTSENT_LOWAT: u32 = 524_288;")],
    ),
    limit(
        "queue of unaccepted connections",
        "4,096",
        &[("server/src/options.rs", "backlog: 4_096,")],
    ),
    limit(
        "unread rest of a body",
        "8 MiB, on HTTP/2 1 MiB, 5 s",
        &[
            ("server/src/drain.rs", "const MAX_BYTES: usize = 8_388_608;"),
            ("server/src/drain.rs", "const MAX_BYTES_HTTP2: usize = 1_048_576;"),
            ("server/src/drain.rs", "const MAX_TIME: Duration = Duration::from_secs(5);"),
        ],
    ),
    limit(
        "message",
        "1,048,576 bytes",
        &[("routing/src/options.rs", "ws_max_payload: 1_048_576,")],
    ),
    limit(
        "open WebSockets",
        "10,000",
        &[("routing/src/options.rs", "ws_max_connections: 10_000,")],
    ),
    limit(
        "open WebSockets of one client",
        "100",
        &[("routing/src/options.rs", "ws_max_connections_per_client: 100,")],
    ),
    limit(
        "messages that wait for a client",
        "256 KiB",
        &[("websockets/src/options.rs", "send_queue: 262_144,")],
    ),
    limit(
        "silent connection",
        "pinged after 30 s, closed 20 s later",
        &[
            ("websockets/src/options.rs", "ping_interval: Some(Duration::from_secs(30)),"),
            ("websockets/src/options.rs", "ping_timeout: Duration::from_secs(20),"),
        ],
    ),
    limit(
        "client that does not read",
        "30 s",
        &[("websockets/src/options.rs", "write_timeout: Duration::from_secs(30),")],
    ),
    limit(
        "closing handshake",
        "5 s",
        &[("websockets/src/options.rs", "close_timeout: Duration::from_secs(5),")],
    ),
    limit(
        "JSON values of a message",
        "100,000",
        &[("websockets/src/options.rs", "max_json_values: 100_000,")],
    ),
    limit(
        "rooms; created by one client; of one member",
        "50,000; 1,000; 100",
        &[(
            "websockets/src/rooms/limits.rs",
            "rooms: 50_000, rooms_per_client: 1_000, rooms_per_member: 100,",
        )],
    ),
    limit(
        "GraphQL document; tokens; nesting",
        "64 KiB; 4,000; 64",
        &[
            ("graphql/src/limits.rs", "document: 64 * 1_024,"),
            ("graphql/src/limits.rs", "tokens: 4_000,"),
            ("graphql/src/limits.rs", "nesting: 64,"),
        ],
    ),
    limit(
        "depth; complexity",
        "12; 1,000",
        &[("graphql/src/limits.rs", "depth: 12,"), ("graphql/src/limits.rs", "complexity: 1_000,")],
    ),
    limit(
        "aliases; root fields; directives in one place",
        "50; 20; 5",
        &[
            ("graphql/src/limits.rs", "aliases: 50,"),
            ("graphql/src/limits.rs", "root_fields: 20,"),
            ("graphql/src/limits.rs", "directives: 5,"),
        ],
    ),
    limit("operations of a batch", "batches are off", &[("graphql/src/limits.rs", "batch: 0,")]),
    limit(
        "concurrent operations on a WebSocket",
        "50",
        &[("graphql/src/subscription_options.rs", "max_operations: 50,")],
    ),
    limit(
        "time until `connection_init`",
        "10 s",
        &[("graphql/src/subscription_options.rs", "init_timeout: Duration::from_secs(10),")],
    ),
    limit("calls of a JSON-RPC batch", "50", &[("rpc/src/rpc.rs", "max_batch: 50,")]),
    limit("concurrent calls of a batch", "8", &[("rpc/src/rpc.rs", "parallel: 8,")]),
    limit("responses to a batch", "8 MiB", &[("rpc/src/rpc.rs", "max_answer: 8 * 1_048_576,")]),
    limit("tools of an MCP endpoint", "128", &[("mcp/src/mcp.rs", "max_tools: 128,")]),
    limit("result of a tool", "128 KiB", &[("mcp/src/mcp.rs", "max_result: 128 * 1024,")]),
    limit(
        "items of a page",
        "20, at most 100",
        &[
            ("rest/src/handlers/query.rs", "const LIMIT: usize = 20;"),
            ("rest/src/resource/query.rs", "u32::rule().minimum(1).maximum(100)"),
        ],
    ),
    limit(
        "size of a page",
        "4 MiB, at least one item",
        &[("rest/src/store/list_query.rs", "max_bytes: 4 * 1_048_576,")],
    ),
    limit(
        "filters of a list; values of one; sort fields",
        "10; 50; 3",
        &[
            ("rest/src/handlers/query.rs", "const MAX_FILTERS: usize = 10;"),
            ("rest/src/resource/query.rs", ".max_items(50)"),
            ("rest/src/handlers/query.rs", "const MAX_SORTS: usize = 3;"),
        ],
    ),
    limit("cursor", "4,096 bytes", &[("rest/src/cursor.rs", "const MAX_LENGTH: usize = 4_096;")]),
    limit(
        "counted items",
        "10,000",
        &[("rest/src/handlers/query.rs", "const MAX_COUNT: u64 = 10_000;")],
    ),
    limit(
        "operations of a JSON patch",
        "100",
        &[("rest/src/handlers/json_patch.rs", "const MAX_OPERATIONS: usize = 100;")],
    ),
    limit(
        "rows of a memory store",
        "10,000 (`MemoryStore::max_rows`)",
        &[("rest/src/memory/mod.rs", "max_rows: 10_000,")],
    ),
    limit(
        "response time of Redis for a rate limit",
        "100 ms",
        &[("redis/src/rate_limits/mod.rs", "deadline: Duration::from_millis(100),")],
    ),
    limit(
        "response time of Redis for a step of a session or an idempotency key",
        "500 ms",
        &[
            ("redis/src/sessions/mod.rs", "deadline: Duration::from_millis(500),"),
            ("redis/src/idempotency/mod.rs", "deadline: Duration::from_millis(500),"),
        ],
    ),
    limit(
        "connection attempt",
        "1 s",
        &[("redis/src/options.rs", "connect_timeout: Duration::from_secs(1),")],
    ),
    limit(
        "commands that wait for Redis",
        "10,000",
        &[("redis/src/options.rs", "max_in_flight: 10_000,")],
    ),
    limit(
        "log of a room",
        "100 messages, 5 min",
        &[
            ("redis/src/rooms/mod.rs", "log_messages: 100,"),
            ("redis/src/rooms/mod.rs", "log_time: Duration::from_secs(300),"),
        ],
    ),
    limit(
        "room message",
        "64 KiB",
        &[("redis/src/rooms/queue.rs", "const MAX_MESSAGE: usize = 65_536;")],
    ),
];
