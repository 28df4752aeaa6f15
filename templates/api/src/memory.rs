//! The store: memory, so a restart deletes all data. Replace it by a database.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::notes::{NewNote, Note, NoteError};
{%- if auth != "none" %}
use crate::users::UserError;
{%- endif %}

/// The data of the program.
#[derive(Default)]
pub struct Store(Mutex<Data>);

#[derive(Default)]
struct Data {
    last_id: i64,
{%- if auth == "none" %}
    notes: BTreeMap<i64, Note>,
{%- else %}
    /// Notes with their owners.
    notes: BTreeMap<i64, (String, Note)>,
    /// Password hashes by user name.
    users: BTreeMap<String, String>,
{%- endif %}
}

impl Store {
    fn data(&self) -> MutexGuard<'_, Data> {
        // No function below panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
{%- if auth == "none" %}

    pub async fn notes(&self, after: i64, limit: u32) -> Result<Vec<Note>, NoteError> {
        let data = self.data();
        let later = data.notes.values().filter(|note| note.id > after);
        Ok(later.take(limit as usize).cloned().collect())
    }

    pub async fn add_note(&self, new: NewNote) -> Result<Note, NoteError> {
        let mut data = self.data();
        if data.notes.values().any(|note| note.title == new.title) {
            return Err(NoteError::TitleTaken);
        }
        data.last_id += 1;
        let note = Note { id: data.last_id, title: new.title, text: new.text };
        data.notes.insert(note.id, note.clone());
        Ok(note)
    }

    pub async fn note(&self, id: i64) -> Result<Note, NoteError> {
        let note = self.data().notes.get(&id).cloned();
        note.ok_or(NoteError::Unknown(id))
    }

    pub async fn delete_note(&self, id: i64) -> Result<(), NoteError> {
        let note = self.data().notes.remove(&id);
        note.map(drop).ok_or(NoteError::Unknown(id))
    }
{%- else %}

    pub async fn notes(
        &self,
        owner: String,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Note>, NoteError> {
        let data = self.data();
        let own = data.notes.values().filter(|(name, _)| *name == owner);
        let later = own.map(|(_, note)| note).filter(|note| note.id > after);
        Ok(later.take(limit as usize).cloned().collect())
    }

    pub async fn add_note(&self, owner: String, new: NewNote) -> Result<Note, NoteError> {
        let mut data = self.data();
        let is_same = |(name, note): &(String, Note)| *name == owner && note.title == new.title;
        if data.notes.values().any(is_same) {
            return Err(NoteError::TitleTaken);
        }
        data.last_id += 1;
        let note = Note { id: data.last_id, title: new.title, text: new.text };
        data.notes.insert(note.id, (owner, note.clone()));
        Ok(note)
    }

    pub async fn note(&self, owner: String, id: i64) -> Result<Note, NoteError> {
        let data = self.data();
        let found = data.notes.get(&id).filter(|(name, _)| *name == owner);
        let (_, note) = found.ok_or(NoteError::Unknown(id))?;
        Ok(note.clone())
    }

    pub async fn delete_note(&self, owner: String, id: i64) -> Result<(), NoteError> {
        let mut data = self.data();
        if data.notes.get(&id).is_none_or(|(name, _)| *name != owner) {
            return Err(NoteError::Unknown(id));
        }
        data.notes.remove(&id);
        Ok(())
    }

    pub async fn add_user(&self, name: String, password_hash: String) -> Result<(), UserError> {
        let mut data = self.data();
        if data.users.contains_key(&name) {
            return Err(UserError::NameTaken);
        }
        data.users.insert(name, password_hash);
        Ok(())
    }

    pub async fn password_hash(&self, name: String) -> Result<Option<String>, UserError> {
        Ok(self.data().users.get(&name).cloned())
    }
{%- endif %}
}
