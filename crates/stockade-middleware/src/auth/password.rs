//! Password hashing that does not block the threads that serve requests.
//!
//! A hash intentionally takes milliseconds of processor time. Each hash runs on
//! its own thread, with at most one thread per processor; further hashes wait.
//! No runtime is needed.

use std::io;
use std::sync::{Arc, LazyLock};
use std::thread;

use stockade_auth::{PasswordError, PasswordHasher, hash_password, verify_password};
use tokio::sync::{Semaphore, oneshot};

/// Hashes a password on another thread, like `hash_password`, at a cost that is
/// too low today. New programs use [`hash_password_with_async`].
///
/// # Errors
/// Fails if the operating system provides no randomness or no thread. As an
/// `ApiError` this is a 500.
// Spec: Authentication › Password functions.
pub async fn hash_password_async(password: impl Into<String>) -> Result<String, PasswordError> {
    let password = password.into();
    on_thread(move || hash_password(&password)).await?
}

/// Hashes a password on another thread, with a [`PasswordHasher`] or a cost.
///
/// ```
/// use stockade::ApiError;
/// use stockade::auth::PasswordHasher;
/// use stockade::middleware::{hash_password_with_async, verify_password_async};
///
/// /// Returns the hash to store from now on, if the password is right.
/// async fn log_in(password: String, stored: String) -> Result<Option<String>, ApiError> {
///     let hasher = PasswordHasher::recommended();
///     if !verify_password_async(password.clone(), stored.clone()).await? {
///         return Ok(None);
///     }
///     match hasher.needs_rehash(&stored) {
///         true => Ok(Some(hash_password_with_async(password, hasher).await?)),
///         false => Ok(Some(stored)),
///     }
/// }
/// # let _ = log_in;
/// ```
///
/// # Errors
/// Fails if the password cannot be hashed, or if no thread is available. As an
/// `ApiError` this is a 500.
pub async fn hash_password_with_async(
    password: impl Into<String>,
    hasher: impl Into<PasswordHasher>,
) -> Result<String, PasswordError> {
    let (password, hasher) = (password.into(), hasher.into());
    on_thread(move || hasher.hash(&password)).await?
}

/// Verifies a password on another thread, like `verify_password`, in every
/// format.
///
/// # Errors
/// Fails if no thread is available. As an `ApiError` this is a 500.
pub async fn verify_password_async(
    password: impl Into<String>,
    stored: impl Into<String>,
) -> Result<bool, PasswordError> {
    let (password, stored) = (password.into(), stored.into());
    on_thread(move || verify_password(&password, &stored)).await
}

/// A permit for each processor.
static SLOTS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    Arc::new(Semaphore::new(thread::available_parallelism().map_or(1, usize::from)))
});

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PasswordError> {
    // The semaphore is never closed.
    let slot = Arc::clone(&SLOTS).acquire_owned().await.map_err(|_| ended())?;
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        let outcome = work();
        drop(slot);
        // The request may have ended.
        let _ = sender.send(outcome);
    };
    let spawned = thread::Builder::new().name("password".into()).spawn(run);
    spawned.map_err(|error| PasswordError::Thread(error.kind()))?;
    receiver.await.map_err(|_| ended())
}

/// Returns the error for a task that ended without a result.
fn ended() -> PasswordError {
    PasswordError::Thread(io::ErrorKind::Interrupted)
}
