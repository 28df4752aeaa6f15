//! An in-memory fake of `mongodb`: collections of documents with an `_id`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade::serde_json::{self, Value};

type Documents = Arc<Mutex<BTreeMap<String, Value>>>;

/// A client of a server.
#[derive(Clone, Default)]
pub struct Client {
    collections: Arc<Mutex<BTreeMap<String, Documents>>>,
}

impl Client {
    /// Connects to the server.
    ///
    /// # Errors
    /// Fails if `uri` does not start with `mongodb://`.
    pub async fn with_uri_str(uri: &str) -> Result<Self, Error> {
        if !uri.starts_with("mongodb://") {
            return Err(Error("connection string contains no scheme".to_owned()));
        }
        Ok(Self::default())
    }

    /// Returns a collection of a database.
    #[must_use]
    pub fn collection<T>(&self, database: &str, name: &str) -> Collection<T> {
        let mut all = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let documents = all.entry(format!("{database}.{name}")).or_default();
        Collection { documents: Arc::clone(documents), document: PhantomData }
    }
}

/// Documents of type `T`.
pub struct Collection<T> {
    documents: Documents,
    document: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Collection<T> {
    /// Adds a document.
    ///
    /// # Errors
    /// Fails if its `_id` already exists.
    pub async fn insert_one(&self, document: &T) -> Result<InsertOneResult, Error> {
        let document = serde_json::to_value(document)?;
        let inserted_id = document["_id"].clone();
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if documents.contains_key(&inserted_id.to_string()) {
            return Err(Error("E11000 duplicate key error".to_owned()));
        }
        documents.insert(inserted_id.to_string(), document);
        Ok(InsertOneResult { inserted_id })
    }

    /// Returns the document with this `_id`.
    ///
    /// # Errors
    /// Fails if the document is not a `T`.
    pub async fn find_one(&self, id: impl Into<Value>) -> Result<Option<T>, Error> {
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(documents.get(&id.into().to_string()).map(T::deserialize).transpose()?)
    }

    /// Replaces the document with this `_id`, if it exists.
    ///
    /// # Errors
    /// Fails if the document cannot be serialized.
    pub async fn replace_one(
        &self,
        id: impl Into<Value>,
        document: &T,
    ) -> Result<UpdateResult, Error> {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let mut modified_count = 0;
        if let Some(found) = documents.get_mut(&id.into().to_string()) {
            *found = serde_json::to_value(document)?;
            modified_count = 1;
        }
        Ok(UpdateResult { modified_count })
    }

    /// Deletes the document with this `_id`, if it exists.
    ///
    /// # Errors
    /// Never fails.
    pub async fn delete_one(&self, id: impl Into<Value>) -> Result<DeleteResult, Error> {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(DeleteResult {
            deleted_count: u32::from(documents.remove(&id.into().to_string()).is_some()),
        })
    }
}

/// The result of [`Collection::insert_one`].
#[derive(Serialize)]
pub struct InsertOneResult {
    /// The `_id` of the document.
    pub inserted_id: Value,
}

/// The result of [`Collection::replace_one`].
#[derive(Serialize)]
pub struct UpdateResult {
    /// The number of replaced documents.
    pub modified_count: u32,
}

/// The result of [`Collection::delete_one`].
#[derive(Serialize)]
pub struct DeleteResult {
    /// The number of deleted documents.
    pub deleted_count: u32,
}

/// The error of an operation.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}
