//! Weaker logins that no authentication method of a route shows: a session that a
//! handler reads, connections after a logout, and the cost of password hashes.

use std::time::{Duration, SystemTime};

use stockade::auth::{KeyRing, PasswordCost, PasswordHasher};
use stockade::extract::UserLifetime;
use stockade::middleware::sessions::{MemorySessionStore, Session, Sessions};
use stockade::middleware::{SameSite, SessionCookie};
use stockade::openapi::lock::Lock;
use stockade::policy::{AuthLimits, Policy};
use stockade::prelude::*;
use stockade::websockets::WebSocket;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

/// The value that is weaker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    SameSite,
    Lifetime,
    Idle,
    CookieAge,
    Origins,
    UnknownTimes,
    Recheck,
    PasswordCost,
    UnknownCost,
}

fn secret() -> Secret {
    Secret::new([7; 64]).unwrap()
}

/// The cart of a visitor.
#[derive(Default, serde::Deserialize, serde::Serialize)]
struct Cart {
    items: u32,
}

fn carts(fault: Fault) -> Sessions<Cart> {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    let cookie = cookie.same_site(match fault {
        Fault::SameSite => SameSite::None,
        _ => SameSite::Lax,
    });
    let cookie = match fault {
        Fault::CookieAge => cookie.max_age(3_650 * DAY),
        Fault::Origins => cookie.cross_origin_protection(None),
        _ => cookie,
    };
    let sessions = Sessions::new(MemorySessionStore::new(), cookie);
    match fault {
        Fault::Lifetime => sessions.lifetime(365 * DAY),
        Fault::Idle => sessions.idle(40 * DAY).lifetime(41 * DAY),
        _ => sessions,
    }
}

fn hasher(fault: Fault) -> PasswordHasher {
    match fault {
        Fault::PasswordCost => PasswordHasher::from(PasswordCost::pbkdf2(20_000).unwrap()),
        _ => PasswordHasher::recommended(),
    }
}

fn program(fault: Fault) -> Router {
    let auth = Auth::secret(secret());
    let auth = if fault == Fault::Recheck { auth.recheck_every(HOUR) } else { auth };
    let api = routes! {
        "cart": {
            public: "everybody has a cart",
            GET: async |cart: Option<Session<Cart>>| {
                cart.map_or(0, |cart| cart.items).to_string()
            },
            POST: async |cart: Session<Cart>| cart.items.to_string(),
        },
        "live": { auth: auth, ws: async |_: WebSocket| (),
            "wait": { GET: async |_: UserLifetime| () },
            "once": { GET: async || "now" },
        },
    };
    let router = create_router(api, RouterOptions::new().enable_web_sockets(true));
    let router = match fault {
        Fault::UnknownTimes => {
            router.state_at_start(async move |_| Ok::<_, BoxError>(carts(fault)))
        }
        _ => router.state(carts(fault)),
    };
    if fault == Fault::UnknownCost { router } else { router.state(hasher(fault)) }
}

/// The rules about sessions.
fn policy() -> Policy {
    let limits = AuthLimits::new().max_token_life(365 * DAY).revocations(false);
    Policy::recommended().authentication(limits).without("tokens-short", "a test")
}

fn lock(fault: Fault) -> Lock {
    Lock::of(&program(fault).build().unwrap().route_map()).unwrap()
}

/// The lock reports this weakening at this place, and the policy this finding, or
/// none.
#[track_caller]
fn check(fault: Fault, route: &str, weakening: &str, finding: &str) {
    let changes = lock(Fault::None).changes_to(&lock(fault), SystemTime::now());
    let mut weakenings = changes.iter().filter(|change| change.rule.weakening);
    let found = weakenings.find(|change| {
        let is_of_route = route.is_empty() || change.routes.iter().any(|it| it == route);
        is_of_route && change.to_string().contains(weakening)
    });
    let found = found.unwrap_or_else(|| panic!("{fault:?}: {weakening}\n{changes}"));
    let place = found.locations.first().map(ToString::to_string).unwrap_or_default();
    assert!(place.contains("guards/logins.rs:") && !found.fix.is_empty(), "{changes}");
    let back = lock(fault).changes_to(&lock(Fault::None), SystemTime::now());
    assert!(!back.is_weakening() && !back.to_string().contains("unexplained"), "{back}");

    let map = program(fault).build().unwrap().route_map();
    let texts: Vec<String> = policy().check(&map).iter().map(ToString::to_string).collect();
    if finding.is_empty() {
        assert!(texts.is_empty(), "{fault:?}: {texts:?}");
    } else {
        let expected = format!("{route}: {finding}");
        let is_found =
            texts.iter().any(|text| text.contains(&expected) && text.contains("guards/logins.rs:"));
        assert!(is_found, "{fault:?}: {expected}\n{texts:#?}");
    }
}

