//! Library errors as responses: clients get one error format, and the log
//! contains the causes within the span of the request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stockade::middleware::with_tracing;
use stockade::prelude::*;
use stockade::{ErrorKind, ErrorReply};
use time_library::{TimeError, Timestamp};

#[derive(Default)]
struct Users {
    next_id: AtomicU64,
    all: Mutex<HashMap<u64, User>>,
}

#[derive(Deserialize, Schema)]
struct NewUser {
    name: String,
}

#[derive(Clone, Serialize, Schema)]
struct User {
    id: u64,
    name: String,
    created_at: Timestamp,
}

#[derive(ApiError, Debug)]
enum AppError {
    #[status(500, "a user requires a creation time")]
    Time(#[from] TimeError),
}

async fn create(users: State<Users>, Body(new): Body<NewUser>) -> Result<User, AppError> {
    let created_at = Timestamp::now()?;
    let id = users.next_id.fetch_add(1, Ordering::Relaxed);
    let user = User { id, name: new.name, created_at };
    users.all.lock().unwrap_or_else(PoisonError::into_inner).insert(id, user.clone());
    Ok(user)
}

/// Formats every error of this application.
fn form(reply: &mut ErrorReply) {
    let message = match reply.kind() {
        ErrorKind::Internal => "Something went wrong",
        _ => reply.message(),
    };
    let body = json!({ "message": message });
    reply.set_json(body);
}

fn router() -> Router {
    let options = RouterOptions::new().error_handling(form).tracing(with_tracing());
    create_router(routes! { "users": { POST: create } }, options).state(Users::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

/// A library that fails occasionally.
mod time_library {
    use std::error::Error;
    use std::fmt;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, serde::Serialize, stockade::validation::Schema)]
    pub(crate) struct Timestamp(u64);

    impl Timestamp {
        /// Returns the time, but fails on every third call.
        pub(crate) fn now() -> Result<Self, TimeError> {
            static CALLS: AtomicU64 = AtomicU64::new(0);
            match CALLS.fetch_add(1, Ordering::Relaxed) % 3 {
                0 => Err(TimeError),
                _ => Ok(Self(1_337)),
            }
        }
    }

    #[derive(Debug)]
    pub(crate) struct TimeError;

    impl fmt::Display for TimeError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the clock has stopped")
        }
    }

    impl Error for TimeError {}
}

#[cfg(test)]
mod tests {
    use from_axum::logged::Logged;
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn the_client_gets_the_message_and_the_log_the_cause() {
        let (logged, _guard) = Logged::lines();
        let client = TestClient::new(router());
        let failed = client.post("/users").json(json!({ "name": "ada" })).await;
        failed.assert_status(500).assert_json(json!({ "message": "Something went wrong" }));
        let cause = "the clock has stopped";
        assert_eq!(logged.count(cause), 1, "{}", logged.text());
        let line = logged.text().lines().find(|line| line.contains(cause)).unwrap().to_owned();
        assert!(line.contains("POST /users"), "{line}");

        let created = client.post("/users").json(json!({ "name": "ada" })).await;
        created.assert_json(json!({ "id": 0, "name": "ada", "created_at": 1_337 }));
        let wrong = client.post("/users").json(json!({ "nickname": "ada" })).await;
        wrong.assert_status(400).assert_json(json!({ "message": "Validation failed" }));
        assert_eq!(logged.count(cause), 1);
    }
}
