//! [`DescribedRoute`]: a route as its parts describe it.

use stockade_validation::Schema;

use super::{AddedHeader, ErrorForm, InputFact, ResponseDoc, SchemaOf};
use crate::{RouteInfo, SchemeInfo};

/// A route as its middleware, its extractors and its return type describe it,
/// in the order of execution.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DescribedRoute {
    /// The facts that a map contains unchanged. The responses and the schemas
    /// of messages are in the other fields, because a map contains their
    /// exported schemas.
    pub route: RouteInfo,
    /// The responses.
    pub answers: Vec<ResponseDoc>,
    /// The schema of the WebSocket messages that are read as JSON.
    pub receives: Option<Schema>,
    /// The schema of the WebSocket messages that are sent as JSON.
    pub sends: Option<SchemaOf>,
    /// The methods that authenticate a user whom later middleware replaces.
    pub earlier_schemes: Vec<SchemeInfo>,
    /// The headers that middleware adds to the responses of the parts after it.
    pub added_headers: Vec<AddedHeader>,
    /// The schemas that middleware uses to validate parts of the request.
    pub inputs: Vec<InputFact>,
    /// The formats that the application's error handlers use for the errors of
    /// the parts after them.
    pub error_forms: Vec<ErrorForm>,
}
