//! [`Scenario`]: a kind of work that all servers do.

/// A kind of work that all servers do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scenario {
    /// `GET /json` over TLS 1.3 and HTTP/1.1.
    Https,
    /// `GET /json` over TLS 1.3 and HTTP/2, with many concurrent requests.
    Http2,
    /// `GET /json` from a server with two worker threads.
    Workers,
    /// `POST /orders`: 100 KB of JSON, deserialized into types and sent back.
    Large,
    /// `GET /events`: each `POST /publish` sends a server-sent event to all
    /// clients.
    Events,
    /// `/live`: each `POST /publish` sends a WebSocket message to all members.
    Broadcast,
    /// `GET /file`: 10 MB from disk.
    File,
}

impl Scenario {
    /// All scenarios in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Https,
        Self::Http2,
        Self::Workers,
        Self::Large,
        Self::Events,
        Self::Broadcast,
        Self::File,
    ];

    /// Returns the name on the command line and in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http2 => "http2",
            Self::Workers => "workers",
            Self::Large => "large",
            Self::Events => "events",
            Self::Broadcast => "broadcast",
            Self::File => "file",
        }
    }

    /// Returns the scenario with this name.
    ///
    /// # Errors
    /// Returns an error if the scenario does not exist.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scenario| scenario.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name:?} is none of {names}")
        })
    }

    /// Returns the unit for the processor time.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Events => "event delivered",
            Self::Broadcast => "message delivered",
            _ => "request",
        }
    }

    /// Returns the number of server threads.
    #[must_use]
    pub fn workers(self) -> usize {
        if self == Self::Workers { 2 } else { 1 }
    }

    /// Returns the protocol that TLS negotiates, or `None` without TLS.
    #[must_use]
    pub fn protocol(self) -> Option<&'static [u8]> {
        match self {
            Self::Https => Some(b"http/1.1"),
            Self::Http2 => Some(b"h2"),
            _ => None,
        }
    }
}
