//! `lock`, `read`, `write`: locks that ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Locks a mutex, even if a thread panicked while it held the lock.
///
/// One panic must not make all later requests panic. Code that holds the lock
/// must therefore keep the data valid wherever it can panic.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading, and ignores poisoning like [`lock`].
pub fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing, and ignores poisoning like [`lock`].
pub fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_stay_usable_after_a_panic() {
        let (mutex, shared) = (Mutex::new(1), RwLock::new(1));
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _held = (lock(&mutex), write(&shared));
                panic!("while the locks are held");
            });
            assert!(panicking.join().is_err());
        });
        assert!(mutex.is_poisoned() && shared.is_poisoned());
        *lock(&mutex) += 1;
        *write(&shared) += 1;
        assert_eq!((*lock(&mutex), *read(&shared)), (2, 2));
    }
}
