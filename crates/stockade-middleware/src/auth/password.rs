//! Hashing passwords without blocking the threads that answer requests.
//!
//! A hash takes milliseconds of one processor by intent. So each hash runs on a
//! thread of its own, as many at a time as there are processors; further ones
//! wait. No runtime is needed.

use std::sync::{Arc, LazyLock};
use std::thread;

use stockade_auth::{PasswordCost, hash_password, hash_password_with, verify_password};
use stockade_errors::ApiError;
use tokio::sync::{Semaphore, oneshot};

/// Hashes a password as `hash_password` does, on another thread.
///
/// # Errors
/// Fails with 500 when the password cannot be hashed, or no thread can be had.
///
/// Spec: Authentication › Password functions.
pub async fn hash_password_async(password: impl Into<String>) -> Result<String, ApiError> {
    let password = password.into();
    on_thread(move || hash_password(&password)).await?.map_err(ApiError::internal)
}

/// Hashes a password as `hash_password_with` does, on another thread.
///
/// # Errors
/// Fails with 500 when the password cannot be hashed, or no thread can be had.
pub async fn hash_password_with_async(
    password: impl Into<String>,
    cost: PasswordCost,
) -> Result<String, ApiError> {
    let password = password.into();
    on_thread(move || hash_password_with(&password, cost)).await?.map_err(ApiError::internal)
}

/// Verifies a password as `verify_password` does, on another thread.
///
/// # Errors
/// Fails with 500 when no thread can be had.
pub async fn verify_password_async(
    password: impl Into<String>,
    stored: impl Into<String>,
) -> Result<bool, ApiError> {
    let (password, stored) = (password.into(), stored.into());
    on_thread(move || verify_password(&password, &stored)).await
}

/// A permit for each processor.
static SLOTS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    Arc::new(Semaphore::new(thread::available_parallelism().map_or(1, usize::from)))
});

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let slot = Arc::clone(&SLOTS).acquire_owned().await.map_err(ApiError::internal)?;
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        let outcome = work();
        drop(slot);
        // The request may be gone.
        let _ = sender.send(outcome);
    };
    thread::Builder::new().name("password".into()).spawn(run).map_err(ApiError::internal)?;
    receiver.await.map_err(ApiError::internal)
}
