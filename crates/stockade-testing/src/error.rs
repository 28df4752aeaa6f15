//! [`TestError`]: the failure of an exchange.

use std::error::Error;
use std::fmt;

use stockade_errors::BoxError;

/// The failure of an exchange: no server is listening, the body ended early, or
/// the timeout expired.
///
/// A response with an error status is not a failure.
pub struct TestError {
    message: String,
    source: Option<BoxError>,
}

impl TestError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    pub(crate) fn caused_by(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds the request to the error.
    pub(crate) fn in_exchange(mut self, exchange: impl fmt::Display) -> Self {
        self.message = format!("{self}\n\n{exchange}");
        self.source = None;
        self
    }
}

impl fmt::Display for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause = self.source.as_deref().map(|source| source as &dyn Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for TestError {}
