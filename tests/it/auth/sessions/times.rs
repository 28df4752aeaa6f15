//! Session expiry, and session data from another version of the program.

use std::sync::Arc;
use std::time::Duration;

use stockade::testing::TestClock;

use super::*;

const MINUTES: Duration = Duration::from_secs(60);

fn timed() -> (Sessions<Basket>, TestClock) {
    let clock = TestClock::new();
    let store = MemorySessionStore::new().clock(clock.for_route_limits());
    (Sessions::new(store, cookie()), clock)
}

#[tokio::test]
async fn a_session_ends_after_half_an_hour_without_a_request() {
    let (sessions, clock) = timed();
    let own = logged_in(&sessions, "ada").await;
    let client = client(&sessions);
    for _ in 0..5 {
        clock.advance(MINUTES * 28);
        client.get("/me").cookie(NAME, &own).await.assert_status(200);
    }
    clock.advance(MINUTES * 30);
    client.get("/me").cookie(NAME, &own).await.assert_status(401);
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours_of_use() {
    let (sessions, clock) = timed();
    let own = logged_in(&sessions, "ada").await;
    let client = client(&sessions);
    for _ in 0..47 {
        clock.advance(MINUTES * 15);
        client.get("/me").cookie(NAME, &own).await.assert_status(200);
        client.post("/basket").cookie(NAME, &own).json("x").await.assert_status(200);
    }
    clock.advance(MINUTES * 15);
    client.get("/me").cookie(NAME, &own).await.assert_status(401);
}

#[tokio::test]
async fn the_times_can_be_set() {
    let (sessions, clock) = timed();
    let sessions = sessions.idle(MINUTES).lifetime(MINUTES * 2);
    let own = logged_in(&sessions, "ada").await;
    let client = client(&sessions);
    for (passed, status) in [(55, 200), (55, 200), (10, 401)] {
        clock.advance(Duration::from_secs(passed));
        client.get("/me").cookie(NAME, &own).await.assert_status(status);
    }
}

/// A deployment with a different data type accepts no old sessions. It leaves
/// them in the store for processes that can still read them.
#[tokio::test]
async fn data_of_another_type_is_not_a_session() {
    let store = Arc::new(MemorySessionStore::new());
    let before = Sessions::<Basket>::new(Arc::clone(&store), cookie());
    let after = Sessions::<Vec<u8>>::new(store, cookie());
    let id = before.begin(Some("ada"), &Basket::default()).await.unwrap().id().unwrap();
    assert!(after.load(&id).await.unwrap().is_none());
    assert_eq!(after.lookup()(id).await.unwrap(), None);
    assert_eq!(after.change(&id, |_| ()).await.unwrap_err().status(), 401);
    assert!(before.load(&id).await.unwrap().is_some());
}
