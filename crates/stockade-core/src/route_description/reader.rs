//! The part of [`RouteDescription`] that the router reads.

use http::{Extensions, Method};

use super::HANDLER;
use crate::description::{DescribedRoute, InputFrom, SchemaOf};
use crate::limits::DEFAULT_MAX_BODY_BYTES;
use crate::type_check::TypeCheck;
use crate::{BodyKind, RouteDescription, States};

impl RouteDescription {
    /// Creates an empty description of a route with this method and these
    /// parameters. Each parameter is paired with true if it is optional.
    #[doc(hidden)]
    #[must_use]
    pub fn new(method: Method, params: Vec<(String, bool)>) -> Self {
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
            takes_lifetime: false,
            has_no_reply: false,
            described: None,
            body_reader: None,
            user_reader: None,
            parts: Extensions::new(),
            challenges: Vec::new(),
            guards_origin: false,
            validation_status: None,
            facts: DescribedRoute::default(),
            is_public: false,
            finds_user: false,
            finds_user_now: false,
            takes_user: false,
            describer: HANDLER,
            common: Extensions::new(),
            states: States::default(),
            stored_types: Vec::new(),
            type_checks: Vec::new(),
        }
    }

    /// Declares the type of the items that the route stores. Responses may omit
    /// some of the type's properties.
    #[doc(hidden)]
    pub fn stores(&mut self, schema: SchemaOf) {
        self.stored_types.push(schema);
    }

    /// Adds a check that runs after all routes of the router are known.
    #[doc(hidden)]
    pub fn checks_types(&mut self, check: TypeCheck) {
        self.type_checks.push(check);
    }

    /// Removes and returns these checks.
    #[doc(hidden)]
    pub fn take_type_checks(&mut self) -> Vec<TypeCheck> {
        std::mem::take(&mut self.type_checks)
    }

    /// Sets the values that the application provides.
    #[doc(hidden)]
    pub fn set_states(&mut self, states: States) {
        self.states = states;
    }

    /// Sets the status of a failed validation, or the default with `None`.
    #[doc(hidden)]
    pub fn set_validation_status(&mut self, status: Option<u16>) {
        self.validation_status = status;
    }

    /// Declares whether the route has a reason to be public. A part that
    /// requires a user is then a configuration error.
    #[doc(hidden)]
    pub fn set_public(&mut self, is_public: bool) {
        self.is_public = is_public;
    }

    /// Returns how the handler reads the body. Returns `None` if it does not.
    #[doc(hidden)]
    #[must_use]
    pub fn body(&self) -> Option<BodyKind> {
        self.body
    }

    /// Returns the configuration error if the limit of a form part exceeds the
    /// limit of the body. `max_body` is the limit of the route, or `None` for
    /// the default.
    #[doc(hidden)]
    #[must_use]
    pub fn part_above(&self, max_body: Option<u64>) -> Option<String> {
        let max_body = max_body.unwrap_or(DEFAULT_MAX_BODY_BYTES);
        let forms = self.inputs.iter().filter(|input| input.source == InputFrom::Body);
        let mut parts = forms.flat_map(|input| input.schema.part_rules());
        let part =
            parts.find(|part| part.max_bytes.is_some_and(|bytes| bytes as u64 > max_body))?;
        Some(format!(
            "field `{}`: `max_bytes` is above the body limit of {max_body} bytes: raise \
             `max_body` of the route",
            part.name
        ))
    }

    /// Returns true if the handler or middleware reads the body.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_any_body(&self) -> bool {
        self.body.is_some() || self.body_reader.is_some()
    }

    /// Returns the challenges of a 401 on this route. Empty if no middleware
    /// declares an authentication method.
    #[doc(hidden)]
    #[must_use]
    pub fn challenges(&self) -> &[String] {
        &self.challenges
    }

    /// Returns true if middleware rejects requests from other origins.
    #[doc(hidden)]
    #[must_use]
    pub fn has_origin_guard(&self) -> bool {
        self.guards_origin
    }
    /// Returns true if middleware authenticates requests.
    #[doc(hidden)]
    #[must_use]
    pub fn has_found_user(&self) -> bool {
        self.finds_user
    }

    /// Returns true if an argument of the handler writes the response itself.
    #[doc(hidden)]
    #[must_use]
    pub fn has_writer(&self) -> bool {
        self.writers > 0
    }

    /// Returns the number of handler arguments that receive the upgraded
    /// connection.
    #[doc(hidden)]
    #[must_use]
    pub fn upgrades(&self) -> usize {
        self.upgrades
    }

    /// Returns true if the handler waits for the end of the login of its user.
    #[doc(hidden)]
    #[must_use]
    pub fn takes_lifetime(&self) -> bool {
        self.takes_lifetime
    }

    /// Returns the route as its parts describe it.
    #[doc(hidden)]
    #[must_use]
    pub fn facts(&self) -> &DescribedRoute {
        &self.facts
    }

    /// Returns a mutable reference to [`facts`](Self::facts).
    #[doc(hidden)]
    pub fn facts_mut(&mut self) -> &mut DescribedRoute {
        &mut self.facts
    }

    /// Returns the description without the data that only the build needs.
    #[doc(hidden)]
    #[must_use]
    pub fn into_facts(self) -> DescribedRoute {
        self.facts
    }

    /// Lets a stage of the router describe its responses under this name.
    #[doc(hidden)]
    pub fn stage(&mut self, name: &'static str, describe: impl FnOnce(&mut Self)) {
        self.describe_as(name.into(), describe);
    }

    /// Returns all configuration errors. `states` contains the values that the
    /// application provides.
    #[doc(hidden)]
    #[must_use]
    pub fn issues(&self, states: &States) -> Vec<String> {
        let missing = self.needs.iter().filter(|(id, _)| !states.has(*id));
        let missing = missing.map(|(_, name)| {
            format!("`State<{name}>` was not provided: add `.state(…)` to the router")
        });
        self.mistakes.iter().cloned().chain(missing).collect()
    }
}
