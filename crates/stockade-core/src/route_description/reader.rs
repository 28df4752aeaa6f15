//! [`RouteDocExt`]: the side of a [`RouteDoc`] that the router reads.

use http::{Extensions, Method};

use super::HANDLER;
use crate::description::{DescribedRoute, SchemaOf};
use crate::known_types::TypeCheck;
use crate::{BodyKind, RouteDoc, States};

/// The methods of [`RouteDoc`] for the router.
pub trait RouteDocExt: Sized {
    /// Returns an empty description of a route with this method and these
    /// parameters, each with true if it is optional.
    fn new(method: Method, params: Vec<(String, bool)>) -> Self;

    /// Sets the status of a failed validation; `None` for the default.
    fn set_validation_status(&mut self, status: Option<u16>);

    /// Returns the form in which the handler takes the body, if it takes it.
    fn body(&self) -> Option<BodyKind>;

    /// Returns true if the handler or middleware reads the body.
    fn reads_any_body(&self) -> bool;

    /// Returns the challenges of a 401 of this route; empty where no middleware
    /// names a way.
    fn challenges(&self) -> &[String];

    /// Returns true if middleware refuses requests of other origins.
    fn has_origin_guard(&self) -> bool;

    /// Returns true if an argument of the handler writes the response itself.
    fn has_writer(&self) -> bool;

    /// Returns the number of arguments of the handler that are the connection
    /// after an upgrade.
    fn upgrades(&self) -> usize;

    /// Returns what the parts of the route have said about it.
    fn facts(&self) -> &DescribedRoute;

    /// Returns it to change it.
    fn facts_mut(&mut self) -> &mut DescribedRoute;

    /// Returns the description without the notes that only a build needs.
    fn into_facts(self) -> DescribedRoute;

    /// Lets a stage of the router describe itself, by the name of a giver of
    /// answers.
    fn stage(&mut self, name: &'static str, describe: impl FnOnce(&mut Self));

    /// Notes the type of the items of the route, whose responses may lack some of its
    /// properties.
    fn stores(&mut self, schema: SchemaOf);

    /// Adds a check that runs when all routes of the router are known.
    fn checks_types(&mut self, check: TypeCheck);

    /// Takes these checks.
    fn take_type_checks(&mut self) -> Vec<TypeCheck>;

    /// Returns every mistake, given the values that the application provides.
    fn mistakes(&self, states: &States) -> Vec<String>;
}

impl RouteDocExt for RouteDoc {
    fn new(method: Method, params: Vec<(String, bool)>) -> Self {
        Self {
            method,
            params,
            body: None,
            needs: Vec::new(),
            inputs: Vec::new(),
            mistakes: Vec::new(),
            whole_requests: 0,
            writers: 0,
            upgrades: 0,
            has_no_reply: false,
            described: None,
            body_reader: None,
            user_reader: None,
            challenges: Vec::new(),
            guards_origin: false,
            validation_status: None,
            facts: DescribedRoute::default(),
            finds_user: false,
            takes_user: false,
            describer: HANDLER,
            common: Extensions::new(),
            stored_types: Vec::new(),
            type_checks: Vec::new(),
        }
    }

    fn stores(&mut self, schema: SchemaOf) {
        self.stored_types.push(schema);
    }

    fn checks_types(&mut self, check: TypeCheck) {
        self.type_checks.push(check);
    }

    fn take_type_checks(&mut self) -> Vec<TypeCheck> {
        std::mem::take(&mut self.type_checks)
    }

    fn set_validation_status(&mut self, status: Option<u16>) {
        self.validation_status = status;
    }

    fn body(&self) -> Option<BodyKind> {
        self.body
    }

    fn reads_any_body(&self) -> bool {
        self.body.is_some() || self.body_reader.is_some()
    }

    fn challenges(&self) -> &[String] {
        &self.challenges
    }

    fn has_origin_guard(&self) -> bool {
        self.guards_origin
    }

    fn has_writer(&self) -> bool {
        self.writers > 0
    }

    fn upgrades(&self) -> usize {
        self.upgrades
    }

    fn facts(&self) -> &DescribedRoute {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut DescribedRoute {
        &mut self.facts
    }

    fn into_facts(self) -> DescribedRoute {
        self.facts
    }

    fn stage(&mut self, name: &'static str, describe: impl FnOnce(&mut Self)) {
        self.describe_as(name.into(), describe);
    }

    fn mistakes(&self, states: &States) -> Vec<String> {
        let missing = self.needs.iter().filter(|(id, _)| !states.has(*id));
        let missing = missing.map(|(_, name)| {
            format!("`State<{name}>` was not provided: add `.state(…)` to the router's options")
        });
        self.mistakes.iter().cloned().chain(missing).collect()
    }
}
