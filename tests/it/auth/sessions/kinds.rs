//! Two kinds of sessions with one secret and one store.

use std::sync::Arc;

use stockade::middleware::Auth;

use super::*;

/// The customers' sessions and the administrators' sessions.
struct Kinds {
    customers: Sessions<Basket>,
    admins: Sessions<Basket>,
}

fn kinds(customers: SessionCookie, admins: SessionCookie) -> Kinds {
    let store = Arc::new(MemorySessionStore::new());
    Kinds {
        customers: Sessions::new(Arc::clone(&store), customers),
        admins: Sessions::new(store, admins),
    }
}

/// Returns pairs with different cookies, and with the same cookie but different
/// kinds.
fn all_kinds() -> [Kinds; 2] {
    [
        kinds(cookie(), cookie().name("admin")),
        kinds(cookie().kind("customers"), cookie().kind("admins")),
    ]
}

/// Starts a session and returns its id and cookie value.
async fn begin(sessions: &Sessions<Basket>, subject: &str) -> (SessionId, String) {
    let set = sessions.begin(Some(subject), &Basket::default()).await.unwrap();
    let id = set.id().unwrap();
    (id, value(sessions.cookie(), &id))
}

fn value(cookie: &SessionCookie, id: &SessionId) -> String {
    let set = cookie.issue(id);
    set.to_str().unwrap().split([';', '=']).nth(1).unwrap().to_owned()
}

fn cookie_name(sessions: &Sessions<Basket>) -> String {
    let set = sessions.cookie().clear();
    set.to_str().unwrap().split('=').next().unwrap().to_owned()
}

fn client_of(auth: Auth) -> TestClient {
    let user = async |User(user): User<Value>| user["sub"].as_str().unwrap_or_default().to_owned();
    let api = routes! { "me": { GET: { user, middleware: [with_auth(auth)] } } };
    TestClient::new(create_router(api, RouterOptions::new()))
}

#[tokio::test]
async fn a_cookie_of_one_kind_is_rejected_by_another() {
    for Kinds { customers, admins } in all_kinds() {
        let [shop, office] = [&customers, &admins].map(|sessions| client_of(sessions.auth()));
        let names = [&customers, &admins].map(cookie_name);
        let (_, customer) = begin(&customers, "7").await;
        let (_, admin) = begin(&admins, "7").await;
        shop.get("/me").cookie(&names[0], &customer).await.assert_text("7");
        office.get("/me").cookie(&names[1], &admin).await.assert_text("7");
        shop.get("/me").cookie(&names[0], &admin).await.assert_status(401);
        office.get("/me").cookie(&names[1], &customer).await.assert_status(401);
    }
}

/// An id does not open another kind's session, even if the signature is valid.
#[tokio::test]
async fn an_id_of_one_kind_is_not_in_the_store_of_another() {
    for Kinds { customers, admins } in all_kinds() {
        let (id, _) = begin(&customers, "7").await;
        assert!(admins.load(&id).await.unwrap().is_none());
        assert_eq!(admins.change(&id, |_| ()).await.unwrap_err().status(), 401);
        assert_eq!(admins.renew(&id, Some("1"), |_| ()).await.unwrap_err().status(), 401);
        let _ = admins.end(&id).await.unwrap();
        assert!(customers.load(&id).await.unwrap().is_some());
        let forged = value(admins.cookie(), &id);
        let office = client_of(admins.auth());
        office.get("/me").cookie(cookie_name(&admins), &forged).await.assert_status(401);
    }
}

#[tokio::test]
async fn logout_everywhere_ends_the_sessions_of_one_kind() {
    for Kinds { customers, admins } in all_kinds() {
        let (customer, _) = begin(&customers, "7").await;
        let (admin, _) = begin(&admins, "7").await;
        assert_eq!(customers.end_all("7").await.unwrap(), 1);
        assert!(customers.load(&customer).await.unwrap().is_none());
        assert!(admins.load(&admin).await.unwrap().is_some());
    }
}

/// The limit per subject counts each kind separately.
#[tokio::test]
async fn each_kind_limits_the_sessions_of_a_subject_separately() {
    let store = Arc::new(MemorySessionStore::new().max_per_subject(2));
    let customers = Sessions::<Basket>::new(Arc::clone(&store), cookie());
    let admins = Sessions::<Basket>::new(store, cookie().name("admin"));
    let (admin, _) = begin(&admins, "7").await;
    for _ in 0..5 {
        begin(&customers, "7").await;
    }
    assert!(admins.load(&admin).await.unwrap().is_some());
}

