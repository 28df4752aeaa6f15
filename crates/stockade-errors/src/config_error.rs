//! [`ConfigError`]: all mistakes in a configuration at once.

use std::fmt;
use std::panic::Location;

/// All mistakes that were found when a router, a schema or a server was built.
///
/// The error is returned when a program starts, never while a request is
/// served. Its text has a line for each mistake. `Debug` shows the same text,
/// because a `main` that returns the error prints that.
#[derive(Clone, Eq, PartialEq)]
pub struct ConfigError {
    mistakes: Vec<ConfigIssue>,
}

/// A mistake in a configuration, with its route and its place in the source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigIssue {
    message: String,
    route: Option<String>,
    location: Option<&'static Location<'static>>,
}

impl ConfigError {
    /// Fails with these mistakes, if there are any.
    ///
    /// # Errors
    /// When `mistakes` is not empty.
    pub fn check(mistakes: Vec<ConfigIssue>) -> Result<(), Self> {
        if mistakes.is_empty() { Ok(()) } else { Err(Self { mistakes }) }
    }

    /// Returns the mistakes, in the order in which they were found.
    #[must_use]
    pub fn issues(&self) -> &[ConfigIssue] {
        &self.mistakes
    }
}

impl ConfigIssue {
    /// Makes a mistake described by `message` (lower case, no full stop).
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), route: None, location: None }
    }

    /// Sets the route of the mistake, such as `GET /users/:id`.
    #[must_use]
    pub fn on(mut self, route: impl Into<String>) -> Self {
        self.route = Some(route.into());
        self
    }

    /// Sets the place of the mistake in the source.
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

    /// Returns the route, if the mistake has one.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.route.as_deref()
    }

    /// Returns the place in the source, if it is known.
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
        write!(f, "{} mistakes in the configuration:", self.mistakes.len())?;
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
    fn one_mistake_is_one_line_and_several_are_a_list() {
        let one = ConfigIssue::new("no handler").on("GET /x");
        assert_eq!(ConfigError::from(one.clone()).to_string(), "GET /x: no handler");

        let two = ConfigError::check(vec![one, ConfigIssue::new("bad prefix")]).unwrap_err();
        let expected = "2 mistakes in the configuration:\n  GET /x: no handler\n  bad prefix";
        assert_eq!(two.to_string(), expected);
        assert_eq!(format!("{two:?}"), expected);
        assert_eq!(ConfigError::check(Vec::new()), Ok(()));
    }

    #[test]
    fn the_place_is_the_file_and_line_of_the_call() {
        let here = Location::caller();
        let text = ConfigIssue::new("x").at(here).to_string();
        assert_eq!(text, format!("x ({}:{})", file!(), here.line()));
    }
}
