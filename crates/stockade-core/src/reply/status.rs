//! Replies with a status other than 200: [`Created`], [`Accepted`], [`Status`].

use http::{HeaderValue, StatusCode, header};
use stockade_errors::ApiError;
use stockade_path::encoded;

use crate::description::HeaderDoc;
use crate::{Reply, Response, RouteDescription};

/// A reply with status 201 and the address of the created resource.
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::Created;
/// use stockade::serde_json::json;
///
/// let reply = Created::new(json!({ "id": 7 })).location("/users/7");
/// let response = reply.into_response()?;
/// assert_eq!(response.status(), 201);
/// assert_eq!(response.headers()["location"], "/users/7");
/// assert_eq!(response.body().as_bytes(), Some(br#"{"id":7}"#.as_slice()));
/// # Ok::<(), stockade::ApiError>(())
/// ```
///
/// Source: RFC 9110, section 15.3.2.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Created<T> {
    reply: T,
    location: Option<String>,
}

impl<T> Created<T> {
    /// Creates a reply with status 201. Use `()` for an empty body.
    ///
    /// If you do not set a [`location`](Self::location), the address of the
    /// request identifies the new resource.
    pub const fn new(reply: T) -> Self {
        Self { reply, location: None }
    }

    /// Sets the header `Location`. Characters beyond ASCII are percent-encoded.
    /// An address with control characters is a 500.
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }
}

impl<T: Reply> Reply for Created<T> {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = (StatusCode::CREATED, self.reply).into_response()?;
        if let Some(location) = self.location {
            let location =
                HeaderValue::try_from(&*encoded(&location)).map_err(ApiError::internal)?;
            response.headers_mut().insert(header::LOCATION, location);
        }
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responses_changed(T::describe, |answer| {
            answer.set_status(StatusCode::CREATED);
            let location = HeaderDoc::new("Location", "The URL of the new resource");
            answer.headers.push(location.sometimes());
        });
    }
}

/// A reply with status 202 for unfinished work.
///
/// Source: RFC 9110, section 15.3.3.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Accepted<T>(pub T);

impl<T: Reply> Reply for Accepted<T> {
    fn into_response(self) -> Result<Response, ApiError> {
        (StatusCode::ACCEPTED, self.0).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responses_changed(T::describe, |answer| answer.set_status(StatusCode::ACCEPTED));
    }
}

/// A reply with the status `CODE`, from 200 to 599.
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::Status;
///
/// async fn brew() -> Status<418, &'static str> {
///     Status("short and stout")
/// }
/// # let response = Status::<418, _>("short and stout").into_response()?;
/// # assert_eq!(response.status(), 418);
/// # let _ = brew;
/// # Ok::<(), stockade::ApiError>(())
/// ```
///
/// Any other number does not compile:
///
/// ```compile_fail,E0080
/// use stockade::Reply;
/// use stockade::reply::Status;
///
/// let _ = Status::<600, _>("no such status").into_response();
/// ```
///
/// As with any reply, 204, 205 and 304 do not have a body.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Status<const CODE: u16, T>(pub T);

impl<const CODE: u16, T: Reply> Reply for Status<CODE, T> {
    fn into_response(self) -> Result<Response, ApiError> {
        // A 1xx status is not final, but a reply is the final response.
        const {
            assert!(
                CODE >= 200 && CODE <= 599,
                "the status of a response must be from 200 to \
                 599"
            )
        };
        let status = StatusCode::from_u16(CODE).map_err(ApiError::internal)?;
        (status, self.0).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responses_changed(T::describe, |answer| answer.set_status(CODE));
    }
}
