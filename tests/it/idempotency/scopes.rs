//! The scope of a key: its owner and its request.

use super::*;
use crate::support::block_on;

async fn body(Body(text): Body<String>) -> String {
    text
}

#[test]
fn users_clients_and_routes_have_separate_keys() {
    let runs = Runs::default();
    let counted = runs.clone();
    let app = keyed!(in_memory(), move || {
        let number = counted.begin();
        async move { number.to_string() }
    });
    let lines = |path: &str, user: &str| {
        let user =
            if user.is_empty() { String::new() } else { format!("\nauthorization: Bearer {user}") };
        format!("POST {path}{user}\nidempotency-key: \"k\"")
    };
    block_on(async {
        let places = [("/x", "ada"), ("/x", "bob"), ("/x", ""), ("/y", "ada"), ("/y", "")];
        for (number, (path, user)) in (1..).zip(places) {
            let lines = lines(path, user);
            assert_eq!(send_lines(&app, &lines, "").await, format!("200 {number}"));
            assert_eq!(send_lines(&app, &lines, "").await, format!("200 replayed {number}"));
        }
        // Other clients have other addresses.
        let mut other = request(&format!("{}\ncontent-type: text/plain\n\n", lines("/x", "")));
        other = other.with_peer(stockade::PeerAddr("192.0.2.99:1".parse().unwrap()));
        assert_eq!(shown(app.handle(other).await).await, "200 6");
    });
}

#[test]
fn another_request_with_the_key_is_422() {
    let app = keyed!(in_memory(), body);
    let key = "idempotency-key: \"k\"";
    block_on(async {
        assert_eq!(send_lines(&app, &format!("POST /x?a=1\n{key}"), "chair").await, "200 chair");
        assert_eq!(send_lines(&app, &format!("POST /x?a=1\n{key}"), "table").await, OTHER);
        assert_eq!(send_lines(&app, &format!("POST /x?a=2\n{key}"), "chair").await, OTHER);
        assert_eq!(send_lines(&app, &format!("POST /x\n{key}"), "chair").await, OTHER);
        let json = request(&format!("POST /x?a=1\n{key}\ncontent-type: application/json\n\nchair"));
        assert_eq!(shown(app.handle(json).await).await, OTHER);
        let again = send_lines(&app, &format!("POST /x?a=1\n{key}"), "chair").await;
        assert_eq!(again, "200 replayed chair");
    });
}

#[test]
fn parameters_are_part_of_the_request_and_not_of_the_scope() {
    let mut router = Router::with_options(quiet());
    let once = with_idempotency(in_memory());
    router.patch("/x/:id", async |Path(id): Path<u8>| id.to_string()).middleware(once);
    let app = app(router);
    block_on(async {
        let lines = |id: u8| format!("PATCH /x/{id}\nidempotency-key: \"k\"");
        assert_eq!(send_lines(&app, &lines(7), "").await, "200 7");
        assert_eq!(send_lines(&app, &lines(8), "").await, OTHER);
        assert_eq!(send_lines(&app, &lines(7), "").await, "200 replayed 7");
    });
}

#[test]
fn a_user_without_a_subject_needs_scope_by() {
    let nameless = with_auth(Auth::verify(|_: &Request| Some(json!({ "role": "x" }))));
    let once = |options| with_idempotency(options);
    let app_with = |options: Idempotency| {
        let mut router = Router::with_options(quiet().expose_errors(true));
        router.post("/x", body).middleware([nameless.clone(), once(options)]);
        app(router)
    };
    block_on(async {
        let answer = send(&app_with(in_memory()), "k", "x").await;
        assert!(answer.starts_with("500 ") && answer.contains("scope_by"), "{answer}");
        let by_role = in_memory().scope_by(|req| Ok(req.user().unwrap()["role"].to_string()));
        let app = app_with(by_role);
        assert_eq!(send(&app, "k", "x").await, "200 x");
        assert_eq!(send(&app, "k", "x").await, "200 replayed x");
        let refusing = in_memory().scope_by(|_| Err(ApiError::authorization()));
        assert!(send(&app_with(refusing), "k", "x").await.starts_with("403 "));
    });
}
