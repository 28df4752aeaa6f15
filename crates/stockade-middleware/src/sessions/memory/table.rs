//! [`Table`]: sessions by key, expiry and subject.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use bytes::Bytes;

use crate::expiring_table::{Expires, ExpiringTable, Index};
use crate::sessions::store::{SessionKey, SubjectKey};

/// The sessions of a store. A session expires at the end of its idle time or
/// its lifetime.
pub(super) type Table = ExpiringTable<SessionKey, Entry, Subjects>;

/// The sessions of each subject by the end of their lifetime, the oldest first.
#[derive(Default)]
pub(super) struct Subjects(HashMap<SubjectKey, BTreeSet<(Instant, SessionKey)>>);

pub(super) struct Entry {
    /// The name of the user, and the key of the user's sessions.
    pub(super) subject: Option<(String, SubjectKey)>,
    pub(super) data: Bytes,
    pub(super) version: u64,
    /// The expiry time if the session is not used; at most `ends`.
    pub(super) idle_until: Instant,
    pub(super) ends: Instant,
}

impl Entry {
    fn subject_key(&self) -> Option<SubjectKey> {
        self.subject.as_ref().map(|(_, key)| *key)
    }
}

impl Expires for Entry {
    fn expires_at(&self) -> Instant {
        self.idle_until
    }

    fn bytes(&self) -> usize {
        self.data.len()
    }
}

impl Index<SessionKey, Entry> for Subjects {
    fn add(&mut self, key: &SessionKey, entry: &Entry) {
        if let Some(subject) = entry.subject_key() {
            self.0.entry(subject).or_default().insert((entry.ends, *key));
        }
    }

    fn remove(&mut self, key: &SessionKey, entry: &Entry) {
        let Some(subject) = entry.subject_key() else { return };
        if let MapEntry::Occupied(mut sessions) = self.0.entry(subject) {
            sessions.get_mut().remove(&(entry.ends, *key));
            if sessions.get().is_empty() {
                sessions.remove();
            }
        }
    }
}

impl Table {
    /// Removes all sessions of a subject, and returns how many had not expired.
    pub(super) fn remove_all(&mut self, subject: &SubjectKey, now: Instant) -> u64 {
        let keys = self.keys_of(subject);
        let live = keys.iter().filter(|key| self.live(key, now).is_some()).count();
        keys.iter().for_each(|key| drop(self.remove(key)));
        u64::try_from(live).unwrap_or(u64::MAX)
    }

    /// Removes sessions of a subject until it has fewer than `most`: first
    /// expired sessions, then the oldest.
    pub(super) fn make_room_for(&mut self, subject: &SubjectKey, most: usize, now: Instant) {
        let keys = self.keys_of(subject);
        if keys.len() < most {
            return;
        }
        let (live, over): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| self.live(key, now).is_some());
        over.iter().for_each(|key| drop(self.remove(key)));
        let surplus = (live.len() + 1).saturating_sub(most);
        live.iter().take(surplus).for_each(|key| drop(self.remove(key)));
    }

    /// Returns the sessions of a subject, the oldest first.
    fn keys_of(&self, subject: &SubjectKey) -> Vec<SessionKey> {
        let sessions = self.index().0.get(subject);
        sessions.into_iter().flatten().map(|(_, key)| *key).collect()
    }

    #[cfg(test)]
    pub(super) fn agrees_with_subjects(&self) -> bool {
        let with_subject = self.entries().filter(|(_, entry)| entry.subject.is_some()).count();
        let Subjects(subjects) = self.index();
        self.is_consistent()
            && subjects.values().map(BTreeSet::len).sum::<usize>() == with_subject
            && subjects.values().all(|sessions| !sessions.is_empty())
    }
}
