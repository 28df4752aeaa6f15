//! [`Table`]: sessions by their keys, their ends and their subjects.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use bytes::Bytes;

use crate::sessions::store::{SessionKey, SubjectKey};

/// The sessions of a store. The three maps and the sum always agree.
#[derive(Default)]
pub(super) struct Table {
    by_key: HashMap<SessionKey, Entry>,
    /// The same sessions by the time at which they end if nobody uses them.
    by_idle: BTreeSet<(Instant, SessionKey)>,
    /// Those of each subject by the end of their whole time: the oldest is first.
    by_subject: HashMap<SubjectKey, BTreeSet<(Instant, SessionKey)>>,
    /// The bytes of all data.
    bytes: usize,
}

pub(super) struct Entry {
    /// The name of the user, and the key of the user's sessions.
    pub(super) subject: Option<(String, SubjectKey)>,
    pub(super) data: Bytes,
    pub(super) version: u64,
    /// It ends then if nobody uses it; at most `ends`.
    pub(super) idle_until: Instant,
    pub(super) ends: Instant,
}

impl Entry {
    fn subject_key(&self) -> Option<SubjectKey> {
        self.subject.as_ref().map(|(_, key)| *key)
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a session, unless its time is over.
    pub(super) fn live(&self, key: &SessionKey, now: Instant) -> Option<&Entry> {
        self.by_key.get(key).filter(|entry| entry.idle_until > now)
    }

    pub(super) fn insert(&mut self, key: SessionKey, entry: Entry) {
        self.remove(&key);
        self.bytes += entry.data.len();
        self.by_idle.insert((entry.idle_until, key));
        if let Some(subject) = entry.subject_key() {
            self.by_subject.entry(subject).or_default().insert((entry.ends, key));
        }
        self.by_key.insert(key, entry);
    }

    /// Changes the data and the idle time of a session.
    pub(super) fn change(&mut self, key: &SessionKey, change: impl FnOnce(&mut Entry)) {
        let Some(entry) = self.by_key.get_mut(key) else { return };
        self.by_idle.remove(&(entry.idle_until, *key));
        self.bytes -= entry.data.len();
        change(entry);
        self.bytes += entry.data.len();
        self.by_idle.insert((entry.idle_until, *key));
    }

    pub(super) fn remove(&mut self, key: &SessionKey) {
        let Some(entry) = self.by_key.remove(key) else { return };
        self.by_idle.remove(&(entry.idle_until, *key));
        self.bytes -= entry.data.len();
        let Some(subject) = entry.subject_key() else { return };
        if let MapEntry::Occupied(mut sessions) = self.by_subject.entry(subject) {
            sessions.get_mut().remove(&(entry.ends, *key));
            if sessions.get().is_empty() {
                sessions.remove();
            }
        }
    }

    /// Removes all sessions of a subject, and returns how many were not over.
    pub(super) fn remove_all(&mut self, subject: &SubjectKey, now: Instant) -> u64 {
        let keys = self.keys_of(subject);
        let live = keys.iter().filter(|key| self.live(key, now).is_some()).count();
        keys.iter().for_each(|key| self.remove(key));
        u64::try_from(live).unwrap_or(u64::MAX)
    }

    /// Removes sessions of a subject until it has fewer than `most`: first those whose
    /// time is over, then the oldest.
    pub(super) fn make_room_for(&mut self, subject: &SubjectKey, most: usize, now: Instant) {
        let keys = self.keys_of(subject);
        if keys.len() < most {
            return;
        }
        let (live, over): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| self.live(key, now).is_some());
        over.iter().for_each(|key| self.remove(key));
        let surplus = (live.len() + 1).saturating_sub(most);
        live.iter().take(surplus).for_each(|key| self.remove(key));
    }

    /// Returns the sessions of a subject, the oldest first.
    fn keys_of(&self, subject: &SubjectKey) -> Vec<SessionKey> {
        let sessions = self.by_subject.get(subject);
        sessions.into_iter().flatten().map(|(_, key)| *key).collect()
    }

    /// Removes at most `count` sessions whose time is over.
    pub(super) fn sweep(&mut self, now: Instant, count: usize) {
        for _ in 0..count {
            match self.by_idle.first() {
                Some((idle_until, key)) if *idle_until <= now => {
                    let key = *key;
                    self.remove(&key);
                }
                _ => return,
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        let bytes: usize = self.by_key.values().map(|entry| entry.data.len()).sum();
        let of_subjects = self.by_key.values().filter(|entry| entry.subject.is_some()).count();
        bytes == self.bytes
            && self.by_idle.len() == self.by_key.len()
            && self.by_subject.values().map(BTreeSet::len).sum::<usize>() == of_subjects
            && self.by_subject.values().all(|sessions| !sessions.is_empty())
    }
}
