//! [`Resource`]: a resource that the framework limits, such as connections.

use std::fmt;
use std::sync::Mutex;

use stockade_errors::locks::lock;

use super::source::MetricsWriter;

/// A resource of a program with a limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resource {
    /// The connections of the built-in server.
    Connections,
    /// The open WebSockets.
    WebSockets,
}

impl Resource {
    const ALL: [Self; 2] = [Self::Connections, Self::WebSockets];

    /// Returns the names of the metrics: the used part and the limit.
    #[must_use]
    pub fn metrics(self) -> [&'static str; 2] {
        match self {
            Self::Connections => ["stockade_connections", "stockade_connections_limit"],
            Self::WebSockets => ["stockade_websockets", "stockade_websockets_limit"],
        }
    }

    fn help(self) -> [&'static str; 2] {
        match self {
            Self::Connections => ["Open connections.", "The maximum number of open connections."],
            Self::WebSockets => ["Open WebSockets.", "The maximum number of open WebSockets."],
        }
    }
}

/// The used part of a resource and its limit, or `None` if the resource no
/// longer exists.
type Read = dyn Fn() -> Option<(usize, usize)> + Send + Sync;

/// The resources of a program. Several servers may share the metrics, so a
/// metric is the sum of all resources of a kind.
#[derive(Default)]
pub(super) struct Usages(Mutex<Vec<(Resource, Box<Read>)>>);

impl Usages {
    pub(super) fn add(&self, resource: Resource, read: Box<Read>) {
        lock(&self.0).push((resource, read));
    }

    /// Writes the metrics, and forgets the resources that no longer exist.
    pub(super) fn collect(&self, to: &mut MetricsWriter) {
        let mut sums = [None; Resource::ALL.len()];
        lock(&self.0).retain(|(resource, read)| {
            let Some((used, limit)) = read() else { return false };
            if let Some(sum) = sums.get_mut(*resource as usize) {
                let (all_used, all_limit) = sum.unwrap_or((0.0, 0.0));
                *sum = Some((all_used + as_gauge(used), all_limit + as_gauge(limit)));
            }
            true
        });
        for (resource, sum) in Resource::ALL.into_iter().zip(sums) {
            let Some((used, limit)) = sum else { continue };
            let ([name, limit_name], [help, limit_help]) = (resource.metrics(), resource.help());
            to.gauge(name, help, &[], used);
            to.gauge(limit_name, limit_help, &[], limit);
        }
    }
}

/// Returns a number of connections, which is far below 2^32.
fn as_gauge(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

impl fmt::Debug for Usages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Usages({})", lock(&self.0).len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Weak};

    use super::*;

    #[test]
    fn adds_up_resources_until_they_are_dropped() {
        let usages = Usages::default();
        let text = || {
            let mut writer = MetricsWriter::default();
            usages.collect(&mut writer);
            let mut text = String::new();
            writer.append_to(&mut text);
            text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(), "");
        let servers = [Arc::new(3), Arc::new(4)];
        for server in &servers {
            let server: Weak<usize> = Arc::downgrade(server);
            let read = move || server.upgrade().map(|open| (*open, 10));
            usages.add(Resource::Connections, Box::new(read));
        }
        assert_eq!(text(), "stockade_connections 7 stockade_connections_limit 20");
        let [first, second] = servers;
        drop(first);
        assert_eq!(text(), "stockade_connections 4 stockade_connections_limit 10");
        drop(second);
        assert_eq!((text().as_str(), lock(&usages.0).len()), ("", 0));
    }

    #[test]
    fn each_resource_has_its_index() {
        for (place, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource as usize, place);
        }
    }
}
