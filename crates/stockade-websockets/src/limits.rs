//! [`Connections`]: the limits of open WebSockets, in total and per client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use stockade_core::client::{client_network, shrink_map};
use stockade_errors::ApiError;
use stockade_errors::locks::lock;

/// The number of open WebSockets of a router.
#[derive(Debug)]
pub struct Connections {
    max: usize,
    max_per_client: usize,
    // Locked when a connection opens or closes, never for a message.
    open: Mutex<OpenCounts>,
}

#[derive(Debug, Default)]
struct OpenCounts {
    total: usize,
    clients: ClientCounts,
}

impl Connections {
    /// Creates a counter that allows `max` connections in total and
    /// `max_per_client` for each client with a known address.
    #[must_use]
    pub fn new(max: usize, max_per_client: usize) -> Arc<Self> {
        Arc::new(Self { max, max_per_client, open: Mutex::default() })
    }

    /// Returns the number of open WebSockets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().total
    }

    /// Returns the maximum number of open WebSockets.
    #[must_use]
    pub fn max(&self) -> usize {
        self.max
    }

    fn lock(&self) -> MutexGuard<'_, OpenCounts> {
        lock(&self.open)
    }

    /// Counts a new connection until its [`Permit`] is dropped.
    ///
    /// # Errors
    /// 429 if the client has too many connections, 503 if there are too many in
    /// total. Both have `Retry-After: 1`, because a connection may end at any
    /// moment.
    pub(crate) fn enter(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Permit, ApiError> {
        let client = client.map(client_network);
        let mut open = self.lock();
        if open.total >= self.max {
            return Err(full(503, "too many WebSockets are open"));
        }
        if let Some(client) = client {
            if open.clients.of(client) >= self.max_per_client {
                return Err(full(429, "too many WebSockets from this client are open"));
            }
            open.clients.add(client);
        }
        open.total += 1;
        Ok(Permit { connections: Arc::clone(self), client })
    }
}

/// One counted connection. Dropping it frees its place.
#[derive(Debug)]
pub(crate) struct Permit {
    connections: Arc<Connections>,
    client: Option<IpAddr>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.total -= 1;
        if let Some(client) = self.client {
            open.clients.remove(client);
        }
    }
}

#[cold]
fn full(status: u16, message: &'static str) -> ApiError {
    ApiError::new(status, message).with_header("Retry-After", "1")
}

/// A count per client, by network.
#[derive(Debug, Default)]
pub(crate) struct ClientCounts(pub(crate) HashMap<IpAddr, usize>);

impl ClientCounts {
    pub(crate) fn of(&self, client: IpAddr) -> usize {
        self.0.get(&client).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, client: IpAddr) {
        *self.0.entry(client).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, client: IpAddr) {
        if let Some(count) = self.0.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&client);
                shrink_map(&mut self.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(entered: &Result<Permit, ApiError>) -> u16 {
        entered.as_ref().map_or_else(ApiError::status, |_| 101)
    }

    #[test]
    fn counts_and_releases_places() {
        let connections = Connections::new(3, 2);
        let client = |text: &str| Some(text.parse().unwrap());
        let first = connections.enter(client("2001:db8::1"));
        let second = connections.enter(client("2001:db8::2"));
        let third = connections.enter(client("2001:db8::3"));
        assert_eq!([&first, &second, &third].map(status), [101, 101, 429], "one network");
        let other = connections.enter(client("192.0.2.1"));
        let unknown = connections.enter(None);
        assert_eq!([&other, &unknown].map(status), [101, 503]);
        for refused in [third, unknown] {
            let error = refused.unwrap_err();
            assert_eq!(error.headers().collect::<Vec<_>>(), [("Retry-After", "1")]);
        }
        drop(first);
        assert_eq!(status(&connections.enter(client("2001:db8::3"))), 101);
        drop((second, other));
        assert_eq!(connections.count(), 0);
        assert!(connections.lock().clients.0.is_empty());
    }

    #[test]
    fn releases_memory_after_a_traffic_spike() {
        let connections = Connections::new(10_000, 1);
        let client = |number: u32| Some(IpAddr::from(number.to_be_bytes()));
        let entered: Vec<_> = (0..10_000).map(|number| connections.enter(client(number))).collect();
        let of_wave = connections.lock().clients.0.capacity();
        drop(entered.into_iter().skip(10).collect::<Vec<_>>());
        assert_eq!(connections.lock().clients.0.len(), 0);
        let left = connections.lock().clients.0.capacity();
        assert!(of_wave >= 10_000 && left <= 128, "{left} of {of_wave}");
    }
}
