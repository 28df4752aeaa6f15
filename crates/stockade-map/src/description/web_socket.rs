//! [`WebSocketFact`]: the connections of a WebSocket route.

use stockade_validation::Schema;

use super::SchemaOf;

/// The rules of a WebSocket route for its connections, and the forms of its
/// messages.
#[derive(Clone, Debug, Default)]
pub struct WebSocketFact {
    /// The origins whose pages may connect, `*` for all; none for the rule of
    /// the same origin.
    pub allowed_origins: Option<Vec<String>>,
    /// The largest message of a client, in bytes.
    pub max_payload: u64,
    /// The number of messages that a client may send in a second; none for no
    /// limit.
    pub max_rate: Option<u64>,
    /// The subprotocols, in order of preference.
    pub subprotocols: Vec<String>,
    /// The schema of the messages that are read as JSON.
    pub receives: Option<Schema>,
    /// The schema of the messages that are sent as JSON.
    pub sends: Option<SchemaOf>,
}
