//! Methods of [`Rooms`] that involve other processes.

use std::fmt;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use stockade_errors::ApiError;

use super::backplane::{Audience, BroadcastError, DeliveryGap, History, Presence};
use super::{Rooms, RoomsInner};
use crate::socket::SocketId;

pub(super) type OnGap = dyn Fn(DeliveryGap<'_>) + Send + Sync;
pub(super) type WithIds = dyn Fn(&str, &str) -> String + Send + Sync;

impl Rooms {
    /// Sets the function that is called when members of this process have
    /// missed messages. Default: a warn-level log line. Only the first call has
    /// an effect.
    ///
    /// Use it, for instance, to make clients reload the state of the room. The
    /// function must not block.
    ///
    /// ```
    /// use stockade::websockets::{Audience, Rooms};
    ///
    /// let rooms = Rooms::default();
    /// let weak = rooms.downgrade();
    /// let rooms = rooms.on_gap(move |gap| {
    ///     if let Some(rooms) = weak.upgrade() {
    ///         rooms.deliver(gap.audience, "reload", None);
    ///     }
    /// });
    /// rooms.report_gap(Audience::Room("lobby"), Some(3));
    /// ```
    #[must_use]
    pub fn on_gap(self, told: impl Fn(DeliveryGap<'_>) + Send + Sync + 'static) -> Self {
        let _ = self.inner.on_gap.set(Box::new(told));
        self
    }

    /// Sets the function that adds the id of each message to its text. A client
    /// that reconnects uses the id to request missed messages
    /// ([`since`](Self::since)). Default: only the text is sent. Only the first
    /// call has an effect.
    ///
    /// The function receives the id and the text of each message that a
    /// backplane delivers with an id. With [`Order::Room`](super::Order::Room)
    /// these are all messages.
    ///
    /// ```
    /// use stockade::websockets::Rooms;
    ///
    /// // The messages of this program are JSON.
    /// let rooms = Rooms::default()
    ///     .with_ids(|id, text| format!(r#"{{"id":"{id}","message":{text}}}"#));
    /// # drop(rooms);
    /// ```
    #[must_use]
    pub fn with_ids(self, text: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Self {
        let _ = self.inner.with_ids.set(Box::new(text));
        self
    }

    /// Sends a text like [`broadcast`](Self::broadcast), but fails if it cannot
    /// reach the other processes. In that case no member receives it.
    ///
    /// # Errors
    /// [`BroadcastError::Overloaded`] if too many messages wait for the
    /// backplane, and [`BroadcastError::TooLarge`] if the text exceeds its size
    /// limit.
    ///
    /// ```
    /// use stockade::websockets::{Audience, Rooms};
    ///
    /// assert_eq!(Rooms::default().try_broadcast(Audience::All, "hello"), Ok(0));
    /// ```
    pub fn try_broadcast(
        &self,
        audience: Audience<'_>,
        text: impl Into<String>,
    ) -> Result<usize, BroadcastError> {
        let text = Bytes::from(text.into());
        let published = self.publish(audience, &text, None);
        match published.error {
            Some(error) => Err(error),
            None => Ok(self.finish(published, audience, &text, None)),
        }
    }

    /// Returns the number of members of a room in all processes.
    ///
    /// # Errors
    /// 503 if the backplane does not respond.
    pub async fn count_everywhere(&self, room: &str) -> Result<usize, ApiError> {
        let others = match &self.inner.backplane {
            Some(backplane) => backplane.count(room).await?,
            None => 0,
        };
        Ok(self.members(room).len() + others)
    }

    /// Returns the members of a room in all processes. The members of this
    /// process are current; the others may be outdated by the backplane's
    /// delay.
    ///
    /// # Errors
    /// 503 if the backplane does not respond.
    pub async fn members_everywhere(&self, room: &str) -> Result<Presence, ApiError> {
        let mut presence = match &self.inner.backplane {
            Some(backplane) => backplane.presence(room).await?,
            None => Presence::default(),
        };
        presence.members.extend(self.members(room));
        Ok(presence)
    }

    /// Returns the messages to a room after the message with this id, including
    /// messages sent to all but one member. For an empty, unknown or expired
    /// id, it returns all messages that still exist; see
    /// [`is_complete`](History#structfield.is_complete).
    ///
    /// The history is empty without a backplane that stores messages.
    ///
    /// # Errors
    /// 503 if the backplane does not respond.
    pub async fn since(&self, room: &str, id: &str) -> Result<History, ApiError> {
        match &self.inner.backplane {
            Some(backplane) => backplane.since(room, id).await,
            None => Ok(History::default()),
        }
    }

    /// Delivers a text like [`deliver`](Self::deliver), with its id from the
    /// backplane.
    pub fn deliver_with_id(
        &self,
        audience: Audience<'_>,
        id: impl fmt::Display,
        text: impl Into<String>,
        except: Option<SocketId>,
    ) {
        let text = text.into();
        match self.inner.with_ids.get() {
            Some(with_id) => self.deliver(audience, with_id(&id.to_string(), &text), except),
            None => self.deliver(audience, text, except),
        }
    }

    /// Reports missed messages to the function set by [`on_gap`](Self::on_gap).
    /// Backplanes call this.
    pub fn report_gap(&self, audience: Audience<'_>, missed: Option<u64>) {
        if let Some(told) = self.inner.on_gap.get() {
            return told(DeliveryGap { audience, missed });
        }
        match missed {
            Some(missed) => {
                log::warn!(target: "stockade", "{audience} missed up to {missed} messages");
            }
            None => log::warn!(target: "stockade", "{audience} may have missed messages"),
        }
    }

    /// Returns a handle that does not keep the rooms alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakRooms {
        WeakRooms { inner: Arc::downgrade(&self.inner) }
    }
}

/// A handle for a [`Backplane`](super::Backplane) that does not keep the
/// [`Rooms`] alive.
#[derive(Clone)]
pub struct WeakRooms {
    inner: Weak<RoomsInner>,
}

impl WeakRooms {
    /// Returns the rooms, if they still exist.
    #[must_use]
    pub fn upgrade(&self) -> Option<Rooms> {
        self.inner.upgrade().map(|inner| Rooms { inner })
    }
}

impl fmt::Debug for WeakRooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakRooms").finish_non_exhaustive()
    }
}
