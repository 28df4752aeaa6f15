//! Faults in the configuration file of production, one at a time.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use stockade::auth::{KeyRing, SessionId};
use stockade::middleware::SessionCookie;
use stockade::openapi::lock::Lock;
use stockade::policy::{Configuration, Policy, parse_json};
use stockade::prelude::*;
use stockade::testing::{AttackFamily, assert_posture};

use crate::block_on;

/// A configuration without a fault.
const PRODUCTION: &str = r#"{
  "router": {
    "corsOrigin": ["https://shop.example"],
    "trustProxy": 1,
    "rateLimit": { "max": 100, "windowMs": 60000 },
    "exposeErrors": false,
    "maxBody": 65536
  },
  "server": {
    "maxConnections": 500
  },
  "auth": {
    "algorithm": "HS512",
    "secret": "${TOKEN_SECRET}"
  }
}
"#;

fn policy() -> Policy {
    Policy::recommended().public_routes(["POST /login"])
}

fn router() -> Router {
    let secret = Secret::new("0123456789abcdef0123456789abcdef").unwrap();
    let cookie = SessionCookie::new(KeyRing::new(secret.clone()));
    let session = Auth::session(cookie, |_: SessionId| None::<String>);
    let api = routes! {
        auth: Auth::secret(secret),
        "login": { POST: { async || "a token", public: "the client has no token yet" } },
        "orders": { GET: async || "all", POST: async |_: Body<Value>| "new" },
        "chat": { ws: { async |_: stockade::websockets::WebSocket| (), auth: session } },
    };
    create_router(api, RouterOptions::new().enable_web_sockets(true)).policy(policy())
}

/// A file in a new folder, until the end of a test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("stockade-configuration-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(self.0.parent().unwrap()));
    }
}

/// Returns the text of the failed assertion.
fn posture(router: Router, file: impl Into<Configuration>) -> Result<(), String> {
    let file = file.into();
    let outcome = catch_unwind(AssertUnwindSafe(|| assert_posture(router, file)));
    outcome.map_err(|panic| *panic.downcast::<String>().unwrap())
}

fn changed(from: &str, to: &str) -> String {
    assert!(PRODUCTION.contains(from), "{from}");
    PRODUCTION.replace(from, to)
}

/// A fault in the file: the text before and after, the line, and the finding.
const FAULTS: [(&str, &str, u32, &str); 13] = [
    (
        r#"["https://shop.example"]"#,
        r#""*""#,
        3,
        "[cors-open-with-user] every origin can read the responses of GET /orders and one other",
    ),
    (
        r#"["https://shop.example"]"#,
        r#"["https://shop.example", "http://localhost:5173"]"#,
        3,
        r#"[cors-development-origin] "http://localhost:5173" may read responses with credentials"#,
    ),
    (
        r#""corsOrigin": ["https://shop.example"]"#,
        r#""cors": { "origin": "http://127.0.0.1:3000" }"#,
        3,
        "[cors-development-origin]",
    ),
    (
        r#"["https://shop.example"]"#,
        r#"["https://shop.example/"]"#,
        3,
        "[cors-development-origin] an origin of the file is malformed",
    ),
    (
        r#""trustProxy": 1"#,
        r#""trustProxy": true"#,
        4,
        "[proxies-known] `router.trust_proxy` is true",
    ),
    (
        r#""trustProxy": 1"#,
        r#""trust_proxy": ["10.0.0.0/8", "::/0"]"#,
        4,
        "[proxies-known] the trusted network ::/0 contains every address",
    ),
    (
        r#"{ "max": 100, "windowMs": 60000 }"#,
        "false",
        5,
        "[rate-limited] no rate limit applies to POST /login and 3 others",
    ),
    (
        r#""exposeErrors": false"#,
        r#""exposeErrors": true"#,
        6,
        "[errors-hidden] clients get the messages of 5xx errors",
    ),
    (
        r#""maxBody": 65536"#,
        r#""maxBody": 1073741824"#,
        7,
        "[body-bounded] a body may have 1024 MiB",
    ),
    (
        r#""maxConnections": 500"#,
        r#""call": { "exposeErrors": true }"#,
        10,
        "[errors-hidden] clients get the messages of 5xx errors",
    ),
    (
        r#""maxConnections": 500"#,
        r#""trustProxy": true"#,
        10,
        "[proxies-known] `server.trust_proxy` is true",
    ),
    (
        "${TOKEN_SECRET}",
        "correct horse battery staple, and more",
        14,
        "[secrets-long] `auth.secret` has 38 bytes, but HS512 needs 64",
    ),
    (
        r#""exposeErrors": false"#,
        r#""wsAllowedOrigins": ["*"]"#,
        6,
        "WS /chat: [ws-origin-open] every origin can open it with the cookies of the user",
    ),
];

