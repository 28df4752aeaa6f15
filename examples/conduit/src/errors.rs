//! Everything that a request can fail with, and the form in which the API says it.

use std::collections::BTreeMap;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_UNIQUE};
use stockade::auth::PasswordError;
use stockade::prelude::*;
use stockade::{ErrorKind, ErrorReply};
use tokio::task::JoinError;

/// An error of a handler. A text in it is the name under which the API lists the
/// error: a field, or a kind of thing.
#[derive(ApiError, Debug)]
pub enum ConduitError {
    #[status(401, "invalid")]
    Credentials,
    #[status(401, "is invalid")]
    UnknownUser,
    #[status(403, "forbidden")]
    Forbidden(&'static str),
    #[status(404, "not found")]
    NotFound(&'static str),
    #[status(409, "has already been taken")]
    Taken(&'static str),
    #[status(429, "too many passwords were tried")]
    Guesses,
    #[status(503, "no connection to the database, or none that could write, in time")]
    Busy,
    #[status(507, "the database may not grow")]
    Full,
    #[status(500, "the database failed")]
    Database(#[source] rusqlite::Error),
    #[status(500, "work on the database ended early")]
    Ended(#[from] JoinError),
    #[status(transparent)]
    Password(#[from] PasswordError),
    #[status(transparent)]
    Other(#[from] ApiError),
}

/// The result of a handler, and of everything that it calls.
pub type Result<T, E = ConduitError> = std::result::Result<T, E>;

impl ConduitError {
    /// Returns the name under which the API lists the error.
    fn subject(&self) -> &'static str {
        match self {
            Self::Credentials | Self::Guesses => "credentials",
            Self::UnknownUser => "token",
            Self::Forbidden(subject) | Self::NotFound(subject) | Self::Taken(subject) => subject,
            _ => "body",
        }
    }
}

impl From<rusqlite::Error> for ConduitError {
    fn from(error: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(cause, Some(text)) = &error else {
            return Self::Database(error);
        };
        match cause.extended_code {
            SQLITE_CONSTRAINT_UNIQUE if text.ends_with("users.username") => Self::Taken("username"),
            SQLITE_CONSTRAINT_UNIQUE if text.ends_with("users.email") => Self::Taken("email"),
            // All other ids of rows come from the database, and not from a request.
            SQLITE_CONSTRAINT_FOREIGNKEY => Self::UnknownUser,
            _ if cause.code == ErrorCode::DatabaseBusy => Self::Busy,
            // It took too long.
            _ if cause.code == ErrorCode::OperationInterrupted => Self::Busy,
            _ if cause.code == ErrorCode::DiskFull => Self::Full,
            _ => Self::Database(error),
        }
    }
}

/// Gives an error the form of the API: `{"errors": {"title": ["can't be blank"]}}`.
pub fn conduit_form(error: &mut ErrorReply) {
    let mut errors = BTreeMap::<_, Vec<_>>::new();
    for failed in error.field_errors() {
        // Fields stand in an envelope (`user.email`), of which the API says nothing.
        let field = failed.field.split_once('.').map_or(&*failed.field, |(_, field)| field);
        let text = if failed.rule == "required" { "can't be blank" } else { &*failed.message };
        errors.entry(if field.is_empty() { "body" } else { field }).or_default().push(text);
    }
    if error.kind() != ErrorKind::Validation {
        let (subject, text) = subject_and_text(error);
        errors.entry(subject).or_default().push(text);
    }
    error.set_json(json!({ "errors": errors }));
    if error.status() == StatusCode::SERVICE_UNAVAILABLE {
        error.headers_mut().insert(header::RETRY_AFTER, 1.into());
    }
    // A rate limit says it by itself.
    if error.status() == StatusCode::TOO_MANY_REQUESTS {
        error.headers_mut().entry(header::RETRY_AFTER).or_insert(3600.into());
    }
}

fn subject_and_text(error: &ErrorReply) -> (&'static str, &str) {
    if let Some(own) = error.source().and_then(|source| source.downcast_ref::<ConduitError>()) {
        return (own.subject(), error.message());
    }
    if error.kind() != ErrorKind::Authentication {
        return ("body", error.message());
    }
    // RFC 6750: the challenge tells a token that was refused from none at all.
    let challenge = error.headers().get(header::WWW_AUTHENTICATE);
    let is_refused = challenge.is_some_and(|text| text.as_bytes().ends_with(b"invalid_token\""));
    ("token", if is_refused { "is invalid" } else { "is missing" })
}
