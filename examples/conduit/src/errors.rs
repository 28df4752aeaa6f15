//! The errors of request handlers, and the error format of the API.

use std::collections::BTreeMap;

use stockade::auth::PasswordError;
use stockade::prelude::*;
use stockade::sql::{SqlError, rusqlite};
use stockade::{ErrorKind, ErrorReply};

/// An error of a request handler. The text in a variant is the name under which the API
/// lists the error: a field, or a kind of object.
#[derive(ApiError, Debug)]
pub enum ConduitError {
    #[status(401, "invalid")]
    Wrong(#[details] &'static str),
    #[status(401, "is invalid")]
    Ended(#[details] &'static str),
    #[status(403, "forbidden")]
    Forbidden(#[details] &'static str),
    #[status(404, "not found")]
    NotFound(#[details] &'static str),
    #[status(409, "has already been taken")]
    Taken(#[details] &'static str),
    #[status(429, "too many passwords were tried")]
    Guessed(#[details] &'static str),
    #[status(transparent)]
    Database(SqlError),
    #[status(transparent)]
    Password(#[from] PasswordError),
    #[status(transparent)]
    Other(#[from] ApiError),
}

/// The result of a request handler, and of the functions that it calls.
pub type Result<T, E = ConduitError> = std::result::Result<T, E>;

impl From<SqlError> for ConduitError {
    fn from(error: SqlError) -> Self {
        match &error {
            SqlError::Taken { constraint, .. } if constraint == "users.username" => {
                Self::Taken("username")
            }
            SqlError::Taken { constraint, .. } if constraint == "users.email" => {
                Self::Taken("email")
            }
            // Requests contain no other ids of rows than the id of their user.
            SqlError::Invalid { source, .. } if source.to_string().contains("FOREIGN KEY") => {
                Self::Ended("token")
            }
            _ => Self::Database(error),
        }
    }
}

impl From<rusqlite::Error> for ConduitError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}

/// Formats an error as the API does: `{"errors": {"title": ["can't be blank"]}}`.
pub fn conduit_form(error: &mut ErrorReply) {
    let mut errors = BTreeMap::<_, Vec<_>>::new();
    for failed in error.field_errors() {
        // The API leaves out the outer object: `user.email` is `email`.
        let field = failed.field.split_once('.').map_or(&*failed.field, |(_, field)| field);
        let text = if failed.rule == "required" { "can't be blank" } else { &*failed.message };
        errors.entry(if field.is_empty() { "body" } else { field }).or_default().push(text);
    }
    if errors.is_empty() {
        let (subject, text) = subject_and_text(error);
        errors.entry(subject).or_default().push(text);
    }
    error.set_json(json!({ "errors": errors }));
    // Rate limits and the database set the header themselves.
    let seconds = match error.status() {
        StatusCode::TOO_MANY_REQUESTS => 3600,
        StatusCode::SERVICE_UNAVAILABLE => 1,
        _ => return,
    };
    error.headers_mut().entry(header::RETRY_AFTER).or_insert(seconds.into());
}

fn subject_and_text(error: &ErrorReply) -> (&str, &str) {
    if let Some(subject) = error.details().and_then(Value::as_str) {
        return (subject, error.message());
    }
    if error.kind() != ErrorKind::Authentication {
        return ("body", error.message());
    }
    // RFC 6750: the challenge shows whether the request had a token.
    let challenge = error.headers().get(header::WWW_AUTHENTICATE);
    let is_refused = challenge.is_some_and(|text| text.as_bytes().ends_with(b"invalid_token\""));
    ("token", if is_refused { "is invalid" } else { "is missing" })
}