#[test]
fn the_policy_names_the_line_of_each_fault() {
    let good = File::new("production.json", PRODUCTION);
    assert_eq!(posture(router(), good.path()), Ok(()));
    for (from, to, line, expected) in FAULTS {
        let file = File::new("production.json", &changed(from, to));
        let text = posture(router(), file.path()).expect_err(to);
        assert!(text.contains("1 violation of the policy under "), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(text.contains(&format!("({}:{line})", file.path())), "{text}");
        assert!(!text.contains("battery"), "it shows the secret: {text}");
        let app = router().build().unwrap();
        let args = ["program", "audit", "--config", file.path()].map(String::from);
        let error = block_on(app.command_output(args)).unwrap().unwrap_err();
        assert_eq!(format!("{error:?}"), text, "the command and the test differ");
    }
}

#[test]
fn toml_and_other_formats_have_the_same_findings() {
    let toml = "[router]\ncors_origin = \"*\"\ntrustProxy = 1\n\n[auth]\njwt_secret = \"short\"\n";
    let file = File::new("production.toml", toml);
    let text = posture(router(), file.path()).unwrap_err();
    assert!(text.contains(&format!("({}:2)", file.path())), "{text}");
    assert!(text.contains(&format!("({}:6)", file.path())), "{text}");
    let own = Configuration::file(file.path())
        .parsed_by(|_| Ok(json!({ "router": { "exposeErrors": true } })));
    let text = posture(router(), own).unwrap_err();
    assert!(text.contains("[errors-hidden]"), "{text}");
}

#[test]
fn invalid_files_are_errors() {
    let cases = [
        ("{", "cannot parse"),
        ("[]", "is not an object"),
        (r#"{ "router": { "ratelimit": true } }"#, "unknown field `ratelimit`"),
        (r#"{ "rateLimits": true }"#, "unknown field `rateLimits`"),
        (r#"{ "server": { "call": { "prefix": "/" } } }"#, "unknown field `prefix`"),
        (r#"{ "router": { "trustProxy": ["here"] } }"#, "\"here\" is not a network"),
    ];
    for (text, expected) in cases {
        let file = File::new("production.json", text);
        let error = posture(router(), file.path()).unwrap_err();
        assert!(error.contains(expected) && error.contains("production.json"), "{error}");
    }
    let error = posture(router(), "no/such/file.json").unwrap_err();
    assert!(error.contains("cannot read no/such/file.json"), "{error}");
}

#[test]
fn an_exception_belongs_to_one_file() {
    let text = changed(r#""trustProxy": 1"#, r#""trustProxy": true"#);
    let file = File::new("production.json", &text);
    let allowing = |target: &str| {
        router().policy(policy().allow("proxies-known", target, "one proxy, by contract"))
    };
    assert_eq!(posture(allowing(file.path()), file.path()), Ok(()));
    // An exception for the code does not cover a value of the file.
    let error = allowing("router").build().unwrap_err().to_string();
    assert!(error.contains("is not needed"), "{error}");
    let other = posture(allowing("other.json"), file.path()).unwrap_err();
    assert!(other.contains("[proxies-known]"), "{other}");
    let good = File::new("production.json", PRODUCTION);
    let needless = posture(allowing(good.path()), good.path()).unwrap_err();
    assert!(needless.contains("is not needed"), "{needless}");
    // The router builds: only the check of the file knows if it is necessary.
    assert!(allowing(good.path()).build().is_ok());
    let unknown = router().policy(policy().allow("no-such-rule", "production.json", "x"));
    assert!(unknown.build().unwrap_err().to_string().contains("names an unknown rule"));
}

/// A change of the file: the text before and after, the line, and the change.
const CHANGES: [(&str, &str, u32, &str); 6] = [
    (r#""max": 100"#, r#""max": 100000"#, 5, "[weakening] rate-limit-raised"),
    (
        r#"["https://shop.example"]"#,
        r#"["https://shop.example", "https://other.example"]"#,
        3,
        "[weakening] origin-added",
    ),
    (r#""exposeErrors": false"#, r#""exposeErrors": true"#, 6, "[weakening] expose-errors-changed"),
    (r#""trustProxy": 1"#, r#""trustProxy": 3"#, 4, "[weakening] trust-proxy-changed"),
    (r#""maxBody": 65536"#, r#""maxBody": 1048576"#, 7, "[weakening] max-body-raised"),
    (
        r#""maxConnections": 500"#,
        r#""maxConnections": 50000"#,
        10,
        "[weakening] configuration-setting-changed",
    ),
];

fn lock(file: &File) -> Lock {
    let app = router().configuration(file.path()).build().unwrap();
    Lock::of(&app.route_map_with_files(None, &parse_json).unwrap()).unwrap()
}

#[test]
fn the_lock_keeps_the_settings_of_each_file() {
    let file = File::new("production.json", PRODUCTION);
    let before = lock(&file);
    assert_eq!(Lock::read(&before.to_string()).unwrap(), before);
    for (from, to, line, expected) in CHANGES {
        fs::write(file.path(), changed(from, to)).unwrap();
        let changes = before.changes_to(&lock(&file), SystemTime::now());
        let text = changes.to_string();
        assert_eq!(changes.iter().count(), 1, "{text}");
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains(&format!("at {}:{line}", file.path())), "{text}");
        assert!(text.contains("fix: "), "{text}");
    }
    let without = Lock::of(&router().build().unwrap().route_map()).unwrap();
    let text = before.changes_to(&without, SystemTime::now()).to_string();
    assert!(text.starts_with("[weakening] configuration-removed"), "{text}");
    let text = without.changes_to(&before, SystemTime::now()).to_string();
    assert!(text.starts_with("[compatible] configuration-added"), "{text}");
    assert!(!text.contains("unexplained"), "{text}");
}

#[test]
fn the_policy_sees_values_of_the_environment() {
    let text = changed(r#""trustProxy": 1"#, r#""trustProxy": "${PROXIES}""#);
    let text = text.replace("\n    \"exposeErrors\": false,", "");
    let file = File::new("production.json", &text);
    let good = [
        ("NODE_ENV", "production"),
        ("PROXIES", "1"),
        ("TOKEN_SECRET", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        ("SESSION_SECRET", "0123456789abcdef0123456789abcdef"),
    ];
    let with = |name: &str, value: &'static str| {
        let changed = good.map(|(known, old)| (known, if known == name { value } else { old }));
        posture(router(), Configuration::file(file.path()).environment(changed))
    };
    assert_eq!(with("", ""), Ok(()));
    let cases = [
        ("NODE_ENV", "development", "[errors-hidden] the environment has `NODE_ENV=development`"),
        ("PROXIES", "true", "[proxies-known] `router.trust_proxy` is true"),
        ("PROXIES", r#"["::/0"]"#, "[proxies-known] the trusted network ::/0 contains"),
        ("TOKEN_SECRET", "battery", "[secrets-long] `auth.secret` has 7 bytes, but HS512 needs 64"),
        ("SESSION_SECRET", "battery", "[secrets-long] `SESSION_SECRET` has 7 bytes"),
        ("PROXIES", "many", "values of the router"),
    ];
    for (name, value, expected) in cases {
        let error = with(name, value).expect_err(value);
        assert!(error.contains(expected) && error.contains("production.json"), "{error}");
        assert!(!error.contains("\"battery\""), "it shows the secret: {error}");
    }
    let error = with("PROXIES", "true").unwrap_err();
    assert!(error.contains(&format!("({}:4)", file.path())), "{error}");
    // An option in code has precedence over the environment.
    let hidden = create_router(
        routes! { "news": { GET: { async || "all", public: "anybody may read" } } },
        RouterOptions::new().expose_errors(false),
    );
    let settings = File::new("production.json", r#"{ "trustProxy": 1 }"#);
    let development = Configuration::file(settings.path());
    let development = development.environment([("NODE_ENV", "development")]);
    assert_eq!(posture(hidden, development), Ok(()));
}

#[test]
fn a_change_has_the_line_of_its_own_file() {
    let file = File::new("production.json", PRODUCTION);
    let other = format!("{}.bak", file.path());
    fs::write(&other, format!("\n\n{PRODUCTION}")).unwrap();
    let lock = || {
        let router = router().configuration(file.path()).configuration(other.as_str());
        let map = router.build().unwrap().route_map_with_files(None, &parse_json).unwrap();
        Lock::of(&map).unwrap()
    };
    let before = lock();
    let weaker = changed(r#""trustProxy": 1"#, r#""trustProxy": 3"#);
    fs::write(&other, format!("\n\n{weaker}")).unwrap();
    let text = before.changes_to(&lock(), SystemTime::now()).to_string();
    assert!(text.starts_with("[weakening] trust-proxy-changed"), "{text}");
    assert!(text.contains(&format!("at {other}:6")), "{text}");
}

#[test]
fn the_report_covers_each_risk_and_contains_no_markup_of_the_program() {
    let production = changed(r#""trustProxy": 1"#, r#""trustProxy": true"#);
    let file = File::new("production.json", &production);
    let report = File::new("report.html", "");
    let api = routes! { "news": { GET: { async || "x", public: "<script>alert(1)</script>" } } };
    let rule = |_: &stockade::routing::map::RouteInfo| true;
    let policy = Policy::recommended().rule("own", "a & b", rule).without("errors-hidden", "a <b>");
    let app = create_router(api, RouterOptions::new()).policy(policy).build().unwrap();
    let args = ["program", "audit", "--html", report.path(), "--config", file.path()];
    let text = block_on(app.command_output(args.map(String::from))).unwrap().unwrap();
    assert_eq!(text, format!("wrote {}: 1 routes, 1 findings, 1 exceptions\n", report.path()));
    let html = fs::read_to_string(report.path()).unwrap();
    for number in 1..=10 {
        assert!(html.contains(&format!("<h3>API{number} ")), "API{number}");
    }
    for family in AttackFamily::ALL {
        assert!(html.contains(&format!("attacks on {family}")), "{family}");
    }
    let expected = [
        "<code>proxies-known</code> <b class=\"bad\">(1 open)</b>",
        "<code>errors-hidden</code> <b class=\"wait\">(disabled)</b>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "a &lt;b&gt;",
        "a &amp; b",
        "server.max_connections = 500",
        "production.json:4",
    ];
    for part in expected {
        assert!(html.contains(part), "{part}\n{html}");
    }
    for part in ["<script", "src=", "href=", "http-equiv=\"refresh"] {
        assert!(!html.contains(part), "{part}\n{html}");
    }
}
