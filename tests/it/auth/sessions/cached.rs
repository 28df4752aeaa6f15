//! Sessions that a process caches for a short time.

use std::sync::Arc;
use std::time::Duration;

use stockade::testing::TestClock;

use super::*;

/// Returns the sessions of two processes that share one store, and their clock.
fn two() -> ([Sessions<Basket>; 2], TestClock) {
    let (store, clock) = (Arc::new(MemorySessionStore::new()), TestClock::new());
    let process = || {
        let sessions = Sessions::new(Arc::clone(&store), cookie());
        sessions.cached_with_clock(Duration::from_secs(1), clock.for_route_limits())
    };
    ([process(), process()], clock)
}

#[tokio::test]
async fn logout_is_immediate_here_and_takes_a_second_elsewhere() {
    for path in ["/me/logout", "/me/logout-everywhere"] {
        let ([here, there], clock) = two();
        let own = logged_in(&here, "ada").await;
        let (here, there) = (client(&here), client(&there));
        for client in [&here, &there] {
            client.get("/me").cookie(NAME, &own).await.assert_status(200);
        }
        here.post(path).cookie(NAME, &own).await.assert_status(200);
        here.get("/me").cookie(NAME, &own).await.assert_status(401);
        clock.advance(Duration::from_millis(999));
        there.get("/me").cookie(NAME, &own).await.assert_status(200);
        clock.advance(Duration::from_millis(1));
        there.get("/me").cookie(NAME, &own).await.assert_status(401);
    }
}

#[tokio::test]
async fn a_change_is_visible_immediately_and_never_lost() {
    let ([here, there], clock) = two();
    let own = logged_in(&here, "ada").await;
    let (here, there) = (client(&here), client(&there));
    for client in [&here, &there] {
        client.get("/basket").cookie(NAME, &own).await.assert_text("[]");
    }
    here.post("/basket").cookie(NAME, &own).json("tea").await.assert_text("added");
    // A read at the same instant as a change is not cached.
    clock.advance(Duration::from_millis(1));
    here.get("/basket").cookie(NAME, &own).await.assert_text(r#"["tea"]"#);
    there.get("/basket").cookie(NAME, &own).await.assert_text("[]");
    // A change applies to the stored data rather than to the cached data.
    there.post("/basket").cookie(NAME, &own).json("milk").await.assert_text("added");
    there.get("/basket").cookie(NAME, &own).await.assert_text(r#"["tea","milk"]"#);
    here.get("/basket").cookie(NAME, &own).await.assert_text(r#"["tea"]"#);
    clock.advance(Duration::from_secs(1));
    here.get("/basket").cookie(NAME, &own).await.assert_text(r#"["tea","milk"]"#);
}

#[tokio::test]
async fn a_new_id_ends_the_old_one_immediately() {
    let ([here, _], _clock) = two();
    let own = logged_in(&here, "ada").await;
    let client = client(&here);
    client.get("/me").cookie(NAME, &own).await.assert_status(200);
    client.post("/login").cookie(NAME, &own).json("ada").await.assert_status(200);
    client.get("/me").cookie(NAME, &own).await.assert_status(401);
}
