//! [`ContractError`]: a response that violates the contract.

use std::error::Error;
use std::fmt;

use stockade_routing::map::{BodyDoc, Place, ResponseInfo, RouteInfo};

/// A response that the route map does not list.
///
/// The message names the route and its source location, explains the mismatch,
/// and lists the documented responses.
#[derive(Clone)]
pub struct ContractError {
    breach: Box<Breach>,
}

#[derive(Clone)]
struct Breach {
    route: String,
    location: Place,
    faults: Vec<String>,
    listed: Vec<String>,
    /// The names of middleware without a description.
    opaque: Vec<String>,
}

impl ContractError {
    pub(super) fn new(route: &RouteInfo, faults: Vec<String>) -> Self {
        let listed = route.answers_by_status().into_iter().flat_map(|(status, answers)| {
            answers.into_iter().map(move |answer| listed(&status, &answer))
        });
        let opaque = route.middleware.iter().filter(|middleware| middleware.is_opaque);
        let breach = Breach {
            route: format!("{} {}", route.method, route.path),
            location: route.location.clone(),
            faults,
            listed: listed.collect(),
            opaque: opaque.map(|middleware| middleware.name.clone()).collect(),
        };
        Self { breach: Box::new(breach) }
    }

    /// Returns the route that sent the response, such as `GET /users/:id`.
    #[must_use]
    pub fn route(&self) -> &str {
        &self.breach.route
    }

    /// Returns the source location of the route.
    #[must_use]
    pub fn location(&self) -> &Place {
        &self.breach.location
    }

    /// Returns the reasons why the response does not fit.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.breach.faults
    }
}

/// Formats a listed response as one line.
fn listed(status: &str, answer: &ResponseInfo) -> String {
    let body = match &answer.body {
        BodyDoc::None => "no body".to_owned(),
        BodyDoc::Error => "an error".to_owned(),
        BodyDoc::ValidationError => "a validation error".to_owned(),
        BodyDoc::Content(contents) => {
            let types: Vec<&str> = contents.iter().map(|it| &*it.media_type).collect();
            types.join(", ")
        }
        _ => "any body".to_owned(),
    };
    let by = match &*answer.by {
        "" => "the documentation of the route",
        by => by,
    };
    let names: Vec<&str> =
        answer.headers.iter().filter(|header| header.always).map(|header| &*header.name).collect();
    let headers =
        if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) };
    format!("{status}: {body}{headers} ({by})")
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Breach { route, location, faults, listed, opaque } = &*self.breach;
        writeln!(f, "the response violates the contract of {route} ({location})")?;
        faults.iter().try_for_each(|fault| writeln!(f, "  {fault}"))?;
        write!(f, "the map lists")?;
        listed.iter().try_for_each(|answer| write!(f, "\n  {answer}"))?;
        if opaque.is_empty() {
            return Ok(());
        }
        let names = opaque.join(", ");
        write!(f, "\nresponses of middleware without a description are not listed: {names}")
    }
}

impl fmt::Debug for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ContractError {}
