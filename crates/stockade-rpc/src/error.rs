//! [`RpcError`]: an error with an application-defined code.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use stockade_core::Response;
use stockade_core::reply::IntoError;
use stockade_errors::ApiError;

use crate::error_object::ErrorObject;

/// An error with an application-defined code. The request handler of a method
/// returns it.
///
/// ```
/// use stockade::prelude::*;
/// use stockade::rpc::{Rpc, RpcError};
/// use stockade::testing::TestClient;
///
/// async fn order(Body(sku): Body<String>) -> Result<(), RpcError> {
///     Err(RpcError::new(-32050, "Out of stock").data(json!({ "sku": sku })))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let api = routes! { "rpc": { ..Rpc::new().method("order", order).routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let call = json!({ "jsonrpc": "2.0", "method": "order", "params": ["tea"], "id": 1 });
/// client.post("/rpc").json(call).await.assert_json(json!({
///     "jsonrpc": "2.0",
///     "error": { "code": -32050, "message": "Out of stock", "data": { "sku": "tea" } },
///     "id": 1,
/// }));
/// # }
/// ```
///
/// `?` converts it to an [`ApiError`], which still sends the code. Return an
/// [`ApiError`] if a method also has other errors.
/// [`RpcMethod::may_fail`](crate::RpcMethod::may_fail) documents a code.
///
/// # Codes
///
/// | code | use |
/// |---|---|
/// | -32099 to -32000 | errors of this server; includes the codes of HTTP statuses from 400 to 499 |
/// | -32768 to -32100 | reserved by JSON-RPC: the error is logged, and the client gets -32603 |
/// | any other | errors of the application |
///
/// Source: <https://www.jsonrpc.org/specification>, section 5.1.
#[derive(Clone, Debug)]
#[must_use = "a method returns it"]
pub struct RpcError {
    code: i32,
    message: Cow<'static, str>,
    data: Option<Value>,
    status: u16,
}

impl RpcError {
    /// Creates an error with this code and message, which are sent to the client.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, status: 400 }
    }

    /// Sets `data`, which is sent to the client. Default: none.
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Sets the HTTP status, from 400 to 599; any other value becomes 500. It
    /// appears in the access log and in metrics, and routes of
    /// [`Rpc::rest`](crate::Rpc::rest) respond with it. If the status is 500 or
    /// higher, the error is also logged, and these routes hide its message and
    /// its data. Default: 400.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.code
    }

    /// Returns the error object of an `ApiError` that was created from an
    /// `RpcError`, unless its code is reserved.
    pub(crate) fn error_object_of(error: &ApiError) -> Option<ErrorObject> {
        let source = std::error::Error::source(error)?;
        let own = source.downcast_ref::<Self>().filter(|own| !is_reserved(own.code))?;
        Some(ErrorObject::own(own.code, own.message.clone(), own.data.clone()))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// Converts to an error with the same [`status`](RpcError::status) and message.
/// The data becomes the details. A reserved code becomes a 500.
impl From<RpcError> for ApiError {
    fn from(error: RpcError) -> Self {
        if is_reserved(error.code) {
            return Self::new(500, reserved(error.code)).with_source(error);
        }
        let made = Self::new(error.status, error.message.clone());
        let made = match &error.data {
            Some(data) => made.with_details(data.clone()),
            None => made,
        };
        made.with_source(error)
    }
}

/// The status of the error depends on its value.
impl IntoError for RpcError {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(self.into())
    }
}

/// Returns true for a code that JSON-RPC defines or reserves.
pub(crate) fn is_reserved(code: i32) -> bool {
    (-32_768..=-32_100).contains(&code)
}

/// Returns the message about a reserved code.
pub(crate) fn reserved(code: i32) -> String {
    format!(
        "the error code {code} is reserved by JSON-RPC: use -32099 to -32000, \
         or a code outside of -32768 to -32000"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_the_codes_of_the_specification() {
        for code in [-32_768, -32_700, -32_603, -32_602, -32_601, -32_600, -32_100] {
            assert!(is_reserved(code), "{code}");
        }
        for code in [i32::MIN, -32_769, -32_099, -32_050, -32_000, -1, 0, 404, i32::MAX] {
            assert!(!is_reserved(code), "{code}");
        }
    }
}
