//! [`Entity`]: a type whose values are the items of a resource.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_validation::HasSchema;

/// A type whose values are the items of a resource, and the rows of a store.
///
/// It is a struct with named fields. Its JSON is what clients see, by serde, and
/// its schema says what they may send. Serde writes each field, under the name by
/// which it reads it: a field that clients must not see is
/// [hidden](crate::Resource::hidden) by the resource and not by serde.
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
    /// The type of the id: an integer, a text, a UUID. As a parameter of a path it
    /// is judged by its schema, and read as `Path<T>` reads it.
    type Id: Id;

    /// The name of the field with the id. Default: `id`.
    const ID: &'static str = "id";
}

/// A type whose values name items.
///
/// Each type with these traits is one.
pub trait Id:
    HasSchema + Serialize + DeserializeOwned + Display + Debug + Clone + Send + Sync + 'static
{
}

impl<T> Id for T where
    T: HasSchema + Serialize + DeserializeOwned + Display + Debug + Clone + Send + Sync + 'static
{
}