#[test]
fn finds_weaker_sessions_of_handlers() {
    let at = |member: &str| format!("access/sessions/__Host-session/{member}");
    let same_site = at(r#"cookie/same_site: "Lax" -> "None""#);
    let weak = "[cookies-strict] its cookie \"__Host-session\" is weak";
    check(Fault::SameSite, "GET /cart", &same_site, weak);
    let lifetime = at("session/lifetime_seconds: 43200 -> 31536000");
    let year = "[sessions-bounded] its sessions end after 365d, more than 30d";
    check(Fault::Lifetime, "POST /cart", &lifetime, year);
    let idle = at("session/idle_seconds: 1800 -> 3456000");
    let month = "[sessions-bounded] its unused sessions end after 40d, more than 30d";
    check(Fault::Idle, "GET /cart", &idle, month);
    let age = at("cookie/max_age_seconds: 0 -> 315360000");
    check(Fault::CookieAge, "GET /cart", &age, "[sessions-bounded] browsers store its cookie for");
    let ridden = "[cross-origin-protected] browsers send its credentials (__Host-session)";
    check(Fault::Origins, "POST /cart", &at("cross_origin: {} -> nothing"), ridden);
    // A session of the state that is not known before the start.
    let unknown = "[weakening] session-extended: sessions or their cookies last longer";
    check(Fault::UnknownTimes, "GET /cart", unknown, "");
}

#[test]
fn finds_connections_that_stay_open_after_a_logout() {
    let longer = "access/methods/bearer/recheck_ms: 15000 -> 3600000";
    check(Fault::Recheck, "WS /live", longer, "");
    check(Fault::Recheck, "GET /live/wait", longer, "");
    let changes = lock(Fault::None).changes_to(&lock(Fault::Recheck), SystemTime::now());
    let routes: Vec<&String> = changes.iter().flat_map(|change| &change.routes).collect();
    assert!(!routes.contains(&&"GET /live/once".to_owned()), "{changes}");
    let app = program(Fault::None).build().unwrap();
    let explained = app.explain("WS /live").map(|it| it.to_string()).unwrap();
    assert!(explained.contains("connections checked every 15s"), "{explained}");
    let explained = app.explain("GET /cart").map(|it| it.to_string()).unwrap();
    let session = "  session  session, cookie __Host-session; Path=/; Secure; HttpOnly; \
                   SameSite=Lax, idle 30m, at most 12h\n";
    assert!(explained.contains(session), "{explained}");
}

#[test]
fn finds_cheaper_password_hashes() {
    let weaker = "[weakening] password-cost-lowered";
    check(Fault::PasswordCost, "", weaker, "");
    check(Fault::UnknownCost, "", weaker, "");
    let strict = |fault| {
        let map = program(fault).build().unwrap().route_map();
        let found = Policy::strict().check(&map).into_iter();
        let found = found.filter(|it| it.rule == "passwords-costly");
        found.map(|it| it.to_string()).collect::<Vec<_>>()
    };
    let found = strict(Fault::PasswordCost);
    assert_eq!(found.len(), 1, "{found:?}");
    let cost = "pbkdf2-sha512, iterations 20000";
    assert!(found[0].contains(cost) && found[0].contains("guards/logins.rs:"), "{found:?}");
    for fault in [Fault::None, Fault::UnknownCost] {
        assert_eq!(strict(fault), Vec::<String>::new());
    }
}

#[test]
fn an_older_lock_does_not_compare_these_values() {
    let older = |value: &mut Value| {
        value["router"].as_object_mut().unwrap().remove("passwords");
        for route in value["routes"].as_object_mut().unwrap().values_mut() {
            let access = route["access"].as_object_mut().unwrap();
            access.remove("sessions");
            let methods = access.get_mut("methods").and_then(Value::as_array_mut);
            for method in methods.into_iter().flatten() {
                method.as_object_mut().unwrap().remove("recheck_ms");
            }
        }
    };
    let mut value: Value = stockade::serde_json::from_str(&lock(Fault::None).to_string()).unwrap();
    older(&mut value);
    let older = Lock::read(&value.to_string()).unwrap();
    let changes = older.changes_to(&lock(Fault::Recheck), SystemTime::now());
    assert!(!changes.is_weakening() && !changes.is_breaking(), "{changes}");
    assert!(changes.to_string().contains("auth-described"), "{changes}");
}
