//! [`ConfigError`]: a list of configuration errors.

use std::fmt;
use std::panic::Location;

/// All errors found while a router, a schema or a server was built.
///
/// It is returned only at startup, never while the server handles a request.
/// `Display` writes one line for each error. `Debug` writes the same text,
/// because a `main` that returns the error prints it with `Debug`.
#[derive(Clone, Eq, PartialEq)]
pub struct ConfigError {
    mistakes: Vec<ConfigIssue>,
}

/// A configuration error, with its route and source location.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigIssue {
    message: String,
    route: Option<String>,
    location: Option<&'static Location<'static>>,
}

impl ConfigError {
    /// Returns an error if there are any configuration errors.
    ///
    /// # Errors
    /// Fails if `mistakes` is not empty.
    pub fn check(mistakes: Vec<ConfigIssue>) -> Result<(), Self> {
        if mistakes.is_empty() { Ok(()) } else { Err(Self { mistakes }) }
    }

    /// Returns the configuration errors, in the order of discovery.
    #[must_use]
    pub fn issues(&self) -> &[ConfigIssue] {
        &self.mistakes
    }
}

impl ConfigIssue {
    /// Creates a configuration error with `message` (lower case, no full stop).
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), route: None, location: None }
    }

    /// Sets the route, such as `GET /users/:id`.
    #[must_use]
    pub fn on(mut self, route: impl Into<String>) -> Self {
        self.route = Some(route.into());
        self
    }

    /// Sets the source location.
    #[must_use]
    pub fn at(mut self, location: &'static Location<'static>) -> Self {
        self.location = Some(location);
        self
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the route, if the error belongs to one.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.route.as_deref()
    }

    /// Returns the source location, if it is known.
    #[must_use]
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }
}

impl From<ConfigIssue> for ConfigError {
    fn from(mistake: ConfigIssue) -> Self {
        Self { mistakes: vec![mistake] }
    }
}

impl fmt::Display for ConfigIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = &self.route {
            write!(f, "{route}: ")?;
        }
        f.write_str(&self.message)?;
        match self.location {
            Some(location) => write!(f, " ({}:{})", location.file(), location.line()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [mistake] = self.mistakes.as_slice() {
            return mistake.fmt(f);
        }
        write!(f, "{} configuration errors:", self.mistakes.len())?;
        for mistake in &self.mistakes {
            write!(f, "\n  {mistake}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_one_error_as_a_line_and_several_as_a_list() {
        let one = ConfigIssue::new("no handler").on("GET /x");
        assert_eq!(ConfigError::from(one.clone()).to_string(), "GET /x: no handler");

        let two = ConfigError::check(vec![one, ConfigIssue::new("bad prefix")]).unwrap_err();
        let expected = "2 configuration errors:\n  GET /x: no handler\n  bad prefix";
        assert_eq!(two.to_string(), expected);
        assert_eq!(format!("{two:?}"), expected);
        assert_eq!(ConfigError::check(Vec::new()), Ok(()));
    }

    #[test]
    fn location_is_the_file_and_line_of_the_call() {
        let here = Location::caller();
        let text = ConfigIssue::new("x").at(here).to_string();
        assert_eq!(text, format!("x ({}:{})", file!(), here.line()));
    }
}
