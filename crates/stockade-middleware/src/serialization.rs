//! [`with_serialization`]: helpers for dates, maps and sets, at the request and
//! at the response.
//!
//! Spec: Middleware helpers › `withSerialization`.

use std::ops::Deref;
use std::sync::Arc;

use stockade_core::reply::ResponseWriter;
use stockade_core::{FromRequest, Middleware, Request};
use stockade_errors::ApiError;
use stockade_serialization::{Deserialization, Serialization, SerializationOptions};

/// Gives the request and the response writer their helpers, as these options
/// have them: `req.deserialize().date(..)`, `res.serialize().map(..)`.
///
/// The helpers are those of [`DeserializeRequest`] and [`SerializeResponse`],
/// and as arguments of a handler [`DeserializeHelpers`] and
/// [`SerializeHelpers`]. On a route without this middleware all are switched
/// on. One that is switched off fails with an error that names the option.
///
/// ```
/// use std::time::SystemTime;
///
/// use stockade_core::{ApiError, Middleware};
/// use stockade_middleware::{SerializeHelpers, with_serialization};
/// use stockade_serialization::SerializationOptions;
///
/// async fn epoch(serialize: SerializeHelpers) -> Result<String, ApiError> {
///     Ok(serialize.date(&SystemTime::UNIX_EPOCH)?)
/// }
///
/// let helpers = with_serialization(SerializationOptions::new().enable_map(false));
/// assert_eq!(helpers.name(), "with_serialization");
/// ```
///
/// Spec: Middleware helpers › `withSerialization`.
#[doc(alias = "withSerialization")]
#[must_use]
pub fn with_serialization(options: SerializationOptions) -> Middleware {
    let options = Arc::new(options);
    let attached = Attached {
        serialization: Serialization::new(Arc::clone(&options)),
        deserialization: Deserialization::new(options),
    };
    Middleware::new(move |req: &mut Request| {
        req.extensions_mut().insert(attached.clone());
    })
    .named("with_serialization")
}

/// What travels with the request.
#[derive(Clone)]
struct Attached {
    serialization: Serialization,
    deserialization: Deserialization,
}

/// The helpers of a request: `req.deserialize().date(..)`.
///
/// Spec: Middleware helpers › `withSerialization`.
pub trait DeserializeRequest {
    /// The helpers that read, as [`with_serialization`] has them.
    fn deserialize(&self) -> Deserialization;
}

impl DeserializeRequest for Request {
    fn deserialize(&self) -> Deserialization {
        let attached = self.extensions().get::<Attached>();
        // Without the middleware they are those without options.
        attached.map(|attached| attached.deserialization.clone()).unwrap_or_default()
    }
}

/// The helpers of a response writer: `res.serialize().map(..)`.
///
/// Spec: Middleware helpers › `withSerialization`.
pub trait SerializeResponse {
    /// The helpers that write, as [`with_serialization`] has them.
    fn serialize(&self) -> Serialization;
}

impl SerializeResponse for ResponseWriter {
    fn serialize(&self) -> Serialization {
        let attached = self.extensions().get::<Attached>();
        // Without the middleware they are those without options.
        attached.map(|attached| attached.serialization.clone()).unwrap_or_default()
    }
}

/// The helpers that read, as an argument of a handler; it dereferences to
/// [`Deserialization`].
#[derive(Clone, Debug, Default)]
pub struct DeserializeHelpers(pub Deserialization);

impl Deref for DeserializeHelpers {
    type Target = Deserialization;

    fn deref(&self) -> &Deserialization {
        &self.0
    }
}

impl FromRequest for DeserializeHelpers {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self(req.deserialize()))
    }
}

/// The helpers that write, as an argument of a handler; it dereferences to
/// [`Serialization`].
#[derive(Clone, Debug, Default)]
pub struct SerializeHelpers(pub Serialization);

impl Deref for SerializeHelpers {
    type Target = Serialization;

    fn deref(&self) -> &Serialization {
        &self.0
    }
}

impl FromRequest for SerializeHelpers {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let attached = req.extensions().get::<Attached>();
        // Without the middleware they are those without options.
        Ok(Self(attached.map(|attached| attached.serialization.clone()).unwrap_or_default()))
    }
}