/// The signature also protects an application's own store.
#[tokio::test]
async fn a_custom_lookup_receives_no_id_of_another_kind() {
    let office = client_of(Auth::session(cookie().name("admin"), |_: SessionId| {
        Some(json!({ "sub": "anybody" }))
    }));
    let id = SessionId::generate().unwrap();
    let admin = value(&cookie().name("admin"), &id);
    office.get("/me").cookie("__Host-admin", &admin).await.assert_text("anybody");
    let customer = value(&cookie(), &id);
    office.get("/me").cookie("__Host-admin", &customer).await.assert_status(401);
}

#[test]
fn an_explicit_kind_does_not_depend_on_the_name() {
    let id = SessionId::generate().unwrap();
    let signed = |cookie: &SessionCookie| value(cookie, &id);
    assert_eq!(signed(&cookie().kind("a").name("b")), signed(&cookie().name("c").kind("a")));
    assert_ne!(signed(&cookie().name("b")), signed(&cookie()));
    assert_eq!(signed(&cookie().kind("__Host-session").name("x")), signed(&cookie()));
}

/// Without separators, a kind and a subject of these names could form the same
/// key.
#[tokio::test]
async fn kinds_with_separators_and_of_any_length_are_separate() {
    let long = "k".repeat(10_000);
    let longer = format!("{long}k");
    let names = ["", ":", "a", "A", "a:", "a:b", "a\0", "a ", &long, &longer];
    let store = Arc::new(MemorySessionStore::new());
    let sessions =
        names.map(|kind| Sessions::<Basket>::new(Arc::clone(&store), cookie().kind(kind)));
    for (one, name) in sessions.iter().zip(names) {
        let (id, signed) = begin(one, "b:7").await;
        for (other, other_name) in sessions.iter().zip(names) {
            let client = client_of(other.auth());
            let response = client.get("/me").cookie(cookie_name(other), &signed).await;
            let is_own = name == other_name;
            assert_eq!(response.status() == 200, is_own, "{name:.9?} {other_name:.9?}");
            assert_eq!(other.load(&id).await.unwrap().is_some(), is_own);
            if !is_own {
                for subject in ["b:7", "7", ":b:7", "a:b:7"] {
                    assert_eq!(other.end_all(subject).await.unwrap(), 0);
                }
            }
        }
        assert_eq!(one.end_all("b:7").await.unwrap(), 1);
    }
}

/// One process caches sessions of two kinds.
#[tokio::test]
async fn a_cache_does_not_return_sessions_of_another_kind() {
    let store = Arc::new(MemorySessionStore::new());
    let time = std::time::Duration::from_secs(1);
    let [customers, admins] = ["customers", "admins"]
        .map(|kind| Sessions::<Basket>::new(Arc::clone(&store), cookie().kind(kind)).cached(time));
    let (id, signed) = begin(&customers, "7").await;
    let shop = client_of(customers.auth());
    let office = client_of(admins.auth());
    let name = cookie_name(&customers);
    for _ in 0..2 {
        shop.get("/me").cookie(&name, &signed).await.assert_text("7");
        office.get("/me").cookie(&name, &signed).await.assert_status(401);
        let forged = value(admins.cookie(), &id);
        office.get("/me").cookie(&name, &forged).await.assert_status(401);
    }
}

/// A browser sends the cookies of both paths or domains. A page can choose
/// their order.
#[tokio::test]
async fn rejects_duplicate_cookies() {
    for Kinds { customers, admins } in all_kinds() {
        let (_, customer) = begin(&customers, "7").await;
        let (_, admin) = begin(&admins, "8").await;
        let name = cookie_name(&admins);
        let office = client_of(admins.auth());
        for line in [
            format!("{name}={admin}; {name}={customer}"),
            format!("{name}={customer};{name}={admin}"),
            format!("{}={admin}", name.to_lowercase()),
            format!("{}={admin}", name.trim_start_matches("__Host-")),
            format!("{}={admin}", name.replace("__Host-", "__Secure-")),
            format!("{name} ={admin}"),
            format!("{name}=\"{admin}\""),
            format!("x{name}={admin}"),
        ] {
            let response = office.get("/me").header("cookie", &line).await;
            assert_eq!(response.status(), 401, "{line}");
        }
    }
}

#[test]
fn names_with_removed_characters_are_separate() {
    let id = SessionId::generate().unwrap();
    let [one, other, plain] = ["\u{e9}", "\u{fc}", ""].map(|name| value(&cookie().name(name), &id));
    assert_ne!(one, other);
    assert_ne!(one, plain);
}
