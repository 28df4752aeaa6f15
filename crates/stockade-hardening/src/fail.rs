//! `fail`: fails a test.

use std::fmt::Display;
use std::sync::Mutex;
use std::thread;

use stockade_errors::locks::lock;
use stockade_errors::{ConfigError, ConfigIssue};

/// Fails the test with this message, at the line of the caller.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "this is how an assertion of a test fails")]
pub fn fail(message: impl Display) -> ! {
    panic!("{message}")
}

/// Returns the value, or fails the test.
///
/// # Panics
/// If the result is an error.
#[track_caller]
pub fn or_fail<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(error),
    }
}

/// Returns the application, or fails the test with its configuration errors. The
/// first test of a process shows all of them; later tests only refer to it.
///
/// # Panics
/// If the result is an error.
#[track_caller]
pub fn built<T>(result: Result<T, ConfigError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(SHOWN.text_of(&error, thread::current().name())),
    }
}

/// The configuration errors that a test has already shown.
static SHOWN: Shown = Shown(Mutex::new(Vec::new()));

/// The texts of configuration errors, each with the name of the test that shows
/// it.
struct Shown(Mutex<Vec<(String, String)>>);

impl Shown {
    /// Returns the text of an error: the whole text for the first test, and a
    /// reference to that test for others.
    fn text_of(&self, error: &ConfigError, test: Option<&str>) -> String {
        let text = error.to_string();
        let test = test.unwrap_or("another thread");
        let mut shown = lock(&self.0);
        if let Some((_, first)) = shown.iter().find(|(known, _)| *known == text) {
            let count = error.issues().len();
            let errors = if count == 1 { "configuration error" } else { "configuration errors" };
            let place = error.issues().iter().find_map(ConfigIssue::location);
            let place = place.map(|it| format!(" (first {}:{})", it.file(), it.line()));
            let place = place.unwrap_or_default();
            return format!("the router has {count} {errors}{place}: see the test `{first}`");
        }
        shown.push((text.clone(), test.to_owned()));
        text
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    #[test]
    fn only_the_first_test_shows_a_configuration_error() {
        let shown = Shown(Mutex::new(Vec::new()));
        let issue = |text: &str| ConfigIssue::new(text).on("GET /x");
        let two = ConfigError::check(vec![issue("no handler"), issue("no user")]).unwrap_err();
        let text = two.to_string();
        assert_eq!(shown.text_of(&two, Some("first")), text);
        let short = "the router has 2 configuration errors: see the test `first`";
        assert_eq!(shown.text_of(&two, Some("second")), short);
        let other = ConfigError::from(issue("no state"));
        assert_eq!(shown.text_of(&other, Some("third")), "GET /x: no state");
        let short = "the router has 1 configuration error: see the test `third`";
        assert_eq!(shown.text_of(&other, None), short);
        let here = Location::caller();
        let placed = ConfigError::from(issue("no body").at(here));
        shown.text_of(&placed, Some("fourth"));
        let place = format!("(first {}:{}): see the test `fourth`", file!(), here.line());
        assert!(shown.text_of(&placed, None).ends_with(&place));
    }
}
