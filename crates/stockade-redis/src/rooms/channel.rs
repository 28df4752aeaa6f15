//! The recipients of a message and their names in Redis.

use std::sync::Arc;

use ring::digest;
use stockade_websockets::Audience;

/// The recipients of a message.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Channel {
    All,
    Room(Arc<str>),
    Route(Arc<str>),
}

impl Channel {
    /// Returns the channel for an audience, or `None` for an unknown kind.
    pub(crate) fn of(audience: Audience<'_>) -> Option<Self> {
        match audience {
            Audience::All => Some(Self::All),
            Audience::Room(room) => Some(Self::Room(room.into())),
            Audience::Route(route) => Some(Self::Route(route.into())),
            _ => None,
        }
    }

    pub(crate) fn audience(&self) -> Audience<'_> {
        match self {
            Self::All => Audience::All,
            Self::Room(room) => Audience::Room(room),
            Self::Route(route) => Audience::Route(route),
        }
    }

    /// Returns the name of the pub/sub channel, which is also the prefix of its
    /// keys. The part in braces is the cluster's hash tag.
    pub(crate) fn name(&self, prefix: &str) -> String {
        match self {
            Self::All => format!("{prefix}:rooms:{{all}}"),
            Self::Room(room) => format!("{prefix}:rooms:{{room:{}}}", plain(room)),
            Self::Route(route) => format!("{prefix}:rooms:{{route:{}}}", plain(route)),
        }
    }
}

/// The Redis keys of a channel.
pub(crate) struct Keys {
    /// The epoch and the last number.
    pub(crate) head: String,
    /// The last messages.
    pub(crate) log: String,
    /// The members of each process.
    pub(crate) here: String,
}

impl Keys {
    pub(crate) fn of(name: &str) -> Self {
        let [head, log, here] = ["head", "log", "here"].map(|key| format!("{name}:{key}"));
        Self { head, log, here }
    }
}

/// Returns a name that is safe in a key. It is the SHA-256 if the name is long,
/// contains braces, or looks like a hashed name.
fn plain(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES && !name.contains(['{', '}']) && !name.starts_with(HASHED) {
        return name.to_owned();
    }
    format!("{HASHED}{}", hex::encode(digest::digest(&digest::SHA256, name.as_bytes())))
}

const HASHED: &str = "sha:";
/// Longer names are replaced by their SHA-256.
const MAX_NAME_BYTES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_rooms_have_different_channel_names() {
        let name = |room: &str| Channel::Room(room.into()).name("shop");
        assert_eq!(name("lobby"), "shop:rooms:{room:lobby}");
        let hashed = name("a}b");
        assert_eq!(hashed.matches(['{', '}']).count(), 2, "{hashed}");
        let inner = hashed.trim_start_matches("shop:rooms:{room:").trim_end_matches('}');
        assert_ne!(name(inner), hashed, "a room is not named into another one");
        assert!(name(&"x".repeat(10_000)).len() < 100);
        let route = Channel::Route("lobby".into()).name("shop");
        assert_ne!(route, name("lobby"));
        assert_eq!(Keys::of(&route).head, "shop:rooms:{route:lobby}:head");
    }
}
