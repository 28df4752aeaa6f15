//! The type of a resource's items.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_validation::HasSchema;

/// The type of a resource's items and of a store's rows.
///
/// It is a struct with named fields. Clients see its serde JSON, and its schema
/// defines the input that they may send. Serde must serialize each field under
/// the same name that it deserializes. To hide a field from clients, use
/// [`Resource::hidden`](crate::Resource::hidden) rather than serde.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::Entity;
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct Product {
///     id: i64,
///     #[schema(trim, min_length = 1, max_length = 200)]
///     name: String,
///     category: Option<String>,
/// }
///
/// impl Entity for Product {
///     type Id = i64;
/// }
///
/// assert_eq!(Product::ID, "id");
/// ```
pub trait Entity: HasSchema + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The type of the id: an integer, a text or a UUID. As a path parameter,
    /// it is validated by its schema and read like `Path<T>`.
    type Id: Id;

    /// The name of the id field. Default: `id`.
    const ID: &'static str = "id";
}

/// A type that identifies items.
///
/// Implemented for every type with these traits.
pub trait Id:
    HasSchema + Serialize + DeserializeOwned + Display + Debug + Clone + Send + Sync + 'static
{
}

impl<T> Id for T where
    T: HasSchema + Serialize + DeserializeOwned + Display + Debug + Clone + Send + Sync + 'static
{
}
