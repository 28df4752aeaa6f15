//! Values for `State<T>`, including values that open when the application
//! starts.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use stockade::prelude::*;
use stockade::routing::HostRoutes;
use stockade::testing::{Contract, Hardening, TestClient, assert_hardened, check_schemas};

use crate::support::{app, block_on, check, command, panic_of};

struct Db(&'static str);

struct Users(String);

async fn users(users: State<Users>) -> String {
    users.0.0.clone()
}

fn router() -> Router {
    Router::from(routes! { "users": { GET: users }, "health": { GET: async || "ok" } })
        .map_options(|options| options.expose_errors(false))
}

/// A router that counts how often its state is opened.
fn counting() -> (Router, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let router = router().state_at_start(async move |_| {
        counted.fetch_add(1, Relaxed);
        // A concurrent start begins while this one waits.
        tokio::task::yield_now().await;
        Ok::<_, BoxError>(Users("ada".to_owned()))
    });
    (router, count)
}

#[test]
fn the_last_value_of_a_type_counts() {
    let router = router().state(Users("bob".to_owned())).state(7_u8);
    check(&app(router.state(Users("ada".to_owned()))), "GET /users", "200 ada");
}

#[test]
fn build_and_commands_open_no_values() {
    let (router, count) = counting();
    let app = app(router.open_api(("Users", "1")));
    for line in ["routes", "explain GET /users", "audit", "openapi", "openapi --3.0", "lock"] {
        assert!(command(&app, line.split(' ')).unwrap().is_ok(), "{line}");
    }
    assert!(app.state::<Users>().is_none());
    check(&app, "GET /users", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /health", "200 ok");
    assert_eq!(count.load(Relaxed), 0);
}

#[tokio::test]
async fn clones_of_an_application_start_together_and_once() {
    let (router, count) = counting();
    let app = app(router);
    let other = app.with_options(stockade::HostOptions::new().trust_proxy(1)).unwrap();
    let (one, two) = tokio::join!(app.start(), other.start());
    assert!(one.is_ok() && two.is_ok());
    let client = TestClient::new(other);
    client.get("/users").await.assert_text("ada");
    client.get("/users").await.assert_text("ada");
    assert_eq!(count.load(Relaxed), 1);
}

#[tokio::test]
async fn a_value_can_use_an_earlier_value() {
    let router = router().state_at_start(async |_| Ok::<_, BoxError>(Db("ada"))).state_at_start(
        async |app: App| {
            let db = app.state::<Db>().ok_or("the database is not open")?;
            Ok::<_, BoxError>(Users(db.0.to_owned()))
        },
    );
    TestClient::new(router).get("/users").await.assert_text("ada");
}

#[tokio::test]
async fn a_server_starts_the_application_before_it_binds() {
    let (router, count) = counting();
    let server = router.create_server().unwrap();
    assert_eq!(count.load(Relaxed), 0);
    let server = server.bind(0).await.unwrap();
    assert_eq!(count.load(Relaxed), 1);
    drop(server);

    let port = {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let down = router_that_is_down();
    let error = down.listen(port).await.unwrap_err();
    assert!(matches!(error, ServeError::Start { .. }), "{error:?}");
    assert_eq!(error.to_string(), "cannot start the application: the database is down");
    assert!(TcpListener::bind(("127.0.0.1", port)).is_ok(), "nothing was bound");
}

#[tokio::test]
async fn a_contract_starts_its_application_once() {
    let (router, count) = counting();
    let contract = Contract::of(&app(router));
    assert_eq!(count.load(Relaxed), 0);
    for _ in 0..2 {
        let request = stockade::http::Request::get("/users").body(()).unwrap();
        let response = contract.handle(request).await;
        assert_eq!(response.into_body().as_bytes(), Some(&b"ada"[..]));
    }
    assert_eq!(count.load(Relaxed), 1);
}

#[tokio::test]
async fn schema_checks_start_each_application_that_they_build() {
    let (router, count) = counting();
    let report = check_schemas(router).kept_in(None).run().await;
    assert_eq!(report.routes[0].replies[&200], 1);
    assert_eq!(count.load(Relaxed), 1);

    let opened = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&opened);
    let rebuild = move || {
        let counted = Arc::clone(&counted);
        router_of(async move {
            counted.fetch_add(1, Relaxed);
            Ok::<_, BoxError>(Users("ada".to_owned()))
        })
    };
    check_schemas(rebuild()).rebuild(rebuild).kept_in(None).run().await;
    // Once for the route that uses the value, and once for the other route.
    assert_eq!(opened.load(Relaxed), 2);
}

/// Returns a router that gets its state from a future.
fn router_of<F>(state: F) -> Router
where
    F: Future<Output = Result<Users, BoxError>> + Send + 'static,
{
    router().state_at_start(move |_| state)
}

#[tokio::test]
async fn attacks_start_each_application_that_they_build() {
    let (router, count) = counting();
    assert_hardened(router).await;
    assert_eq!(count.load(Relaxed), 1);

    // Each attack reaches the handler, so the application is rebuilt for each.
    let opened = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&opened);
    let build = move || {
        let counted = Arc::clone(&counted);
        let user = async |req: &mut Request| {
            let users = req.state::<Users>().ok_or("the state is not open")?;
            Ok::<_, BoxError>(Some(users.0.clone()))
        };
        let api = routes! { "users": { GET: users, auth: Auth::verify(user) } };
        create_router(api, RouterOptions::new()).state_at_start(async move |_| {
            counted.fetch_add(1, Relaxed);
            Ok::<_, BoxError>(Users("ada".to_owned()))
        })
    };
    let report = Hardening::new(build()).anew(build).run().await;
    assert!(report.failures.iter().any(|it| it.found.contains("200 OK")), "{report}");
    assert!(!report.failures.iter().any(|it| it.found.contains("500")), "{report}");
    assert!(opened.load(Relaxed) > 1);
}

fn router_that_is_down() -> Router {
    router().state_at_start(async |_| Err::<Users, _>("the database is down"))
}

#[test]
fn a_failed_start_stays_failed() {
    let app = app(router_that_is_down());
    let error = block_on(app.start()).unwrap_err().to_string();
    assert_eq!(error, "the database is down");
    let error = block_on(app.start()).unwrap_err().to_string();
    assert!(error.starts_with("an earlier start failed to open the state "), "{error}");
    let text = panic_of(|| {
        block_on(TestClient::new(router_that_is_down()).get("/users").send());
    });
    assert!(text.contains("the application cannot start: the database is down"), "{text}");
    let checks: [fn(); 3] = [
        || {
            let request = stockade::http::Request::get("/users").body(()).unwrap();
            drop(block_on(Contract::of(&self::app(router_that_is_down())).handle(request)));
        },
        || block_on(assert_hardened(router_that_is_down())),
        || drop(block_on(check_schemas(router_that_is_down()).kept_in(None).run())),
    ];
    for check in checks {
        let text = panic_of(check);
        assert!(text.contains("the application cannot start: the database is down"), "{text}");
    }
}

/// A start that is dropped does not open the value and does not continue in the
/// background.
#[tokio::test]
async fn a_dropped_start_stays_failed() {
    let app = app(router().state_at_start(async |_| {
        std::future::pending::<()>().await;
        Ok::<_, BoxError>(Users(String::new()))
    }));
    tokio::select! {
        biased;
        _ = app.start() => unreachable!("it never ends"),
        () = tokio::task::yield_now() => {}
    }
    assert!(app.start().await.unwrap_err().to_string().starts_with("an earlier start"));
}

#[test]
fn a_host_does_not_open_values() {
    let error = HostRoutes::build(router_that_is_down()).unwrap_err().to_string();
    assert!(error.contains("this host does not start the application"), "{error}");
    assert!(error.contains("state.rs:"), "{error}");
}
