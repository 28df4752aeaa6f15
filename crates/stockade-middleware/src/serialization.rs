//! [`with_serialization`]: helpers for dates, maps and sets of the request and
//! the response.
// Spec: Middleware helpers › `withSerialization`.

use std::ops::Deref;
use std::sync::Arc;

use http::Extensions;
use stockade_core::reply::ResponseWriter;
use stockade_core::{FromRequest, Middleware, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_serialization::{Deserialization, Serialization, SerializationOptions};

use crate::described::unseen;

/// Sets the options of the request helpers and the response writer helpers:
/// `req.deserialize().date(..)`, `res.serialize().map(..)`.
///
/// The helpers come from [`DeserializeRequest`] and [`SerializeResponse`], or
/// from the handler arguments [`DeserializeHelpers`] and [`SerializeHelpers`].
/// A route without this middleware has all of them. A disabled helper fails
/// with an error that names the option.
///
/// ```
/// use std::time::SystemTime;
///
/// use stockade::middleware::{SerializeHelpers, with_serialization};
/// use stockade::serialization::SerializationOptions;
/// use stockade::{ApiError, Middleware};
///
/// async fn epoch(serialize: SerializeHelpers) -> Result<String, ApiError> {
///     Ok(serialize.date(&SystemTime::UNIX_EPOCH)?)
/// }
///
/// let helpers = with_serialization(SerializationOptions::new().enable_map(false));
/// assert_eq!(helpers.name(), "with_serialization");
/// ```
// Spec: Middleware helpers › `withSerialization`.
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
    .describing(unseen)
}

/// The helpers in the extensions of a request.
#[derive(Clone, Default)]
struct Attached {
    serialization: Serialization,
    deserialization: Deserialization,
}

impl Attached {
    fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }
}

/// The helpers of a request: `req.deserialize().date(..)`.
// Spec: Middleware helpers › `withSerialization`.
pub trait DeserializeRequest {
    /// Returns the helpers that read, with the options of
    /// [`with_serialization`].
    fn deserialize(&self) -> Deserialization;
}

impl DeserializeRequest for Request {
    fn deserialize(&self) -> Deserialization {
        Attached::of(self.extensions()).deserialization
    }
}

/// The helpers of a response writer: `res.serialize().map(..)`.
// Spec: Middleware helpers › `withSerialization`.
pub trait SerializeResponse {
    /// Returns the helpers that write, with the options of
    /// [`with_serialization`].
    fn serialize(&self) -> Serialization;
}

impl SerializeResponse for ResponseWriter {
    fn serialize(&self) -> Serialization {
        Attached::of(self.extensions()).serialization
    }
}

/// The reading helpers, as a handler argument; it dereferences to
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

    fn describe(_doc: &mut RouteDescription) {}
}

/// The writing helpers, as a handler argument; it dereferences to
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
        Ok(Self(Attached::of(req.extensions()).serialization))
    }

    fn describe(_doc: &mut RouteDescription) {}
}
